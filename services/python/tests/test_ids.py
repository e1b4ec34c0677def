"""Ids are resolved as the command resolves them: complete, a prefix, or `@last`."""

import asyncio

import pytest
from conftest import SPEC

import arena
from arena import _calls

ALL = ["cup-0123456789", "cup-abcdef0123", "cups-0123456789", "league-0123456789"]


@pytest.fixture(scope="module")
def started(idle):
    with arena.Client(idle.url) as client:
        yield client.start(SPEC, set={"name": "prefix"})
        client.cancel("prefix")


@pytest.mark.parametrize(
    "call",
    [
        lambda c, id: c.tournament(id),
        lambda c, id: c.standings(id),
        lambda c, id: c.ratings(id),
        lambda c, id: c.ratings(id, model="elo"),
        lambda c, id: c.games(id),
        lambda c, id: c.decisions(id),
        lambda c, id: c.report(id),
        lambda c, id: c.pause(id),
        lambda c, id: c.resume(id),
        lambda c, id: next(c.watch(id)),
    ],
)
def test_methods_resolve_ids(idle, started, call):
    with arena.Client(idle.url) as client:
        found = call(client, "pref")
    assert getattr(found, "id", started.id) == started.id


def test_names_and_last_are_resolved(idle, started):
    with arena.Client(idle.url) as client:
        assert client.standings("prefix").id == started.id
        assert client.standings("@last").id == started.id


def test_other_methods_resolve_ids(client, coordinator, played, tmp_path):
    started = client.start(SPEC, set={"name": "whole-name", "blocks": 1})
    assert client.wait("whole-name").id == started.id
    client.export("whole-nam", tmp_path / "games.parquet")
    assert client.games("whole-name").height == 6

    async def calls():
        async with arena.AsyncClient(coordinator.url) as other:
            assert (await other.wait("whole-n")).id == started.id
            assert (await other.standings("@last")).id == started.id
            async for one in other.watch("whole-n"):
                assert one.id == started.id
            with pytest.raises(arena.NotFound):
                await other.standings("other")

    asyncio.run(calls())


def test_cancel_resolves_ids(idle):
    with arena.Client(idle.url) as client:
        started = client.start(SPEC, set={"name": "unwanted"})
        assert client.cancel("unw").id == started.id


def test_ambiguous_ids_name_the_candidates(idle):
    with arena.Client(idle.url) as client:
        both = [client.start(SPEC, set={"name": f"twin-{name}"}).id for name in "ab"]
        for call in (client.standings, client.games, client.cancel, client.report, client.wait):
            with pytest.raises(arena.InvalidArgument, match='"twin" is ambiguous') as caught:
                call("twin")
            assert f"it matches {', '.join(both)}; use a longer prefix" in str(caught.value)


def test_last_of_none_is_an_error(tmp_path):
    with arena.Client(data=tmp_path) as client:
        with pytest.raises(arena.NotFound, match="no tournament yet"):
            client.standings("@last")


def tournaments(*ids):
    return [
        arena.Tournament.of(arena_message(id, created)) for created, id in enumerate(ids)
    ]


def arena_message(id, created):
    from arena.v1 import coordinator_pb2

    return coordinator_pb2.Tournament(tournament_id=id, created_unix_us=created)


def test_rule_is_that_of_the_command():
    all = tournaments(*ALL)
    assert _calls.chosen(all, "league") == "league-0123456789"
    assert _calls.chosen(all, "cups") == "cups-0123456789"
    assert _calls.chosen(all, "cup-a") == "cup-abcdef0123"
    assert _calls.chosen(all, "other") is None
    assert _calls.chosen(all, "@last") == "league-0123456789"
    assert _calls.chosen([], "@last") is None
    # The tournament of another name, which begins with this one, is no candidate.
    with pytest.raises(arena.InvalidArgument, match="matches cup-0123456789, cup-abcdef0123; use"):
        _calls.chosen(all, "cup")
    many = tournaments(*(f"many-{number:010x}" for number in range(7)))
    with pytest.raises(arena.InvalidArgument, match="many-0000000004 and 2 more"):
        _calls.chosen(many, "man")


def test_id_of_removed_tournament_is_no_prefix(idle):
    """The id of a second attempt begins with that of the first."""
    with arena.Client(idle.url) as client:
        first = client.start(SPEC, set={"name": "attempts"})
        client.cancel(first)
        second = client.start(SPEC, set={"name": "attempts"}, again=True)
        assert second.id.startswith(first.id)
        client.cancel(second)
        client.remove(first.id)
        for call in (client.remove, client.tournament, client.games):
            with pytest.raises(arena.NotFound) as caught:
                call(first.id)
            assert caught.value.reason == "TOURNAMENT_REMOVED"
        assert client.tournament(second.id).state == "cancelled"


@pytest.mark.parametrize("id", ["", None, 5])
def test_id_must_be_text(idle, started, id):
    """An empty text is not a prefix: it would name the only tournament."""
    with arena.Client(idle.url) as client:
        for call in (client.tournament, client.remove, client.wait):
            with pytest.raises(arena.InvalidArgument, match="an id is a text such as"):
                call(id)
