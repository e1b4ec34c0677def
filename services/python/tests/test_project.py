"""The project itself: stubs, types, the wheel, the page and the notebook."""

import os
import pathlib
import re
import shlex
import shutil
import socket
import subprocess
import sys
import sysconfig
import time
import zipfile

import generate
import pytest
import wheel
from conftest import PROGRAM, PYTHON, ROOT

from arena import specs

try:
    import tomllib
except ImportError:
    import tomli as tomllib


def test_stubs_are_current():
    committed = {file.name: file.read_text() for file in generate.TARGET.glob("*_pb2*")}
    for name, text in generate.generated().items():
        assert committed.pop(name, "") == text, f"{name} is out of date: run generate.py"
    assert not committed


def test_types_are_clean(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path)],
        cwd=PYTHON,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_specs_are_toml():
    spec = {
        "name": 'quo"ted \\ \n é \x7f \u2028',
        "blocks": 3,
        "share": 0.1,
        "large": 1e300,
        "yes": True,
        "play": {"opening_plies": 2, "a key": [1, "two", {"three": 3}]},
        "agents": ("random", "greedy"),
    }
    parsed = tomllib.loads(specs.toml(spec))
    assert parsed == {**spec, "agents": ["random", "greedy"]}
    changed = tomllib.loads(specs.toml(spec, {"play.opening_plies": 5, "new.deep.key": "x"}))
    assert changed["play"]["opening_plies"] == 5
    assert changed["new"] == {"deep": {"key": "x"}}
    assert spec["play"]["opening_plies"] == 2


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    return wheel.pack(pathlib.Path(PROGRAM), tmp_path_factory.mktemp("wheels"), level=0)


def test_wheel_runs_a_tournament(packed, tmp_path):
    """A fresh environment with the wheel, and nothing in the search path, plays."""
    fresh = tmp_path / "fresh"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(fresh)], check=True)
    python = fresh / "bin/python"
    # Nothing is downloaded: the packages that the wheel needs are those of the tests.
    words = ["-m", "pip", "--python", str(python), "install", "-q", "--no-index", "--no-deps"]
    subprocess.run([sys.executable, *words, str(packed)], check=True)
    (site,) = fresh.glob("lib/python*/site-packages")
    (site / "needed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    script = (
        "import arena\n"
        "result = arena.run({'name': 'first', 'ruleset': 'cowry', 'blocks': 2,\n"
        "                    'agents': ['random', 'aggressive']})\n"
        "print(arena.__file__, result.games().height)\n"
    )
    done = subprocess.run(
        [str(python), "-I", "-c", script],
        cwd=tmp_path,
        env={"PATH": "/nothing", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{site / 'arena/__init__.py'} 4\n"
    version = subprocess.run([fresh / "bin/arena", "--version"], capture_output=True, text=True)
    assert version.returncode == 0, version.stderr


def test_wheel_has_the_metadata_of_the_project(packed):
    project = tomllib.loads((PYTHON / "pyproject.toml").read_text())["project"]
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text())
    assert project["version"] == manifest["workspace"]["package"]["version"]
    with zipfile.ZipFile(packed) as archive:
        names = archive.namelist()
        (about,) = [name for name in names if name.endswith("METADATA")]
        text = archive.read(about).decode()
    assert "arena/py.typed" in names and "arena/v1/coordinator_pb2.pyi" in names
    for needed in project["dependencies"]:
        assert f"Requires-Dist: {needed}\n" in text
    assert "From a notebook" in text


def test_template_generates_stubs_of_all_languages(tmp_path):
    """All of the template is checked, except for the plugins, which buf would fetch."""
    buf = shutil.which("buf")
    if buf is None:
        pytest.skip("buf is not installed")
    template = (ROOT / "proto/buf.gen.yaml").read_text()
    plugins = re.findall(r"remote: (\S+)\n    out: (\S+)", template)
    assert len(plugins) == template.count("remote: ")
    fake = f'local: ["{sys.executable}", "{PYTHON / "tests/plugin.py"}", "\\1"]'
    changed = tmp_path / "buf.gen.yaml"
    changed.write_text(re.sub(r"remote: (\S+)", fake, template))
    subprocess.run(
        [buf, "generate", str(ROOT / "proto"), "--template", str(changed)],
        cwd=tmp_path,
        env={**os.environ, "HOME": str(tmp_path)},
        check=True,
    )
    for plugin, out in plugins:
        file = f"{out}/arena/v1/coordinator.proto.{plugin.replace('/', '.')}"
        text = (tmp_path / file).read_text()
        assert text.startswith("arena/gen/go/arena/v1"), text


def blocks(page):
    """The blocks of Python of a page."""
    return re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


def test_page_runs(coordinator, tmp_path, monkeypatch):
    """The blocks run in order, as cells of a notebook do; the coordinator has a free port."""
    code = blocks(PYTHON / "README.md")
    assert len(code) >= 6
    lines = []
    for block in code:
        block = block.replace("http://127.0.0.1:7600", coordinator.url)
        if "await " in block:
            body = "".join(f"    {line}\n" for line in block.splitlines())
            block = f"import asyncio\nasync def cell():\n{body}asyncio.run(cell())\n"
        lines.append(block)
    (tmp_path / "cowry.toml").write_text(
        'name = "cowry"\nruleset = "cowry"\nseed = "0x5eed"\nblocks = 2\n'
        'agents = ["random", "aggressive"]\n'
    )
    script = tmp_path / "page.py"
    script.write_text("\n".join(lines))
    done = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_notebook_runs(tmp_path):
    import nbclient
    import nbformat

    source = PYTHON / "examples/notebook.ipynb"
    notebook = nbformat.read(source, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "commit it without outputs"
    shutil.copy(source, tmp_path)
    client = nbclient.NotebookClient(
        notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert not [one for one in shown if one["output_type"] == "error"]
    pages = "".join("".join(one.get("data", {}).get("text/html", "")) for one in shown)
    assert "<caption>" in pages, "the standings"
    assert "shape: (" in pages, "a data frame"
    assert "<iframe srcdoc=" in pages, "the report"
    texts = "".join("".join(one.get("data", {}).get("text/plain", "")) for one in shown)
    assert "games" in texts, "the progress"


def shell_blocks():
    return re.findall(r"^```sh\n(.*?)^```$", (PYTHON / "README.md").read_text(), re.M | re.S)


def test_commands_of_the_readme_install_the_wheel(tmp_path):
    install, _ = shell_blocks()
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "fresh")], check=True)
    (site,) = (tmp_path / "fresh").glob("lib/python*/site-packages")
    # Nothing is downloaded: the packages that the wheel needs are those of the tests.
    (site / "needed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    (tmp_path / "services").symlink_to(ROOT / "services")
    (tmp_path / "target/debug").mkdir(parents=True)
    (tmp_path / "target/debug/arena").symlink_to(PROGRAM)
    path = f"{tmp_path / 'fresh/bin'}:{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PIP_NO_INDEX": "1"}
    subprocess.run(["bash", "-euc", install], cwd=tmp_path, env=environment, check=True)
    assert (site / "arena/py.typed").is_file() and (tmp_path / "fresh/bin/arena").is_file()


def test_commands_of_the_readme_start_a_coordinator_and_a_worker(tmp_path):
    _, start = shell_blocks()
    coordinator, worker = start.splitlines()
    assert coordinator == "arena coordinator --data lab"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = "127.0.0.1:{}".format(free.getsockname()[1])
    # Another port than the default, which may be in use.
    commands = [f"{coordinator} --listen {address}", worker.replace("127.0.0.1:7600", address)]
    (tmp_path / "arena").symlink_to(PROGRAM)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    running = []
    try:
        for command in commands:
            words = [*shlex.split(command), "--metrics", "127.0.0.1:0"]
            running.append(subprocess.Popen(words, cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL))
        deadline = time.monotonic() + 60
        listed = ["arena", "agent", "list", "--coordinator", f"http://{address}"]
        while subprocess.run(listed, cwd=tmp_path, env=environment, capture_output=True).returncode:
            assert time.monotonic() < deadline, "no coordinator"
            time.sleep(0.2)
        (tmp_path / "spec.toml").write_text(
            'name = "first"\nruleset = "kalah"\nblocks = 2\nagents = ["random", "greedy"]\n'
        )
        start = ["arena", "tournament", "start", "spec.toml", "--watch", *listed[3:]]
        played = subprocess.run(start, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
        assert played.returncode == 0 and "4/4 games" in played.stderr, played.stdout + played.stderr
    finally:
        for process in reversed(running):
            process.terminate()
            process.wait(60)
