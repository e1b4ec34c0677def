"""An agent process, asked over its socket."""

import socket
import textwrap

import grpc
import pytest
from client import cowry_context, cowry_decision, kalah_context, kalah_decision, values
from conftest import SDK
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase,
)

from arena_agent.proto import agent_pb2 as pb

GREEDY = SDK / "examples" / "greedy.py"

FIRST = """
class First(Agent):
    name = "first"

    def choose(self, decision):
        return decision.legal[0]

serve(First())
"""

PICKY = """
class Picky(Agent):
    name = "picky"

    def choose(self, decision):
        if decision.number == 13:
            raise RuntimeError("unlucky")
        if decision.number == 14:
            return None
        return decision.legal[-1]

serve(Picky())
"""


def test_example_plays_alone_and_in_batches(start):
    client = start(GREEDY).client
    assert client.choose(kalah_context(), kalah_decision()).move_id == 2
    assert client.choose(cowry_context(), cowry_decision()).move_id == 12
    answers = client.choose_all(
        [kalah_context(), cowry_context()],
        [cowry_decision(slot=slot, context=1) for slot in (0, 2)]
        + [kalah_decision(slot=slot, context=0) for slot in (1, 3)],
    )
    assert {slot: choice.move_id for slot, choice in answers.items()} == {0: 12, 1: 2, 2: 12, 3: 2}


def test_example_is_deterministic(start):
    client = start(GREEDY).client
    description = client.describe()
    assert (description.name, description.version) == ("greedy", "1.0.0")
    (bot,) = description.bots
    assert bot.deterministic and list(bot.rulesets) == ["cowry", "kalah"]
    assert not description.omit_move_details


def test_ties_follow_the_seed_only(start):
    script = """
    class Lots(Agent):
        name = "lots"

        def choose(self, decision):
            return decision.rng.choice(decision.legal)

    serve(Lots())
    """
    decisions = [kalah_decision(seed=seed, slot=seed) for seed in range(200)]
    moves = []
    for _ in range(2):
        client = start(script).client
        answers = client.choose_all([kalah_context()], decisions)
        moves.append([answers[seed].move_id for seed in range(200)])
        alone = client.choose(kalah_context(), kalah_decision(seed=7)).move_id
        assert alone == moves[0][7]
    assert moves[0] == moves[1]
    assert set(moves[0]) == set(range(6))


def test_health_and_reflection_answer(start):
    client = start(FIRST).client
    assert client.health() == health_pb2.HealthCheckResponse.SERVING
    assert client.health("arena.v1.AgentService") == health_pb2.HealthCheckResponse.SERVING
    database = ProtoReflectionDescriptorDatabase(client.channel)
    assert "arena.v1.AgentService" in database.get_services()
    found = database.FindFileContainingSymbol("arena.v1.AgentService")
    assert found.name == "arena/v1/agent.proto"


def free_address():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


def test_agent_listens_on_a_port(start):
    client = start(FIRST, listen=free_address()).client
    assert client.choose(kalah_context(), kalah_decision()).move_id == 0


def test_port_in_use_is_reported(start):
    first = start(FIRST, listen=free_address())
    second = start(FIRST, listen=first.listen, ready=False)
    assert second.child.wait(30) == 1
    assert f"cannot listen on {first.listen}" in second.stderr()


def test_exception_is_the_error_of_its_call(start):
    process = start(PICKY)
    with pytest.raises(grpc.RpcError) as failure:
        process.client.choose(kalah_context(), kalah_decision(number=13))
    assert failure.value.code() == grpc.StatusCode.INTERNAL
    assert failure.value.details() == "RuntimeError: unlucky"
    assert 'raise RuntimeError("unlucky")' in process.stderr()
    assert "<Decision 13 of seat 0 in kalah, seed 0x0000000000000001" in process.stderr()
    assert process.client.choose(kalah_context(), kalah_decision()).move_id == 5


def test_exception_in_a_batch_fails_one_answer(start):
    process = start(PICKY)
    decisions = [kalah_decision(slot=slot, number=slot) for slot in range(30)]
    answers = process.client.choose_all([kalah_context()], decisions)
    assert set(answers) == set(range(30)) - {13, 14}
    assert "RuntimeError: unlucky" in process.stderr()
    assert "(and 1 more failures in this batch)" in process.stderr()


def test_invalid_move_is_a_named_error(start):
    process = start(PICKY)
    with pytest.raises(grpc.RpcError) as failure:
        process.client.choose(kalah_context(), kalah_decision(number=14))
    assert "choose gave None; give one of decision.legal" in failure.value.details()


def test_one_process_serves_several_bots(start):
    script = """
    class Nth(Agent):
        name = "nth"
        version = "3"
        options = (Option("n", 1, "which move", low=0, high=5), Option("back", False))

        def choose(self, decision):
            n = decision.bot_options["n"]
            return decision.legal[-1 - n if decision.bot_options["back"] else n]

    class Last(Agent):
        name = "last"

        def choose(self, decision):
            return Choice(decision.legal[-1], score=0.5, depth=3, nodes=7, variation=(5, "x"))

    serve(Nth(), Last())
    """
    client = start(script).client
    description = client.describe()
    assert [bot.name for bot in description.bots] == ["nth", "last"]
    option = description.bots[0].options[0]
    assert (option.name, option.type) == ("n", pb.OPTION_TYPE_INTEGER)
    assert (option.default_value, option.min, option.max) == ("1", "0", "5")
    contexts = [
        kalah_context(),
        kalah_context(bot="nth", bot_options=values(n="2", back="true")),
        kalah_context(bot="last"),
        kalah_context(bot="nobody"),
    ]
    decisions = [kalah_decision(slot=slot, context=slot) for slot in range(5)]
    answers = client.choose_all(contexts, decisions)
    assert {slot: choice.move_id for slot, choice in answers.items()} == {0: 1, 1: 3, 2: 5}
    info = answers[2].info
    assert (info.score, info.depth, info.nodes, list(info.variation)) == (0.5, 3, 7, ["5", "x"])
    with pytest.raises(grpc.RpcError) as failure:
        client.choose(contexts[3], decisions[0])
    assert failure.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert "this process offers nth, last" in failure.value.details()


def test_decision_has_all_request_fields(start):
    script = """
    class Witness(Agent):
        name = "witness"

        def choose(self, decision):
            assert decision.ruleset == "cowry" and decision.rules_version == 1
            assert decision.options == {
                "board": 5, "dice": "empirical", "gate": True, "variant": "basic"
            }
            assert (decision.seat, decision.seats, decision.number) == (1, 4, 9)
            assert decision.seed == 2**64 - 1
            assert decision.legal == [8, 12, 14]
            assert decision.notations == ["2:0", "2:2", "2:3"]
            assert decision.position.pieces[4] == 10
            assert [move.to for move in decision.moves] == [12, 6, 14]
            assert decision.time_budget == 2.5
            assert (decision.time_left, decision.increment, decision.moves_to_go) == (8.5, 0.1, 3)
            assert decision.times_left == [9.0, 8.5] and decision.nodes == 77
            return 8

    serve(Witness())
    """
    client = start(script).client
    decision = cowry_decision(seed=2**64 - 1, number=9)
    clock = decision.clock
    clock.left_us, clock.increment_us, clock.moves_to_go = 8_500_000, 100_000, 3
    clock.seats_left_us.extend([9_000_000, 8_500_000])
    context = cowry_context()
    context.nodes = 77
    answer = client.choose(context, decision, time_budget_us=2_500_000)
    assert answer.move_id == 8
    assert answer.info.HasField("thinking_us")


def test_sticky_agent_sees_the_game(start):
    script = """
    class Follower(Agent):
        name = "follower"
        sticky = True

        def choose(self, decision):
            assert decision.game == b"g1", decision.game
            assert decision.past_moves == [(1, 300), (0, 2)], decision.past_moves
            return decision.legal[0]

    serve(Follower())
    """
    client = start(script).client
    assert client.describe().sticky
    decision = cowry_decision(seed=1, number=1)
    decision.game = b"g1"
    decision.moves.add(seat=1, move_id=300)
    decision.moves.add(seat=0, move_id=2)
    assert client.choose(cowry_context(), decision).move_id == decision.legal_moves[0]


def test_agent_can_choose_for_a_batch(start):
    script = """
    class Together(Agent):
        name = "together"
        move_details = False
        batch_size = 64

        def choose(self, decision):
            return decision.legal[0]

        def choose_batch(self, decisions):
            if any(decision.number == 13 for decision in decisions):
                raise RuntimeError("the whole batch")
            return [None if decision.number == 2 else decision.legal[-1] for decision in decisions]

    serve(Together())
    """
    process = start(script)
    description = process.client.describe()
    assert description.omit_move_details and description.batch_size == 64
    decisions = [kalah_decision(slot=slot, number=slot) for slot in range(4)]
    answers = process.client.choose_all([kalah_context()], decisions)
    assert {slot: choice.move_id for slot, choice in answers.items()} == {0: 5, 1: 5, 3: 5}
    assert process.client.choose(kalah_context(), decisions[0]).move_id == 0
    assert process.client.choose_all([kalah_context()], [kalah_decision(number=13)]) == {}
    assert "RuntimeError: the whole batch" in process.stderr()


def test_calls_to_one_agent_are_serialised(start):
    script = """
    import time

    class Alone(Agent):
        name = "alone"
        inside = 0

        def choose(self, decision):
            self.inside += 1
            time.sleep(0.001)
            assert self.inside == 1
            self.inside -= 1
            return decision.legal[0]

    serve(Alone())
    """
    client = start(script).client
    request = pb.ChooseMovesRequest(
        contexts=[kalah_context()], decisions=[kalah_decision(slot=slot) for slot in range(20)]
    )
    streams = [client.stream([request, request]) for _ in range(8)]
    for stream in streams:
        assert [len(response.choices) for response in stream] == [20, 20]


def test_sigterm_ends_the_agent(start):
    process = start(FIRST)
    client = process.client
    assert client.choose(kalah_context(), kalah_decision()).move_id == 0
    assert process.terminate() == 0


def test_sigterm_ends_an_agent_wherever_it_is(start):
    script = """
    import os, signal, sys, threading

    def reported(frame, event, argument):
        # The thread holds the lock of the condition here.
        waits = event == "call" and frame.f_code is threading.Condition.wait.__code__
        if waits and signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
            sys.settrace(None)
            os.kill(os.getpid(), signal.SIGTERM)

    class First(Agent):
        name = "first"

        def choose(self, decision):
            return decision.legal[0]

    sys.settrace(reported)
    serve(First())
    """
    agent = start(textwrap.dedent(script))
    assert agent.terminate() == 0


def test_sigterm_ends_an_agent_when_another_thread_gets_it(start):
    script = """
    import os, signal, threading, time

    class First(Agent):
        name = "first"

        def choose(self, decision):
            return decision.legal[0]

    def signalled():
        me = threading.get_ident()
        time.sleep(0.5)
        # A signal that an agent uses itself ends nothing.
        signal.pthread_kill(me, signal.SIGUSR1)
        time.sleep(0.5)
        print("goes on", file=sys.stderr, flush=True)
        signal.pthread_kill(me, signal.SIGTERM)

    import sys
    signal.signal(signal.SIGUSR1, lambda *_: None)
    threading.Thread(target=signalled, daemon=True).start()
    serve(First())
    """
    agent = start(textwrap.dedent(script), ready=False)
    assert agent.child.wait(30) == 0
    assert "goes on" in agent.stderr()


def test_sigterm_ends_an_agent_with_open_stream(start):
    process = start(FIRST)
    requests = iter([pb.ChooseMovesRequest(contexts=[kalah_context()], decisions=[kalah_decision()])])

    def endless():
        yield next(requests)
        process.child.wait()

    stream = process.client.stream(endless())
    assert len(next(stream).choices) == 1
    assert process.terminate() == 0


def test_sigterm_ends_a_thinking_agent(start):
    script = """
    import sys, time

    class Stuck(Agent):
        name = "stuck"

        def choose(self, decision):
            print("thinking", file=sys.stderr, flush=True)
            while True:
                time.sleep(0.01)

    serve(Stuck())
    """
    process = start(script)
    request = pb.ChooseMovesRequest(contexts=[kalah_context()], decisions=[kalah_decision()])
    stream = process.client.stream([request])
    while "thinking" not in process.stderr():
        assert stream.is_active()
    assert process.client.health() == health_pb2.HealthCheckResponse.SERVING
    assert process.terminate() == 1
    assert "still thinking" in process.stderr()


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("class A(Agent): pass\nserve(A())", "A.name is ''"),
        ("class A(Agent): name = 'a'\nserve(A(), A())", "two agents are called 'a'"),
        ("serve()", "serve at least one agent"),
    ],
)
def test_unservable_agent_is_reported(start, script, message):
    process = start(script, ready=False)
    assert process.child.wait(30) == 1
    assert message in process.stderr()
