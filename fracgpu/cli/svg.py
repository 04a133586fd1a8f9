"""A GPU drawn as an SVG file: the same picture as in the terminal, self-contained and readable by a screen reader."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from html import escape

from fracgpu.catalog.geometry import Arrangement
from fracgpu.catalog.models import Gpu
from fracgpu.catalog.picture import INK, LegendEntry, Picture, Row, Segment, draw

_WIDTH = 760
_MARGIN = 24
_LABEL = 76
_CELLS = _WIDTH - 2 * _MARGIN - _LABEL
_CELL_HEIGHT = 34
_ROW = _CELL_HEIGHT + 8
_LINE = 20
_PANEL_GAP = 28
_HEADING = 56

_STYLE = """
  .paper { fill: #ffffff }
  .text { fill: #1f2933; font: 13px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif }
  .quiet { fill: #52606d }
  .head { font-size: 18px; font-weight: 600 }
  .title { font-weight: 600 }
  .cell { stroke: #1f2933; stroke-width: 1.2 }
  .name { fill: INK; font-size: 12.5px; text-anchor: middle }
  .idle { fill: url(#idle); stroke: #7b8794; stroke-width: 1; stroke-dasharray: 3 3 }
  .stripe { stroke: #b0b8c1; stroke-width: 2 }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #14181d }
    .text { fill: #e4e7eb }
    .quiet { fill: #9aa5b1 }
    .cell { stroke: #14181d }
    .name { fill: INK }
    .stripe { stroke: #52606d }
  }
"""

_PATTERN = (
    '<pattern id="idle" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<line class="stripe" x1="0" y1="0" x2="0" y2="8"/></pattern>'
)


def gpu_svg(gpu: Gpu, arrangements: Sequence[tuple[str, Arrangement]]) -> str:
    """One SVG document: a panel for each titled arrangement of the GPU, one below the other."""
    panels: list[str] = []
    top = _HEADING
    for title, arrangement in arrangements:
        picture = draw(gpu, arrangement)
        panels += _panel(title, picture, top)
        top += _height(picture) + _PANEL_GAP
    height = top - _PANEL_GAP + _MARGIN if arrangements else _HEADING
    return "\n".join((*_head(gpu, [title for title, _ in arrangements], height), *panels, "</svg>", ""))


def _head(gpu: Gpu, titles: Sequence[str], height: int) -> Iterator[str]:
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}"'
        ' role="img" aria-labelledby="title desc">'
    )
    yield f'<title id="title">{escape(gpu.product)}: MIG layouts</title>'
    yield f'<desc id="desc">{escape("; ".join(titles))}</desc>'
    yield f"<style>{_STYLE.replace('INK', INK)}</style>"
    yield f"<defs>{_PATTERN}</defs>"
    yield f'<rect class="paper" width="{_WIDTH}" height="{height}"/>'
    yield _text(_MARGIN, 36, gpu.product, "head")


def _panel(title: str, picture: Picture, top: int) -> Iterator[str]:
    yield f'<g role="group" aria-label="{escape(title)}">'
    yield _text(_MARGIN, top + 14, title, "title")
    at = top + _LINE + 6
    for row in picture.rows:
        yield from _row(row, picture, at)
        at += _ROW
    for number, entry in enumerate(picture.legend):
        yield from _legend(entry, at + number * _LINE)
    at += len(picture.legend) * _LINE
    for number, line in enumerate(_note_lines(picture)):
        yield _text(_MARGIN + _LABEL, at + number * _LINE + 14, line, "quiet")
    yield "</g>"


def _height(picture: Picture) -> int:
    return _LINE + 6 + len(picture.rows) * _ROW + (len(picture.legend) + len(_note_lines(picture))) * _LINE


def _note_lines(picture: Picture) -> list[str]:
    return [line for note in picture.notes for line in textwrap.wrap(note, 92, break_on_hyphens=False)]


def _row(row: Row, picture: Picture, top: int) -> Iterator[str]:
    yield _text(_MARGIN, top + 22, row.title, "quiet")
    for segment in row.segments:
        yield from _cell(segment, picture, top)


def _cell(segment: Segment, picture: Picture, top: int) -> Iterator[str]:
    column = _CELLS / picture.columns
    x, width = _MARGIN + _LABEL + segment.start * column, segment.width * column
    box = f'x="{x + 1:.1f}" y="{top}" width="{width - 2:.1f}" height="{_CELL_HEIGHT}" rx="4"'
    if segment.instance is None:
        yield f'<rect class="idle" {box}><title>unused</title></rect>'
        return
    instance = segment.instance
    yield f'<rect class="cell" {box} fill="{instance.fill}"/>'
    label = f"{instance.letter} {instance.profile.name}"
    if len(label) * 7.5 > width - 8:
        label = f"{instance.letter} {instance.profile.name.partition('.')[0]}"
    yield _text(x + width / 2, top + 22, label, "name")


def _legend(entry: LegendEntry, top: int) -> Iterator[str]:
    x = _MARGIN + _LABEL
    yield f'<rect class="cell" x="{x + 1}" y="{top + 3}" width="14" height="14" rx="3" fill="{entry.fill}"/>'
    yield (
        f'<text class="text" x="{x + 24}" y="{top + 14}"><tspan class="title">{entry.letters}</tspan>'
        f'<tspan dx="8">{escape(entry.text)}</tspan></text>'
    )


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text class="{f"text {kind}".strip()}" x="{x:g}" y="{y:g}">{escape(text)}</text>'
