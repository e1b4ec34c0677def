"""A tournament as data frames: run it as it is, or a part at a time in a notebook.

    arena export ID --format parquet --table games --out games.parquet
    arena export ID --format parquet --table decisions --out decisions.parquet
    pip install polars
"""

# %% What there is: one row a game, one row a decision.
import polars as pl

games = pl.read_parquet("games.parquet")
decisions = pl.read_parquet("decisions.parquet")

# %% One row for each agent in each game.
seats = [column for column in games.columns if column.startswith("seat_")]
played = pl.concat(
    games.select(
        "game_id",
        "block",
        "plies",
        seat=pl.lit(number),
        agent=seat,
        rank=f"placement_{number}",
        # Seats beaten and half of those tied, of all others.
        score=(
            sum(
                (pl.col(f"placement_{number}") < pl.col(f"placement_{other}")).cast(pl.Float64)
                + (pl.col(f"placement_{number}") == pl.col(f"placement_{other}")).cast(pl.Float64) / 2
                for other in range(len(seats))
                if other != number
            )
            / (len(seats) - 1)
        ),
    )
    for number, seat in enumerate(seats)
).filter(pl.col("rank").is_not_null())

# %% Who scores what, and from which seat.
scores = played.group_by("agent").agg(
    pl.len().alias("games"), pl.col("score").mean(), pl.col("plies").mean()
)
print(scores.sort("score", descending=True))
print(played.pivot("seat", index="agent", values="score", aggregate_function="mean").sort("agent"))

# %% Games of a block share their luck, so blocks are what varies.
blocks = played.group_by("agent", "block").agg(pl.col("score").mean())
print(
    blocks.group_by("agent")
    .agg(
        pl.col("score").mean(),
        error=pl.col("score").std() / pl.len().sqrt(),
    )
    .sort("score", descending=True)
)

# %% What is played after which throw.
moves = (
    decisions.filter(pl.col("drawn") != "")
    .group_by("agent", "drawn", "move")
    .len("times")
    .sort("times", descending=True)
)
print(moves.head(10))
