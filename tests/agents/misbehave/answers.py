"""Misbehaviour of answers: none, late, wrong, twice, of another, too large."""

import os
import threading
import time

from arena_agent import Rng
from arena_agent.proto import agent_pb2 as pb
from common import FOR_EVER, MEBIBYTE, At, Good, InBatch


class Error(At):
    """Answers decision N with an error; in a batch, ends the stream with it."""

    def fault(self, decision):
        raise RuntimeError(f"no idea at decision {decision.number}")


class Hang(At):
    """Thinks for ever about decision N."""

    def fault(self, decision):
        time.sleep(FOR_EVER)


class HangInBatch(InBatch, Hang):
    """Thinks for ever about decision N in a batch; alone it answers."""


class Late(At):
    """Answers decision N after twenty seconds, when even a small batch is late."""

    def fault(self, decision):
        time.sleep(20)


class Illegal(At):
    """Answers decision N with a move that is not legal."""

    def fault(self, decision):
        return max(decision.legal_moves) + 1


class Garbled(At):
    """Answers decision N with bytes that are no message."""

    def __init__(self, n):
        super().__init__(n)
        self.garble = threading.local()

    def fault(self, decision):
        self.garble.due = True

    def send(self, response):
        if getattr(self.garble, "due", False):
            self.garble.due = False
            return b"\xff" * 32
        return response


class Huge(Garbled):
    """Answers decision N with a message of 16 MiB."""

    def send(self, response):
        if getattr(self.garble, "due", False):
            self.garble.due = False
            info = pb.SearchInfo(variation=["x" * MEBIBYTE] * 16)
            if isinstance(response, pb.ChooseMoveResponse):
                response.info.CopyFrom(info)
            else:
                response.choices[0].info.CopyFrom(info)
        return response


class Twice(Good):
    """Answers each decision of a batch twice, differently, in two messages."""

    def send_batch(self, response):
        yield response
        for choice in response.choices:
            choice.move_id += 1
        yield response


class WrongSlot(Good):
    """Answers also decisions of a batch that were never asked."""

    def send_batch(self, response):
        response.choices.add(slot=1_000_000, move_id=0)
        yield response


class WrongBatch(Good):
    """Answers a batch that was never sent."""

    def send_batch(self, response):
        response.batch += 1_000_000
        yield response


class Swapped(Good):
    """Answers each decision of a batch with the move of another."""

    def send_batch(self, response):
        moves = [choice.move_id for choice in response.choices]
        for choice, move in zip(response.choices, moves[1:] + moves[:1]):
            choice.move_id = move
        yield response


class Nan(Good):
    """Reports a search that cannot be: no number, negative, too much."""

    def send(self, response):
        info = pb.SearchInfo(
            score=float("nan"),
            depth=2**32 - 1,
            nodes=2**64 - 1,
            thinking_us=2**64 - 1,
            variation=["\0\x1b[31m\n", "-1"],
        )
        if isinstance(response, pb.ChooseMoveResponse):
            response.info.CopyFrom(info)
        else:
            response.thinking_us = 2**64 - 1
            for choice in response.choices:
                choice.info.CopyFrom(info)
        return response


class HalfBatch(Good):
    """Leaves every other decision of a batch unanswered."""

    def choose(self, decision, in_batch):
        if in_batch and decision.slot % 2 == 1:
            return None
        return super().choose(decision, in_batch)


class SplitBatch(Good):
    """Answers a batch backwards, in one message for each decision."""

    def send_batch(self, response):
        for choice in reversed(response.choices):
            yield pb.ChooseMovesResponse(batch=response.batch, choices=[choice])


class EndsStream(Good):
    """Ends the stream after each batch, with nothing answered."""

    ends_stream = True

    def send_batch(self, response):
        return iter(())


class OnlyChooseMove(Good):
    """Has no method but ChooseMove."""

    methods = ("ChooseMove",)


class Moody(Good):
    """Claims to be deterministic and is not."""

    def choose(self, decision, in_batch):
        return Rng(int.from_bytes(os.urandom(8), "big")).choice(decision.legal_moves)


class OpenlyMoody(Moody):
    """Is not deterministic and says so."""

    deterministic = False
