"""The class an agent is made from."""

import re
from typing import Iterable, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from .decision import Decision
from .options import Option, Value, write
from .proto import agent_pb2 as pb

_SEED_USE = {
    None: pb.SEED_USE_UNSPECIFIED,
    False: pb.SEED_USE_NO,
    True: pb.SEED_USE_YES,
}
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")


class Choice(NamedTuple):
    """A move with what the agent reports of its search."""

    move: int
    #: From the view of the seat that chooses, in the agent's own unit.
    score: Optional[float] = None
    depth: Optional[int] = None
    nodes: Optional[int] = None
    #: Principal variation, as ids or notations.
    variation: Tuple[Union[int, str], ...] = ()

    def info(self) -> pb.SearchInfo:
        """The same without the move, as the protocol has it."""
        return pb.SearchInfo(
            score=self.score,
            depth=self.depth,
            nodes=self.nodes,
            variation=[str(move) for move in self.variation],
        )


Answer = Union[int, Choice]


class Agent:
    """A player. Give it a `name`, write `choose`, and `serve` it."""

    #: Lower-case letters, digits and dashes.
    name: str = ""
    #: Change it whenever the agent plays differently. Empty: Arena takes a part
    #: of the SHA-256 of the agent's file.
    version: str = ""
    author: str = ""
    #: One line for people.
    summary: str = ""
    #: Names of the rulesets it plays; empty: any.
    rulesets: Sequence[str] = ()
    #: By ruleset, values of its options without which the agent does not play it: a tournament
    #: with other values is refused. Empty: any values.
    required_options: Mapping[str, Mapping[str, Value]] = {}
    #: True if the agent needs whole states: a tournament in which seats see only a part of them is refused.
    perfect_information: bool = False
    options: Sequence[Option] = ()
    #: True where the same decision (seed included) always gets the same answer:
    #: draw from `decision.rng` alone and remember nothing.
    deterministic: bool = False
    #: Whether the answer depends on `decision.rng` or `decision.seed`; None: not said.
    #: In a game without chance, agents that do not use their seed play the same game
    #: again from the same opening.
    uses_seed: Optional[bool] = None
    #: False where ids are enough: notations and `moves` are then left out,
    #: which is faster.
    move_details: bool = True
    #: The most decisions wanted in one batch; 0: Arena decides.
    batch_size: int = 0
    #: True where the agent keeps a search tree or a history for each game: one process
    #: is then asked about one game at a time, and `decision.game` and
    #: `decision.past_moves` are set.
    sticky: bool = False
    #: True where several threads may call the agent at the same time.
    concurrent: bool = False

    def choose(self, decision: Decision) -> Answer:
        """One of `decision.legal`, or a `Choice` of it. What it raises is
        recorded as a `crash` of this agent in this game alone."""
        raise NotImplementedError(f"{type(self).__name__} needs a method choose(self, decision)")

    def choose_batch(self, decisions: Sequence[Decision]) -> Iterable[Optional[Answer]]:
        """Answers in the order of `decisions`; `None` leaves one unanswered, to
        be asked again alone. To be overridden where deciding many at once is
        cheaper, as in a neural network; else `choose` is called for each."""
        raise NotImplementedError

    def batches(self) -> bool:
        """Whether the agent has a `choose_batch` of its own."""
        return type(self).choose_batch is not Agent.choose_batch

    def describe(self) -> pb.Bot:
        """The bot in the answer of `Describe`. Raises `ValueError` for a bad name."""
        if not _NAME.fullmatch(self.name):
            raise ValueError(
                f"{type(self).__name__}.name is {self.name!r}: "
                "use lower-case letters, digits and dashes"
            )
        return pb.Bot(
            name=self.name,
            summary=self.summary,
            rulesets=self.rulesets,
            options=[option.describe() for option in self.options],
            deterministic=self.deterministic,
            uses_seed=_SEED_USE[self.uses_seed],
            required_options=[
                pb.RequiredOption(ruleset=ruleset, name=name, value=write(value))
                for ruleset, values in self.required_options.items()
                for name, value in values.items()
            ],
            perfect_information=self.perfect_information,
        )
