#!/usr/bin/env python3
"""A UCI engine that misbehaves as its argument says, and writes what it gets to its log."""

import os
import sys
import time

import chess

mode = sys.argv[1] if len(sys.argv) > 1 else "good"
board = chess.Board()
for line in sys.stdin:
    print("got", line.strip(), file=sys.stderr, flush=True)
    words = line.split()
    if words[0] == "uci":
        print("Test engine, for tests alone")
        print("id name Tester\nid author Arena")
        print("option name Skill Level type spin default 20 min 0 max 20")
        print("option name UCI_Chess960 type check default false")
        print("option name Clear Hash type button\nuciok")
    elif words[0] == "isready":
        print("readyok")
    elif words[0] == "position":
        board = chess.Board(" ".join(words[2:8]), chess960="A" in words[4] or "h" in words[4].lower())
        for move in words[9:]:
            board.push_uci(move)
    elif words[0] == "go":
        print("at", time.time(), "on cores", *sorted(os.sched_getaffinity(0)), file=sys.stderr, flush=True)
        if mode == "slow":
            time.sleep(0.03)
        is_due = board.fullmove_number >= 8
        if is_due and mode == "crash":
            sys.exit(7)
        if is_due and mode == "hang":
            time.sleep(60)
        best = min(board.legal_moves, key=str)
        if is_due and mode == "resign":
            best = "0000"
        print(f"info depth 1 score cp 12 nodes 34 pv {best}")
        print(f"info string thinking\nbestmove {best} ponder e7e5")
    elif words[0] == "quit":
        break
    sys.stdout.flush()
