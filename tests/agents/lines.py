#!/usr/bin/env python3
"""An agent that speaks lines, from agents/PROTOCOL.md alone. CHANGES is code that tests put in."""

import json
import os
import signal
import sys
import time

output = os.fdopen(os.dup(1), "w")
sys.stdout = sys.stderr
games = {}
bot = {"name": "lines", "deterministic": True, "rulesets": ["kalah"], "uses_seed": "yes"}


def say(message):
    output.write(json.dumps(message) + "\n")
    output.flush()


def choose(decision):
    legal = decision["legal_moves"]
    return legal[int(decision["seed"]) % len(legal)]


def answer(decisions):
    return [choose(decision) for decision in decisions]


CHANGES = ""
exec(CHANGES)

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        say({"type": "hello", "protocol": 1, "name": "lines", "version": "1", "bots": [bot]})
    elif message["type"] == "game":
        games[message["context"]] = message
    elif message["type"] == "ask":
        moves = answer(message["decisions"])
        say({"type": "answer", "batch": message["batch"], "moves": moves})
