"""`Client.command` runs commands of every kind."""

import asyncio
import json

import pytest
from conftest import SPEC

import arena


def test_arguments_of_agents_are_theirs_alone(idle, crashing):
    """What follows `--` are arguments of the agent, not the address of the coordinator."""
    with arena.Client(idle.url) as client:
        words = ["agent", "register", "with-words", "--binary", str(crashing), "--", "--depth", "3"]
        client.command(*words)
        about = json.loads(client.command("agent", "show", "with-words", "--output", "json"))
    assert about["source"]["args"] == ["--depth", "3"]


@pytest.mark.parametrize(("show", "lines"), [(None, 1), (True, 1), (False, 0)])
def test_command_shows_notes(idle, crashing, capfd, show, lines):
    words = ["agent", "register", "warned", "--replace", "--binary", str(crashing)]

    async def call():
        async with arena.AsyncClient(idle.url) as client:
            return await client.command(*words, show=show)

    with arena.Client(idle.url) as client:
        for run in (lambda: client.command(*words, show=show), lambda: asyncio.run(call())):
            printed = run()
            assert "warned version " in printed and "warning" not in printed
            shown = capfd.readouterr().err
            assert shown.count("warning: warned does not start here") == lines
            assert shown.count("no model at weights.bin") == lines


@pytest.mark.parametrize("by", ["url", "data"])
def test_commands_without_coordinator_run(idle, tmp_path, by):
    with arena.Client(idle.url) if by == "url" else arena.Client(data=idle.data) as client:
        client.command("agent", "new", "--lang", "python", str(tmp_path / "first"))
        assert (tmp_path / "first/arena-agent.toml").is_file()
        assert client.command("--version").startswith("arena ")

    async def calls():
        async with arena.AsyncClient(idle.url) as other:
            await other.command("agent", "new", "--lang", "python", str(tmp_path / "second"))

    asyncio.run(calls())
    assert (tmp_path / "second").is_dir()


def test_command_of_a_folder_alone_is_refused(idle, tmp_path, monkeypatch):
    """It would use another folder, `arena-data`."""
    monkeypatch.chdir(tmp_path)
    with arena.Client(idle.url) as client:
        text = "`arena store compact` has no --coordinator, but --data"
        with pytest.raises(arena.InvalidArgument, match=text):
            client.command("store", "compact")
        with pytest.raises(arena.InvalidArgument, match="unexpected argument '--wrong'"):
            client.command("agent", "new", "--wrong")


def test_words_are_separate_arguments(idle):
    with arena.Client(idle.url) as client:
        for words in ((), ("agent list",)):
            with pytest.raises(arena.InvalidArgument) as caught:
                client.command(*words)
            assert 'one argument for each word: client.command("agent", "list")' in str(caught.value)


def test_texts_name_calls_of_the_client(idle):
    with arena.Client(idle.url) as client:
        with pytest.raises(arena.InvalidArgument) as caught:
            client.start(SPEC, set={"agents": ["random", "nothing-like-it"]})
        assert caught.value.message == (
            'unknown agent "nothing-like-it"; `client.command("agent", "list")` shows all'
        )
        with pytest.raises(arena.NotFound, match=r"`client.tournaments\(\)` shows all"):
            client.standings("nothing-like-it")
        started = client.start(SPEC, set={"name": "texts"})
        cancel = f'cancel it first with `client.cancel("{started.id}")`'
        with pytest.raises(arena.FailedPrecondition) as caught:
            client.remove(started)
        assert cancel in caught.value.message
        client.cancel(started)
    with pytest.raises(arena.InvalidArgument) as caught:
        arena.run(SPEC, set={"agents": ["random", "nothing-like-it"]}, data=idle.data.parent / "new")
    assert '`command("agent", "list")` of a client' in str(caught.value)
