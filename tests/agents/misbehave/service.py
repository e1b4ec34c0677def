"""The service that all modes answer through."""

import grpc
from arena_agent.proto import agent_pb2 as pb


class Service:
    """`arena.v1.AgentService` by hand: the SDK would not let any of this out."""

    def __init__(self, name, mode):
        self.name = name
        self.mode = mode

    def handler(self):
        kinds = {
            "Describe": (grpc.unary_unary_rpc_method_handler, self.describe, pb.DescribeRequest),
            "ChooseMove": (grpc.unary_unary_rpc_method_handler, self.choose, pb.ChooseMoveRequest),
            "ChooseMoves": (
                grpc.stream_stream_rpc_method_handler,
                self.choose_many,
                pb.ChooseMovesRequest,
            ),
        }
        handlers = {}
        for method in self.mode.methods:
            make, answer, request = kinds[method]
            handlers[method] = make(answer, request.FromString, encode)
        return grpc.method_handlers_generic_handler("arena.v1.AgentService", handlers)

    def describe(self, request, call):
        bot = pb.Bot(name=self.name, deterministic=self.mode.deterministic)
        return pb.DescribeResponse(name="misbehave", bots=[bot])

    def choose(self, request, call):
        move = self.mode.choose(request.decision, in_batch=False)
        return self.mode.send(pb.ChooseMoveResponse(move_id=move))

    def choose_many(self, requests, call):
        for request in requests:
            response = pb.ChooseMovesResponse(batch=request.batch)
            for decision in request.decisions:
                move = self.mode.choose(decision, in_batch=True)
                if move is not None:
                    response.choices.add(slot=decision.slot, move_id=move)
            yield from self.mode.send_batch(response)
            if self.mode.ends_stream:
                return


def encode(response):
    return response if isinstance(response, bytes) else response.SerializeToString()
