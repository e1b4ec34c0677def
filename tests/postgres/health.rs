//! What probes see of coordinators with a database.

use super::*;

#[test]
fn standby_is_alive_and_not_ready() {
    on_server(|_, url| {
        let world = World::new();
        let _ = world
            .arena(&["tls", "init", "tls", "--host", "127.0.0.1"])
            .ok();
        let tls = [
            "--tls-cert",
            "tls/server.pem",
            "--tls-key",
            "tls/server.key",
        ];
        for (data, more) in [("two", &[][..]), ("three", &tls)] {
            let owner = world.coordinator("one", &["--store", url]);
            let [metrics, web] = free_addresses();
            let mut arguments = vec!["coordinator", "--data", data, "--store", url];
            arguments.extend(["--listen", "127.0.0.1:0"]);
            arguments.extend(["--metrics", &metrics, "--web", &web]);
            arguments.extend(more);
            let standby = world.start(&arguments);
            until("a standby", || {
                standby.stderr().contains("standing by").then_some(())
            });
            let health = || match more {
                [] => world.arena(&["health", &metrics]),
                _ => {
                    let place = format!("https://{metrics}");
                    world.arena(&["health", &place, "--tls-ca", "tls/ca.pem"])
                }
            };
            let _ = health().fails(1, &["standing by: another coordinator owns the store"]);
            if more.is_empty() {
                assert_eq!(get(&metrics, "/livez").as_deref(), Some("ok\n"));
            }
            assert!(TcpStream::connect(&web).is_err(), "the pages do not answer");
            owner.stop();
            until("the standby to listen", || {
                standby.stdout().contains("listen").then_some(())
            });
            let _ = health().ok();
            assert!(TcpStream::connect(&web).is_ok());
            standby.signal(nix::sys::signal::Signal::SIGTERM);
            assert_eq!(standby.output().code, Some(0));
        }
        world.nothing_runs();
    });
}

#[test]
fn health_follows_the_database() {
    on_server(|server, url| {
        let world = World::new();
        let coordinator = world.coordinator("data", &["--store", url]);
        let address = coordinator.metrics_address();
        let health = || world.arena(&["health", address]);
        let _ = health().ok();
        server.stop_immediately();
        until("the health to change", || {
            (health().code == Some(1)).then_some(())
        });
        let _ = health().fails(1, &["could not renew the lease of postgres://"]);
        // A restart of the coordinator would not help.
        assert_eq!(get(address, "/livez").as_deref(), Some("ok\n"));
        server.start_again();
        let well = || (health().code == Some(0)).then_some(());
        until("the health to return", well);
        // The lease cannot be renewed for a while, although the server is there.
        thread::scope(|scope| {
            let lock = "BEGIN; LOCK arena.owner; SELECT pg_sleep(8); COMMIT";
            let locking = scope.spawn(|| server.sql("arena", lock));
            until("the health to change", || {
                (health().code == Some(1)).then_some(())
            });
            let _ = health().fails(1, &["the server does not answer"]);
            let _ = locking.join();
        });
        until("the health to return", well);
        coordinator.stop();
    });
}
