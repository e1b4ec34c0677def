"""Replays exported records, using only services/model and services/games.

`check_dice` needs the seed and the events; `check_game` plays by the rules:
every draw, legal move, notation, the result, luck and the hash.
"""

import hashlib
import re

from draws import GameStreams
from rules import RULESETS
from rules.common import CHANCE, DECISION, OVER


class Luck:
    """Luck of each seat, in millionths."""

    def __init__(self, seats):
        self.whole, self.parts, self.total = [0] * seats, [0] * seats, 0

    def add(self, values, weights, drawn):
        total = sum(weights)
        if total != self.total:
            self.settle()
            self.total = total
        for seat in range(len(self.parts)):
            self.parts[seat] += sum(
                weight * (values[drawn][seat] - value[seat])
                for weight, value in zip(weights, values)
            )

    def settle(self):
        if self.total:
            for seat, part in enumerate(self.parts):
                size = (abs(part) + self.total // 2) // self.total
                self.whole[seat] += size if part >= 0 else -size
            self.parts = [0] * len(self.parts)

    def finish(self):
        self.settle()
        return self.whole


def content_hash(line):
    """SHA-256 of the line without its hash."""
    text = re.sub(r',"hash":"[0-9a-f]{64}"(,"timing":.*)?}$', "}", line.rstrip("\n"))
    return hashlib.sha256(text.encode()).hexdigest()


def throws(ruleset, options):
    """Notations and weights of the throws of seats, without playing."""
    game = RULESETS[ruleset](dict(options, starter="seat0"), 2)
    return game.outcomes() if hasattr(game, "outcomes") else []


def check_dice(record):
    """Checks every chance event, given only seed and seat. Returns their number."""
    seats = len(record["seats"])
    streams = GameStreams(record["seed"], record["seats"])
    known = throws(record["ruleset"], record["options"])
    table = getattr(RULESETS[record["ruleset"]], "TABLE", [(f"seat{s}", 1) for s in range(seats)])
    count = 0
    for number, event in enumerate(record["events"]):
        if "chance" not in event:
            continue
        seat = event["seat"]
        outcomes = table if seat is None else known
        drawn = streams.chance(seat, [weight for _, weight in outcomes])
        expected = outcomes[drawn][0]
        assert event["chance"] == expected, (
            f"{record['game_id']}: event {number} is {event['chance']}, the seed gives {expected}"
        )
        count += 1
    return count


def forfeit_placement(placement, gone):
    stay = [seat for seat in range(len(placement)) if seat not in gone]
    return [
        1 + len(stay) if seat in gone else 1 + sum(placement[s] < placement[seat] for s in stay)
        for seat in range(len(placement))
    ]


def check_game(line, record, play, opening=None):
    """Plays a record by the rules; `play` is the spec's [play]. `opening` has the moves
    of its opening, if it comes from a book."""
    here = record["game_id"]
    assert content_hash(line) == record["hash"], f"{here}: hash"
    seats = len(record["seats"])
    if record["termination"] == "void":
        assert (record["events"], record["placement"]) == ([], None), here
        return
    game = RULESETS[record["ruleset"]](record["options"], seats)
    streams = GameStreams(record["seed"], record["seats"])
    luck = Luck(seats)
    given, policy = opening, play.get("on_fault", "forfeit")
    opening = play.get("opening_plies", 0) if given is None else len(given)
    faults = {fault["ply"]: fault for fault in record["fault"] or []}
    gone, plies, decisions = set(), 0, [0] * seats
    for number, event in enumerate(record["events"]):
        at = f"{here}: event {number}"
        kind, seat = game.node()
        assert kind != OVER, f"{at}: the game is over"
        assert seat == event["seat"], f"{at}: seat"
        if kind == CHANCE:
            outcomes = game.outcomes()
            weights = [weight for _, weight in outcomes]
            drawn = streams.chance(seat, weights)
            assert event["chance"] == outcomes[drawn][0], f"{at}: {outcomes[drawn][0]} is drawn"
            luck.add(game.values(), weights, drawn)
            game.draw(drawn)
            continue
        legal = game.legal()
        assert event["action"] in legal, f"{at}: legal are {legal}"
        assert event["move"] == game.name(event["action"]), f"{at}: {game.name(event['action'])}"
        is_opening = plies < opening
        assert event.get("opening", False) == is_opening, f"{at}: opening"
        stream = None
        if is_opening and given is not None:
            assert event["action"] == given[plies], f"{at}: the book has {given[plies]}"
        elif is_opening:
            stream = streams.opening
        elif plies in faults and faults[plies]["seat"] == seat:
            stream = streams.substitute[seat]
            if policy == "forfeit":
                gone.add(seat)
        elif seat in gone:
            stream = streams.substitute[seat]
        if stream:
            assert event["action"] == sorted(legal)[stream.below(len(legal))], f"{at}: drawn move"
        game.apply(event["action"])
        plies += 1
        decisions[seat] += 1
    kind, ending = game.node()
    if plies in faults and seats == 2 and policy == "forfeit":
        gone.add(faults[plies]["seat"])
    else:
        assert kind == OVER, f"{here}: the game is not over"
    placement = game.placement()
    if gone:
        placement, ending = forfeit_placement(placement, gone), "forfeit"
    found = {
        "placement": placement,
        "scores": game.scores(),
        "plies": plies,
        "decisions": decisions,
        "termination": ending,
    }
    for key, value in found.items():
        assert record[key] == value, f"{here}: {key} is {record[key]}, the rules give {value}"
    assert record.get("luck") == (luck.finish() if luck.total else None), f"{here}: luck"
