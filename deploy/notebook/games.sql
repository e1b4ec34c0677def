-- Scores of agents in all tournaments, from a folder of Parquet files, with DuckDB:
--
--     arena export --all --table games --format parquet --folder games
--     pip install duckdb
--     python3 -c 'import duckdb; duckdb.sql(open("games.sql").read()).show()'
--
-- DuckDB reads only the columns and tournaments that a query needs. Games of two seats have one other seat,
-- so that a win is 1 and a draw a half.
WITH games AS (
    SELECT * FROM read_parquet('games/*/*.parquet', hive_partitioning = true, union_by_name = true)
),
played AS (
    SELECT tournament_id, block, seat_0 AS agent, placement_0 AS own, placement_1 AS other FROM games
    UNION ALL
    SELECT tournament_id, block, seat_1, placement_1, placement_0 FROM games
)
SELECT
    tournament_id,
    agent,
    count(*) AS games,
    avg(CASE WHEN own < other THEN 1.0 WHEN own = other THEN 0.5 ELSE 0.0 END) AS score
FROM played
WHERE own IS NOT NULL
GROUP BY ALL
ORDER BY tournament_id, score DESC;
