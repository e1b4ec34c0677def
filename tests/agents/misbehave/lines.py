"""The modes over lines, by hand as well."""

import json
import os
import sys
import threading
import time
import types

from arena_agent.proto import agent_pb2 as pb
from common import FOR_EVER
from connection import Drip
from process import IgnoresSigterm


class Lines:
    """Standard input and output, in the role of a server."""

    def __init__(self, name, mode):
        self.name = name
        self.mode = mode
        self.writing = threading.Lock()

    def stop(self, grace):
        """Closes the connection."""
        os.close(0)
        os.close(1)

    def write(self, text):
        line = text.encode() + b"\n"
        with self.writing:
            if not isinstance(self.mode, Drip):
                while line:
                    line = line[os.write(1, line) :]
            for byte in line:
                os.write(1, bytes([byte]))
                time.sleep(self.mode.pause)

    def hello(self):
        bot = {"name": self.name, "deterministic": self.mode.deterministic}
        hello = {"type": "hello", "protocol": 1, "name": "misbehave", "bots": [bot]}
        if self.mode.methods == ("ChooseMove",):
            hello["batch_size"] = 1
        self.write(json.dumps(hello))

    def ask(self, batch, decisions):
        # One decision is asked alone.
        in_batch = len(decisions) > 1
        response = pb.ChooseMovesResponse(batch=batch)
        for decision in decisions:
            try:
                move = self.mode.choose(decision, in_batch)
            except Exception as error:
                return self.error(batch, error)
            if move is not None:
                response.choices.add(slot=decision.slot, move_id=move)
        if in_batch:
            for part in self.mode.send_batch(response):
                self.answer(batch, part)
            if self.mode.ends_stream or len(response.choices) < len(decisions):
                self.error(batch, "the rest has no answer")
        else:
            self.answer(batch, self.mode.send(response))

    def answer(self, batch, response):
        if isinstance(response, bytes):
            return self.write(json.dumps({"type": "answer", "batch": batch, "moves": str(response)}))
        answer = {
            "type": "answer",
            "batch": response.batch,
            "slots": [choice.slot for choice in response.choices],
            "moves": [choice.move_id for choice in response.choices],
            "info": [info(choice.info) for choice in response.choices],
        }
        if response.HasField("thinking_us"):
            answer["thinking_us"] = response.thinking_us
        self.write(json.dumps(answer))

    def error(self, batch, message):
        self.write(json.dumps({"type": "error", "batch": batch, "message": str(message)}))


def info(found):
    fields = {field.name: value for field, value in found.ListFields()}
    if "variation" in fields:
        fields["variation"] = list(fields["variation"])
    if "nodes" in fields:
        fields["nodes"] = str(fields["nodes"])
    if fields.get("score") != fields.get("score"):
        # JSON has no such number.
        fields["score"] = None
    return fields


def serve(name, mode):
    lines = Lines(name, mode)
    if not isinstance(mode, Drip):
        mode.prepare()
    for line in sys.stdin:
        said = json.loads(line)
        if said["type"] == "hello":
            if not mode.serving:
                time.sleep(FOR_EVER)
            lines.hello()
            mode.listening(lines)
        elif said["type"] == "ask":
            decisions = [types.SimpleNamespace(**decision) for decision in said["decisions"]]
            for decision in decisions:
                decision.seed = int(decision.seed)
            lines.ask(said["batch"], decisions)
    if isinstance(mode, IgnoresSigterm):
        time.sleep(FOR_EVER)
