"""A GPU as an SVG file: well-formed, self-contained, told in words too."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from fracgpu.catalog.geometry import Arrangement, Layout, fit, left, maximal_layouts
from fracgpu.catalog.load import load
from fracgpu.catalog.models import Gpu
from fracgpu.cli.svg import gpu_svg

SVG = "{http://www.w3.org/2000/svg}"
MIG_GPUS = [gpu.key for gpu in load().gpus() if gpu.mig]


def titled(gpu: Gpu, layouts: tuple[Layout, ...]) -> list[tuple[str, Arrangement]]:
    answers = [(str(layout), fit(gpu, layout)) for layout in layouts]
    return [(title, answer) for title, answer in answers if isinstance(answer, Arrangement)]


def document(key: str) -> ET.Element:
    gpu = load().gpu(key)
    return ET.fromstring(gpu_svg(gpu, titled(gpu, maximal_layouts(gpu))))


def number(element: ET.Element, name: str) -> float:
    return float(element.get(name, "0"))


@pytest.mark.parametrize("key", MIG_GPUS)
def test_every_layout_has_a_panel_with_its_name(key: str) -> None:
    panels = [group.get("aria-label") for group in document(key).iter(f"{SVG}g")]
    assert panels == [str(layout) for layout in maximal_layouts(load().gpu(key))]


@pytest.mark.parametrize("key", MIG_GPUS)
def test_every_idle_slice_is_drawn_as_one_hatched_cell(key: str) -> None:
    gpu = load().gpu(key)
    for panel, layout in zip(document(key).iter(f"{SVG}g"), maximal_layouts(gpu), strict=True):
        unused = left(gpu, layout)
        cells = [rect for rect in panel.iter(f"{SVG}rect") if rect.get("class") == "idle"]
        assert len(cells) == (unused.compute_slices or 0) + (unused.memory_slices or 0)


@pytest.mark.parametrize("key", MIG_GPUS)
def test_everything_lies_on_the_paper_and_panels_do_not_overlap(key: str) -> None:
    root = document(key)
    width, height = number(root, "width"), number(root, "height")
    bottom = 0.0
    for panel in root.iter(f"{SVG}g"):
        tops = [number(element, "y") for element in panel.iter() if element.get("y")]
        assert min(tops) > bottom
        for rect in panel.iter(f"{SVG}rect"):
            assert number(rect, "x") >= 0
            assert number(rect, "x") + number(rect, "width") <= width
        bottom = max(number(element, "y") + number(element, "height") for element in panel.iter() if element.get("y"))
    assert bottom < height


def test_it_introduces_itself_to_a_screen_reader() -> None:
    root = document("a30-24gb")
    assert root.get("role") == "img"
    named = {element.get("id"): element.text for element in root if element.get("id")}
    assert root.get("aria-labelledby") == "title desc"
    assert named["title"] == "NVIDIA A30: MIG layouts"
    assert named["desc"] == "4g.24gb=1; 2g.12gb=2; 2g.12gb=1,1g.6gb=2; 1g.6gb=4"


def test_it_loads_nothing_from_elsewhere() -> None:
    text = gpu_svg(load().gpu("a30-24gb"), titled(load().gpu("a30-24gb"), maximal_layouts(load().gpu("a30-24gb"))))
    assert text.count("http") == 1
    assert 'xmlns="http://www.w3.org/2000/svg"' in text
    assert all(word not in text for word in ("<script", "<image", "@import", "href"))


def test_names_are_text_not_markup() -> None:
    gpu = replace(load().gpu("a30-24gb"), product='Tom & "Jerry" <b>')
    root = ET.fromstring(gpu_svg(gpu, [("<i>&", titled(gpu, maximal_layouts(gpu))[0][1])]))
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert 'Tom & "Jerry" <b>' in texts
    assert "<i>&" in texts


def test_a_gpu_with_nothing_to_show_is_still_a_picture() -> None:
    root = ET.fromstring(gpu_svg(load().gpu("t4-16gb"), []))
    assert [element.text for element in root.iter(f"{SVG}text")] == [load().gpu("t4-16gb").product]
