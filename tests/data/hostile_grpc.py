"""Serves the rules of `game.py` over gRPC. The first argument names the promise that is broken: one of
`game.py`, or one of the protocol."""

import os
import signal
import sys
import time
import uuid

import grpc
from game import Hostile

from arena_agent.proto import rules_pb2 as pb
from arena_agent.rules import RulesService
from arena_agent.server import run

MODE = sys.argv[1] if len(sys.argv) > 1 else "none"


class Broken(RulesService):
    """The service, until the tenth move of a game."""

    def handler(self):
        return Handler(super().handler())

    def _describe(self, request):
        answer = super()._describe(request)
        if MODE == "describes":
            answer.summary = str(uuid.uuid4())
        return answer

    def broken(self, request, call):
        """An answer to `Apply` as bytes."""
        answer = self._answering(self._apply)(request, call)
        if '"moves":10,' in answer.nodes[0].state:
            if MODE == "fewer":
                del answer.nodes[-1]
            if MODE == "node":
                answer.nodes[0].next = pb.RULES_NEXT_UNSPECIFIED
            if MODE == "seat":
                answer.nodes[0].seat = 300
            if MODE == "position":
                answer.nodes[0].position_json = "{"
            if MODE == "huge":
                answer.nodes[0].state = "x" * (5 << 20)
            if MODE == "many":
                answer.nodes.extend([pb.RulesNode()] * 100000)
            if MODE == "garbage":
                return b"\xff\xff\xff\xff"
            if MODE == "unavailable":
                call.abort(grpc.StatusCode.UNAVAILABLE, "come back later")
            if MODE == "prints":
                while True:
                    print("x" * 10000)
        return answer.SerializeToString()


class Handler(grpc.GenericRpcHandler):
    """All methods but `Apply` as they are."""

    def __init__(self, methods):
        self._methods = methods

    def service(self, details):
        if not details.method.endswith("/Apply"):
            return self._methods.service(details)
        if MODE == "unimplemented":
            return None
        return grpc.unary_unary_rpc_method_handler(
            service.broken, request_deserializer=pb.ApplyRequest.FromString, response_serializer=None
        )


if MODE == "killed":
    # The system kills processes before they are ready, until this time.
    time.sleep(0.5)
    if time.time() < float(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
if MODE == "deaf":
    print("not listening", file=sys.stderr)
    time.sleep(3600)
service = Broken(Hostile)
run(lambda: service, None)
