//! Kubernetes manifests and systemd units.

use arena_tests::World;

use super::*;

/// `kubectl` of the README: the pod of the coordinator is this machine, and a Secret a folder.
const KUBECTL: &str = r#"
kubectl() {
    case "$*" in
    *' exec arena-coordinator-0 -- '*)
        while [ "$1" != -- ]; do shift; done
        shift
        "$@"
        ;;
    *' create secret generic '*)
        while [ "$1" != generic ]; do shift; done
        secret=secrets/$2
        shift 2
        mkdir -p "$secret"
        for file; do
            file=${file#--from-file=}
            cp "${file#*=}" "$secret/$(basename "${file%%=*}")"
        done
        ;;
    esac
}
"#;

#[test]
fn kubernetes_scales_workers_on_queue() {
    for folder in ["kubernetes", "kubernetes/monitoring"] {
        let kustomization = match folder {
            "kubernetes" => yaml("kubernetes/kustomization.yaml"),
            _ => yaml("kubernetes/monitoring/kustomization.yaml"),
        };
        for resource in list(&kustomization["resources"]) {
            assert!(
                deploy(folder).join(text(resource)).exists(),
                "{folder}: {resource}"
            );
        }
    }
    let coordinator = yamls("kubernetes/coordinator.yaml");
    let workers = yamls("kubernetes/worker.yaml");
    let [service, set] = &coordinator[..] else {
        panic!("service and set")
    };
    assert_eq!(
        (&service["kind"], &set["kind"]),
        (&json!("Service"), &json!("StatefulSet"))
    );
    assert_eq!(set["spec"]["replicas"], 1);
    assert_eq!(service["spec"]["ports"][0]["port"], 7600);
    assert_eq!(workers[0]["kind"], "Deployment");
    for (pods, port) in [(set, 7601), (&workers[0], 7602)] {
        let labels = &pods["spec"]["template"]["metadata"]["labels"];
        assert_eq!(&pods["spec"]["selector"]["matchLabels"], labels);
        let pod = &pods["spec"]["template"]["spec"];
        assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
        let container = &pod["containers"][0];
        assert_eq!(
            container["securityContext"]["allowPrivilegeEscalation"],
            false
        );
        assert!(container["resources"]["limits"]["memory"].is_string());
        let named = list(&container["ports"])
            .iter()
            .find(|port| port["name"] == "metrics");
        assert_eq!(named.expect("a port for metrics")["containerPort"], port);
        let mut expected = json!({"path": "/healthz", "port": "metrics"});
        if port == 7601 {
            expected["scheme"] = json!("HTTPS");
        }
        assert_eq!(container["readinessProbe"]["httpGet"], expected);
        if port == 7601 {
            // A standby is alive, but not ready.
            expected["path"] = json!("/livez");
            assert_eq!(container["startupProbe"]["httpGet"], expected);
        }
        assert_eq!(container["livenessProbe"]["httpGet"], expected);
    }

    let scaler = yaml("kubernetes/monitoring/autoscaling.yaml");
    assert_eq!(
        scaler["spec"]["scaleTargetRef"]["name"],
        workers[0]["metadata"]["name"]
    );
    let metric = &scaler["spec"]["metrics"][0]["external"]["metric"]["name"];
    let gauge = catalogue::COORDINATOR
        .iter()
        .find(|known| metric == known.name);
    assert_eq!(
        gauge.map(|gauge| gauge.kind),
        Some(catalogue::MetricKind::Gauge),
        "{metric}"
    );
    let adapter = yaml("kubernetes/monitoring/adapter-values.yaml");
    assert_eq!(&adapter["rules"]["external"][0]["name"]["as"], metric);
    let series = text(&adapter["rules"]["external"][0]["seriesQuery"]);
    assert!(series.starts_with(text(metric)));
    assert_eq!(
        yaml("kubernetes/namespace.yaml")["metadata"]["name"],
        "arena"
    );
    let policies = yamls("kubernetes/network-policy.yaml");
    for (policy, pods) in policies.iter().zip([&workers[0], set]) {
        assert_eq!(
            policy["spec"]["podSelector"]["matchLabels"],
            pods["spec"]["selector"]["matchLabels"]
        );
    }
}

#[test]
fn kubernetes_workers_have_secrets_of_their_own() {
    let [coordinator, workers, backup] = [
        "kubernetes/coordinator.yaml",
        "kubernetes/worker.yaml",
        "kubernetes/backup.yaml",
    ]
    .map(|file| json!(yamls(file)));
    let monitors = yamls("kubernetes/monitoring/pod-monitors.yaml");
    let [of_coordinator, of_workers] = &monitors[..] else {
        panic!("two monitors");
    };
    assert_eq!(of_coordinator["metadata"]["name"], "arena-coordinator");
    assert_eq!(of_workers["metadata"]["name"], "arena-worker");
    assert_eq!(
        secrets(&workers),
        BTreeSet::from(["arena-worker-metrics", "arena-worker-tls"])
    );
    let endpoint = &of_workers["spec"]["podMetricsEndpoints"][0];
    let credentials = json!({"name": "arena-worker-metrics", "key": "token"});
    assert_eq!(
        endpoint["authorization"],
        json!({"credentials": credentials})
    );
    assert_eq!(
        secrets(of_workers),
        BTreeSet::from(["arena-worker-metrics"])
    );
    assert_eq!(secrets(of_coordinator), BTreeSet::from(["arena-metrics"]));
    assert_eq!(
        secrets(&coordinator),
        BTreeSet::from(["arena-coordinator-tls"])
    );
    assert_eq!(secrets(&backup), BTreeSet::from(["arena-backup"]));
}

/// The commands of the README, with a coordinator of this machine.
#[test]
fn readme_makes_the_secrets_of_kubernetes() {
    let readme = read(&deploy("README.md"));
    let first =
        "arena tls init tls --host arena-coordinator --host localhost --client worker:kubernetes";
    let start = readme.find(first).expect("the commands");
    let (commands, _) = readme[start..].split_once("```").expect("their end");
    let world = World::new();
    let coordinator = world.coordinator("data", &[]);
    let mut command = world.command("sh");
    let path = format!(
        "{}:{}",
        arena().parent().expect("a folder").display(),
        world.path()
    );
    command
        .args(["-euc", &format!("{KUBECTL}{commands}")])
        .env("PATH", path)
        .env("ARENA_DATA", world.folder().join("data"));
    let _ = world.run(command).ok();

    let folder = |name: &str| {
        let entries = fs::read_dir(world.folder().join(name)).expect("a folder");
        let name = |entry: fs::DirEntry| entry.file_name().display().to_string();
        let names = entries.map(|entry| name(entry.expect("it can be read")));
        names.collect::<BTreeSet<_>>()
    };
    let content = |name: &str| read(&world.folder().join(name));
    let expected = [
        "arena-coordinator-tls",
        "arena-metrics",
        "arena-worker-metrics",
        "arena-worker-tls",
    ];
    assert_eq!(
        folder("secrets"),
        BTreeSet::from(expected.map(str::to_owned))
    );
    for (secret, files) in [
        (
            "arena-coordinator-tls",
            [
                ("ca.crt", "ca.pem"),
                ("tls.crt", "server.pem"),
                ("tls.key", "server.key"),
            ],
        ),
        (
            "arena-worker-tls",
            [
                ("ca.crt", "ca.pem"),
                ("tls.crt", "worker-kubernetes.pem"),
                ("tls.key", "worker-kubernetes.key"),
            ],
        ),
    ] {
        let secret = format!("secrets/{secret}");
        let keys = BTreeSet::from(files.map(|(key, _)| key.to_owned()));
        assert_eq!(folder(&secret), keys, "{secret}");
        for (key, file) in files {
            let of_secret = content(&format!("{secret}/{key}"));
            assert_eq!(of_secret, content(&format!("tls/{file}")), "{secret}");
        }
    }
    // Only the token that workers do not have opens anything.
    for (secret, keys) in [
        ("arena-metrics", &["ca.crt", "token"][..]),
        ("arena-worker-metrics", &["token"]),
    ] {
        let keys = keys.iter().map(ToString::to_string).collect();
        assert_eq!(folder(&format!("secrets/{secret}")), keys, "{secret}");
    }
    let url = coordinator.url();
    let ask = |secret: &str| {
        let token = format!("secrets/{secret}/token");
        let access = ["--coordinator", &url, "--token-file", &token];
        world.arena(&[&["agent", "list"][..], &access].concat())
    };
    let _ = ask("arena-metrics").ok();
    let _ = ask("arena-worker-metrics").fails(1, &["was revoked"]);
    coordinator.stop();
    world.nothing_runs();
}

#[test]
fn systemd_units_are_valid_and_hardened() {
    let folder = tempfile::tempdir().expect("a folder");
    for file in UNITS {
        let unit = read(&deploy(file));
        for line in [
            "DynamicUser=yes",
            "NoNewPrivileges=yes",
            "ProtectSystem=strict",
            "ProtectHome=yes",
            "CapabilityBoundingSet=",
            "SystemCallFilter=@system-service",
            "RestrictSUIDSGID=yes",
            "TimeoutStopSec=20s",
        ] {
            assert!(unit.lines().any(|found| found == line), "{file}: no {line}");
        }
        // systemd requires that the program exists, as it does after the installation.
        let installed = unit.replace("/usr/local/bin/arena", "/bin/true");
        let name = file.rsplit('/').next().expect("a name");
        fs::write(folder.path().join(name), installed).expect("a file can be written");
    }
    let timer = "arena-backup.timer";
    fs::copy(
        deploy(&format!("systemd/{timer}")),
        folder.path().join(timer),
    )
    .expect("a file");
    for file in UNITS.into_iter().chain(["systemd/arena-backup.timer"]) {
        let name = file.rsplit('/').next().expect("a name");
        let path = folder.path().join(name).display().to_string();
        if let Some(output) = tool("systemd-analyze", &["verify", &path], "") {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{file}: {said}");
            assert!(!said.contains(name), "{file}: {said}");
        }
    }
}

#[test]
fn release_is_complete() {
    let world = World::new();
    // tests/release.rs checks the list of crates.
    let packed = Command::new(deploy("release"))
        .arg("--without-crate-list")
        .env("ARENA_BIN", arena())
        .env("CARGO_TARGET_DIR", world.folder())
        .output()
        .expect("a script");
    let errors = String::from_utf8_lossy(&packed.stderr).into_owned();
    assert!(packed.status.success(), "{errors}");
    let path = String::from_utf8_lossy(&packed.stdout).trim().to_owned();
    let listed = Command::new("tar").args(["-tzf", &path]).output();
    let listed = String::from_utf8_lossy(&listed.expect("tar").stdout).into_owned();
    for file in ["/arena", "/man/arena-run.1", "/LICENSE-MIT", "/README.md"] {
        assert!(
            listed.lines().any(|line| line.ends_with(file)),
            "{file}: {listed}"
        );
    }
    let folder = Path::new(&path).parent().expect("a folder");
    let checked = Command::new("sha256sum")
        .args(["--check", &format!("{path}.sha256")])
        .current_dir(folder)
        .status();
    assert!(checked.expect("sha256sum").success());
}

#[test]
fn workflows_run_existing_scripts() {
    let folder = repository().join(".github/workflows");
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("a file").path();
        let text = fs::read_to_string(&path).expect("a workflow");
        let workflow: Value = serde_norway::from_str(&text).expect("YAML");
        let jobs = workflow["jobs"].as_object().expect("jobs");
        let mut steps = 0;
        for step in jobs
            .values()
            .flat_map(|job| job["steps"].as_array())
            .flatten()
        {
            steps += 1;
            assert!(
                step["uses"].is_string() || step["run"].is_string(),
                "{step}"
            );
            if let Some(action) = step["uses"].as_str() {
                let (_, commit) = action.split_once('@').expect("a version");
                let pinned = commit.len() == 40 && commit.chars().all(|c| c.is_ascii_hexdigit());
                assert!(pinned, "{action}: not pinned to a commit");
            }
            let first = step["run"]
                .as_str()
                .and_then(|run| run.split_whitespace().next());
            if let Some(script) = first.filter(|word| word.contains('/')) {
                assert!(repository().join(script).is_file(), "{script}");
            }
        }
        assert!(steps > 0, "{}", path.display());
    }
}
