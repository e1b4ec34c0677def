"""`option` of the rules kit for Python names what is wrong with an option."""

import importlib.util

import pytest
from conftest import ROOT

KIT = ROOT / "services/games/kits/python/arena_game.py"


@pytest.fixture(scope="module")
def kit():
    spec = importlib.util.spec_from_file_location("arena_game", KIT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_options_have_their_type(kit):
    assert kit.option("flying", False, "s") == {
        "name": "flying",
        "type": "bool",
        "default": False,
        "summary": "s",
    }
    cells = kit.option("cells", 12, "s", min=6, max=24)
    assert (cells["type"], cells["min"], cells["max"]) == ("integer", 6, 24)
    board = kit.option("board", "small", "s", choices=("small", "large"))
    assert (board["type"], board["choices"]) == ("choice", ("small", "large"))


@pytest.mark.parametrize(
    ("default", "more", "text"),
    [
        (12.0, {"min": 6, "max": 24}, "default 12.0 is of the type float: use a whole number"),
        (None, {}, "the default None is of the type NoneType"),
        (12, {}, "the default 12 needs min and max, such as min=0, max=100; given: neither"),
        (12, {"min": 6}, "needs min and max, such as min=0, max=100; given: min"),
        (12, {"min": 6, "max": 24.0}, "must be whole numbers, not 6 and 24.0"),
        (12, {"min": 13, "max": 24}, "the default 12 is not within min 13 and max 24"),
        ("small", {}, "the default 'small' needs choices"),
        ("small", {"choices": "small"}, "choices must be a list of texts, not 'small'"),
        ("small", {"choices": ["large"]}, "the default 'small' is not one of choices ['large']"),
        (True, {"min": 0, "max": 1}, "needs no min, max or choices; given: min and max"),
        (12, {"min": 6, "max": 24, "step": 2}, "given: min and max and step"),
    ],
)
def test_wrong_options_are_refused(kit, default, more, text):
    with pytest.raises(ValueError) as caught:
        kit.option("cells", default, "number of cells", **more)
    assert str(caught.value).startswith('option "cells": ')
    assert text in str(caught.value)
