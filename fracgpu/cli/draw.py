"""A GPU drawn in the terminal: coloured where there is colour, read by its letters where there is none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from fracgpu.catalog.geometry import Arrangement
from fracgpu.catalog.models import Gpu
from fracgpu.catalog.picture import INK, Instance, Picture, Row, draw

_MARGIN = len("compute ")
_WIDEST = 64
"""Characters for the cells: with the margin and the frame they go into 80 columns."""


@dataclass(frozen=True, slots=True)
class _Pen:
    """The characters of a frame, and of idle cells."""

    line: str
    wall: str
    top: str
    bottom: str
    idle: str


_BOXES = _Pen("─", "│", "┌┬┐", "└┴┘", "░")
_ASCII = _Pen("-", "|", "+++", "+++", ".")


def gpu_picture(gpu: Gpu, arrangement: Arrangement) -> RenderableType:
    """The GPU's memory and compute as cells, each instance with its letter, and a legend. Fits the console's width."""
    return _GpuPicture(draw(gpu, arrangement))


@dataclass(frozen=True, slots=True)
class _GpuPicture:
    picture: Picture

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        pen = _ASCII if options.ascii_only else _BOXES
        picture = self.picture
        yield Text(picture.layout, "bold")
        scale = _scale(picture, options.max_width)
        if scale:
            for row in picture.rows:
                yield from _row(row, scale, pen)
        yield from _legend(picture)


def _scale(picture: Picture, width: int) -> int:
    """Characters a column; 0 where the terminal is too narrow for a picture."""
    if not picture.columns:
        return 0
    scale = min(_WIDEST, width - _MARGIN - 1) // picture.columns
    slice_width = min((row.slice_width for row in picture.rows), default=1)
    return scale if scale * slice_width >= 2 else 0


def _row(row: Row, scale: int, pen: _Pen) -> Iterator[Text]:
    margin = " " * _MARGIN
    yield _line(Text(margin + _edge(row, scale, pen.line, pen.top)))
    yield _cells(row, scale, pen)
    yield _line(Text(margin + _edge(row, scale, pen.line, pen.bottom)))


def _line(text: Text) -> Text:
    text.no_wrap = True
    return text


def _edge(row: Row, scale: int, line: str, corners: str) -> str:
    cells = corners[1].join(line * (segment.width * scale - 1) for segment in row.segments)
    return corners[0] + cells + corners[2]


def _cells(row: Row, scale: int, pen: _Pen) -> Text:
    text = Text(row.title.ljust(_MARGIN), no_wrap=True)
    for segment in row.segments:
        room = segment.width * scale - 1
        text.append(pen.wall)
        if segment.instance is None:
            text.append(pen.idle * room, "dim")
        else:
            text.append(_label(segment.instance, room), f"{INK} on {segment.instance.fill}")
    return text.append(pen.wall)


def _label(instance: Instance, room: int) -> str:
    """The letter and as much of the profile's name as there is room for: `A 3g.20gb`, `A 3g`, `A`."""
    name = instance.profile.name
    texts = (f" {instance.letter} {name}", f" {instance.letter} {name.partition('.')[0]}", f" {instance.letter}")
    return next((text for text in texts if len(text) < room), instance.letter).ljust(room)[:room]


def _legend(picture: Picture) -> Iterator[RenderableType]:
    grid = Table.grid(padding=(0, 1))
    for entry in picture.legend:
        grid.add_row(Text(f" {entry.letters} ", f"{INK} on {entry.fill}"), Text(entry.text))
    if picture.legend:
        yield Padding(grid, (0, 0, 0, _MARGIN))
    for note in picture.notes:
        yield Padding(Text(note), (0, 0, 0, _MARGIN))
