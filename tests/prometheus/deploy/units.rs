//! Kubernetes manifests and systemd units.

use super::*;

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
    let world = arena_tests::World::new();
    let packed = Command::new(deploy("release"))
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
