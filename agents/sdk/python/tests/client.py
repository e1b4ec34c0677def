"""A client as a worker is one, and positions made by hand."""

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from arena_agent.proto import agent_pb2 as pb
from arena_agent.proto import cowry_pb2, kalah_pb2

SERVICE = "/arena.v1.AgentService/"


class Client:
    def __init__(self, target):
        self.channel = grpc.insecure_channel(target)
        self._describe = self._unary("Describe", pb.DescribeRequest, pb.DescribeResponse)
        self._choose = self._unary("ChooseMove", pb.ChooseMoveRequest, pb.ChooseMoveResponse)
        self._stream = self.channel.stream_stream(
            SERVICE + "ChooseMoves",
            request_serializer=pb.ChooseMovesRequest.SerializeToString,
            response_deserializer=pb.ChooseMovesResponse.FromString,
        )

    def _unary(self, method, request, response):
        return self.channel.unary_unary(
            SERVICE + method,
            request_serializer=request.SerializeToString,
            response_deserializer=response.FromString,
        )

    def health(self, service=""):
        stub = health_pb2_grpc.HealthStub(self.channel)
        request = health_pb2.HealthCheckRequest(service=service)
        return stub.Check(request, wait_for_ready=True, timeout=30).status

    def describe(self):
        return self._describe(pb.DescribeRequest(), timeout=30)

    def choose(self, context, decision, **more):
        request = pb.ChooseMoveRequest(context=context, decision=decision, **more)
        return self._choose(request, timeout=30)

    def stream(self, requests):
        return self._stream(iter(requests), timeout=60)

    def choose_all(self, contexts, decisions):
        """One batch; the answers by slot."""
        request = pb.ChooseMovesRequest(contexts=contexts, decisions=decisions, batch=1)
        (response,) = self.stream([request])
        assert response.batch == 1
        return {choice.slot: choice for choice in response.choices}


def values(**options):
    return [pb.OptionValue(name=name, value=value) for name, value in sorted(options.items())]


def kalah_context(**more):
    options = values(
        pits="6", stones="4", empty_capture="opposite-nonempty", early_stop="false"
    )
    return pb.GameContext(ruleset="kalah", rules_version=1, options=options, seats=2, **more)


def kalah_decision(seed=1, **more):
    """The start of Kalah: pit 2 moves again, each other one banks what passes
    its store."""
    moves = [
        kalah_pb2.KalahMove(id=pit, pit=pit, stones=4, moves_again=pit == 2, banked=int(pit >= 2))
        for pit in range(6)
    ]
    position = kalah_pb2.KalahPosition(
        pits=6, board=[4] * 6 + [0] + [4] * 6 + [0], to_move=0, moves=moves
    )
    return pb.Decision(
        seed=seed,
        position=position.SerializeToString(),
        legal_moves=range(6),
        notations=[str(pit) for pit in range(6)],
        **more,
    )


def cowry_context(**more):
    options = values(board="5", dice="empirical", gate="true", variant="basic")
    return pb.GameContext(ruleset="cowry", rules_version=1, options=options, seats=4, **more)


def cowry_decision(seed=1, **more):
    """Blue of the paper's table VI with a throw of 2, as seat 1 of 2: piece 0
    reaches 12, piece 2 hits on 6, piece 3 goes to 14."""
    moves = [
        cowry_pb2.CowryMove(id=(4 + piece) * 2, value=2, piece=piece, to=to, hits=hits, **{"from": to - 2})
        for piece, to, hits in ((0, 12, 0), (2, 6, 1), (3, 14, 0))
    ]
    position = cowry_pb2.CowryPosition(
        board=5,
        seats=2,
        to_move=1,
        pieces=bytes([14, 3, 24, 0, 10, 23, 4, 12]),
        hit_mask=0b11,
        pool=[0, 1, 0, 0, 0],
        phase=cowry_pb2.COWRY_PHASE_MOVE,
        moves=moves,
    )
    return pb.Decision(
        seat=1,
        seed=seed,
        position=position.SerializeToString(),
        legal_moves=[move.id for move in moves],
        notations=["2:0", "2:2", "2:3"],
        **more,
    )
