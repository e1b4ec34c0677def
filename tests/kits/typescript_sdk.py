"""Packs the TypeScript SDK as its README says, and starts agents with it."""

import os
import re
import shutil
import signal
import subprocess
import sys

import pytest

from conftest import KITS, ROOT, compiler_modules

sys.path.insert(0, str(ROOT / "agents/sdk/python/tests"))
from client import Client, kalah_pb2, pb  # the client that tests of the Python SDK use

SDK = ROOT / "agents/sdk/typescript"
ARENA = os.environ.get("ARENA_BIN", str(ROOT / "target/debug/arena"))
PROGRAM = 'import { option, serve } from "arena-agent";\n'


def block(language, number=0):
    """A block of code of the README."""
    readme = (SDK / "README.md").read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", readme, re.M | re.S)[number]


class Sdk:
    """The SDK, packed and then installed in an empty folder, without a network."""

    def __init__(self, folder):
        if missing := [program for program in ("node", "npm", "tsc") if shutil.which(program) is None]:
            pytest.skip(f"the TypeScript SDK needs {', '.join(missing)}")
        tools = compiler_modules() and compiler_modules().parent
        if not (tools and (tools / "sdk/node_modules").is_dir()):
            pytest.skip("the TypeScript SDK needs @grpc/grpc-js: see tests/setup")
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("ARENA_")},
            "PATH": f"{os.path.dirname(ARENA)}:{os.environ['PATH']}",
            "NO_COLOR": "1",
            "npm_config_offline": "true",
            "npm_config_cache": str(tools / "cache"),
        }
        self.source = folder / "sdk"
        ignored = shutil.ignore_patterns("node_modules", "dist")
        shutil.copytree(SDK, self.source, ignore=ignored)
        (self.source / "node_modules").symlink_to(tools / "sdk/node_modules")
        self.run("npm pack --silent --pack-destination ..", self.source)
        self.folder = folder / "agent"
        self.folder.mkdir()
        self.install, self.bundle, *self.commands = block("sh", 1).splitlines()
        self.run(self.install, self.folder)

    def run(self, command, folder, code=0):
        """Runs a command of a shell."""
        done = subprocess.run(
            ["sh", "-ec", command],
            cwd=folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == code, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def package(self, folder, program="agent.js"):
        """Bundles a program of the folder of the SDK into an agent in a folder."""
        (folder / "dist").mkdir(parents=True)
        bundle = self.bundle.replace("agent.ts", program).replace("dist/", f"{folder}/dist/")
        self.run(bundle, self.folder)
        (folder / "arena-agent.toml").write_text(block("toml"))
        return folder


class Process:
    """An agent that runs as a worker starts it. Its outputs are files, so that no pipe fills up."""

    def __init__(self, command, folder, environment):
        self.output = folder / "output.txt"
        listen = f"unix:{folder / 'agent.sock'}"
        with self.output.open("w") as output:
            self.child = subprocess.Popen(
                command, env={**environment, "ARENA_LISTEN": listen}, stdout=output, stderr=output
            )
        self.client = Client(listen)

    def printed(self):
        return self.output.read_text()

    def wait(self):
        return self.child.wait(60)

    def terminate(self):
        self.child.send_signal(signal.SIGTERM)
        return self.wait()

    def close(self):
        self.client.channel.close()
        if self.child.poll() is None:
            self.child.kill()
            self.child.wait()


@pytest.fixture(scope="module")
def sdk(tmp_path_factory):
    return Sdk(tmp_path_factory.mktemp("sdk"))


@pytest.fixture
def serve(sdk, tmp_path):
    """Starts an agent from the text of its program."""
    started = []

    def run(program, ready=True):
        path = sdk.folder / "served.mjs"
        path.write_text(PROGRAM + program)
        process = Process(["node", str(path)], tmp_path, sdk.environment)
        started.append(process)
        if ready:
            process.client.health()
        return process

    yield run
    for process in started:
        process.close()
