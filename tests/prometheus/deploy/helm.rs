//! The Helm chart: its copies of other files, and what Helm makes of it.

use super::*;

/// Its files.
const FILES: [&str; 15] = [
    "helm/arena/Chart.yaml",
    "helm/arena/files/dashboards/agents.json",
    "helm/arena/files/dashboards/fleet.json",
    "helm/arena/files/dashboards/overview.json",
    "helm/arena/files/rules.yml",
    "helm/arena/templates/NOTES.txt",
    "helm/arena/templates/_helpers.tpl",
    "helm/arena/templates/backup.yaml",
    "helm/arena/templates/coordinator.yaml",
    "helm/arena/templates/ingress.yaml",
    "helm/arena/templates/keda.yaml",
    "helm/arena/templates/monitoring.yaml",
    "helm/arena/templates/network-policy.yaml",
    "helm/arena/templates/worker.yaml",
    "helm/arena/values.yaml",
];
const SCHEMA: &str = "helm/arena/values.schema.json";
/// Exit code of the script if a package is missing.
const MISSING: i32 = 77;

/// The objects of a case by kind and name.
struct Rendered(Vec<Value>);

impl Rendered {
    fn find(&self, kind: &str, name: &str) -> Option<&Value> {
        let is = |it: &&Value| it["kind"] == kind && it["metadata"]["name"] == name;
        self.0.iter().find(is)
    }

    fn get(&self, kind: &str, name: &str) -> &Value {
        let found = self.find(kind, name);
        found.unwrap_or_else(|| panic!("no {kind} {name}"))
    }

    /// The specs of all pods, and the labels of the pods.
    fn pods(&self) -> impl Iterator<Item = &Value> {
        let templates = self.0.iter().map(|it| match text(&it["kind"]) {
            "CronJob" => &it["spec"]["jobTemplate"]["spec"]["template"],
            _ => &it["spec"]["template"],
        });
        templates.filter(|it| it.is_object())
    }
}

/// What Helm says to values: the results of the script. None, with a message, if Helm is missing.
fn helm(cases: &Value) -> Option<Vec<Value>> {
    let python = match arena_tests::python() {
        Ok(python) => python,
        Err(missing) => {
            println!("skipped: the chart: {missing}");
            return None;
        }
    };
    let script = repository().join("tests/prometheus/helm.py");
    let input = json!({"folder": deploy("helm/arena"), "cases": cases});
    let [python, script] = [&python, &script].map(|it| it.to_str().expect("UTF-8"));
    let output = tool(python, &[script], &input.to_string())?;
    let said = String::from_utf8_lossy(&output.stdout);
    if output.status.code() == Some(MISSING) {
        println!("skipped: the chart: {said}");
        return None;
    }
    let failed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{failed}");
    let results: Vec<Value> = serde_json::from_str(&said).expect("JSON");
    Some(results)
}

/// The objects of values that Helm accepts.
fn rendered(result: &Value) -> Rendered {
    assert_eq!(result["lint"], json!([]), "lint");
    assert_eq!(result["refused"], Value::Null);
    assert_eq!(result["problems"], json!([]), "schemas of Kubernetes");
    Rendered(list(&result["documents"]).to_vec())
}

/// The spec of a pod without what the image is called.
fn without_image(pod: &Value) -> Value {
    let mut pod = pod.clone();
    let container = pod["spec"]["containers"][0].as_object_mut();
    let container = container.expect("a container");
    container.remove("image");
    container.remove("imagePullPolicy");
    pod
}

fn everything() -> Value {
    json!({
        "keda": {"enabled": true, "secondsPerWorker": 120},
        "monitoring": {"enabled": true, "labels": {"release": "prometheus"}},
        "web": {"enabled": true, "host": "arena.example", "public": true, "className": "nginx", "tlsSecret": "web"},
        "backup": {"enabled": true},
        "coordinator": {
            "storeSecret": "database", "extraArgs": ["--audit-share", "0.05"],
            "tolerations": [{"key": "arena", "operator": "Exists"}]
        },
        "worker": {
            "metricsSecret": "fleet", "nodeSelector": {"pool": "games"}, "affinity": {"nodeAffinity": {}}
        },
        "imagePullSecrets": [{"name": "registry"}],
        "networkPolicy": {"workerEgress": [{"to": [{"ipBlock": {"cidr": "192.0.2.0/24"}}]}]}
    })
}

#[test]
fn chart_has_current_copies() {
    let mut found = Vec::new();
    files(&deploy("helm"), &mut found);
    found.sort();
    let mut expected: Vec<&str> = FILES.into_iter().chain([SCHEMA]).collect();
    expected.sort_unstable();
    assert_eq!(found, expected);
    for name in ["agents", "fleet", "overview"].map(|name| format!("dashboards/{name}.json")) {
        let copy = read(&deploy("helm/arena/files").join(&name));
        let is_current = copy == read(&deploy("grafana").join(&name));
        assert!(is_current, "copy grafana/{name} to helm/arena/files");
    }
    let is_current =
        read(&deploy("helm/arena/files/rules.yml")) == read(&deploy("prometheus/rules.yml"));
    assert!(is_current, "copy prometheus/rules.yml to helm/arena/files");
    let workspace = read(&repository().join("Cargo.toml"));
    let workspace: toml::Table = toml::from_str(&workspace).expect("TOML");
    let version = workspace["workspace"]["package"]["version"].as_str();
    let chart = yaml("helm/arena/Chart.yaml");
    assert_eq!(chart["appVersion"].as_str(), version);
    assert_eq!(chart["version"].as_str(), version);
}

#[test]
fn chart_runs_what_the_manifests_run() {
    let Some(results) = helm(&json!([{}, {"backup": {"enabled": true}}])) else {
        return;
    };
    let chart = rendered(&results[0]);
    let plain: Vec<Value> = ["coordinator", "worker", "network-policy"]
        .into_iter()
        .flat_map(|file| yamls(&format!("kubernetes/{file}.yaml")))
        .collect();
    let plain = Rendered(plain);
    for (kind, name) in [
        ("StatefulSet", "arena-coordinator"),
        ("Deployment", "arena-worker"),
    ] {
        let [chart, plain] = [&chart, &plain].map(|it| &it.get(kind, name)["spec"]);
        let [pod, plain_pod] = [chart, plain].map(|it| without_image(&it["template"]));
        assert_eq!(pod, plain_pod, "{name}");
        for part in ["selector", "serviceName", "volumeClaimTemplates"] {
            assert_eq!(chart[part], plain[part], "{name}: {part}");
        }
    }
    let replicas = &chart.get("Deployment", "arena-worker")["spec"]["replicas"];
    assert_eq!(replicas, 2);
    for name in ["arena-coordinator", "arena-worker"] {
        let [chart, plain] = [&chart, &plain].map(|it| &it.get("NetworkPolicy", name)["spec"]);
        assert_eq!(chart, plain, "{name}");
    }
    let backup = rendered(&results[1]);
    let plain = yamls("kubernetes/backup.yaml");
    let plain = plain.iter().find(|it| it["kind"] == "CronJob");
    let plain = Rendered(vec![plain.expect("a job").clone()]);
    let job = [&backup, &plain].map(|it| it.get("CronJob", "arena-backup")["spec"].clone());
    let [pod, plain_pod] = job
        .each_ref()
        .map(|it| without_image(&it["jobTemplate"]["spec"]["template"]));
    for part in ["containers", "securityContext", "restartPolicy"] {
        assert_eq!(pod["spec"][part], plain_pod["spec"][part], "{part}");
    }
    assert_eq!(job[0]["schedule"], job[1]["schedule"]);
}

#[test]
fn chart_scales_with_keda() {
    let Some(results) = helm(&json!([everything()])) else {
        return;
    };
    let chart = rendered(&results[0]);
    let workers = &chart.get("Deployment", "arena-worker")["spec"];
    assert_eq!(workers["replicas"], Value::Null, "KEDA owns the number");
    let scaled = &chart.get("ScaledObject", "arena-worker")["spec"];
    assert_eq!(scaled["scaleTargetRef"]["name"], "arena-worker");
    assert_eq!(scaled["minReplicaCount"], 0);
    let [trigger] = list(&scaled["triggers"]) else {
        panic!("one trigger: {scaled}");
    };
    assert_eq!(trigger["type"], "external-push");
    // The coordinator refuses other keys.
    let expected = json!({
        "scalerAddress": "arena-coordinator.arena.svc:7600",
        "enableTLS": "true",
        "secondsPerWorker": "120"
    });
    assert_eq!(trigger["metadata"], expected);
    let name = text(&trigger["authenticationRef"]["name"]);
    let shown = &chart.get("TriggerAuthentication", name)["spec"]["secretTargetRef"];
    let parameters: Vec<&str> = list(shown)
        .iter()
        .map(|it| text(&it["parameter"]))
        .collect();
    assert_eq!(parameters, ["caCert", "tlsClientCert", "tlsClientKey"]);
    let policy = &chart.get("NetworkPolicy", "arena-coordinator")["spec"]["ingress"];
    for (namespace, port) in [
        ("keda", 7600),
        ("monitoring", 7601),
        ("ingress-nginx", 7680),
    ] {
        let from = json!({
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
        });
        let lets_in = |rule: &&Value| {
            list(&rule["from"]).contains(&from) && list(&rule["ports"]) == [json!({"port": port})]
        };
        assert!(list(policy).iter().any(|it| lets_in(&it)), "{namespace}");
    }
}

#[test]
fn chart_has_pages_and_monitoring() {
    let Some(results) = helm(&json!([everything(), {"monitoring": {"enabled": true}}])) else {
        return;
    };
    let [chart, plain] = [0, 1].map(|at| rendered(&results[at]));
    let arguments = |chart: &Rendered| {
        let pod = &chart.get("StatefulSet", "arena-coordinator")["spec"]["template"]["spec"];
        let arguments = list(&pod["containers"][0]["args"]).iter();
        arguments.map(|it| text(it).to_owned()).collect::<Vec<_>>()
    };
    let web = "--web 0.0.0.0:7680 --web-host arena.example --web-public --audit-share 0.05";
    assert!(arguments(&chart).join(" ").ends_with(web));
    assert!(!arguments(&plain).contains(&"--web".to_owned()));
    let rule = &chart.get("Ingress", "arena-web")["spec"]["rules"][0];
    assert_eq!(rule["host"], "arena.example");
    let service = &rule["http"]["paths"][0]["backend"]["service"];
    let ports = &chart.get("Service", text(&service["name"]))["spec"]["ports"];
    let port = list(ports)
        .iter()
        .find(|it| it["name"] == service["port"]["name"]);
    assert_eq!(port.expect("a port of the service")["port"], 7680);
    assert!(plain.find("Ingress", "arena-web").is_none());

    for name in ["arena-coordinator", "arena-worker"] {
        let monitor = chart.get("ServiceMonitor", name);
        assert_eq!(monitor["metadata"]["labels"]["release"], "prometheus");
        let endpoint = &monitor["spec"]["endpoints"][0];
        let job = json!({"targetLabel": "job", "replacement": name});
        assert_eq!(endpoint["relabelings"], json!([job]));
        let service = chart.get("Service", name);
        let selected = monitor["spec"]["selector"]["matchLabels"].as_object();
        for (label, value) in selected.expect("labels") {
            assert_eq!(&service["metadata"]["labels"][label], value);
        }
        let mut ports = list(&service["spec"]["ports"]).iter();
        assert!(ports.any(|it| it["name"] == endpoint["port"]), "{name}");
    }
    let all = &yaml("prometheus/rules.yml")["groups"];
    assert_eq!(&plain.get("PrometheusRule", "arena")["spec"]["groups"], all);
    // Without work, there is no worker, and that is no problem.
    let mut without = all.clone();
    for group in without.as_array_mut().expect("groups") {
        let rules = group["rules"].as_array_mut().expect("rules");
        rules.retain(|rule| rule["alert"] != "ArenaWorkersAbsent");
    }
    assert_ne!(&without, all);
    assert_eq!(
        chart.get("PrometheusRule", "arena")["spec"]["groups"],
        without
    );
    for name in ["agents", "fleet", "overview"] {
        let map = chart.get("ConfigMap", &format!("arena-dashboard-{name}"));
        assert_eq!(map["metadata"]["labels"]["grafana_dashboard"], "1");
        let file = format!("{name}.json");
        let expected = read(&deploy("grafana/dashboards").join(&file));
        assert_eq!(map["data"][&file], json!(expected));
    }
}

#[test]
fn chart_gives_workers_secrets_of_their_own() {
    let Some(results) = helm(&json!([everything(), {"monitoring": {"enabled": true}}])) else {
        return;
    };
    for (result, metrics) in results.iter().zip(["fleet", "arena-worker-metrics"]) {
        let chart = rendered(result);
        let pod = &chart.get("Deployment", "arena-worker")["spec"]["template"]["spec"];
        assert_eq!(secrets(pod), BTreeSet::from([metrics, "arena-worker-tls"]));
        for (name, secret) in [
            ("arena-worker", metrics),
            ("arena-coordinator", "arena-metrics"),
        ] {
            let monitor = &chart.get("ServiceMonitor", name)["spec"];
            assert_eq!(secrets(monitor), BTreeSet::from([secret]), "{name}");
            let credentials = &monitor["endpoints"][0]["authorization"]["credentials"];
            assert_eq!(credentials, &json!({"name": secret, "key": "token"}));
        }
    }
}

#[test]
fn chart_is_restricted() {
    let Some(results) = helm(&json!([{}, everything()])) else {
        return;
    };
    let mut pods = 0;
    for chart in results.iter().map(rendered) {
        for pod in chart.pods() {
            let spec = &pod["spec"];
            assert_eq!(spec["automountServiceAccountToken"], false);
            let security = &spec["securityContext"];
            assert_eq!(security["runAsNonRoot"], true);
            assert_eq!(security["seccompProfile"]["type"], "RuntimeDefault");
            for host in ["hostNetwork", "hostPID", "hostIPC"] {
                assert_eq!(spec[host], Value::Null);
            }
            for container in list(&spec["containers"]) {
                let security = &container["securityContext"];
                assert_eq!(security["allowPrivilegeEscalation"], false);
                assert_eq!(security["readOnlyRootFilesystem"], true);
                assert_eq!(security["capabilities"], json!({"drop": ["ALL"]}));
                assert!(container["resources"]["limits"]["memory"].is_string());
            }
            for volume in list(&spec["volumes"]) {
                let kinds = ["secret", "emptyDir", "persistentVolumeClaim"];
                assert!(kinds.iter().any(|kind| !volume[kind].is_null()), "{volume}");
            }
            pods += 1;
        }
        for budget in ["arena-coordinator", "arena-worker"] {
            let budget = &chart.get("PodDisruptionBudget", budget)["spec"];
            assert!(!budget["maxUnavailable"].is_null());
        }
    }
    assert_eq!(pods, 5);
}

#[test]
fn schema_of_values_refuses_mistakes() {
    let wrong = [
        (json!({"kedda": {}}), "kedda"),
        (
            json!({"keda": {"secondsPerWorker": "60"}}),
            "secondsPerWorker",
        ),
        (json!({"keda": {"secondsPerWorker": 0}}), "secondsPerWorker"),
        (
            json!({"keda": {"secondsPerWorker": 86_401}}),
            "secondsPerWorker",
        ),
        (json!({"worker": {"replicas": -1}}), "replicas"),
        (
            json!({"worker": {"maxUnavailable": "some"}}),
            "maxUnavailable",
        ),
        (json!({"worker": {"tlsSecret": ""}}), "tlsSecret"),
        (json!({"worker": {"metricsSecret": ""}}), "metricsSecret"),
        // The token of a viewer is not for workers; nor are values of earlier charts enough.
        (
            json!({"worker": {"metricsSecret": null}}),
            "a Secret other than metricsSecret",
        ),
        (
            json!({"worker": {"metricsSecret": "arena-metrics"}}),
            "a Secret other than metricsSecret",
        ),
        (
            json!({"metricsSecret": "arena-worker-metrics"}),
            "a Secret other than metricsSecret",
        ),
        (
            json!({"coordinator": {"storage": {"size": "much"}}}),
            "size",
        ),
        (json!({"web": {"enabled": true}}), "host"),
        (
            json!({"coordinator": {"resources": {"limits": {"memory": null}}}}),
            "memory",
        ),
    ];
    let cases: Vec<&Value> = wrong.iter().map(|(values, _)| values).collect();
    let Some(results) = helm(&json!(cases)) else {
        return;
    };
    for ((values, expected), result) in wrong.iter().zip(&results) {
        let refused = result["refused"].as_str().unwrap_or_default();
        assert!(refused.contains(expected), "{values}: {refused:?}");
    }
}
