"""A GPU in the terminal: the same facts with and without colour, on wide and narrow screens."""

from __future__ import annotations

import io
import re

import pytest
from rich.cells import cell_len
from rich.console import Console

from fracgpu.catalog.geometry import Arrangement, Layout, fit, maximal_layouts
from fracgpu.catalog.load import load
from fracgpu.cli.draw import gpu_picture

MIXED = {"3g.20gb": 1, "2g.10gb": 1, "1g.5gb": 1}
FILLED = re.compile(r"\x1b\[(30|38)[0-9;]+m")
"""The start of dark letters on a fill, in whatever colours there are."""

PICTURE = """\
3g.20gb=1,2g.10gb=1,1g.5gb=1
        ┌───────┬───────┬───────────────┬───────────────────────────────┐
memory  │░░░░░░░│ A 1g  │ B 2g.10gb     │ C 3g.20gb                     │
        └───────┴───────┴───────────────┴───────────────────────────────┘
        ┌───────┬───────┬───────────────┬───────────────────────┐
compute │░░░░░░░│ A 1g  │ B 2g.10gb     │ C 3g.20gb             │
        └───────┴───────┴───────────────┴───────────────────────┘
         C  1 x 3g.20gb: 3 compute slices, 4 memory slices, 19.5 GiB
         B  1 x 2g.10gb: 2 compute slices, 2 memory slices, 9.6 GiB
         A  1 x 1g.5gb: 1 compute slice, 1 memory slice, 4.8 GiB
        unused: 1 compute slice and 1 memory slice
"""


def shown(key: str, counts: dict[str, int], *, width: int = 80, colour: bool = False, encoding: str = "utf-8") -> str:
    gpu = load().gpu(key)
    arrangement = fit(gpu, Layout.of(gpu, counts))
    assert isinstance(arrangement, Arrangement)
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding=encoding)
    console = Console(file=out, width=width, color_system="truecolor" if colour else None, force_terminal=colour)
    console.print(gpu_picture(gpu, arrangement))
    out.flush()
    lines = raw.getvalue().decode(encoding).splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines)


def test_without_colour_letters_and_boxes_say_it_all() -> None:
    assert shown("a100-40gb", MIXED) == PICTURE


def test_colour_adds_nothing_but_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    coloured = shown("a100-40gb", MIXED, colour=True)
    assert len(FILLED.findall(coloured)) == 9
    plain = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert [line.rstrip() for line in plain.splitlines()] == PICTURE.splitlines()
    monkeypatch.setenv("NO_COLOR", "1")
    assert not FILLED.search(shown("a100-40gb", MIXED, colour=True))


def test_a_terminal_that_knows_ascii_only_gets_ascii_only() -> None:
    text = shown("a100-40gb", MIXED, encoding="ascii")
    assert "memory  |.......| A 1g  | B 2g.10gb     | C 3g.20gb                     |" in text.splitlines()


@pytest.mark.parametrize("width", [12, 20, 26, 40, 79, 80, 200])
@pytest.mark.parametrize("key", ["a30-24gb", "a100-40gb", "rtx-pro-6000-blackwell-96gb", "b300-269gb", "thor-igpu"])
def test_no_line_is_wider_than_the_terminal(key: str, width: int) -> None:
    for layout in maximal_layouts(load().gpu(key)):
        lines = shown(key, layout.counts, width=width).splitlines()
        assert max(map(cell_len, lines)) <= width


def test_what_a_narrow_terminal_cannot_draw_the_legend_still_says() -> None:
    narrow = shown("a100-40gb", MIXED, width=20)
    assert "│" not in narrow
    assert "3g.20gb:" in narrow
    assert "unused:" in narrow


@pytest.mark.parametrize("width", [32, 40, 50, 80])
def test_every_instance_shows_its_letter(width: int) -> None:
    memory = next(line for line in shown("a100-40gb", {"1g.5gb": 7}, width=width).splitlines() if "memory" in line)
    assert [character for character in memory if character.isupper()] == list("ABCDEFG")
