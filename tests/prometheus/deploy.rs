//! Compose, Kubernetes, systemd, Grafana's provisioning and the table of
//! metrics in the README.

mod compose;
mod helm;
mod units;

use std::{collections::BTreeSet, fs, path::Path, process::Command};

use arena_telemetry::catalogue;
use arena_tests::{arena, repository};
use serde_json::{Value, json};

use super::{deploy, list, read, text, tool, yaml, yamls};

const UNITS: [&str; 3] = [
    "systemd/arena-backup.service",
    "systemd/arena-coordinator.service",
    "systemd/arena-worker.service",
];

/// An Arena command line in a file of `deploy/`.
struct Use {
    file: &'static str,
    arguments: Vec<String>,
}

fn uses() -> Vec<Use> {
    let words = |list_: &Value| {
        list(list_)
            .iter()
            .map(|word| text(word).to_owned())
            .collect()
    };
    let mut found = Vec::new();
    let compose = yaml("compose.yaml");
    for service in ["coordinator", "worker"] {
        found.push(Use {
            file: "compose.yaml",
            arguments: words(&compose["services"][service]["command"]),
        });
    }
    for service in ["certificates", "metrics-token"] {
        let script = text(&compose["services"][service]["command"][0]);
        let commands = script
            .lines()
            .filter_map(|line| line.trim().strip_prefix("arena "));
        found.extend(commands.map(|command| Use {
            file: "compose.yaml",
            arguments: command.split(' ').map(str::to_owned).collect(),
        }));
    }
    let health = &list(&compose["services"]["coordinator"]["healthcheck"]["test"])[2..];
    found.push(Use {
        file: "compose.yaml",
        arguments: words(&json!(health)),
    });
    for file in ["kubernetes/coordinator.yaml", "kubernetes/worker.yaml"] {
        for document in yamls(file) {
            for container in list(&document["spec"]["template"]["spec"]["containers"]) {
                found.push(Use {
                    file,
                    arguments: words(&container["args"]),
                });
            }
        }
    }
    for document in yamls("kubernetes/backup.yaml") {
        if document["kind"] != "CronJob" {
            continue;
        }
        let pod = &document["spec"]["jobTemplate"]["spec"]["template"]["spec"];
        for container in list(&pod["containers"]) {
            found.push(Use {
                file: "kubernetes/backup.yaml",
                arguments: words(&container["args"]),
            });
        }
    }
    for file in UNITS {
        let unit = read(&deploy(file));
        let start = unit
            .lines()
            .find_map(|line| line.strip_prefix("ExecStart=/usr/local/bin/arena "))
            .unwrap_or_else(|| panic!("{file} starts nothing"));
        found.push(Use {
            file,
            arguments: start.split(' ').map(str::to_owned).collect(),
        });
    }
    assert_eq!(found.len(), 12);
    found
}

/// The Secrets whose content a part of an object gets.
fn secrets(part: &Value) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    for (key, value) in part.as_object().into_iter().flatten() {
        let name = match key.as_str() {
            "secretName" => value.as_str(),
            "secret" | "secretKeyRef" | "secretRef" | "credentials" => value["name"].as_str(),
            _ => None,
        };
        found.extend(name);
        found.extend(secrets(value));
    }
    found.extend(list(part).iter().flat_map(secrets));
    found
}

impl Use {
    fn value(&self, flag: &str) -> &str {
        let at = self.arguments.iter().position(|argument| argument == flag);
        let value = at.and_then(|at| self.arguments.get(at + 1));
        value.unwrap_or_else(|| panic!("{}: no {flag}", self.file))
    }
}

fn files(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            files(&path, found);
        } else {
            let short = path.strip_prefix(deploy("")).expect("it is in deploy/");
            found.push(short.display().to_string());
        }
    }
}

#[test]
fn every_deploy_file_is_tested() {
    let mut found = Vec::new();
    files(&deploy(""), &mut found);
    let tests = repository().join("tests/prometheus");
    let tests: String = [
        "dashboards.rs",
        "deploy.rs",
        "deploy/compose.rs",
        "deploy/helm.rs",
        "deploy/units.rs",
        "gate.rs",
        "live.rs",
        "rules.rs",
    ]
    .map(|file| read(&tests.join(file)))
    .concat();
    for file in &found {
        let dashboard = file
            .strip_prefix("grafana/dashboards/")
            .and_then(|name| name.strip_suffix(".json"));
        let name = dashboard.unwrap_or(file);
        // Tests of the command line, of the READMEs, of PostgreSQL, of Slurm, of agents/rules, of releases, of exports
        // and tests/kits/test_local.py check these.
        let is_elsewhere = name.starts_with("local/")
            || [
                "SETTINGS.md",
                "OTHERS.md",
                "SQL.md",
                "notebook/games.sql",
                "slurm/workers.sbatch",
                "packages",
                "agent-requirements.txt",
            ]
            .contains(&name);
        assert!(
            is_elsewhere || tests.contains(&format!("\"{name}\"")),
            "no test looks at {file}"
        );
    }
}

#[test]
fn commands_use_existing_flags_and_variables() {
    for used in uses() {
        let (command, rest) = used.arguments.split_first().expect("a command");
        // A command may have sub-commands.
        let group = rest
            .first()
            .filter(|word| word.chars().all(char::is_alphabetic));
        let help = Command::new(arena())
            .arg(command)
            .args(group)
            .arg("--help")
            .output()
            .unwrap_or_else(|error| panic!("{}: {error}; build it first", arena().display()));
        assert!(help.status.success(), "{}: no command {command}", used.file);
        let help = String::from_utf8_lossy(&help.stdout);
        let known: BTreeSet<&str> = help
            .split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_')))
            .collect();
        for flag in rest.iter().filter(|argument| argument.starts_with("--")) {
            assert!(
                known.contains(flag.as_str()),
                "{}: {command} has no {flag}",
                used.file
            );
        }
        let file = read(&deploy(used.file));
        let variables = file.split(|c: char| !(c.is_ascii_uppercase() || c == '_'));
        for variable in variables.filter(|word| word.starts_with("ARENA_")) {
            assert!(
                known.contains(variable),
                "{}: {command} has no {variable}",
                used.file
            );
        }
    }
}

#[test]
fn ports_agree_everywhere() {
    let servers = ["coordinator", "worker"];
    let serves = |used: &Use| servers.contains(&&*used.arguments[0]);
    for used in uses().into_iter().filter(serves) {
        let inside = if used.file.starts_with("systemd") {
            "127.0.0.1"
        } else {
            "0.0.0.0"
        };
        if used.arguments[0] == "coordinator" {
            assert_eq!(
                used.value("--listen"),
                format!("{inside}:7600"),
                "{}",
                used.file
            );
            assert_eq!(
                used.value("--metrics"),
                format!("{inside}:7601"),
                "{}",
                used.file
            );
            assert!(
                used.value("--data").starts_with("/var/lib/arena"),
                "{}",
                used.file
            );
        } else {
            assert_eq!(
                used.value("--metrics"),
                format!("{inside}:7602"),
                "{}",
                used.file
            );
            let to = match used.file {
                "compose.yaml" => "https://coordinator:7600",
                "kubernetes/worker.yaml" => "https://arena-coordinator:7600",
                _ => "${ARENA_COORDINATOR}",
            };
            assert_eq!(used.value("--coordinator"), to, "{}", used.file);
        }
    }
}

#[test]
fn scrape_jobs_match_rules() {
    let config = yaml("prometheus/prometheus.yml");
    let [coordinator, worker] = list(&config["scrape_configs"]) else {
        panic!("two jobs");
    };
    assert_eq!(coordinator["job_name"], "arena-coordinator");
    assert_eq!(
        coordinator["static_configs"][0]["targets"],
        json!(["coordinator:7601"])
    );
    assert_eq!(worker["job_name"], "arena-worker");
    let found = &worker["dns_sd_configs"][0];
    assert_eq!(
        (&found["names"], &found["port"]),
        (&json!(["worker"]), &json!(7602))
    );
    assert_eq!(config["rule_files"], json!(["rules.yml"]));
    // Those of one machine are the same, without tokens.
    let local = yaml("prometheus/local.yml");
    for setting in ["global", "rule_files"] {
        assert_eq!(local[setting], config[setting], "{setting}");
    }
    let ports = ["7601", "7602"].map(|port| json!([format!("127.0.0.1:{port}")]));
    for ((job, port), like) in list(&local["scrape_configs"])
        .iter()
        .zip(ports)
        .zip([coordinator, worker])
    {
        let job_ = json!({"job_name": like["job_name"], "static_configs": [{"targets": port}]});
        assert_eq!(job, &job_);
    }
    for monitor in yamls("kubernetes/monitoring/pod-monitors.yaml") {
        let name = &monitor["metadata"]["name"];
        let endpoint = &monitor["spec"]["podMetricsEndpoints"][0];
        assert_eq!(endpoint["port"], "metrics");
        assert_eq!(
            endpoint["relabelings"][0],
            json!({"targetLabel": "job", "replacement": name})
        );
    }
}

#[test]
fn grafana_finds_prometheus_and_the_dashboards() {
    let compose = yaml("compose.yaml");
    let grafana = &compose["services"]["grafana"];
    let source = &yaml("grafana/provisioning/datasources/prometheus.yaml")["datasources"][0];
    assert_eq!(source["type"], "prometheus");
    assert_eq!(source["url"], "http://prometheus:9090");
    assert_eq!(source["isDefault"], true);
    let interval = &yaml("prometheus/prometheus.yml")["global"]["scrape_interval"];
    assert_eq!(&source["jsonData"]["timeInterval"], interval);
    let provider = &yaml("grafana/provisioning/dashboards/arena.yaml")["providers"][0];
    assert_eq!(provider["type"], "file");
    let mounted = format!(
        "./grafana/dashboards:{}:ro",
        text(&provider["options"]["path"])
    );
    assert!(
        list(&grafana["volumes"]).contains(&json!(mounted)),
        "{mounted}"
    );
    let provisioning = json!("./grafana/provisioning:/etc/grafana/provisioning:ro");
    assert!(list(&grafana["volumes"]).contains(&provisioning));
    let home = text(&grafana["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]);
    assert_eq!(home, "/etc/grafana/dashboards/overview.json");
}

#[test]
fn operator_manifests_are_complete() {
    let monitoring = yaml("kubernetes/monitoring/kustomization.yaml");
    let resources: Vec<&str> = list(&monitoring["resources"]).iter().map(text).collect();
    for resource in ["rules.yaml", "alertmanager.yaml", "../../grafana"] {
        assert!(resources.contains(&resource), "{resource}");
    }
    // A folder outside of another one needs its own kustomization.
    let grafana = yaml("grafana/kustomization.yaml");
    assert_eq!(
        grafana["generatorOptions"]["labels"]["grafana_dashboard"],
        "1"
    );
    let generated: BTreeSet<&str> = list(&grafana["configMapGenerator"])
        .iter()
        .flat_map(|it| list(&it["files"]))
        .map(text)
        .collect();
    let expected = ["agents", "fleet", "overview"].map(|name| format!("dashboards/{name}.json"));
    assert_eq!(
        generated,
        expected.iter().map(String::as_str).collect::<BTreeSet<_>>()
    );
    for map in list(&grafana["configMapGenerator"]) {
        let [file] = list(&map["files"]) else {
            panic!("one file each: {map}");
        };
        // `kubectl apply` stores a copy in an annotation, which is limited to 256 KiB.
        let content = json!(read(&deploy("grafana").join(text(file)))).to_string();
        assert!(content.len() < 200 << 10, "{file}: {} bytes", content.len());
    }
}

#[test]
fn image_uses_pinned_toolchain() {
    let root = repository();
    let dockerfile = read(&deploy("Dockerfile"));
    let toolchain: toml::Table =
        toml::from_str(&read(&root.join("rust-toolchain.toml"))).expect("TOML");
    let channel = toolchain["toolchain"]["channel"]
        .as_str()
        .expect("a channel");
    let minor = channel.rsplit_once('.').map_or(channel, |(minor, _)| minor);
    assert!(
        dockerfile.contains(&format!("FROM rust:{minor}-")),
        "not {minor}"
    );
    let images = dockerfile
        .lines()
        .filter(|line| line.starts_with("FROM ") && line.contains(':'));
    for image in images {
        assert!(image.contains("@sha256:"), "{image}: no digest");
    }
    assert!(dockerfile.contains("--locked --package arena-cli --bin arena --features release"));
    assert!(dockerfile.contains("\nUSER 10001:10001\n"));
    assert!(dockerfile.contains("strip -o /usr/local/bin/arena"));
    // Workers use the image stage with interpreters, which has to exist.
    let worker = &yaml("compose.yaml")["services"]["worker"]["build"];
    let stage = format!("\nFROM plain AS {}\n", text(&worker["target"]));
    assert!(dockerfile.contains(&stage), "{stage}");
    let ignored = read(&deploy("Dockerfile.dockerignore"));
    let let_in: BTreeSet<&str> = ignored
        .lines()
        .filter_map(|line| line.strip_prefix('!'))
        .collect();
    for name in &let_in {
        assert!(root.join(name).exists(), "{name} is not there");
    }
    let workspace: toml::Table = toml::from_str(&read(&root.join("Cargo.toml"))).expect("TOML");
    for member in workspace["workspace"]["members"]
        .as_array()
        .expect("members")
    {
        let top = member.as_str().and_then(|member| member.split('/').next());
        assert!(
            let_in.contains(top.expect("a path")),
            "{member} is left out"
        );
    }
}

#[test]
fn readme_lists_every_metric() {
    let readme = read(&deploy("README.md"));
    let reported: Vec<&str> = readme
        .lines()
        .filter(|line| line.starts_with("| `arena_"))
        .collect();
    let all = catalogue::ALL.into_iter().flatten();
    let expected: Vec<String> = all
        .map(|metric| {
            let labels: Vec<String> = metric
                .labels
                .iter()
                .map(|label| format!("`{label}`"))
                .collect();
            let labels = if labels.is_empty() {
                "–".to_owned()
            } else {
                labels.join(", ")
            };
            format!(
                "| `{}` | {} | {labels} | {} |",
                metric.name,
                metric.kind.name(),
                metric.help
            )
        })
        .collect();
    assert_eq!(reported.join("\n"), expected.join("\n"));
    for name in catalogue::PROCESS {
        assert!(
            readme.contains(&format!("`{name}`")),
            "{name} is not documented"
        );
    }
}

#[test]
fn readme_names_every_part_and_port() {
    let readme = read(&deploy("README.md"));
    for entry in fs::read_dir(deploy("")).expect("a folder") {
        let name = entry
            .expect("it can be read")
            .file_name()
            .display()
            .to_string();
        let reported = ["README.md", "Dockerfile.dockerignore"].contains(&name.as_str());
        assert!(
            reported || readme.contains(&name),
            "{name} is not documented"
        );
    }
    for port in ["7600", "7601", "7602", "9090", "9093", "3000"] {
        assert!(readme.contains(port), "port {port} is not documented");
    }
}
