#!/usr/bin/env python3
"""An agent that reports scores, by lines alone. In Kalah a score is the lead in tens of stones, in chess 0.
It draws its moves from the seed."""

import json
import os
import sys

output = os.fdopen(os.dup(1), "w")
sys.stdout = sys.stderr
games = {}
says = {
    "name": "says",
    "type": "choice",
    "choices": ["truth", "sometimes", "nothing", "wins", "loses"],
    "default_value": "truth",
}
bot = {
    "name": "scorer",
    "deterministic": True,
    "rulesets": ["kalah", "chess"],
    "uses_seed": "yes",
    "options": [says],
}


def say(message):
    output.write(json.dumps(message) + "\n")
    output.flush()


def choose(decision):
    legal = decision["legal_moves"]
    seed = int(decision["seed"])
    return legal[seed % len(legal)]


def info(decision):
    game = games[decision["context"]]
    said = game["bot_options"]["says"]
    if said == "nothing":
        return {"depth": 1}
    if said == "sometimes" and int(decision["seed"]) % 4 == 0:
        return {"depth": 1}
    if said in ("wins", "loses"):
        return {"score": 1000 if said == "wins" else -1000}
    if game["ruleset"] == "chess":
        return {"score": 0.0}
    pits, board = decision["position"]["pits"], decision["position"]["board"]
    lead = board[pits] - board[2 * pits + 1]
    return {"score": (lead if decision["seat"] == 0 else -lead) / 10}


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        say({"type": "hello", "protocol": 1, "name": "scorer", "version": "1", "bots": [bot]})
    elif message["type"] == "game":
        games[message["context"]] = message
    elif message["type"] == "ask":
        decisions = message["decisions"]
        moves, found = [choose(it) for it in decisions], [info(it) for it in decisions]
        say({"type": "answer", "batch": message["batch"], "moves": moves, "info": found})
