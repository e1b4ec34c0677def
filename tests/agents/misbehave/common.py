"""What all misbehaviours have in common."""

from arena_agent import Rng

#: Seconds.
FOR_EVER = 3600
MEBIBYTE = 1 << 20


class Good:
    """Plays on, without a fault."""

    deterministic = True
    serving = True
    methods = ("Describe", "ChooseMove", "ChooseMoves")
    #: After each batch.
    ends_stream = False

    def __init__(self, n):
        self.n = n

    def prepare(self):
        """Before it listens."""

    def listening(self, server):
        """Once it listens."""

    def choose(self, decision, in_batch):
        """A move id; None leaves the decision of a batch unanswered."""
        return Rng(decision.seed).choice(decision.legal_moves)

    def send(self, response):
        """The answer to one decision, as a message or as bytes."""
        return response

    def send_batch(self, response):
        """The answers to a batch, in any number of messages."""
        yield self.send(response)


class At(Good):
    """Does `fault` at decision N, alone and in a batch."""

    def choose(self, decision, in_batch):
        if decision.number == self.n and self.due(in_batch):
            answer = self.fault(decision)
            if answer is not None:
                return answer
        return super().choose(decision, in_batch)

    def due(self, in_batch):
        return True


class InBatch:
    """Does its fault only where the decision came in a batch."""

    def due(self, in_batch):
        return in_batch
