"""Standings show their notes."""

import subprocess

import pytest
from conftest import PROGRAM, SPEC

import arena
from arena.v1 import coordinator_pb2 as v1


def test_notes_are_below_the_table():
    message = v1.Standings(
        tournament_id="x-1",
        state=v1.TOURNAMENT_STATE_FINISHED,
        games=3,
        games_total=3,
        agents=[
            v1.AgentStanding(agent="<one>", non_deterministic=True, voids=2),
            v1.AgentStanding(
                agent="two",
                faults=3,
                faults_by_kind={"timeout": 1, "crash": 2},
                last_fault="exit code 7\nboom\x1b[2J",
            ),
        ],
        audits=v1.Audits(due=9, agreed=5, differing=1, disputed=1, waiting=3),
        notes=["disputed games: 4", "unverified: 3 of 3 games"],
        generation=2,
        generations=2,
    )
    standings = arena.Standings(message)
    expected = [
        "generation 2 of 2",
        "<one>: 2 void games",
        "<one>: not deterministic: an audit replayed a game with different moves",
        "two: 2 crash, 1 timeout; last: exit code 7\n    boom\\x1b[2J",
        "audit: 6 of 9 games replayed, 1 differ (see `arena audit list`); 1 waiting for a third "
        "play; 3 still to be replayed by another worker",
        "note: disputed games: 4",
        "note: unverified: 3 of 3 games",
    ]
    for text in (str(standings), repr(standings)):
        for line in expected:
            assert line in text
        assert text.index("agent") < text.index(expected[0])
    page = standings._repr_html_()
    assert page.index("</table>") < page.index("<ul>")
    assert "&lt;one&gt;: not deterministic" in page and "<one>" not in page
    assert page.count("<li") == len(expected)


def test_standings_without_notes_have_no_list():
    assert "<ul>" not in arena.Standings(v1.Standings(tournament_id="x-1"))._repr_html_()


@pytest.fixture(scope="module")
def unverified(tmp_path_factory):
    """The result of a run with a ruleset that is a package."""
    place = tmp_path_factory.mktemp("package")
    words = ["rulesets", "new", "pig", "--lang", "python"]
    subprocess.run([PROGRAM, *words], cwd=place, check=True, capture_output=True)
    data = place / "data"
    data.mkdir()
    with arena.Client(data=data) as client:
        client.command("rulesets", "register", "pig", "--package", str(place / "pig"))
    second = {"name": "second", "bot": "random"}
    spec = {**SPEC, "ruleset": "pig", "blocks": 1, "agents": ["random", "second"], "agent": [second]}
    return arena.run(spec, data=data)


def test_result_shows_notes(unverified):
    (note,) = [note for note in unverified.standings.notes if note.startswith("unverified: ")]
    assert f"note: {note}" in str(unverified)
    assert "unverified: " in unverified._repr_html_()
    with unverified.client() as client:
        assert f"note: {note}" in str(client.standings(unverified.id))


def test_only_worker_has_no_audits_to_wait_for(result):
    assert "second worker" not in str(result)
