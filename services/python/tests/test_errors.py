"""Errors have a class, the reason of the coordinator, and say what to do."""

import os

import pytest
from conftest import SPEC, Coordinator

import arena


@pytest.mark.parametrize(
    ("call", "kind", "reason", "text"),
    [
        (lambda c: c.standings("nothing"), arena.NotFound, "UNKNOWN_TOURNAMENT", "list` shows"),
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
    ],
)
def test_errors_have_class_and_reason(idle, call, kind, reason, text):
    with arena.Client(idle.url) as client, pytest.raises(kind) as caught:
        call(client)
    assert caught.value.reason == reason
    assert text in str(caught.value)
    assert isinstance(caught.value, arena.ArenaError)


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
    # pyarrow comes with pandas.
    extra = "polars" if kind in (None, "polars") else "pandas"
    with pytest.raises(arena.MissingPackage, match=rf"pip install '.*\[{extra}\]'"):
        client.games(played, frame=kind)


def test_program_that_is_named_must_exist(monkeypatch, client):
    monkeypatch.setenv("ARENA_BIN", "/nothing/arena")
    with pytest.raises(arena.MissingProgram, match="ARENA_BIN is '/nothing/arena'"):
        client.command("agent", "list")


def test_wrong_arguments_are_named(client, played, tmp_path):
    with pytest.raises(arena.InvalidArgument, match="use .parquet, or client.command"):
        client.export(played, tmp_path / "games.csv")
    assert not (tmp_path / "games.csv").exists()
    for values in ("kalah", 3, []):
        with pytest.raises(arena.InvalidArgument, match='list of values for "ruleset"'):
            arena.sweep({"name": "x"}, {"ruleset": values}, client=client)
    with pytest.raises(arena.InvalidArgument, match='"seed": a spec cannot contain None'):
        client.start({"name": "x", "seed": None})
    with pytest.raises(arena.InvalidArgument, match="a path, a text of TOML or a mapping, not 3"):
        client.start(3)


def test_folder_must_exist_and_be_one(tmp_path):
    with pytest.raises(arena.NotFound, match="no data folder"):
        arena.Client(data=tmp_path / "nothing")
    with pytest.raises(arena.InvalidArgument, match="give one"):
        arena.Client("http://127.0.0.1:1", data=tmp_path)
    with pytest.raises(arena.InvalidArgument, match="not a URL"):
        arena.Client("ftp://127.0.0.1")
    with pytest.raises(arena.InvalidArgument, match="tls_ca"):
        arena.Client("https://127.0.0.1:1")


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
