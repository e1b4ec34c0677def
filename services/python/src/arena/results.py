"""What a coordinator reports: tournaments, progress, standings, reports."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterator, Optional, Sequence

from google.protobuf import json_format
from google.protobuf.message import Message

from . import _frames
from ._access import PathLike
from ._display import printable
from .v1 import coordinator_pb2 as v1


def _state(value: int) -> str:
    return v1.TournamentState.Name(value).removeprefix("TOURNAMENT_STATE_").lower()


def _pause(pause: v1.Pause) -> str:
    """Why a tournament paused itself, the error of the agent or the system, and what to do."""
    lines = [pause.reason, *(f"    {line}" for line in pause.error.splitlines()), pause.advice]
    return printable("\n".join(lines))


def _plural(count: int, word: str) -> str:
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def _audits(audits: v1.Audits) -> str:
    """The state of audits, as the command shows it."""
    replayed = audits.agreed + audits.differing + audits.sampled
    text = f"audit: {replayed} of {audits.due} games replayed, {audits.differing} differ"
    if audits.sampled:
        text += f", {audits.sampled} played again as second samples"
    if audits.same_owner:
        text += (
            f", {audits.same_owner} of them by another worker of the same owner, which proves less"
        )
    if audits.differing:
        text += " (see `arena audit list`)"
    rest = {
        "records refuted by a third play": audits.refuted,
        "with faults that differ between owners": audits.contradicted,
        "waiting for a third play": audits.disputed,
        "still to be replayed by another worker": audits.waiting,
        "given up after failed attempts, until another worker joins": audits.given_up,
    }
    return "; ".join([text, *(f"{count} {what}" for what, count in rest.items() if count)])


def _row(message: Message) -> dict[str, Any]:
    """The fields of a message; None for an absent one."""
    row: dict[str, Any] = {}
    for field in message.DESCRIPTOR.fields:
        value = getattr(message, field.name)
        if field.has_presence and not message.HasField(field.name):
            row[field.name] = None
        elif field.message_type is not None and field.message_type.GetOptions().map_entry:
            row[field.name] = json.dumps(dict(value), sort_keys=True)
        elif field.is_repeated:
            row[field.name] = list(value)
        else:
            row[field.name] = value
    return row


@dataclass(frozen=True)
class Tournament:
    """A tournament of a coordinator."""

    id: str
    name: str
    #: `running`, `paused`, `finished`, `cancelled` or `removed`.
    state: str
    ruleset: str
    format: str
    games_done: int
    #: Maximum number of games while results still decide it.
    games_total: int
    #: Everything that the coordinator reports.
    message: v1.Tournament = field(repr=False)

    @classmethod
    def of(cls, message: v1.Tournament) -> Tournament:
        """The tournament of a message."""
        return cls(
            message.tournament_id,
            message.name,
            "removed" if message.HasField("removal") else _state(message.state),
            message.ruleset,
            message.format,
            message.games_done,
            message.games_total,
            message,
        )

    def __repr__(self) -> str:
        done = f"{self.games_done:,}/{self.games_total:,} games"
        return f"<Tournament {self.id}: {self.ruleset}, {self.format}, {self.state}, {done}>"


@dataclass(frozen=True)
class Progress:
    """Progress of a tournament at one moment. As text, it is one line."""

    id: str
    state: str
    games_done: int
    games_total: int
    games_per_second: float
    workers: int
    faults: int
    #: Why it paused itself, the error, and what to do; empty if it did not.
    pause: str
    message: v1.WatchTournamentResponse = field(repr=False)

    @classmethod
    def of(cls, message: v1.WatchTournamentResponse) -> Progress:
        """The progress of a message."""
        return cls(
            message.tournament_id,
            _state(message.state),
            message.games_done,
            message.games_total,
            message.games_per_second,
            message.workers,
            message.faults,
            _pause(message.pause) if message.HasField("pause") else "",
            message,
        )

    @property
    def standings(self) -> Standings:
        """The standings so far."""
        return Standings(self.message.standings)

    @property
    def has_ended(self) -> bool:
        """True if it is finished or cancelled, or paused itself and waits for a user."""
        return bool(self.pause) or self.state in ("finished", "cancelled")

    @property
    def lacks_workers(self) -> bool:
        """True if it has games to play, and no worker is connected."""
        return self.state == "running" and not self.workers and self.games_done < self.games_total

    def __str__(self) -> str:
        share = self.games_done / self.games_total if self.games_total else 0.0
        filled = round(20 * share)
        parts = [
            f"[{'█' * filled}{'░' * (20 - filled)}]",
            f"{self.games_done:,}/{self.games_total:,} games,",
            f"{self.games_per_second:,.0f} games/s,",
            "no workers (start `arena worker`),"
            if self.lacks_workers
            else f"{_plural(self.workers, 'worker')},",
            f"{_plural(self.faults, 'fault')}:",
            self.state,
        ]
        return " ".join(parts)


class Standings:
    """Scores of a tournament's agents, with their intervals, in the order of their places."""

    def __init__(self, message: v1.Standings, alone: bool = False) -> None:
        #: Everything that the coordinator reports.
        self.message = message
        # True if one worker played all games, so that no other one can audit them.
        self._alone = alone

    @classmethod
    def of_json(cls, document: dict[str, Any], alone: bool = False) -> Standings:
        """The standings of `arena standings --output json`."""
        fields = dict(document)
        fields["state"] = "TOURNAMENT_STATE_" + str(fields["state"]).upper()
        verdict = fields.pop("verdict", None)
        fields["verdict_json"] = json.dumps(verdict) if verdict else ""
        message = v1.Standings()
        json_format.ParseDict(fields, message, ignore_unknown_fields=True)
        return cls(message, alone)

    @property
    def id(self) -> str:
        """The tournament's id."""
        return self.message.tournament_id

    @property
    def state(self) -> str:
        """`running`, `paused`, `finished` or `cancelled`."""
        return _state(self.message.state)

    @property
    def games(self) -> int:
        """Number of durable games."""
        return self.message.games

    @property
    def agents(self) -> Sequence[v1.AgentStanding]:
        """One message for each agent, in the order of their places."""
        return self.message.agents

    @property
    def verdict(self) -> Optional[dict[str, Any]]:
        """The verdict; None until the tournament is finished."""
        text = self.message.verdict_json
        return dict(json.loads(text)) if text else None

    @property
    def notes(self) -> list[str]:
        """Notes for the reader, such as that games are unverified."""
        return list(self.message.notes)

    def faults(self) -> list[str]:
        """For each agent with faults: their number by kind, and the last one."""
        lines = []
        for agent in self.agents:
            if not agent.faults:
                continue
            kinds = sorted(agent.faults_by_kind.items())
            line = f"{agent.agent}: " + ", ".join(f"{count} {kind}" for kind, count in kinds)
            if agent.last_fault:
                line += "; last: " + agent.last_fault.replace("\n", "\n    ")
            lines.append(printable(line))
        return lines

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary for each agent; None for what cannot be estimated."""
        return [_row(agent) for agent in self.agents]

    def frame(self, frame: Optional[str] = None) -> Any:
        """One row for each agent, as a data frame of `polars`, `pandas` or `arrow`."""
        return _frames.of_rows(self.rows(), _frames.choose(frame))

    def pairs(self, frame: Optional[str] = None) -> Any:
        """One row for each pair of agents, as a data frame."""
        rows = [_row(pair) for pair in self.message.pairs]
        return _frames.of_rows(rows, _frames.choose(frame))

    def __getitem__(self, agent: str) -> v1.AgentStanding:
        for one in self.agents:
            if one.agent == agent:
                return one
        raise KeyError(agent)

    def __iter__(self) -> Iterator[v1.AgentStanding]:
        return iter(self.agents)

    def __len__(self) -> int:
        return len(self.agents)

    def _table(self) -> list[list[str]]:
        """The main columns as text. Adaptive formats have anytime-valid intervals."""
        kind = "_anytime" if self.message.adaptive else ""

        def shown(agent: v1.AgentStanding, name: str, digits: int) -> str:
            if not agent.HasField(name):
                return "–"
            text = f"{getattr(agent, name):.{digits}f}"
            low, high = f"{name}{kind}_low", f"{name}{kind}_high"
            if agent.HasField(low) and agent.HasField(high):
                text += f" [{getattr(agent, low):.{digits}f}, {getattr(agent, high):.{digits}f}]"
            return text

        head = ["place", "agent", "rating", "score", "W/D/L", "games", "faults"]
        rows = [
            [
                str(agent.place) if agent.HasField("place") else "–",
                agent.agent,
                shown(agent, "rating", 0),
                shown(agent, "score", 3),
                f"{agent.wins}/{agent.draws}/{agent.losses}",
                f"{agent.games:,}",
                f"{agent.faults:,}",
            ]
            for agent in self.agents
        ]
        return [head, *rows]

    def _title(self) -> str:
        return f"{self.id}: {self.state}, {self.games:,}/{self.message.games_total:,} games"

    def _remarks(self) -> list[str]:
        """What the command prints below the table."""
        about = self.message
        lines = []
        if about.generations > 1:
            lines.append(f"generation {about.generation} of {about.generations}")
        if about.HasField("pause"):
            lines.append(f"paused: {_pause(about.pause)}")
        lines += self.faults()
        for agent in self.agents:
            if agent.voids:
                lines.append(f"{agent.agent}: {_plural(agent.voids, 'void game')}")
            if agent.non_deterministic:
                lines.append(
                    f"{agent.agent}: not deterministic: an audit replayed a game with different "
                    "moves, and no worker is charged"
                )
        if about.HasField("audits"):
            audits = about.audits
            if not self._alone or audits.agreed + audits.differing:
                lines.append(_audits(audits))
        lines += [printable(f"note: {note}") for note in self.notes]
        return lines

    def __str__(self) -> str:
        table = self._table()
        widths = [max(len(row[at]) for row in table) for at in range(len(table[0]))]
        lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths)).rstrip() for row in table]
        return "\n".join([self._title(), *lines, *self._remarks()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head, *rows = self._table()

        def cells(row: list[str], tag: str) -> str:
            return "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row)

        remarks = "".join(
            f'<li style="white-space: pre-wrap">{html.escape(line)}</li>'
            for line in self._remarks()
        )
        body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
        return (
            f"<table><caption>{html.escape(self._title())}</caption>"
            f"<thead><tr>{cells(head, 'th')}</tr></thead><tbody>{body}</tbody></table>"
            + (f"<ul>{remarks}</ul>" if remarks else "")
        )


class Report:
    """A report of a tournament: a self-contained page. A notebook shows it inline."""

    def __init__(self, page: str, passed: bool) -> None:
        self.html = page
        #: True if the tournament is finished and all expectations hold, as for
        #: `arena report --junit`.
        self.passed = passed

    def save(self, path: PathLike) -> None:
        """Writes the page to a file."""
        Path(path).write_text(self.html, encoding="utf-8")

    def __repr__(self) -> str:
        return f"<Report of {len(self.html):,} characters>"

    def _repr_html_(self) -> str:
        # A frame of its own: the page's styles and scripts do not reach the notebook.
        page = html.escape(self.html, quote=True)
        return (
            f'<iframe srcdoc="{page}" sandbox="allow-scripts" title="Report" '
            'style="width: 100%; height: 40em; border: 0"></iframe>'
        )
