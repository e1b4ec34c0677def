"""Errors have a class, the reason of the coordinator, and say what to do."""

import asyncio
import os

import pytest
from conftest import SPEC, Coordinator

import arena


@pytest.mark.parametrize(
    ("call", "kind", "reason", "text"),
    [
        (lambda c: c.standings("nothing"), arena.NotFound, "UNKNOWN_TOURNAMENT", "` shows all"),
        (lambda c: c.games("nothing"), arena.NotFound, "UNKNOWN_TOURNAMENT", "nothing"),
        (lambda c: c.report("nothing"), arena.NotFound, "UNKNOWN_TOURNAMENT", "nothing"),
        (lambda c: list(c.watch("nothing")), arena.NotFound, "UNKNOWN_TOURNAMENT", "nothing"),
        (lambda c: c.start({"name": "x"}), arena.InvalidArgument, "SPEC_INVALID", "ruleset"),
        (
            lambda c: c.start(SPEC, set={"agents": ["random", "missing"]}),
            arena.InvalidArgument,
            "UNKNOWN_AGENT",
            "missing",
        ),
        (lambda c: c.command("game", "show", "x"), arena.InvalidArgument, "", "x"),
        (lambda c: c.export("nothing", "x.parquet"), arena.NotFound, "UNKNOWN_TOURNAMENT", "nothing"),
    ],
)
def test_errors_have_class_and_reason(idle, call, kind, reason, text):
    with arena.Client(idle.url) as client, pytest.raises(kind) as caught:
        call(client)
    assert caught.value.reason == reason
    assert text in str(caught.value)
    assert isinstance(caught.value, arena.ArenaError)


def test_closed_client_is_an_error(coordinator, played):
    client = arena.Client(coordinator.url)
    client.close()
    calls = (
        client.tournaments,
        lambda: client.standings(played),
        lambda: next(client.watch(played)),
        lambda: client.wait(played),
        lambda: client.games(played),
        lambda: client.command("agent", "list"),
    )
    for call in calls:
        with pytest.raises(arena.FailedPrecondition, match="is closed: make a new client"):
            call()


def test_closed_asyncio_client_is_an_error(coordinator, played):
    async def calls():
        client = arena.AsyncClient(coordinator.url)
        await client.close()
        for call in (
            client.tournaments(),
            client.wait(played),
            anext_of(client.watch(played)),
            client.command("agent", "list"),
        ):
            with pytest.raises(arena.FailedPrecondition, match="is closed: make a new client"):
                await call

    async def anext_of(progress):
        async for one in progress:
            return one

    asyncio.run(calls())


def test_asyncio_command_without_token_is_unauthenticated(coordinator, stranger):
    async def call():
        async with arena.AsyncClient(coordinator.url) as client:
            await client.command("agent", "list")

    with pytest.raises(arena.Unauthenticated):
        asyncio.run(call())


def test_texts_name_parameters(idle):
    with arena.Client(idle.url) as client:
        started = client.start(SPEC, set={"name": "named"})
        client.cancel(started)
        with pytest.raises(arena.FailedPrecondition, match="anew with again=True") as caught:
            client.start(SPEC, set={"name": "named"})
        assert "--" not in str(caught.value)
        client.cancel(client.start(SPEC, set={"name": "named"}, again=True))
    with pytest.raises(arena.ArenaError, match="another folder with data=") as caught:
        arena.run(SPEC, data=idle.data)
    assert f'`arena.Client(data="{idle.data}").start(spec)`' in str(caught.value)


def test_commands_in_texts_keep_their_flags():
    from arena.errors import in_python

    for text, expected in {
        "use --again": "use again=True",
        "run it and --seed sealed:0af3": 'run it and seed="sealed:0af3"',
        "`arena worker --data x`; --tls-ca": "`arena worker --data x`; tls_ca=",
        "use --replace or --database": "use --replace or --database",
    }.items():
        assert in_python(text) == expected


def test_wrong_parameters_are_named(client, played, tmp_path):
    for workers in (0, 257, "2", True):
        with pytest.raises(arena.InvalidArgument, match="workers is a number from 1 to 256"):
            arena.run(SPEC, data=tmp_path, workers=workers)
    for call in (lambda: arena.run(SPEC, data=tmp_path, seed=5), lambda: client.start(SPEC, seed=5)):
        with pytest.raises(arena.InvalidArgument, match='a seed is a text such as "0x5eed", not 5'):
            call()
    for call in (
        lambda: arena.run(SPEC, data=tmp_path, expect="a beats b"),
        lambda: client.report(played, expect="a beats b"),
    ):
        with pytest.raises(arena.InvalidArgument, match=r"list of sentences, such as \['a beats b'"):
            call()


def test_unreachable_coordinator_is_unavailable(tmp_path):
    with arena.Client(f"unix:{tmp_path}/nothing.sock") as client:
        with pytest.raises(arena.Unavailable, match="arena coordinator"):
            client.tournaments()


def test_specs_must_be_readable(client, tmp_path):
    with pytest.raises(arena.NotFound, match="cannot read the spec"):
        client.start(tmp_path / "nothing.toml")
    with pytest.raises(arena.InvalidArgument, match="TOML"):
        client.start("not =\n", set={"blocks": 1})
    with pytest.raises(arena.InvalidArgument, match="not a table"):
        client.start(SPEC, set={"blocks.more": 1})
    with pytest.raises(arena.InvalidArgument, match="cannot contain None"):
        client.start(SPEC, set={"blocks": None})


def test_missing_program_says_what_to_do(monkeypatch, client):
    monkeypatch.delenv("ARENA_BIN")
    monkeypatch.setenv("PATH", "/nothing")
    monkeypatch.setattr("sysconfig.get_path", lambda *_: "/nothing")
    with pytest.raises(arena.MissingProgram, match="install the wheel"):
        client.command("agent", "list")


@pytest.mark.parametrize("kind", [None, "polars", "pandas", "arrow"])
def test_missing_package_says_what_to_do(monkeypatch, client, played, kind):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    package = {None: "polars", "pandas": "pandas pyarrow", "arrow": "pyarrow"}.get(kind, kind)
    # Not the name of a package of Arena, since no index has it.
    with pytest.raises(arena.MissingPackage, match=f"`pip install {package}`"):
        client.games(played, frame=kind)


def test_program_that_is_named_must_exist(monkeypatch, client):
    monkeypatch.setenv("ARENA_BIN", "/nothing/arena")
    with pytest.raises(arena.MissingProgram, match="ARENA_BIN is '/nothing/arena'"):
        client.command("agent", "list")


def start_command(client, folder):
    """All ways in which the command is started."""

    async def command():
        async with arena.AsyncClient(client.url) as other:
            await other.command("agent", "list")

    return (
        lambda: client.command("agent", "list"),
        lambda: asyncio.run(command()),
        lambda: arena.run(SPEC, data=folder / "run"),
        lambda: arena.Client(data=folder),
    )


def test_program_needs_execute_permission(monkeypatch, client, tmp_path):
    program = tmp_path / "arena"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o644)
    remedy = f"{program} has no execute permission: run `chmod \\+x {program}`"
    monkeypatch.setenv("ARENA_BIN", str(program))
    for start in start_command(client, tmp_path):
        with pytest.raises(arena.MissingProgram, match=f"ARENA_BIN: {remedy}"):
            start()
    monkeypatch.delenv("ARENA_BIN")
    monkeypatch.setattr("sysconfig.get_path", lambda *_: str(tmp_path))
    for start in start_command(client, tmp_path):
        with pytest.raises(arena.MissingProgram, match=remedy):
            start()


def test_program_that_cannot_be_started_is_named(monkeypatch, client, tmp_path):
    program = tmp_path / "arena"
    program.write_text("#!/nothing/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("ARENA_BIN", str(program))
    for start in start_command(client, tmp_path):
        with pytest.raises(arena.MissingProgram, match=f"cannot start {program}: .*ARENA_BIN"):
            start()


def test_wrong_arguments_are_named(client, played, tmp_path):
    with pytest.raises(arena.InvalidArgument, match="use .parquet, or client.command"):
        client.export(played, tmp_path / "games.csv")
    assert not (tmp_path / "games.csv").exists()
    for values in ("kalah", 3, []):
        with pytest.raises(arena.InvalidArgument, match='list of values for "ruleset"'):
            arena.sweep({"name": "x"}, {"ruleset": values}, client=client)
    with pytest.raises(arena.InvalidArgument, match='"seed": a spec cannot contain None'):
        client.start({"name": "x", "seed": None})
    with pytest.raises(arena.InvalidArgument, match="arguments of a command are texts, not 3"):
        client.command("game", "list", 3)
    with pytest.raises(arena.InvalidArgument, match="a path, a text of TOML or a mapping, not 3"):
        client.start(3)


def test_folder_must_exist_and_be_one(tmp_path):
    with pytest.raises(arena.NotFound, match="no data folder at .*nothing: make the folder"):
        arena.Client(data=tmp_path / "nothing")
    (tmp_path / "file").touch()
    with pytest.raises(arena.InvalidArgument, match="file is not a folder"):
        arena.Client(data=tmp_path / "file")
    with pytest.raises(arena.InvalidArgument, match="give one"):
        arena.Client("http://127.0.0.1:1", data=tmp_path)
    for url in ("ftp://127.0.0.1", "my coordinator"):
        with pytest.raises(arena.InvalidArgument, match="not a URL"):
            arena.Client(url)
    with pytest.raises(arena.InvalidArgument, match="more than one URL: give one"):
        arena.Client("http://127.0.0.1:1,http://127.0.0.1:2")
    with pytest.raises(arena.InvalidArgument, match="tls_ca"):
        arena.Client("https://127.0.0.1:1")
    with pytest.raises(arena.InvalidArgument, match="TLS file: .*nothing.pem"):
        arena.Client("https://127.0.0.1:1", tls_ca=tmp_path / "nothing.pem")


@pytest.fixture(scope="module")
def viewer(coordinator, client):
    """The token of a viewer."""
    words = ["token", "create", "--role", "viewer", "--label", "spectators"]
    return client.command(*words).strip()


@pytest.fixture
def stranger(monkeypatch, tmp_path):
    """A user who does not find the token of the local coordinator."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


def test_token_decides_what_is_allowed(coordinator, played, viewer, stranger, tmp_path):
    with arena.Client(coordinator.url) as client:
        with pytest.raises(arena.Unauthenticated) as caught:
            client.tournaments()
        assert caught.value.reason == "TOKEN_MISSING"
        assert "name its file with token_file= or ARENA_TOKEN_FILE" in str(caught.value)
        with pytest.raises(arena.Unauthenticated) as caught:
            client.command("agent", "list")
        assert caught.value.reason == "TOKEN_MISSING"
    file = tmp_path / "viewer.token"
    file.write_text(viewer + "\n")
    file.chmod(0o600)
    for shown in ({"token": viewer}, {"token_file": file}):
        with arena.Client(coordinator.url, **shown) as client:
            assert client.standings(played).games == played.games_total
            assert client.games(played).height == played.games_total
            with pytest.raises(arena.PermissionDenied) as caught:
                client.start(SPEC, set={"name": "other"})
            assert caught.value.reason == "ROLE_INSUFFICIENT"
    with pytest.raises(arena.InvalidArgument, match="token file"):
        arena.Client(coordinator.url, token_file=tmp_path / "nothing").tournaments()


def test_variables_are_those_of_the_command(
    coordinator, played, viewer, stranger, monkeypatch, tmp_path
):
    file = tmp_path / "viewer.token"
    file.write_text(viewer)
    file.chmod(0o600)
    monkeypatch.setenv("ARENA_COORDINATOR", coordinator.url)
    monkeypatch.setenv("ARENA_TOKEN_FILE", str(file))
    with arena.Client() as client:
        assert client.url == coordinator.url
        assert client.tournament(played).id == played.id


def test_token_is_not_shown_to_another_users_program(coordinator, monkeypatch):
    from arena import _access

    assert _access.local_token(coordinator.url)
    assert _access.local_token("http://10.0.0.1:7600") is None
    port = coordinator.url.rsplit(":", 1)[1]
    assert _access.local_token(f"localhost:{port}")
    # The listener's user is neither this one nor the administrator.
    assert _access._is_own_listener("127.0.0.1", int(port))
    monkeypatch.setattr(_access, "_is_own_listener", lambda host, port: False)
    assert _access.local_token(coordinator.url) is None


def test_listeners_of_other_users_are_refused(monkeypatch):
    from arena import _access

    line = "0: 0100007F:{port} 00000000:0000 {state} 00000000:00000000 00:00000000 00000000 {user}"

    def table(**fields):
        text = "header\n " + line.format(**{"port": "1DB0", "state": "0A", **fields}) + " 0 1\n"
        monkeypatch.setattr(_access.Path, "read_text", lambda self: text)
        return _access._is_own_listener("127.0.0.1", 7600)

    assert table(user=os.geteuid()) and table(user=0)
    assert not table(user=os.geteuid() + 12345)
    assert not table(user=0, state="01"), "a connection"
    assert not table(user=0, port="1DB1"), "another port"


def test_client_finds_coordinator_of_folder(coordinator, played, stranger):
    with arena.Client(data=coordinator.data) as client:
        assert client.tournament(played).state == "finished"
        assert client.games(played).height == played.games_total


def test_tls_needs_the_authority(tmp_path, stranger):
    import subprocess

    from conftest import PROGRAM

    tls = tmp_path / "tls"
    subprocess.run([PROGRAM, "tls", "init", tls], check=True, capture_output=True)
    keys = ["--tls-cert", tls / "server.pem", "--tls-key", tls / "server.key"]
    secure = Coordinator(tmp_path / "data", *keys)
    try:
        url = secure.url.replace("http:", "https:").replace("127.0.0.1", "localhost")
        token = (secure.data / "admin.token").read_text()
        with arena.Client(url, token=token, tls_ca=tls / "ca.pem") as client:
            assert client.tournaments() == []
            assert "tournament" in client.command("tournament", "list", "--output", "csv")
    finally:
        secure.stop()
