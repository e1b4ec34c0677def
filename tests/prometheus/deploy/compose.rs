//! The compose file: its ports, its volumes, and its services as processes of this machine.

use std::{
    collections::BTreeMap,
    os::unix::fs::{PermissionsExt, symlink},
};

use arena_tests::{Server, World, until};

use super::{super::live::Prometheus, *};

/// The folder of all files in the containers.
const HOME: &str = "/var/lib/arena";
/// The files of the tokens of the coordinator's and the workers' metrics.
const TOKENS: [&str; 2] = ["metrics/token", "metrics/worker-token"];

#[test]
fn compose_publishes_to_this_host_only() {
    let compose = yaml("compose.yaml");
    let services = compose["services"].as_object().expect("services");
    let names: Vec<&str> = services.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "alertmanager",
            "certificates",
            "coordinator",
            "grafana",
            "metrics-token",
            "prometheus",
            "worker"
        ]
    );
    assert_eq!(services["worker"]["deploy"]["replicas"], 2);
    for (name, service) in services {
        for port in list(&service["ports"]) {
            assert!(
                text(port).starts_with("127.0.0.1:"),
                "{name} publishes {port}"
            );
        }
        for volume in list(&service["volumes"]) {
            let from = text(volume).split(':').next().expect("a source");
            match from.strip_prefix("./") {
                Some(file) => assert!(deploy(file).exists(), "{name}: {from} is not there"),
                None => assert!(
                    compose["volumes"].get(from).is_some(),
                    "{name}: no volume {from}"
                ),
            }
        }
        let image = text(&service["image"]);
        assert!(
            ["arena", "arena-agents"].contains(&image)
                || [":v2.", ":11.", ":v0."].iter().any(|it| image.contains(it)),
            "{image}"
        );
    }
    assert_eq!(
        services["certificates"]["build"]["dockerfile"],
        "deploy/Dockerfile"
    );
}

#[test]
fn compose_asks_scrapes_for_a_token() {
    let services = &yaml("compose.yaml")["services"];
    let file = read(&deploy("compose.yaml"));
    assert!(!file.contains("--metrics-public"), "everyone reads metrics");
    let volumes =
        |name: &str| -> Vec<&str> { list(&services[name]["volumes"]).iter().map(text).collect() };
    let made = volumes("metrics-token");
    assert!(made.contains(&"arena-metrics:/var/lib/arena/metrics"));
    assert!(made.contains(&"arena-worker:/var/lib/arena/worker"));
    // Prometheus has what stands next to its configuration, and no key.
    let mounted = volumes("prometheus");
    assert!(mounted.contains(&"arena-metrics:/etc/prometheus/arena:ro"));
    for secret in ["arena-data", "arena-tls"] {
        assert!(!mounted.iter().any(|it| it.starts_with(secret)), "{secret}");
    }
    let jobs = &yaml("prometheus/prometheus.yml")["scrape_configs"];
    for (job, file) in list(jobs).iter().zip(["token", "worker-token"]) {
        let file = format!("arena/{file}");
        assert_eq!(job["authorization"], json!({"credentials_file": file}));
    }
    assert_eq!(jobs[0]["scheme"], "https");
    assert_eq!(jobs[0]["tls_config"], json!({"ca_file": "arena/ca.pem"}));
    let dockerfile = read(&deploy("Dockerfile"));
    let group = text(&services["prometheus"]["group_add"][0]);
    assert!(
        dockerfile.contains(&format!("\nUSER 10001:{group}\n")),
        "{group}"
    );
    for name in ["worker", "prometheus"] {
        let condition = &services[name]["depends_on"]["metrics-token"]["condition"];
        assert_eq!(condition, "service_completed_successfully", "{name}");
    }
}

/// The folders below the home of the image that are volumes of a service.
fn mounted(service: &Value) -> impl Iterator<Item = &Path> {
    let folders = list(&service["volumes"]).iter().map(|volume| {
        let folder = text(volume).split(':').nth(1);
        Path::new(folder.expect("a folder"))
    });
    folders.filter(|folder| folder.starts_with(HOME))
}

#[test]
fn compose_gives_services_what_they_use() {
    let services = &yaml("compose.yaml")["services"];
    let worker = &services["worker"];
    assert_eq!(
        worker["volumes"],
        json!(["arena-worker:/var/lib/arena/worker:ro"])
    );
    for other in [
        "configs",
        "env_file",
        "environment",
        "extends",
        "secrets",
        "volumes_from",
    ] {
        assert_eq!(worker[other], Value::Null, "{other}");
    }
    let all = services.as_object().expect("services");
    let users = |volume: &str| -> Vec<&str> {
        let uses = |service: &Value| {
            let mut volumes = list(&service["volumes"]).iter();
            volumes.any(|it| text(it).split(':').next() == Some(volume))
        };
        let users = all.iter().filter(|(_, service)| uses(service));
        users.map(|(name, _)| name.as_str()).collect()
    };
    assert_eq!(users("arena-data"), ["coordinator", "metrics-token"]);
    // The keys of the authority and of the coordinator.
    assert_eq!(users("arena-tls"), ["certificates", "coordinator"]);
    assert_eq!(
        users("arena-worker"),
        ["certificates", "metrics-token", "worker"]
    );
    // The token that reads the coordinator.
    assert_eq!(users("arena-metrics"), ["metrics-token", "prometheus"]);

    // New volumes belong to the user of the image.
    let dockerfile = read(&deploy("Dockerfile"));
    let made = dockerfile
        .lines()
        .find_map(|line| line.strip_prefix("RUN mkdir "));
    let names = made.expect("folders").split(' ');
    let made: BTreeSet<_> = names.map(|name| Path::new(HOME).join(name)).collect();
    let of_all: BTreeSet<_> = all.values().flat_map(mounted).map(Path::to_owned).collect();
    assert_eq!(made, of_all);
    for (name, service) in all {
        let words = [
            &service["entrypoint"],
            &service["command"],
            &service["healthcheck"]["test"],
        ];
        let words = words.into_iter().flat_map(list).map(text);
        for path in words.flat_map(str::split_whitespace).map(Path::new) {
            let is_mounted = mounted(service).any(|folder| path.starts_with(folder));
            assert!(
                is_mounted || !path.starts_with(HOME),
                "{name} uses {}, which it does not mount",
                path.display()
            );
        }
    }
}

/// The services of the compose file, as processes on ports of their own.
struct Services {
    world: World,
    services: Value,
}

impl Services {
    fn words(&self, words: &Value, ports: &[(&str, &str)]) -> Vec<String> {
        let home = self.world.folder().display().to_string();
        let word = |word: &Value| {
            // Compose replaces variables, of which `$$` is none.
            let word = text(word).replace(HOME, &home).replace("$$", "$");
            ports
                .iter()
                .fold(word, |word, (from, to)| word.replace(from, to))
        };
        list(words).iter().map(word).collect()
    }

    fn server(&self, name: &str, ports: &[(&str, &str)]) -> Server {
        let words = self.words(&self.services[name]["command"], ports);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        self.world.server(&words)
    }

    /// Runs a service that ends by itself, and returns what it printed.
    fn run(&self, name: &str) -> String {
        let service = &self.services[name];
        let words = [&service["entrypoint"], &service["command"]];
        let words = words.map(|it| self.words(it, &[])).concat();
        let mut command = self.world.command(&words[0]);
        let path = format!(
            "{}:{}",
            arena().parent().expect("a folder").display(),
            self.world.path()
        );
        command.args(&words[1..]).env("PATH", path);
        let made = self.world.run(command).ok();
        made.stdout + &made.stderr
    }

    /// Makes the tokens of the coordinator's and the workers' metrics.
    fn make_tokens(&self) -> [String; 2] {
        let output = self.run("metrics-token");
        TOKENS.map(|file| {
            let token = read(&self.world.folder().join(file));
            let (_, secret) = token.trim().rsplit_once('-').expect("a secret");
            assert!(!output.contains(secret), "{output}");
            token
        })
    }

    /// The files of a volume with their contents.
    fn volume(&self, name: &str) -> BTreeMap<String, String> {
        let entries = fs::read_dir(self.world.folder().join(name)).expect("a folder");
        let file = |entry: fs::DirEntry| {
            let name = entry.file_name().display().to_string();
            (name, read(&entry.path()))
        };
        entries
            .map(|entry| file(entry.expect("it can be read")))
            .collect()
    }

    /// The volume of workers has exactly what they need: no key of others, and no token that opens
    /// anything.
    fn check_worker(&self, tokens: &[String; 2]) {
        let [worker, tls, metrics] = ["worker", "tls", "metrics"].map(|name| self.volume(name));
        let certificates = ["ca.pem", "worker-compose.key", "worker-compose.pem"];
        let names: Vec<&str> = worker.keys().map(String::as_str).collect();
        assert_eq!(names, [&certificates[..], &["worker-token"]].concat());
        for name in certificates {
            assert_eq!(worker[name], tls[name], "{name}");
        }
        assert_eq!(worker["worker-token"], tokens[1]);
        assert_ne!(tokens[0], tokens[1]);
        for (name, content) in &worker {
            for secret in [&tls["ca.key"], &tls["server.key"], &tokens[0]] {
                assert!(!content.contains(secret.trim()), "{name}");
            }
            let file = self.world.folder().join("worker").join(name);
            let mode = fs::metadata(file).expect("a file").permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{name}");
        }
        // What Prometheus mounts.
        let names: Vec<&str> = metrics.keys().map(String::as_str).collect();
        assert_eq!(names, ["ca.pem", "token", "worker-token"]);
    }
}

/// Waits until Prometheus has this result of the last scrape of each job: its health and a part
/// of its error.
#[track_caller]
fn wait_for_targets(prometheus: &Prometheus, health: &str, error: &str, jobs: usize) {
    until(health, || {
        let targets = prometheus.api("targets?state=active");
        let targets = list(&targets["activeTargets"]);
        let is_so = |target: &Value| {
            target["health"] == health && text(&target["lastError"]).contains(error)
        };
        (targets.len() == jobs && targets.iter().all(is_so)).then_some(())
    });
}

#[test]
fn prometheus_scrapes_compose_with_its_token() {
    let world = World::new();
    for folder in ["data", "tls", "worker", "metrics"] {
        fs::create_dir(world.folder().join(folder)).expect("a folder");
    }
    let services = yaml("compose.yaml")["services"].clone();
    let compose = Services { world, services };
    let world = &compose.world;
    let _ = compose.run("certificates");
    let ports = [
        ("0.0.0.0:7600", "127.0.0.1:0"),
        ("0.0.0.0:7601", "0.0.0.0:0"),
    ];
    let coordinator = compose.server("coordinator", &ports);
    let port = |address: &str| address.rsplit_once(':').expect("a port").1.to_owned();
    let metrics = format!("127.0.0.1:{}", port(coordinator.metrics_address()));
    let health = &compose.services["coordinator"]["healthcheck"]["test"];
    let health = compose.words(health, &[("127.0.0.1:7601", &metrics)]);
    let health: Vec<&str> = health[2..].iter().map(String::as_str).collect();
    let _ = world.arena(&health).ok();

    let tokens = compose.make_tokens();
    compose.check_worker(&tokens);
    // A second `up` keeps the authority and the tokens, and gives workers the new certificate.
    let first = compose.volume("worker");
    let _ = compose.run("certificates");
    assert_eq!(compose.make_tokens(), tokens, "a second start made others");
    compose.check_worker(&tokens);
    let second = compose.volume("worker");
    assert_eq!(first["ca.pem"], second["ca.pem"]);
    assert_ne!(first["worker-compose.pem"], second["worker-compose.pem"]);
    // The coordinator accepts the token of its own metrics only.
    let url = format!("https://{}", coordinator.listen());
    let ask = |token: &str| {
        let access = ["--tls-ca", "worker/ca.pem", "--token-file", token];
        world.arena(&[&["agent", "list", "--coordinator", &url][..], &access].concat())
    };
    let _ = ask("metrics/token").ok();
    let _ = ask("worker/worker-token").fails(1, &["was revoked"]);
    for file in TOKENS.into_iter().chain(["metrics/ca.pem"]) {
        let made = fs::metadata(world.folder().join(file)).expect("a file");
        assert_eq!(made.permissions().mode() & 0o777, 0o640, "{file}");
    }
    let ports = [
        ("coordinator:7600", coordinator.listen()),
        ("0.0.0.0:7602", "0.0.0.0:0"),
    ];
    let worker = compose.server("worker", &ports);
    let of_worker = format!("127.0.0.1:{}", port(worker.metrics_address()));

    // What the container mounts.
    symlink("metrics", world.folder().join("arena")).expect("a link");
    let mut config = yaml("prometheus/prometheus.yml");
    config["global"] = json!({"scrape_interval": "200ms"});
    config["rule_files"] = json!([]);
    config["alerting"] = json!({});
    config["scrape_configs"][0]["static_configs"][0]["targets"] = json!([metrics]);
    let job = config["scrape_configs"][1].as_object_mut().expect("a job");
    job.remove("dns_sd_configs");
    job.insert(
        "static_configs".to_owned(),
        json!([{"targets": [of_worker]}]),
    );
    let Some(prometheus) = Prometheus::start_with(world, &config) else {
        return;
    };
    wait_for_targets(&prometheus, "up", "", 2);
    // A target is up before its first samples can be read.
    until("the coordinator's figures", || {
        (prometheus.query("arena_workers").len() == 1).then_some(())
    });

    // Prometheus reads the files at each scrape. The token of workers opens nothing else.
    let [file, file_of_workers] = TOKENS.map(|file| world.folder().join(file));
    fs::write(&file, &tokens[1]).expect("a file");
    fs::write(&file_of_workers, &tokens[0]).expect("a file");
    wait_for_targets(&prometheus, "down", "401", 2);
    fs::write(&file, &tokens[0]).expect("a file");
    fs::write(&file_of_workers, &tokens[1]).expect("a file");
    wait_for_targets(&prometheus, "up", "", 2);
    let data = world.folder().join("data").display().to_string();
    let revoke = ["token", "revoke", tokens[0].trim(), "--data", &data];
    let _ = world.arena(&revoke).ok();
    until("the coordinator's refusal", || {
        let up = prometheus.query("up{job=\"arena-coordinator\"}");
        up.iter().any(|(_, value)| value == "0").then_some(())
    });
    drop(prometheus);
    worker.stop();
    coordinator.stop();
    world.nothing_runs();
}

/// The configuration that the page about other people shows.
#[test]
fn prometheus_scrapes_as_the_page_says() {
    let page = read(&deploy("OTHERS.md"));
    let config = page
        .split_once("```yaml\n")
        .and_then(|(_, rest)| rest.split_once("```"));
    let (config, _) = config.expect("a configuration");
    let mut config: Value = serde_norway::from_str(config).expect("YAML");
    let world = World::new();
    let _ = world
        .arena(&["tls", "init", "tls", "--host", "127.0.0.1"])
        .ok();
    let files = [
        "--tls-cert",
        "tls/server.pem",
        "--tls-key",
        "tls/server.key",
    ];
    let flags = [&files[..], &["--metrics", "0.0.0.0:0"]].concat();
    let coordinator = world.coordinator("company", &flags);
    let create = ["token", "create", "--data", "company", "--role", "viewer"];
    let write = ["--write", "prometheus.token"];
    let _ = world.arena(&[&create[..], &write].concat()).ok();
    config["global"] = json!({"scrape_interval": "200ms"});
    let target = &mut config["scrape_configs"][0]["static_configs"][0]["targets"];
    assert_eq!(*target, json!(["127.0.0.1:7601"]));
    *target = json!([coordinator
        .metrics_address()
        .replace("0.0.0.0", "127.0.0.1")]);
    let Some(prometheus) = Prometheus::start_with(&world, &config) else {
        return;
    };
    wait_for_targets(&prometheus, "up", "", 1);
    let token = read(&world.folder().join("prometheus.token"));
    let _ = world
        .arena(&["token", "revoke", token.trim(), "--data", "company"])
        .ok();
    wait_for_targets(&prometheus, "down", "401", 1);
    drop(prometheus);
    coordinator.stop();
    world.nothing_runs();
}
