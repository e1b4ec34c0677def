-- Tables for people, which the owner writes after the results, outside of commits
-- (services/store/src/tables.rs). Nothing reads them back: what is deleted is written again.

CREATE TABLE arena.tournaments (
    tournament text PRIMARY KEY,
    name text NOT NULL,
    ruleset text NOT NULL,
    format text NOT NULL,
    state text NOT NULL,
    owner text NOT NULL,
    created timestamptz NOT NULL,
    finished timestamptz,
    generation integer NOT NULL,
    games_total bigint NOT NULL,
    games_done bigint NOT NULL,
    refreshed timestamptz NOT NULL
);

-- Columns as in `arena standings --output json`.
CREATE TABLE arena.standings (
    tournament text NOT NULL,
    agent text NOT NULL,
    place integer,
    games bigint NOT NULL,
    wins bigint NOT NULL,
    draws bigint NOT NULL,
    losses bigint NOT NULL,
    voids bigint NOT NULL,
    faults bigint NOT NULL,
    blocks bigint NOT NULL,
    points double precision NOT NULL,
    score double precision,
    score_low double precision,
    score_high double precision,
    score_anytime_low double precision,
    score_anytime_high double precision,
    score_adjusted double precision,
    score_adjusted_low double precision,
    score_adjusted_high double precision,
    rating double precision,
    rating_low double precision,
    rating_high double precision,
    win_rate double precision,
    win_rate_low double precision,
    win_rate_high double precision,
    plies_mean double precision,
    latency_us_p50 double precision,
    latency_us_p99 double precision,
    non_deterministic boolean NOT NULL,
    PRIMARY KEY (tournament, agent)
);

CREATE TABLE arena.agents (
    agent text PRIMARY KEY,
    version text NOT NULL,
    kind text NOT NULL,
    bot text NOT NULL,
    -- SHA-256 of its files, arguments and limits; empty without files.
    content text NOT NULL,
    owner text NOT NULL,
    registered timestamptz NOT NULL
);

-- Filled with --sql-games. Arrays have a value for each seat, and begin with seat 0.
CREATE TABLE arena.games (
    tournament text NOT NULL,
    game bigint NOT NULL,
    block bigint NOT NULL,
    agents text[] NOT NULL,
    -- From 1, shared by equal seats; empty for a game without a result.
    placement integer[] NOT NULL,
    scores bigint[] NOT NULL,
    plies integer NOT NULL,
    termination text NOT NULL,
    -- Kinds of faults, each with the agent that made it.
    faults text[] NOT NULL,
    fault_agents text[] NOT NULL,
    hash text NOT NULL,
    PRIMARY KEY (tournament, game)
);

-- A row for each seat of a game.
CREATE VIEW arena.game_agents AS
SELECT g.tournament, g.game, g.block, (s.place - 1)::integer AS seat, s.agent, s.rank, s.score,
    s.rank = 1 AND winners.number = 1 AS won,
    s.rank = 1 AND winners.number > 1 AS drawn
FROM arena.games AS g
CROSS JOIN LATERAL unnest(g.agents, g.placement, g.scores)
    WITH ORDINALITY AS s (agent, rank, score, place)
CROSS JOIN LATERAL (
    SELECT count(*) AS number FROM unnest(g.placement) AS p (rank) WHERE p.rank = 1
) AS winners;

-- Each agent against each other one: games, and how often it was placed before, like and behind it.
CREATE VIEW arena.pairs AS
SELECT one.tournament, one.agent, other.agent AS opponent, count(*) AS games,
    count(*) FILTER (WHERE one.rank < other.rank) AS before,
    count(*) FILTER (WHERE one.rank = other.rank) AS equal,
    count(*) FILTER (WHERE one.rank > other.rank) AS behind
FROM arena.game_agents AS one
JOIN arena.game_agents AS other USING (tournament, game)
WHERE one.seat <> other.seat AND one.rank IS NOT NULL
GROUP BY one.tournament, one.agent, other.agent;

-- Standings with the name, ruleset and state of the tournament.
CREATE VIEW arena.leaderboard AS
SELECT t.name, t.ruleset, t.format, t.state, t.created, t.finished, t.refreshed, s.*
FROM arena.standings AS s JOIN arena.tournaments AS t USING (tournament);

-- Faults by tournament, agent and kind.
CREATE VIEW arena.agent_faults AS
SELECT g.tournament, f.agent, f.kind, count(*) AS faults
FROM arena.games AS g CROSS JOIN LATERAL unnest(g.fault_agents, g.faults) AS f (agent, kind)
GROUP BY g.tournament, f.agent, f.kind;
