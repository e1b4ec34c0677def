"""`arena.v1.AgentService` over a set of agents."""

import operator
import sys
import threading
import time
import traceback
from contextlib import contextmanager
from typing import Dict, Iterable, Iterator, List, Optional, Sequence, Tuple

import grpc

from .agent import Agent, Answer, Choice
from .decision import Context, Decision
from .proto import agent_pb2 as pb

NAME = "arena.v1.AgentService"

#: Encoded choices without search info, by slot and move: most are the same in
#: every batch. Kept are so many, of about 200 bytes.
_CHOICES_MAX = 1 << 15


class UnknownBot(LookupError):
    """A request names a bot that this process does not offer."""


class Service:
    """The bots of a process. The first one answers where a request names none,
    and gives the program its name, version and author."""

    name = NAME

    def __init__(self, agents: Sequence[Agent]) -> None:
        if not agents:
            raise ValueError("serve at least one agent")
        self._first = agents[0]
        self._agents: Dict[str, Agent] = {}
        bots = []
        for agent in agents:
            bots.append(agent.describe())
            if agent.name in self._agents:
                raise ValueError(f"two agents are called {agent.name!r}")
            self._agents[agent.name] = agent
        self.names = ", ".join(self._agents)
        self._description = pb.DescribeResponse(
            name=self._first.name,
            version=self._first.version,
            author=self._first.author,
            bots=bots,
            batch_size=self._first.batch_size,
            omit_move_details=not any(agent.move_details for agent in agents),
            sticky=any(agent.sticky for agent in agents),
        )
        self._choices: Dict[Tuple[int, int], bytes] = {}
        self._turns = {name: threading.Lock() for name in self._agents}
        self._counter = threading.Lock()
        self._thinking = 0

    def handler(self) -> grpc.GenericRpcHandler:
        """The service as grpcio takes it."""
        return grpc.method_handlers_generic_handler(
            NAME,
            {
                "Describe": grpc.unary_unary_rpc_method_handler(
                    lambda request, context: self._description,
                    request_deserializer=pb.DescribeRequest.FromString,
                    response_serializer=pb.DescribeResponse.SerializeToString,
                ),
                "ChooseMove": grpc.unary_unary_rpc_method_handler(
                    self._choose_move,
                    request_deserializer=pb.ChooseMoveRequest.FromString,
                    response_serializer=pb.ChooseMoveResponse.SerializeToString,
                ),
                "ChooseMoves": grpc.stream_stream_rpc_method_handler(
                    self._choose_moves,
                    request_deserializer=pb.ChooseMovesRequest.FromString,
                    response_serializer=None,
                ),
            },
        )

    def thinking(self) -> bool:
        """Whether any agent is deciding right now."""
        return self._thinking > 0

    def _agent(self, bot: str) -> Agent:
        if not bot:
            return self._first
        try:
            return self._agents[bot]
        except KeyError:
            raise UnknownBot(
                f"no bot {bot!r} here; this process offers {', '.join(self._agents)}"
            ) from None

    @contextmanager
    def _turn(self, agent: Agent) -> Iterator[None]:
        """Holds other threads off the agent, unless it takes several."""
        with self._counter:
            self._thinking += 1
        try:
            if agent.concurrent:
                yield
            else:
                with self._turns[agent.name]:
                    yield
        finally:
            with self._counter:
                self._thinking -= 1

    def _choose_move(
        self, request: pb.ChooseMoveRequest, call: grpc.ServicerContext
    ) -> pb.ChooseMoveResponse:
        failures = Failures()
        try:
            agent = self._agent(request.context.bot)
        except UnknownBot as error:
            call.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
        context = Context(request.context, agent.options)
        decision = Decision(context, request.decision, request.time_budget_us)
        try:
            with self._turn(agent):
                started = time.perf_counter_ns()
                answer = agent.choose(decision)
                elapsed = time.perf_counter_ns() - started
            move, info = _parts(answer)
            response = pb.ChooseMoveResponse(move_id=move, info=info)
        except Exception as error:  # whatever the agent raises is its own fault
            failures.add(error, decision)
            failures.report()
            call.abort(grpc.StatusCode.INTERNAL, f"{type(error).__name__}: {error}")
        response.info.thinking_us = elapsed // 1000
        return response

    def _choose_moves(
        self, requests: Iterator[pb.ChooseMovesRequest], call: grpc.ServicerContext
    ) -> Iterator[bytes]:
        for request in requests:
            yield self._answer(request)

    def _answer(self, request: pb.ChooseMovesRequest) -> bytes:
        """An encoded `ChooseMovesResponse`: encoded messages in a row are the
        message of all their fields."""
        choices: List[bytes] = []
        failures = Failures()
        elapsed = 0
        for agent, asked in self._by_agent(request, failures):
            with self._turn(agent):
                started = time.perf_counter_ns()
                if agent.batches():
                    self._decide_together(agent, asked, choices, failures)
                else:
                    self._decide_each(agent, asked, choices, failures)
                elapsed += time.perf_counter_ns() - started
        failures.report()
        rest = pb.ChooseMovesResponse(
            batch=request.batch, thinking_us=elapsed // 1000, last=True
        )
        choices.append(rest.SerializeToString())
        return b"".join(choices)

    def _by_agent(
        self, request: pb.ChooseMovesRequest, failures: "Failures"
    ) -> Iterable[Tuple[Agent, List[Decision]]]:
        """The decisions of a message, agent by agent. Those that name a bot or
        a context that is not there are left unanswered."""
        groups: Dict[str, Tuple[Agent, List[Decision]]] = {}
        places: List[Optional[Tuple[Context, List[Decision]]]] = []
        for message in request.contexts:
            try:
                agent = self._agent(message.bot)
            except UnknownBot as error:
                failures.add(error)
                places.append(None)
            else:
                asked = groups.setdefault(agent.name, (agent, []))[1]
                places.append((Context(message, agent.options), asked))
        budget_us = request.time_budget_us // max(1, len(request.decisions))
        if len(places) == 1 and places[0] is not None:
            # As workers ask.
            context, asked = places[0]
            asked.extend(
                [
                    Decision(context, item, budget_us)
                    for item in request.decisions
                    if not item.context
                ]
            )
            return groups.values()
        for item in request.decisions:
            place = places[item.context] if item.context < len(places) else None
            if place is not None:
                context, asked = place
                asked.append(Decision(context, item, budget_us))
        return groups.values()

    def _decide_each(
        self,
        agent: Agent,
        asked: Sequence[Decision],
        choices: List[bytes],
        failures: "Failures",
    ) -> None:
        choose, known, add = agent.choose, self._choices, choices.append
        for decision in asked:
            try:
                answer = choose(decision)
                if type(answer) is int:
                    slot = decision._message.slot
                    choice = known.get((slot, answer))
                    add(choice or self._plain(slot, answer))
                else:
                    add(_choice(decision, answer))
            except Exception as error:  # the batch's other decisions are innocent
                failures.add(error, decision)

    def _decide_together(
        self,
        agent: Agent,
        asked: Sequence[Decision],
        choices: List[bytes],
        failures: "Failures",
    ) -> None:
        if not asked:
            return
        try:
            answers = list(agent.choose_batch(asked))
            if len(answers) != len(asked):
                raise ValueError(
                    f"choose_batch gave {len(answers)} answers to {len(asked)} decisions"
                )
        except Exception as error:  # each decision is asked again alone
            failures.add(error, asked[0])
            return
        for decision, answer in zip(asked, answers):
            if answer is None:
                continue
            try:
                if type(answer) is int:
                    slot = decision.slot
                    choices.append(self._choices.get((slot, answer)) or self._plain(slot, answer))
                else:
                    choices.append(_choice(decision, answer))
            except Exception as error:  # an answer of the wrong type is one decision's
                failures.add(error, decision)

    def _plain(self, slot: int, move: int) -> bytes:
        """An encoded choice without search info."""
        choice = _encoded(pb.Choice(slot=slot, move_id=move))
        if len(self._choices) < _CHOICES_MAX:
            self._choices[slot, move] = choice
        return choice


def _choice(decision: Decision, answer: Answer) -> bytes:
    move, info = _parts(answer)
    return _encoded(pb.Choice(slot=decision.slot, move_id=move, info=info))


def _encoded(choice: pb.Choice) -> bytes:
    return pb.ChooseMovesResponse(choices=[choice]).SerializeToString()


def _parts(answer: Answer) -> Tuple[int, Optional[pb.SearchInfo]]:
    """Move id and search info of what `choose` gave, numbers of other libraries
    included. Raises `TypeError` for what is no move."""
    if isinstance(answer, Choice):
        return operator.index(answer.move), answer.info()
    try:
        return operator.index(answer), None
    except TypeError:
        raise TypeError(
            f"choose gave {answer!r}; give one of decision.legal, or a Choice"
        ) from None


class Failures:
    """What went wrong in one message. The first is reported with its traceback, the
    others are counted: what an agent writes to stderr is limited."""

    __slots__ = ("_first", "_decision", "_count")

    def __init__(self) -> None:
        self._first: Optional[Exception] = None
        self._decision: Optional[Decision] = None
        self._count = 0

    def add(self, error: Exception, decision: Optional[Decision] = None) -> None:
        """Notes a failure, and the decision it happened in."""
        self._count += 1
        if self._first is None:
            self._first, self._decision = error, decision

    def report(self) -> None:
        """Writes what was noted to stderr."""
        if self._first is None:
            return
        where = "" if self._decision is None else f" in {self._decision!r}"
        more = "" if self._count == 1 else f" (and {self._count - 1} more failures in this batch)"
        trace = "".join(
            traceback.format_exception(type(self._first), self._first, self._first.__traceback__)
        )
        print(f"arena_agent: failed{where}{more}\n{trace}", end="", file=sys.stderr, flush=True)
