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


def adjudicated(record, play, asked):
    """The placement by adjudication, from the scores in the record. `asked` has ply and seat of
    each move that an agent was asked for."""
    here = record["game_id"]
    scores = {entry["ply"]: entry for entry in record["adjudication"]}

    def last(count, plies):
        """The last scores of both seats before a ply; None for a seat without so many."""
        rows = []
        for seat in (0, 1):
            of_seat = [ply for ply, mover in asked if mover == seat and ply < plies][-count:]
            known = [scores[ply]["score"] for ply in of_seat if ply in scores]
            rows.append(known if len(known) == count and None not in known else None)
        return rows

    def verdict(plies):
        if rule := play.get("resign"):
            first, second = last(rule["moves"], plies)
            for loser, winner, placement in ((first, second, [2, 1]), (second, first, [1, 2])):
                if loser and winner and max(loser) <= -rule["score"] and min(winner) >= rule["score"]:
                    return rule, placement
        if rule := play.get("draw"):
            rows = last(rule["moves"], plies)
            if plies >= rule.get("after_plies", 0) and all(
                row and max(abs(score) for score in row) <= rule["score"] for row in rows
            ):
                return rule, [1, 1]
        return None

    final = asked[-1][0] + 1
    found = verdict(final)
    assert found, f"{here}: no rule is met"
    rule, placement = found
    wanted = [
        move
        for seat in (0, 1)
        for move in [move for move in asked if move[1] == seat][-rule["moves"] - 1 :]
    ]
    stated = [(entry["ply"], entry["seat"]) for entry in record["adjudication"]]
    assert stated == sorted(wanted), f"{here}: scores of {stated}, not of {sorted(wanted)}"
    for entry in record["adjudication"][:-1]:
        assert not verdict(entry["ply"] + 1), f"{here}: a rule is met at ply {entry['ply']}"
    return placement


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
    asked = []
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
        is_forced = len(legal) == 1 and (event["move"] == "pass" or not play.get("ask_forced"))
        if not is_opening and not is_forced:
            asked.append((plies, seat))
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
    elif record["termination"] != "adjudication":
        assert kind == OVER, f"{here}: the game is not over"
    placement = game.placement()
    if record["termination"] == "adjudication":
        assert kind == DECISION, f"{here}: the game is over"
        placement, ending = adjudicated(record, play, asked), "adjudication"
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
