"""The page of `arena report --html`, in Chromium."""

import pathlib

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
    """A page that is open, with all that went wrong in it."""

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
def test_nothing_is_asked_for_nothing_complains_and_nothing_sticks_out(
    browser, page_file, width, scheme
):
    with Page(browser, page_file, width, scheme) as open_page:
        assert open_page.said == []
        assert open_page.asked == [page_file.as_uri()]
        wide = open_page.page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, f"{wide} pixels wide"


@pytest.mark.parametrize("width, scheme", LOOKS)
def test_every_text_can_be_read_against_what_is_behind_it(browser, page_file, width, scheme):
    with Page(browser, page_file, width, scheme) as open_page:
        for details in open_page.page.locator("details").all():
            details.evaluate("node => { node.open = true }")
        result = open_page.page.evaluate((HERE / "contrast.js").read_text())
        assert result["seen"] > 100
        assert result["found"] == []


def test_what_users_write_is_shown_as_text(browser, page_file):
    with Page(browser, page_file) as open_page:
        assert "taken" not in open_page.page.title()
        assert open_page.page.locator("img").count() == 0
        assert open_page.page.locator("script").count() == 2
        assert HOSTILE in open_page.text("section[aria-labelledby=again]")
        assert HOSTILE in open_page.text("section[aria-labelledby=faults]")


def test_the_page_has_one_title_a_language_and_headings_in_order(browser, page_file):
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
def test_keys_and_buttons_step_through_a_game_on_its_board(arena, browser, ruleset):
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


def test_names_of_the_crosstable_are_whole_on_a_phone(browser, page_file):
    with Page(browser, page_file, 400) as open_page:
        for head in open_page.page.locator(".heat tbody th").all():
            cut = head.evaluate("node => node.scrollWidth > node.clientWidth + 1")
            assert not cut, head.text_content()


def test_on_paper_the_pairs_are_written_out(browser, page_file):
    with Page(browser, page_file) as open_page:
        assert not open_page.page.locator("#pair-list").is_visible()
        assert "likelihood of superiority" in open_page.text("#pair-list")
        open_page.page.emulate_media(media="print")
        assert open_page.page.locator("#pair-list").is_visible()


def test_without_script_the_page_still_says_all_but_the_games(browser, page_file):
    with Page(browser, page_file, java_script_enabled=False) as open_page:
        assert "game show" in open_page.text("noscript")
        assert open_page.page.locator("#standings").is_visible()


def test_on_paper_nothing_is_there_that_only_a_screen_can_do(browser, page_file):
    with Page(browser, page_file) as open_page:
        open_page.page.emulate_media(media="print")
        for selector in ["nav", "#next", "#at", "#pick"]:
            assert not open_page.page.locator(selector).is_visible(), selector


def test_a_tournament_of_hashes_says_how_to_see_a_game(arena, browser):
    identity = arena.tournament("kalah", ["greedy", "random"], more='records = "hash"')
    file = arena.folder / "hashes.html"
    arena.run("report", identity, "--data", "data", "--html", file)
    with Page(browser, file) as open_page:
        assert f"arena game rerun {identity}/0" in open_page.text("section[aria-labelledby=samples]")
        assert open_page.said == []
