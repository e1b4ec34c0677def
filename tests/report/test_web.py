"""The web pages of `arena coordinator --web`, in Chromium, and their JSON."""

import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import urllib.error
import urllib.request

import pytest
from conftest import ARENA, HOSTILE, ROOT, hostile_agent

HERE = pathlib.Path(__file__).parent
LOOKS = [(400, "light"), (400, "dark"), (1400, "light"), (1400, "dark")]
TOURNAMENTS = {
    "cowry": (["random", "aggressive", "mixed"], ""),
    "kalah": (["random", "greedy"], ""),
    "oware-abapa": (["random", "greedy", "expectimax", "mcts"], 'format = "knockout"'),
    "chinese-ludo": (["random", "greedy"], ""),
    "chess": (["random", "greedy"], ""),
}


class Site:
    """A coordinator with pages and a worker."""

    def __init__(self, arena):
        self.arena = arena
        self.servers = []
        started = self.serve(
            "coordinator", "--data", "web", "--listen", "127.0.0.1:0",
            "--metrics", "127.0.0.1:0", "--web", "127.0.0.1:0",
        )
        self.coordinator = f"http://{started['listen']}"
        self.url = f"http://{started['web']}"

    def serve(self, *arguments):
        environment = {
            key: value for key, value in os.environ.items() if not key.startswith("ARENA_")
        }
        # Agents may read the SDK, which is not installed but linked.
        linked = importlib.util.find_spec("arena_agent")
        folder = pathlib.Path(linked.origin).parents[1] if linked else ROOT / "agents/sdk/python"
        environment["ARENA_AGENT_PATH"] = str(folder)
        environment["PATH"] = os.path.dirname(sys.executable) + ":" + environment["PATH"]
        server = subprocess.Popen(
            [ARENA, *arguments], cwd=self.arena.folder, env=environment,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )
        self.servers.append(server)
        return json.loads(server.stdout.readline())

    def start(self, name, ruleset, agents, blocks=4, more="", watch=True):
        names = ", ".join(f'"{agent}"' for agent in agents)
        spec = self.arena.folder / f"web-{name}.toml"
        spec.write_text(
            f'# {HOSTILE}\nname = "{name}"\nruleset = "{ruleset}"\nseed = "0x5eed"\n'
            f"blocks = {blocks}\nagents = [{names}]\n{more}\n"
        )
        flags = ["--watch"] if watch else []
        done = self.arena.run(
            "tournament", "start", spec, "--coordinator", self.coordinator, *flags
        )
        return re.search(r"\b(%s-[0-9a-f]{10})\b" % name, done.stdout + done.stderr).group(1)

    def json(self, path):
        with urllib.request.urlopen(self.url + path) as answer:
            assert answer.headers["content-type"] == "application/json"
            return json.load(answer)

    def stop(self):
        for server in reversed(self.servers):
            server.terminate()
            server.wait(30)


@pytest.fixture(scope="module")
def site(arena):
    running = Site(arena)
    running.serve("worker", "--coordinator", running.coordinator, "--metrics", "127.0.0.1:0")
    running.ids = {
        ruleset: running.start(ruleset, ruleset, agents, more=more)
        for ruleset, (agents, more) in TOURNAMENTS.items()
    }
    agent = hostile_agent(arena, "web-hostile")
    arena.run(
        "agent", "register", "hostile", "--binary", agent, "--coordinator", running.coordinator
    )
    running.ids["faulty"] = running.start("faulty", "cowry", ["random", "aggressive", "hostile"])
    games = running.json(f"/api/tournaments/{running.ids['faulty']}/games")["games"]
    running.fault = next(game["index"] for game in games if game["faults"])
    # It runs through all tests, and leaves the processor to them.
    arena.run(
        "agent", "register", "slow", "--binary", ROOT / "tests/agents/slow.py",
        "--coordinator", running.coordinator, "--", "100",
    )
    running.ids["open"] = running.start(
        "open", "kalah", ["greedy", "slow"], blocks=100_000, watch=False
    )
    yield running
    running.stop()


def paths(site):
    ids = site.ids
    return {
        "tournaments": "/",
        "tournament": f"/t/{ids['cowry']}",
        "knockout": f"/t/{ids['oware-abapa']}",
        "faulty": f"/t/{ids['faulty']}",
        "running": f"/t/{ids['open']}",
        "games": f"/t/{ids['cowry']}/games",
        "cowry": f"/t/{ids['cowry']}/games/0?ply=9",
        "kalah": f"/t/{ids['kalah']}/games/0?ply=7",
        "oware-abapa": f"/t/{ids['oware-abapa']}/games/0?ply=7",
        "chinese-ludo": f"/t/{ids['chinese-ludo']}/games/0?ply=30",
        "chess": f"/t/{ids['chess']}/games/0?ply=5",
        "fault": f"/t/{ids['faulty']}/games/{site.fault}",
        "workers": "/workers",
        "agents": "/agents",
        "report": f"/t/{ids['cowry']}/report",
        "missing": "/t/nothing",
    }


NAMES = [
    "tournaments", "tournament", "knockout", "faulty", "running", "games", "cowry", "kalah",
    "oware-abapa", "chinese-ludo", "chess", "fault", "workers", "agents", "report", "missing",
]


class Page:
    """An open page, with its errors."""

    def __init__(self, browser, site, path, width=1400, scheme="light", **more):
        self.page = browser.new_page(
            viewport={"width": width, "height": 900}, color_scheme=scheme, **more
        )
        self.said, self.asked = [], []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(site.url + path, wait_until="load")

    def __enter__(self):
        return self.page, self.said, self.asked

    def __exit__(self, *_):
        self.page.close()


@pytest.mark.parametrize("name", NAMES)
def test_page_of_site_fits_and_is_accessible(browser, site, name):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    shots = os.environ.get("ARENA_SHOTS")
    for width, scheme in LOOKS:
        with Page(browser, site, paths(site)[name], width, scheme) as (page, said, asked):
            if shots:
                page.screenshot(path=f"{shots}/{name}-{width}-{scheme}.png", full_page=True)
            said = [text for text in said if name != "missing" or "404" not in text]
            assert said == []
            assert all(url.startswith((site.url, "data:")) for url in asked), asked
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, f"{wide} pixels wide at {width}, {scheme}"
            results = axe.run(page)
            assert results.violations_count == 0, results.generate_report()
            contrast = page.evaluate((HERE / "contrast.js").read_text())
            assert contrast["found"] == []
            levels = page.evaluate(
                "[...document.querySelectorAll('h1, h2, h3')].map(it => Number(it.tagName[1]))"
            )
            assert levels[0] == 1 and levels.count(1) == 1
            assert all(after - before <= 1 for before, after in zip(levels, levels[1:]))


@pytest.mark.parametrize("name", NAMES)
def test_page_of_site_works_without_scripts(browser, site, name):
    with Page(browser, site, paths(site)[name], 400, java_script_enabled=False) as (page, said, _):
        assert page.locator("h1").is_visible()
        assert page.locator("main section").first.is_visible()
        if name != "missing":
            assert said == []


def test_site_steps_through_a_game_by_links_and_keys(browser, site):
    path = f"/t/{site.ids['kalah']}/games/0?ply=0"
    with Page(browser, site, path, 400, java_script_enabled=False) as (page, _, _):
        first = page.locator("#stage").inner_html()
        assert "Before the first" in page.locator("#said").text_content()
        boards = {first}
        for ply in range(1, 8):
            page.click("#next")
            assert f"Ply {ply} of" in page.locator("#said").text_content()
            boards.add(page.locator("#stage").inner_html())
        assert len(boards) > 5
        page.click("#back")
        assert "Ply 6 of" in page.locator("#said").text_content()
        page.click("#last")
        assert "The game is over" in page.locator("#said").text_content()
        page.click("#first")
        assert page.locator("#stage").inner_html() == first
    with Page(browser, site, path) as (page, said, _):
        for key, expected in [
            ("ArrowRight", "Ply 1 of"), ("ArrowRight", "Ply 2 of"), ("ArrowLeft", "Ply 1 of"),
            ("End", "The game is over"), ("Home", "Before the first"),
        ]:
            with page.expect_navigation():
                page.keyboard.press(key)
            assert expected in page.locator("#said").text_content()
        assert said == []


def test_site_shows_hostile_text_as_text(browser, site):
    for name in ["faulty", "fault", "report"]:
        with Page(browser, site, paths(site)[name]) as (page, said, _):
            assert "taken" not in page.title()
            assert page.locator("img").count() == 0
            assert said == []
    with Page(browser, site, paths(site)["fault"]) as (page, _, _):
        assert HOSTILE in page.locator("pre").first.text_content()


def test_site_replaces_standings_while_games_run(browser, site):
    with Page(browser, site, paths(site)["running"]) as (page, said, asked):
        first = page.locator("#state").text_content()
        assert first.startswith("running: ")
        page.locator(".wide").first.focus()
        page.wait_for_function(
            "text => document.getElementById('state').textContent !== text", arg=first
        )
        assert page.evaluate("document.activeElement.className") == "wide", "focus stays"
        # No page was loaded again.
        assert len([url for url in asked if url.endswith(paths(site)["running"])]) == 1
        assert said == []


def schema(document, node):
    """A schema whose references lead into the whole document."""
    return {"components": document["components"], **node}


def test_site_answers_as_openapi_describes(site):
    jsonschema = pytest.importorskip("jsonschema")
    document = site.json("/openapi.json")
    assert document["openapi"] == "3.1.0"
    seen = 0
    for path, item in document["paths"].items():
        content = item["get"]["responses"]["200"]["content"]
        for ruleset in TOURNAMENTS:
            real = path.replace("{tournament}", site.ids[ruleset]).replace("{game}", "0")
            if "application/json" not in content:
                if not path.endswith("/events"):
                    with urllib.request.urlopen(site.url + real) as answer:
                        assert answer.headers["content-type"] in content
                continue
            described = schema(document, content["application/json"]["schema"])
            jsonschema.Draft202012Validator(described).validate(site.json(real))
            seen += 1
        parameters = json.dumps(item["get"].get("parameters", []))
        for name in re.findall(r"{(\w+)}", path):
            assert f"/{name}\"" in parameters, f"{path} does not describe {name}"
    assert seen >= 6 * len(TOURNAMENTS)
    error = schema(document, document["components"]["schemas"]["Error"])
    with pytest.raises(urllib.error.HTTPError) as refused:
        site.json("/api/tournaments/nothing-0123456789")
    assert refused.value.code == 404
    jsonschema.Draft202012Validator(error).validate(json.load(refused.value))
    # A wrong answer is noticed.
    wrong = site.json("/api/tournaments")
    wrong["tournaments"][0]["state"] = "dancing"
    described = schema(document, document["components"]["schemas"]["Tournaments"])
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(described).validate(wrong)
