//! The tables for queries equal the standings and the games.

use std::fs;

use arena_store::server::PostgresServer;
use arena_tests::{Games, World, repository, spec, until};
use serde_json::Value;

use super::on_server;

/// Rows of a query as JSON.
fn rows(server: &PostgresServer, query: &str) -> Vec<Value> {
    let query = format!("SELECT coalesce(json_agg(row), '[]') FROM ({query}) AS row");
    serde_json::from_str(&server.sql("arena", &query)).expect("JSON")
}

/// Waits until the tables have a finished tournament with this number of games as rows.
fn wait_tables(server: &PostgresServer, games: usize) {
    let query = "SELECT (SELECT count(*) FROM arena.games), (SELECT count(*) FROM \
                 arena.leaderboard WHERE state = 'finished')";
    let expected = format!("{games}|3");
    until("the tables to be up to date", || {
        (server.sql("arena", query) == expected).then_some(())
    });
}

/// Fails if the tables differ from the standings and the export.
#[track_caller]
fn tables_are_right(server: &PostgresServer, standings: &Value, games: &Games) {
    let found = rows(
        server,
        "SELECT * FROM arena.standings ORDER BY place, agent",
    );
    let agents = standings["agents"].as_array().expect("agents");
    assert_eq!(found.len(), agents.len());
    for (found, agent) in found.iter().zip(agents) {
        let columns = found.as_object().expect("an object");
        let columns = columns.iter().filter(|(name, _)| *name != "tournament");
        for (name, value) in columns {
            // Times are measured, and not among these standings.
            if !name.starts_with("latency") {
                // JSON of PostgreSQL has 17 for 17.0.
                let equal = value == &agent[name]
                    || value.is_number() && value.as_f64() == agent[name].as_f64();
                assert!(equal, "{name}: {value}: {agent}");
            }
        }
        let of = |sum: &str| {
            let query = format!(
                "SELECT {sum} AS sum FROM arena.game_agents WHERE agent = {}",
                format_args!("'{}'", agent["agent"].as_str().expect("a name"))
            );
            rows(server, &query)[0]["sum"].clone()
        };
        assert_eq!(of("count(*) FILTER (WHERE won)"), agent["wins"]);
        assert_eq!(of("count(*) FILTER (WHERE drawn)"), agent["draws"]);
        let query = format!(
            "SELECT coalesce(sum(faults), 0)::bigint AS sum FROM arena.agent_faults WHERE agent = '{}'",
            agent["agent"].as_str().expect("a name")
        );
        assert_eq!(rows(server, &query)[0]["sum"], agent["faults"]);
    }
    let pairs = "SELECT * FROM arena.pairs";
    for pair in rows(server, pairs) {
        let place = |game: &Value, name: &Value| {
            let seats = game["seats"].as_array().expect("seats");
            let seat = seats.iter().position(|it| it == name)?;
            game["placement"][seat].as_u64()
        };
        let before = games.games.iter().filter(|game| {
            let places = place(game, &pair["agent"]).zip(place(game, &pair["opponent"]));
            places.is_some_and(|(one, other)| one < other)
        });
        assert_eq!(pair["before"], before.count(), "{pair}");
    }
    let found = rows(
        server,
        "SELECT game AS index, block, agents AS seats, placement, scores, plies, termination, hash \
         FROM arena.games ORDER BY game",
    );
    assert_eq!(found.len(), games.games.len());
    for (found, game) in found.iter().zip(&games.games) {
        for (name, value) in found.as_object().expect("an object") {
            assert_eq!(value, &game[name], "{name}: {game}");
        }
    }
}

#[test]
fn tables_for_queries_equal_standings_and_games() {
    on_server(|server, url| {
        let world = World::with_python();
        let agent = world.misbehave();
        let sql = ["--store", url, "--sql-games"];
        let coordinator = world.coordinator("data", &sql);
        let address = coordinator.url();
        let access = ["--coordinator", &*address];
        let register = ["agent", "register", "mine", "--binary", &agent];
        let register = [&register[..], &access, &["--", "illegal"]].concat();
        let _ = world.arena(&register).ok();
        let spec = spec("sql", "cowry", 5, &["random", "aggressive", "mine"], "");
        let worker = world.worker(&coordinator, &[]);
        let id = world.start_tournament("sql", &spec, &address);
        world.end_tournament(&id, &address);
        worker.stop();
        let games = world.export(&id, access);
        let standings = world.standings(&id, access);
        assert_ne!(standings["agents"][2]["faults"], 0, "{standings}");
        wait_tables(server, games.games.len());
        tables_are_right(server, &standings, &games);
        let agents = rows(server, "SELECT agent, kind, content FROM arena.agents");
        assert_eq!(agents.len(), 1, "{agents:?}");
        assert_eq!(
            (&agents[0]["agent"], &agents[0]["kind"]),
            (&"mine".into(), &"binary".into())
        );

        // The queries of the page have answers.
        let page = fs::read_to_string(repository().join("deploy/SQL.md")).expect("a page");
        let queries: Vec<&str> = page.split("```sql\n").skip(1).collect();
        assert!(queries.len() >= 6, "{page}");
        for query in queries {
            let query = query.split("```").next().expect("an end");
            let query = query
                .trim()
                .trim_end_matches(';')
                .replace("$tournament", &id);
            assert!(!rows(server, &query).is_empty(), "no rows: {query}");
        }

        // What is deleted is written again: while the coordinator runs,
        server.sql(
            "arena",
            "TRUNCATE arena.tournaments, arena.standings, arena.games",
        );
        wait_tables(server, games.games.len());
        tables_are_right(server, &standings, &games);
        coordinator.stop();
        // and by the next one. Rows of what the store does not have are removed.
        server.sql("arena", "DELETE FROM arena.games WHERE game % 3 = 0");
        server.sql(
            "arena",
            "DELETE FROM arena.tournaments; INSERT INTO arena.standings \
             SELECT 'gone', agent, place, games, wins, draws, losses, voids, faults, blocks, points, \
             score, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, \
             NULL, NULL, non_deterministic FROM arena.standings; \
             INSERT INTO arena.tournaments VALUES ('gone', '', '', '', 'finished', '', now(), now(), 1, 1, \
             1, now())",
        );
        let coordinator = world.coordinator("data", &sql);
        wait_tables(server, games.games.len());
        tables_are_right(server, &standings, &games);
        coordinator.stop();
        world.nothing_runs();
    });
}
