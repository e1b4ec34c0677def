"""PGN exports, as the package `chess` reads them."""

import io

import chess.pgn
import pytest


# Answers the first decisions of a game with a legal move, and then with a move that is never legal.
ILLEGAL = """#!/usr/bin/env python3
import json, sys
print('{"type":"hello","protocol":1,"name":"illegal"}', flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "ask":
        moves = [asked["legal_moves"][0] if asked["position"]["plies"] < 6 else 0 for asked in message["decisions"]]
        print(json.dumps({"type": "answer", "batch": message["batch"], "moves": moves}), flush=True)
"""


def games(text):
    stream = io.StringIO(text)
    while game := chess.pgn.read_game(stream):
        yield game


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"variant": "chess960"},
        {"variant": "chess960", "start": 0},
        {"fen": "r3k2r/8/8/8/8/8/4P3/R3K2R b KQkq - 3 17"},
        {"max_plies": 31},
    ],
)
def test_another_program_reads_the_games(arena, options):
    bots = {"one": ("random", {}), "two": ("greedy", {})}
    played = arena.tournament("pgn", "chess", ["one", "two"], 4, bots=bots, options=options)
    text = arena.run("export", played.id, "--format", "pgn", "--data", "data")
    assert max(map(len, text.splitlines())) < 255
    found = list(games(text))
    assert len(found) == len(played.records)
    for game, record in zip(found, played.records):
        assert game.errors == []
        tags = game.headers
        assert [tags["White"], tags["Black"]] == record["seats"]
        assert tags["GameId"] == record["game_id"]
        assert tags["Round"] == str(record["block"] + 1)
        assert int(tags["PlyCount"]) == record["plies"]
        ranks = tuple(record["placement"])
        assert tags["Result"] == {(1, 2): "1-0", (2, 1): "0-1", (1, 1): "1/2-1/2"}[ranks]
        capped = record["termination"] == "cap"
        assert tags["Termination"] == ("adjudication" if capped else "normal")
        board = game.board()
        assert board.chess960 == (options.get("variant") == "chess960")
        if "fen" in options:
            assert board.fen() == options["fen"]
        for move, event in zip(
            game.mainline_moves(), [event for event in record["events"] if "action" in event], strict=True
        ):
            assert board.san(move) == event["move"]
            board.push(move)
        outcome = board.outcome()
        assert outcome is None or outcome.result() == tags["Result"]


def test_forfeit_is_named(arena):
    program = arena.folder / "illegal"
    program.write_text(ILLEGAL)
    program.chmod(0o755)
    arena.register("illegal", program)
    bots = {"two": ("random", {})}
    played = arena.tournament("pgn", "chess", ["illegal", "two"], 2, bots=bots, codes=(0, 1))
    text = arena.run("export", played.id, "--format", "pgn", "--data", "data")
    ends = [(game.headers["Termination"], game.errors) for game in games(text)]
    faulty = [bool(record["fault"]) for record in played.records]
    assert any(faulty)
    expected = [("rules infraction" if fault else "normal", []) for fault in faulty]
    assert ends == expected


def test_other_rulesets_have_no_pgn(arena):
    bots = {"one": ("random", {}), "two": ("greedy", {})}
    played = arena.tournament("pgn", "kalah", ["one", "two"], 1, bots=bots)
    found = arena.errors("export", played.id, "--format", "pgn", "--data", "data", codes=(2,))
    assert "plays kalah: PGN is a format for chess" in found
