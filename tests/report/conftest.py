"""A small tournament with an agent that crashes, and its reports."""

import os
import pathlib
import shutil
import subprocess
import sys
import zipapp

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ARENA = os.environ.get("ARENA_BIN", str(ROOT / "target/debug/arena"))

# Text of users, which must be shown as text everywhere.
HOSTILE = '<script>document.title = "taken"</script></pre><img src=x onerror=alert(1)>&"\'`|'

SPEC = f"""\
# {HOSTILE}
name = "page"
ruleset = "{{ruleset}}"
seed = "0x5eed"
blocks = {{blocks}}
agents = [{{agents}}]
{{more}}
"""


class Arena:
    """The program, in its own folder."""

    def __init__(self, folder):
        self.folder = folder

    def run(self, *arguments, code=0):
        environment = {
            key: value for key, value in os.environ.items() if not key.startswith("ARENA_")
        }
        environment["NO_COLOR"] = "1"
        # Agents may read the SDK, which is not installed but linked.
        environment["ARENA_AGENT_PATH"] = str(ROOT / "agents/sdk/python")
        environment["PATH"] = os.path.dirname(sys.executable) + ":" + environment["PATH"]
        done = subprocess.run(
            [ARENA, *map(str, arguments)],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == code, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def tournament(self, ruleset, agents, blocks=4, more=""):
        """Plays a tournament and returns its id."""
        names = ", ".join(f'"{name}"' for name in agents)
        spec = self.folder / f"{ruleset}.toml"
        spec.write_text(SPEC.format(ruleset=ruleset, blocks=blocks, agents=names, more=more))
        done = self.run("run", spec, "--data", "data")
        return next(
            line.split()[1] for line in done.stderr.splitlines() if line.startswith("tournament ")
        )


@pytest.fixture(scope="session")
def arena(tmp_path_factory):
    if not pathlib.Path(ARENA).is_file():
        pytest.fail(f"there is no {ARENA}: build it first")
    return Arena(tmp_path_factory.mktemp("report"))


def hostile_agent(arena, name):
    """An agent that crashes, and whose stderr is hostile."""
    source = arena.folder / f"{name}-source"
    shutil.copytree(ROOT / "tests/agents/misbehave", source)
    (source / "__main__.py").rename(source / "misbehave.py")
    (source / "__main__.py").write_text(
        "import sys, misbehave\n"
        f"print({HOSTILE!r}, file=sys.stderr, flush=True)\n"
        "misbehave.main(['crash'])\n"
    )
    agent = arena.folder / name
    zipapp.create_archive(source, agent, interpreter="/usr/bin/env python3")
    return agent


@pytest.fixture(scope="session")
def faulty(arena):
    """A tournament with faults whose stderr is hostile."""
    agent = hostile_agent(arena, "hostile")
    arena.run("agent", "register", "hostile", "--binary", agent, "--data", "data")
    return arena.tournament("cowry", ["random", "aggressive", "hostile"])


@pytest.fixture(scope="session")
def browser():
    """Chromium without a window."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("there is no Chromium: install the package chromium")
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield running
        running.close()
