"""Each number of `arena standings --output json`, by services/tournament/README.md."""

import csv
import itertools
import pathlib
import shutil

import pytest

pytest.importorskip("scipy", reason="numpy and scipy are not installed")

from figures.fit import equilibrium, has_circle, model_fit  # noqa: E402
from figures.standings import BOUNDS, Standings  # noqa: E402

import numpy as np  # noqa: E402

FIELD = ["random", "aggressive", "defensive", "mixed", "move-first"]
HERE = pathlib.Path(__file__).resolve().parent

# Sums of floats in another order.
TOLERANCE = 1e-6


def kalah(**bots):
    return {name.replace("_", "-"): ("kalah-alphabeta", options) for name, options in bots.items()}


SMALL = {"pits": 3, "stones": 2}
CARD_PLAYERS = {"other": ("random", {}), "third": ("random", {})}
# Name: ruleset, agents, blocks, and other keys of the spec.
FIELDS = {
    "round-robin-2": ("cowry", FIELD[:4], 40, {}),
    "round-robin-3": ("cowry", FIELD[:4], 20, {"seats": 3}),
    "round-robin-4": ("cowry", FIELD, 12, {"seats": 4, "options": {"end": "ranking"}}),
    "ties-of-many": (
        "cowry", FIELD[:4], 20, {"seats": 4, "options": {"rank_rest": "tie"}},
    ),
    "ties-of-three": (
        "cowry", FIELD[:4], 20, {"seats": 3, "options": {"rank_rest": "tie"}},
    ),
    "few-blocks": ("cowry", FIELD[:3], 1, {}),
    "two-blocks": ("cowry", FIELD[:3], 2, {"seats": 3}),
    "unrotated": ("cowry", FIELD[:3], 40, {"play": {"rotate": False}}),
    "unpaired": ("cowry", FIELD[:3], 30, {"play": {"paired": False}}),
    "dice-of-ludo": ("chinese-ludo", ["random", "greedy", "move-first"], 40, {}),
    "draws": ("kalah", ["random", "greedy", "kalah-minimax"], 40, {"options": SMALL}),
    "perfect-scores": (
        "kalah",
        ["random", "deep", "greedy"],
        40,
        {"bots": {"deep": ("expectimax", {"nodes": 200})}},
    ),
    "perfect-score": (
        "kalah", ["deep", "random"], 40, {"bots": {"deep": ("expectimax", {"nodes": 200})}},
    ),
    "nearly-perfect": (
        "kalah", ["deep", "random"], 40, {"bots": kalah(deep={"depth": 6})},
    ),
    "repeated-games": (
        "kalah",
        ["d1", "d2", "d3", "random"],
        10,
        {"bots": kalah(d1={"depth": 1}, d2={"depth": 2}, d3={"depth": 3}), "options": SMALL},
    ),
    "gauntlet-2": ("cowry", FIELD[:4], 20, {"format": "gauntlet"}),
    "gauntlet-3": ("cowry", FIELD[:4], 12, {"format": "gauntlet", "seats": 3}),
    "gauntlet-4": ("cowry", FIELD, 10, {"format": "gauntlet", "seats": 4}),
    "gauntlet-of-two": (
        "cowry",
        FIELD,
        10,
        {"format": "gauntlet", "gauntlet": {"challengers": FIELD[1:3]}},
    ),
    "fixed-2": (
        "cowry",
        FIELD[:4],
        12,
        {
            "format": "fixed",
            "fixed": {"games": [FIELD[:2], FIELD[1:3], FIELD[1:3], [FIELD[3], FIELD[0]]]},
        },
    ),
    "fixed-even": (
        "cowry",
        FIELD[:3],
        12,
        {"format": "fixed", "fixed": {"games": [FIELD[:2], FIELD[1:3], [FIELD[2], FIELD[0]]]}},
    ),
    "fixed-3": (
        "cowry",
        FIELD[:4],
        12,
        {"format": "fixed", "seats": 3, "fixed": {"games": [FIELD[:3], FIELD[1:4]]}},
    ),
    "fixed-4": (
        "cowry", FIELD[:4], 12, {"format": "fixed", "seats": 4, "fixed": {"games": [FIELD[:4]]}},
    ),
    "swiss-2": ("cowry", FIELD, 6, {"format": "swiss", "swiss": {"rounds": 4}}),
    "swiss-3": ("cowry", FIELD, 6, {"format": "swiss", "seats": 3}),
    "swiss-4": ("cowry", FIELD, 6, {"format": "swiss", "seats": 4}),
    "knockout-2": ("cowry", FIELD, 6, {"format": "knockout"}),
    "knockout-double": (
        "cowry", FIELD, 6, {"format": "knockout", "knockout": {"elimination": "double"}},
    ),
    "knockout-3": ("cowry", FIELD, 6, {"format": "knockout", "seats": 3}),
    "knockout-4": ("cowry", FIELD, 6, {"format": "knockout", "seats": 4}),
    "ladder-2": ("cowry", FIELD, 30, {"format": "ladder"}),
    "ladder-3": ("cowry", FIELD, 20, {"format": "ladder", "seats": 3}),
    "ladder-4": ("cowry", FIELD, 20, {"format": "ladder", "seats": 4}),
    "sprt-2": ("cowry", FIELD[:2], 200, {"format": "sprt"}),
    "sprt-3": ("cowry", FIELD[1:3], 150, {"format": "sprt", "seats": 3}),
    "sprt-4": ("cowry", FIELD[2:4], 150, {"format": "sprt", "seats": 4}),
    "sprt-draws": (
        "kalah",
        ["greedy", "random"],
        100,
        {"format": "sprt", "options": SMALL, "sprt": {"elo0": -10, "elo1": 10, "alpha": 0.1}},
    ),
    "sprt-normalized": (
        "cowry",
        FIELD[2:4],
        150,
        {"format": "sprt", "sprt": {"model": "normalized", "elo1": 10, "step": 25}},
    ),
    "forfeits": (
        "kalah",
        ["circle-0", "circle-1", "circle-2"],
        40,
        {"play": {"opening_plies": 0}},
    ),
    # Every game is one of two, and only the first block counts.
    "one-opening": (
        "kalah",
        ["d2", "d4"],
        20,
        {"bots": kalah(d2={"depth": 2}, d4={"depth": 4}), "play": {"opening_plies": 0}},
    ),
    # More blocks than openings, of agents that do not say whether they use seeds.
    "few-openings": (
        "kalah", ["circle-0", "circle-1"], 30, {"options": SMALL, "play": {"opening_plies": 1}},
    ),
    "returns": (
        "cards", ["random", "other", "third"], 25, {"outcome": "returns", "bots": CARD_PLAYERS},
    ),
    "returns-of-three": (
        "cards",
        ["random", "other", "third"],
        30,
        {"outcome": "returns", "seats": 3, "bots": CARD_PLAYERS},
    ),
    "returns-with-forfeits": (
        "cards",
        ["random", "other", "third", "illegal-1"],
        25,
        {"outcome": "returns", "unplayed_limit": 1.0, "bots": CARD_PLAYERS},
    ),
    "returns-with-forfeits-of-three": (
        "cards",
        ["random", "other", "third", "illegal-1"],
        25,
        {"outcome": "returns", "unplayed_limit": 1.0, "seats": 3, "bots": CARD_PLAYERS},
    ),
    "forfeits-of-three": ("cowry", ["illegal-7", "random", "mixed"], 8, {"seats": 3}),
}


def differences(path, ours, theirs):
    """The differences between two values, as text."""
    if isinstance(ours, dict):
        for key, value in ours.items():
            if key not in theirs:
                yield f"{path}.{key}: {value} is not reported"
            else:
                yield from differences(f"{path}.{key}", value, theirs[key])
    elif isinstance(ours, (list, tuple)):
        if len(ours) != len(theirs):
            yield f"{path}: {ours} is reported as {theirs}"
        for number, (one, other) in enumerate(zip(ours, theirs)):
            yield from differences(f"{path}[{number}]", one, other)
    elif ours is None or theirs is None or isinstance(ours, (bool, str)):
        if ours != theirs:
            yield f"{path}: {ours} is reported as {theirs}"
    elif abs(float(ours) - theirs) > TOLERANCE * max(1, abs(theirs)):
        yield f"{path}: {float(ours)} is reported as {theirs}"


class Checked:
    """The standings of a field from Arena, and from its records."""

    def __init__(self, played):
        openings = (played.standings.get("openings") or {}).get("size")
        self.ours = Standings(played.spec, played.records, openings)
        self.reported, self.t = played.standings, self.ours.t
        self.verdict = self.reported["verdict"]
        self.found = []

    def index(self, name):
        return self.t.agents.index(name)

    def check(self, path, ours, theirs):
        self.found += differences(path, ours, theirs)

    def rows(self):
        return [(self.index(row["agent"]), row) for row in self.reported["agents"]]

    def agents(self):
        for agent, row in self.rows():
            self.check(row["agent"], self.ours.agent(agent), row)

    def pairs(self):
        every = list(itertools.combinations(range(len(self.t.agents)), 2))
        assert len(self.reported["pairs"]) == len(every)
        for (a, b), row in zip(every, self.reported["pairs"]):
            assert (self.index(row["agent"]), self.index(row["opponent"])) == (a, b)
            self.check(f"{row['agent']} and {row['opponent']}", self.ours.pair(a, b), row)

    def seats(self):
        for row in self.reported["seats"]:
            self.check(f"seat {row['seat']}", self.ours.seat(row["seat"]), row)

    def returns(self, rows):
        """The returns in the table of games, as text: the shortest decimals that read back."""
        has_returns = self.t.spec.get("outcome") == "returns"
        assert ("return_0" in rows[0]) == has_returns
        if not has_returns:
            return
        least, most = BOUNDS[self.t.spec["ruleset"]]
        for game, row in zip(self.t.games, rows, strict=True):
            ours = [repr(least + float(game.returned(seat, least, most))) for seat in range(self.t.n)]
            ours = ["" if game.is_void else text for text in ours]
            assert ours == [row[f"return_{seat}"] for seat in range(self.t.n)]

    def field(self):
        """The values for all agents together."""
        ratings, reported = self.ours.ratings, self.reported["ratings"]
        sets = {ratings.linked[agent] for agent in ratings.played}
        self.check("ratings", {"ties": ratings.weights, "components": len(sets)}, reported)
        fit = model_fit(self.ours)
        self.check("ratings", {"fit": fit}, reported)
        self.check("games", {"games": len(self.t.games)}, self.reported)
        pairing = self.ours.pairing()
        if pairing is None:
            assert self.reported["pairing"] is None
        else:
            self.check("pairing", pairing, self.reported["pairing"])

    def nash(self):
        adaptive = self.t.format in ("swiss", "knockout", "ladder", "sprt")
        kind = "_anytime" if adaptive else ""
        pairs, size = self.reported["pairs"], len(self.t.agents)
        order = list(itertools.combinations(range(size), 2))
        ends = {
            pair: (row[f"score{kind}_low"], row[f"score{kind}_high"])
            for pair, row in zip(order, pairs)
        }
        reported = {agent: row["nash"] for agent, row in self.rows()}
        if not has_circle(ends, size):
            assert set(reported.values()) == {None}
            return False
        payoff = np.zeros((size, size))
        for (a, b), row in zip(order, pairs):
            payoff[a, b], payoff[b, a] = 2 * row["score"] - 1, 1 - 2 * row["score"]
        self.check("nash", list(equilibrium(payoff)), [reported[a] for a in range(size)])
        return True

    def places(self):
        """Places by the criteria of the format."""
        rows = dict(self.rows())
        verdict = {self.index(row["agent"]): row["place"] for row in self.verdict.get("places", [])}
        by_rating = self.t.format in ("gauntlet", "ladder") or (
            self.t.format == "fixed" and not self.is_even()
        )
        if self.t.format == "swiss":
            points, buchholz, byes, _ = self.ours.swiss()
            worth = {a: (points[a], buchholz[a]) for a in rows}
            for row in self.verdict["places"]:
                a = self.index(row["agent"])
                ours = {"points": points[a], "buchholz": buchholz[a], "byes": byes[a]}
                self.check(row["agent"], ours, row)
                ours = {"swiss_points": points[a], "buchholz": buchholz[a], "byes": byes[a]}
                self.check(row["agent"], ours, rows[a])
        elif self.t.format == "knockout":
            worth = {a: -place for a, place in verdict.items()}
        elif by_rating:
            worth = {a: round(row["rating"] / 1e-6) for a, row in rows.items()}
        elif self.t.spec.get("outcome") == "returns":
            worth = {a: round(row["return_mean"] * 1e9) for a, row in rows.items()}
            for row in self.verdict["places"]:
                ours = {"return_mean": rows[self.index(row["agent"])]["return_mean"]}
                self.check("verdict", ours, row)
        else:
            worth = {a: round(row["score"] * 1e9) for a, row in rows.items()}
        for a, row in rows.items():
            place = 1 + sum(other > worth[a] for other in worth.values())
            self.check(f"{row['agent']}.place", place, row["place"])
            if verdict:
                self.check(f"{row['agent']} in the verdict", place, verdict[a])

    def is_even(self):
        """All pairs of agents meet equally often."""
        met = [
            sum({a, b} <= set(game.seats) for game in self.t.games)
            for a, b in itertools.combinations(range(len(self.t.agents)), 2)
        ]
        return len(set(met)) == 1

    def rounds(self):
        """Points at each table of each round, from blocks in their order."""
        each = self.t.spec["blocks"]
        blocks = {}
        for game in self.t.games:
            blocks.setdefault(game.block, []).append(game)
        first = 0
        for row in self.verdict.get("rounds", []):
            last = first + each * len(row["tables"])
            games = [game for block in range(first, last) for game in blocks[block]]
            first = last
            for table in row["tables"]:
                agents = [self.index(name) for name in table["agents"]]
                here = [game for game in games if sorted(game.seats) == sorted(agents)]
                assert len(here) == each * self.t.rotations
                points = [sum(game.units(a) for game in here) / 2 for a in agents]
                self.check(f"round {row['round']}", points, table["points"])
                if self.t.format == "knockout":
                    assert points == sorted(points, reverse=True)
                    on = {self.t.agents[a] for a in agents[: table["go_on"]]}
                    out = set(row["out"]) & set(table["agents"])
                    assert not on & out

    def test(self):
        """The verdict of a sequential test."""
        verdict, counts = self.verdict, self.ours.outcomes()
        alpha, beta = verdict["alpha"], verdict["beta"]
        low, high = np.log(beta / (1 - alpha)), np.log((1 - beta) / alpha)
        llr = self.ours.llr()
        score = float(counts @ np.linspace(0, 1, len(counts)) / counts.sum())
        kind = "h1" if llr >= high else "h0" if llr <= low else "inconclusive"
        ours = {"llr_low": low, "llr_high": high, "score": score, "kind": kind}
        ours |= {"blocks": int(counts.sum()), "outcomes": list(counts)}
        self.check("verdict", ours, verdict)
        # By a general optimiser if the mean is in standard deviations.
        tolerance = 1e-4 if verdict["model"] == "normalized" else TOLERANCE
        assert abs(llr - verdict["llr"]) <= tolerance * max(1, abs(llr))

    def gauntlet(self):
        for row in self.verdict["challengers"]:
            own = self.index(row["agent"])
            beaten, all_units, all_most = 0, 0, 0
            for other in row["opponents"]:
                met = [g for g in self.t.counted if {own, self.index(other["agent"])} <= set(g.seats)]
                units = sum(game.units(own, self.index(other["agent"])) for game in met)
                self.check(row["agent"], units / (2 * len(met)), other["score"])
                beaten += units > len(met)
                all_units, all_most = all_units + units, all_most + 2 * len(met)
            ours = {"score": all_units / all_most, "ahead_of": beaten}
            self.check(row["agent"], ours, row)

    def ladder(self):
        for row in self.verdict["places"]:
            agent = self.index(row["agent"])
            reported = dict(self.rows())[agent]
            blocks = self.ours.scores[agent].count
            ours = {"score": reported["score"], "blocks": blocks, "elo": reported["rating"]}
            self.check(row["agent"], ours, row)


@pytest.fixture(scope="session")
def registered(arena):
    for kind in range(3):
        arena.register(f"circle-{kind}", HERE / "circle.py", kind)
    arena.misbehave("illegal-7", "illegal", 7)
    arena.misbehave("illegal-1", "illegal", 1)
    rules = arena.folder / "cards"
    rules.mkdir()
    for source in ["tests/data/high_card.py", "services/games/kits/python/arena_game.py"]:
        shutil.copy(HERE.parents[1] / source, rules)
    (rules / "arena-agent.toml").write_text('command = ["python3", "high_card.py"]\n')
    arena.run("rulesets", "register", "cards", "--package", rules, "--data", "data")


@pytest.mark.parametrize("name", FIELDS)
def test_figures_follow_from_records(arena, registered, name):
    ruleset, agents, blocks, more = FIELDS[name]
    played = arena.tournament(name, ruleset, agents, blocks, **more)
    checked = Checked(played)
    rows = csv.DictReader(arena.run("export", played.id, "--format", "csv", "--data", "data").splitlines())
    checked.returns(list(rows))
    checked.agents()
    checked.pairs()
    checked.seats()
    checked.field()
    circle = checked.nash()
    assert circle == (name == "forfeits")
    checked.places()
    checked.rounds()
    if checked.t.format == "sprt":
        checked.test()
    if checked.t.format == "gauntlet":
        checked.gauntlet()
    if checked.t.format == "ladder":
        checked.ladder()
    assert not checked.found, f"{len(checked.found)} differ:\n" + "\n".join(checked.found)
