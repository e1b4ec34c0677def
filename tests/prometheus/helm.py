"""Lints the chart with Helm's own code, and renders it: JSON with the findings and the objects of each case.

The input is JSON: the folder of the chart, and cases with values. Exits with 77 if a package is missing.
"""

import json
import sys

try:
    import helm_python as helm
    import kubernetes_validate
    import yaml
except ImportError as error:
    print(error)
    sys.exit(77)

#: Groups of the objects of others, of which there is no schema here.
OTHERS = ("keda.sh/", "monitoring.coreos.com/")
VERSIONS = ("1.25", "1.33")


def problems_of(document):
    """What the schemas of Kubernetes refuse in an object."""
    if document["apiVersion"].startswith(OTHERS):
        return []
    found = []
    for version in VERSIONS:
        try:
            kubernetes_validate.validate(document, version, strict=True)
        except kubernetes_validate.ValidationError as error:
            found.append(f"{version}: {document['kind']}: {error.message}")
    return found


def check(folder, values):
    """The result of one case."""
    report = helm.lint(folder, values, strict=True, namespace="arena")
    # 1: a recommendation.
    serious = [message for message in report["messages"] if message["severity"] > 1]
    result = {"lint": report["errors"] + [str(message) for message in serious]}
    with helm.Chart.load(folder) as chart:
        try:
            chart.validate_schema(values)
            files = chart.render(values, name="arena", namespace="arena")
        except helm.HelmError as error:
            return result | {"refused": str(error)}
    documents = [
        document
        for name, text in sorted(files.items())
        if name.endswith(".yaml")
        for document in yaml.safe_load_all(text)
        if document
    ]
    problems = [problem for document in documents for problem in problems_of(document)]
    return result | {"documents": documents, "problems": problems}


def main():
    """Checks all cases."""
    asked = json.load(sys.stdin)
    json.dump([check(asked["folder"], values) for values in asked["cases"]], sys.stdout)


main()
