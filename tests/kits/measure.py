"""Measures the decisions a second of a kit, through the line protocol, in batches of 256:

    python tests/kits/measure.py python
    python tests/kits/measure.py python --random    a random policy without details of moves
    python tests/kits/measure.py javascript --grpc  the same policy with the TypeScript SDK

Without --random, it is the example policy, which needs the effects of moves.
"""

import json
import pathlib
import random
import sys
import tempfile
import threading
import time

from conftest import Agent, build

BATCH, BATCHES, ROUNDS = 256, 40, 20
RANDOM = {
    "python": (
        "agent.py",
        "from arena import serve\n"
        "serve(lambda decision: decision.rng.choice(decision.legal_moves),"
        ' name="random", omit_move_details=True)\n',
    ),
    "javascript": (
        "agent.js",
        'const { serve } = require("./arena.js");\n'
        "serve((decision) => decision.rng.choice(decision.legalMoves),"
        ' { name: "random", omit_move_details: true });\n',
    ),
}


def decision(draw, slot, has_details):
    """A decision of Kalah with three legal moves."""
    legal = [0, 2, 5]
    effects = {"stones": 4, "moves_again": draw.random() < 0.3, "banked": draw.randrange(2)}
    return {
        "slot": slot,
        "context": 0,
        "seat": slot % 2,
        "number": slot,
        "seed": str(draw.getrandbits(64)),
        "legal_moves": legal,
        "notations": ["A", "C", "F"] if has_details else [],
        "position": {
            "pits": 6,
            "board": [4, 0, 4, 0, 0, 4, 12, 4, 4, 4, 0, 4, 4, 4],
            "to_move": 0,
            "plies": 2,
            "moves": [{"id": move, "pit": move, **effects} for move in legal] if has_details else [],
        },
    }


def status(process, field):
    lines = pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines()
    return next(line.split()[1] for line in lines if line.startswith(field))


def cpu_seconds(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def batches_of(has_details):
    draw = random.Random(1)
    return [[decision(draw, slot, has_details) for slot in range(BATCH)] for _ in range(BATCHES)]


def measure(folder, has_details):
    batches = []
    for batch, decisions in enumerate(batches_of(has_details)):
        ask = {"type": "ask", "batch": batch, "time_budget_us": 0, "decisions": decisions}
        batches.append((json.dumps(ask, separators=(",", ":")) + "\n").encode())
    started = time.perf_counter()
    agent = Agent(folder)
    agent.ask({"type": "hello", "protocol": 1, "arena": "0.1.0"})
    milliseconds = 1000 * (time.perf_counter() - started)
    print(f"hello after {milliseconds:.0f} ms, {status(agent.process, 'VmHWM')} kB")
    game = {"type": "game", "context": 0, "ruleset": "kalah", "rules_version": 1, "seats": 2}
    agent.send({**game, "options": {}, "bot": "", "bot_options": {"again": "1"}, "nodes": "0"})

    def exchange():
        write = lambda: [agent.process.stdin.write(line) for line in batches * ROUNDS]
        writer = threading.Thread(target=lambda: (write(), agent.process.stdin.flush()))
        writer.start()
        for _ in range(BATCHES * ROUNDS):
            assert agent.process.stdout.readline().startswith(b'{"type":"answer"')
        writer.join()

    report(agent.process, exchange, len(batches[0]) // BATCH)
    agent.end()


def report(process, exchange, size):
    for _ in range(3):
        before, started = cpu_seconds(process), time.perf_counter()
        exchange()
        seconds, cpu = time.perf_counter() - started, cpu_seconds(process) - before
        count = BATCH * BATCHES * ROUNDS
        print(f"{count / seconds:,.0f} decisions/s, {count / cpu:,.0f} per second of CPU time")
    print(f"{status(process, 'VmHWM')} kB, {size} bytes a decision")


def measure_grpc(folder, policy, has_details):
    from typescript_sdk import Process, Sdk, kalah_pb2, pb

    sdk = Sdk(folder)
    (sdk.folder / "policy.js").write_text(policy.replace("./arena.js", "arena-agent"))
    program = sdk.package(folder / "bundle", "policy.js") / "dist/agent.js"
    process = Process(["node", str(program)], folder, sdk.environment)
    process.client.health()
    options = [pb.OptionValue(name="again", value="1")]
    context = pb.GameContext(ruleset="kalah", rules_version=1, seats=2, bot_options=options)
    requests = []
    for decisions in batches_of(has_details):
        for one in decisions:
            position = kalah_pb2.KalahPosition(**one["position"])
            one |= {"seed": int(one["seed"]), "position": position.SerializeToString()}
        decisions = [pb.Decision(**one) for one in decisions]
        requests.append(pb.ChooseMovesRequest(contexts=[context], decisions=decisions))

    def exchange():
        answers = list(process.client.stream(requests * ROUNDS))
        assert all(len(answer.choices) == BATCH for answer in answers)

    report(process.child, exchange, len(requests[0].SerializeToString()) // BATCH)
    process.close()


def main(lang, is_random, is_grpc):
    def edit(folder):
        name, text = RANDOM[lang]
        (folder / name).write_text(text)

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        agent = build(lang, folder / "kit", edit if is_random else None)
        if is_grpc:
            measure_grpc(folder, (agent / "agent.js").read_text(), not is_random)
        else:
            measure(agent, not is_random)


if __name__ == "__main__":
    main(sys.argv[1], "--random" in sys.argv[2:], "--grpc" in sys.argv[2:])
