"""The notes of the coordinator are shown."""

import asyncio
import subprocess
from concurrent import futures

import grpc
import pytest
from conftest import PROGRAM, SPEC

import arena
from arena.v1 import agent_pb2
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


@pytest.fixture(scope="module")
def silent(idle):
    """An agent whose endpoint has answered Describe once, and no longer exists."""
    methods = {
        "Describe": grpc.unary_unary_rpc_method_handler(
            lambda request, context: agent_pb2.DescribeResponse(name="silent"),
            request_deserializer=agent_pb2.DescribeRequest.FromString,
            response_serializer=agent_pb2.DescribeResponse.SerializeToString,
        )
    }
    server = grpc.server(futures.ThreadPoolExecutor(1))
    handler = grpc.method_handlers_generic_handler("arena.v1.AgentService", methods)
    server.add_generic_rpc_handlers([handler])
    url = f"http://127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    with arena.Client(idle.url) as client:
        client.command("agent", "register", "silent", "--endpoint", url)
    server.stop(None).wait()
    return url


@pytest.mark.parametrize(("show", "lines"), [(None, 1), (True, 1), (False, 0)])
def test_start_shows_notes(idle, silent, capfd, show, lines):
    agents = {"agents": ["random", "silent"]}
    note = f'could not query endpoint {silent} of agent "silent"'

    async def start():
        async with arena.AsyncClient(idle.url) as client:
            await client.cancel(await client.start(SPEC, set=agents, again=True, show=show))

    with arena.Client(idle.url) as client:
        client.cancel(client.start(SPEC, set=agents, again=True, show=show))
    assert capfd.readouterr().err.count(note) == lines
    asyncio.run(start())
    assert capfd.readouterr().err.count(note) == lines
