"""The page of `arena report --html`, in Chromium."""

import json
import pathlib
import re

import pytest
from conftest import HOSTILE

HERE = pathlib.Path(__file__).parent
BOARDS = {
    "cowry": ["random", "aggressive", "mixed"],
    "kalah": ["random", "greedy"],
    "oware-abapa": ["random", "greedy"],
    "oware-anan-anan": ["random", "greedy"],
    "chinese-ludo": ["random", "greedy"],
}
LOOKS = [(400, "light"), (400, "dark"), (1400, "light"), (1400, "dark")]


class Page:
    """An open page, with its errors."""

    def __init__(self, browser, file, width=1400, scheme="light", **more):
        self.page = browser.new_page(
            viewport={"width": width, "height": 900}, color_scheme=scheme, **more
        )
        self.said, self.asked = [], []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(file.as_uri())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.page.close()

    def text(self, selector):
        return self.page.locator(selector).text_content()

    def board(self):
        return self.page.locator("#stage").inner_html()


@pytest.fixture(scope="module")
def page_file(arena, faulty):
    file = arena.folder / "faulty.html"
    arena.run("report", faulty, "--data", "data", "--html", file)
    return file


@pytest.mark.parametrize("width, scheme", LOOKS)
def test_page_loads_cleanly_without_overflow(
    browser, page_file, width, scheme
):
    with Page(browser, page_file, width, scheme) as open_page:
        assert open_page.said == []
        assert open_page.asked == [page_file.as_uri()]
        wide = open_page.page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, f"{wide} pixels wide"


@pytest.mark.parametrize("width, scheme", LOOKS)
def test_text_has_enough_contrast(browser, page_file, width, scheme):
    with Page(browser, page_file, width, scheme) as open_page:
        for details in open_page.page.locator("details").all():
            details.evaluate("node => { node.open = true }")
        result = open_page.page.evaluate((HERE / "contrast.js").read_text())
        assert result["seen"] > 100
        assert result["found"] == []


def test_user_text_is_escaped(browser, page_file):
    with Page(browser, page_file) as open_page:
        assert "taken" not in open_page.page.title()
        assert open_page.page.locator("img").count() == 0
        assert open_page.page.locator("script").count() == 2
        assert HOSTILE in open_page.text("section[aria-labelledby=again]")
        assert HOSTILE in open_page.text("section[aria-labelledby=faults]")


def test_page_has_title_language_and_headings(browser, page_file):
    with Page(browser, page_file) as open_page:
        levels = open_page.page.evaluate(
            "[...document.querySelectorAll('h1, h2, h3')].map(node => Number(node.tagName[1]))"
        )
        assert levels[0] == 1 and levels.count(1) == 1
        assert all(after - before <= 1 for before, after in zip(levels, levels[1:]))
        assert open_page.page.evaluate("document.documentElement.lang") == "en"
        for selector, what in [
            ("button", "a button without a name"),
            ("svg[role=img]", "a drawing without a name"),
            ("[role=region]", "a region without a name"),
        ]:
            nameless = open_page.page.locator(selector).evaluate_all(
                """nodes => nodes.filter(node => !node.getAttribute('aria-label')
                && !node.getAttribute('aria-labelledby') && !node.textContent.trim()).length"""
            )
            assert nameless == 0, what
        heads = open_page.page.locator("thead th:not([scope=col]), tbody th:not([scope=row])")
        assert heads.count() == 0


@pytest.mark.parametrize("ruleset", BOARDS)
def test_keys_and_buttons_step_through_a_game(arena, browser, ruleset):
    identity = arena.tournament(ruleset, BOARDS[ruleset])
    file = arena.folder / f"{ruleset}.html"
    arena.run("report", identity, "--data", "data", "--html", file)
    with Page(browser, file, 400) as open_page:
        page = open_page.page
        plies = int(page.locator("#at").get_attribute("max"))
        assert plies > 10
        first = open_page.board()
        assert "Before the first ply" in open_page.text("#said")
        page.focus("#stage")
        boards = {first}
        for ply in range(1, 11):
            page.keyboard.press("ArrowRight")
            assert f"Ply {ply} of {plies}" in open_page.text("#said")
            boards.add(open_page.board())
        assert len(boards) > 3, "the board never changes"
        page.keyboard.press("ArrowLeft")
        assert f"Ply 9 of {plies}" in open_page.text("#said")
        page.keyboard.press("End")
        assert "The game is over" in open_page.text("#said")
        page.keyboard.press("Home")
        assert open_page.board() == first
        page.click("#next")
        assert f"Ply 1 of {plies}" in open_page.text("#said")
        page.click("#last")
        assert page.locator("#next").is_disabled()
        page.select_option("#pick", index=1)
        assert "Before the first ply" in open_page.text("#said")
        assert open_page.said == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 400


def test_crosstable_names_fit_a_phone(browser, page_file):
    with Page(browser, page_file, 400) as open_page:
        for head in open_page.page.locator(".heat tbody th").all():
            cut = head.evaluate("node => node.scrollWidth > node.clientWidth + 1")
            assert not cut, head.text_content()


def test_printed_page_lists_pairs(browser, page_file):
    with Page(browser, page_file) as open_page:
        assert not open_page.page.locator("#pair-list").is_visible()
        assert "likelihood of superiority" in open_page.text("#pair-list")
        open_page.page.emulate_media(media="print")
        assert open_page.page.locator("#pair-list").is_visible()


def test_page_works_without_script(browser, page_file):
    with Page(browser, page_file, java_script_enabled=False) as open_page:
        assert "game show" in open_page.text("noscript")
        assert open_page.page.locator("#standings").is_visible()


def test_printed_page_has_no_controls(browser, page_file):
    with Page(browser, page_file) as open_page:
        open_page.page.emulate_media(media="print")
        for selector in ["nav", "#next", "#at", "#pick"]:
            assert not open_page.page.locator(selector).is_visible(), selector


def test_hash_records_explain_how_to_see_games(arena, browser):
    identity = arena.tournament("kalah", ["greedy", "random"], more='records = "hash"')
    file = arena.folder / "hashes.html"
    arena.run("report", identity, "--data", "data", "--html", file)
    with Page(browser, file) as open_page:
        assert f"arena game rerun {identity}/0" in open_page.text("section[aria-labelledby=samples]")
        assert open_page.said == []


WIDTHS = [400, 600, 800, 1000, 1200, 1400]
# As wide as a sheet of A4 between its margins.
PAPER = 700


@pytest.fixture(scope="module")
def pages(arena, faulty, page_file):
    """Pages of a field with faults, a sequential test, and four seats: id and file."""
    found = {"faulty": (faulty, page_file)}
    tests = {
        "sprt": ("kalah", ["greedy", "random"], 40, 'format = "sprt"'),
        "seats": ("cowry", ["random", "aggressive", "defensive", "mixed"], 4, "seats = 4"),
    }
    for name, (ruleset, agents, blocks, more) in tests.items():
        identity = arena.tournament(ruleset, agents, blocks=blocks, more=more)
        file = arena.folder / f"{name}.html"
        arena.run("report", identity, "--data", "data", "--html", file)
        found[name] = (identity, file)
    return found


def standings(arena, identity):
    shown = arena.run("standings", identity, "--data", "data", "--output", "json")
    return json.loads(shown.stdout)


def opened(page):
    page.evaluate("document.querySelectorAll('details').forEach(node => { node.open = true })")


@pytest.mark.parametrize("name", ["faulty", "sprt", "seats"])
@pytest.mark.parametrize("width, scheme", [(400, "dark"), (1400, "light")])
def test_axe_finds_nothing(browser, pages, name, width, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    with Page(browser, pages[name][1], width, scheme) as open_page:
        opened(open_page.page)
        results = axe.run(open_page.page)
        assert len(results.response["passes"]) > 20
        assert results.violations_count == 0, results.generate_report()


CLIPPED = """() => [...document.querySelectorAll('th, td, figcaption, .key span, li')]
    .filter(node => node.clientWidth > 0 && node.scrollWidth > node.clientWidth + 1)
    .filter(node => !node.closest('pre') && !node.querySelector('svg, .wide'))
    .map(node => node.textContent.slice(0, 60))"""
# Words on two lines: a range over one word has two rectangles.
BROKEN = """() => {
    const broken = [];
    for (const cell of document.querySelectorAll('thead th, td.num')) {
        const walk = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
        while (walk.nextNode()) {
            for (const word of walk.currentNode.data.matchAll(/[A-Za-z0-9.,%]+/g)) {
                const range = document.createRange();
                range.setStart(walk.currentNode, word.index);
                range.setEnd(walk.currentNode, word.index + word[0].length);
                const tops = new Set([...range.getClientRects()].map(box => Math.round(box.top)));
                if (tops.size > 1) broken.push(word[0]);
            }
        }
    }
    return broken;
}"""


@pytest.mark.parametrize("name", ["faulty", "sprt", "seats"])
@pytest.mark.parametrize("width", WIDTHS)
def test_columns_are_not_clipped(browser, pages, name, width):
    with Page(browser, pages[name][1], width) as open_page:
        opened(open_page.page)
        assert open_page.page.evaluate("document.documentElement.scrollWidth") <= width
        assert open_page.page.evaluate(CLIPPED) == []
        assert open_page.page.evaluate(BROKEN) == []


@pytest.mark.parametrize("name", ["faulty", "sprt", "seats"])
def test_printed_tables_are_complete(browser, pages, name):
    with Page(browser, pages[name][1], PAPER) as open_page:
        open_page.page.emulate_media(media="print")
        hidden = open_page.page.evaluate(
            """() => [...document.querySelectorAll('.wide')]
                .filter(node => node.scrollWidth > node.clientWidth + 1)
                .map(node => node.getAttribute('aria-label'))"""
        )
        assert hidden == []
        assert open_page.page.evaluate(BROKEN) == []


def test_only_three_points_are_unfolded(browser, pages):
    for _, file in pages.values():
        with Page(browser, file) as open_page:
            summary = open_page.page.locator("section[aria-labelledby=summary]")
            assert summary.locator("> ul > li").count() == 3
            more = summary.locator("details li")
            assert more.count() > 2 and not more.first.is_visible()


def test_sprt_shows_ratio_and_bounds(arena, browser, pages):
    identity, file = pages["sprt"]
    verdict = standings(arena, identity)["verdict"]
    with Page(browser, file) as open_page:
        section = open_page.page.locator("section[aria-labelledby=test]")
        drawing = section.locator("svg[role=img]").get_attribute("aria-label")
        assert f"{verdict['llr']:.2f} after {verdict['blocks']} blocks" in drawing
        assert f"{verdict['llr_low']:.2f} and {verdict['llr_high']:.2f}" in drawing
        looks = section.locator("path").get_attribute("d")
        assert looks.count("L") == verdict["looks"]
        assert f"L{verdict['blocks']} " in looks
        cells = section.locator("#outcomes tbody tr td:nth-child(2)").all_text_contents()
        assert [int(cell) for cell in cells] == verdict["outcomes"]
        heads = section.locator("#outcomes tbody th").all_text_contents()
        assert heads == [f"{points} of 2 points" for points in ["0", "0.5", "1", "1.5", "2"]]


def test_four_seats_show_place_counts(arena, browser, pages):
    identity, file = pages["seats"]
    agents = standings(arena, identity)["agents"]
    with Page(browser, file) as open_page:
        heads = open_page.page.locator("#places thead th").all_text_contents()
        assert heads == ["agent", "1st", "2nd", "3rd", "4th"]
        rows = open_page.page.locator("#places tbody tr").all()
        for row, agent in zip(rows, agents, strict=True):
            assert row.locator("th").text_content() == agent["agent"]
            counts = [int(cell.split(" ")[0]) for cell in row.locator("td").all_text_contents()]
            assert counts == agent["ranks"]
            assert sum(counts) == agent["games"]
    with Page(browser, pages["sprt"][1]) as open_page:
        assert open_page.page.locator("#places").count() == 0


def test_faults_of_one_cause_are_one_entry(arena, browser, pages):
    identity, file = pages["faulty"]
    agents = standings(arena, identity)["agents"]
    faults = next(agent["faults"] for agent in agents if agent["agent"] == "hostile")
    assert faults > 4
    with Page(browser, file) as open_page:
        entries = open_page.page.locator("section[aria-labelledby=faults] details > summary")
        said = entries.all_text_contents()
        assert sum(int(text.split(", ")[1].split(" ")[0]) for text in said if "times" in text) <= faults
        assert len(said) < faults
        assert any("times" in text for text in said), said


SAID = {
    "kalah": r"sows \d+ seeds? from Seat [01] \d",
    "oware-abapa": r"sows \d+ seeds? from (South|North) \d",
    "oware-anan-anan": r"sows \d+ seeds? from (South|North) \d",
    "cowry": r"draws .* and moves piece \d from start to square \d+",
    "chinese-ludo": r"(moves piece \d from hangar to pad|changes nothing on the board \(pass\))",
}


@pytest.mark.parametrize("ruleset", SAID)
def test_moves_are_described_in_words(arena, browser, ruleset):
    identity = arena.tournament(ruleset, BOARDS[ruleset])
    file = arena.folder / f"{ruleset}-words.html"
    arena.run("report", identity, "--data", "data", "--html", file)
    with Page(browser, file) as open_page:
        open_page.page.focus("#stage")
        open_page.page.keyboard.press("ArrowRight")
        assert re.search(SAID[ruleset], open_page.text("#said")), open_page.text("#said")
