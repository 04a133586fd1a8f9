"""Files -> NodePools, and every mistake with its file, line and column."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from fracgpu.errors import Finding, Invalid
from fracgpu.manifest import document_of, read, read_paths
from fracgpu.spec import Cluster, NodePool, NodePoolSpec
from fracgpu.taints import Taint, TaintEffect

HEAD = "apiVersion: fracgpu/v1\nkind: NodePool\n"
GOOD = HEAD + "metadata: {name: a}\nspec:\n  machine: a2-highgpu-1g\n"


def findings(text: str) -> tuple[Finding, ...]:
    with pytest.raises(Invalid) as caught:
        read(text, "pool.yaml")
    return caught.value.findings


def test_documents_of_one_file_come_in_order_and_empty_ones_are_passed_over() -> None:
    pools = read(f"{GOOD}---\n---\n{GOOD.replace('name: a', 'name: b')}", "pools.yaml")
    assert [one.pool.metadata.name for one in pools] == ["a", "b"]
    assert [one.origin.part and one.origin.part.line for one in pools] == [0, GOOD.count("\n") + 2]


def test_json_is_read_as_well() -> None:
    text = '{"apiVersion": "fracgpu/v1", "kind": "NodePool", "spec": {"machine": "g5.xlarge"}}'
    assert read(text, "a.json")[0].pool.spec.machine == "g5.xlarge"


def test_what_list_prints_can_be_read() -> None:
    items = '[{"metadata": {"name": "a"}, "spec": {}}, {"metadata": {"name": "b"}, "spec": {}, "status": {"nodes": 1}}]'
    pools = read('{"apiVersion": "fracgpu/v1", "kind": "NodePoolList", "items": ' + items + "}", "list.json")
    assert [one.pool.metadata.name for one in pools] == ["a", "b"]


def test_a_mistake_in_an_item_of_a_list_is_found_there() -> None:
    text = "kind: NodePoolList\nitems:\n- spec: {}\n- spec:\n    machin: x\n"
    (found,) = findings(text)
    assert (found.code, found.field, found.line, found.column) == ("unknown-key", "spec.machin", 5, 5)


@pytest.mark.parametrize(
    ("spec", "code", "field", "line", "column", "nearest"),
    [
        ("  machin: x\n", "unknown-key", "spec.machin", 4, 3, ("machine",)),
        ("  sharing:\n    mig: {profil: 1g.5gb}\n", "unknown-key", "spec.sharing.mig.profil", 5, 11, ("profile",)),
        ("  aks:\n    osSkuu: x\n", "unknown-key", "spec.aks.osSkuu", 5, 5, ("osSku",)),
        ("  nodes: {count: two}\n", "invalid-value", "spec.nodes.count", 4, 11, ()),
        ("  labels:\n    a: 1\n", "invalid-value", "spec.labels.a", 5, 5, ()),
        ("  capacity: spott\n", "invalid-value", "spec.capacity", 4, 3, ("spot",)),
        ("  cluster: {provider: aksk}\n", "invalid-value", "spec.cluster.provider", 4, 13, ("aks",)),
        ("  taints:\n  - a=b:NoSchedule\n  - nonsense\n", "invalid-taint", "spec.taints[1]", 6, 5, ()),
        ("  sharing:\n    mps: {}\n", "missing-field", "spec.sharing.mps.replicas", 5, 5, ()),
        ("  gpu: ''\n", "invalid-value", "spec.gpu", 4, 3, ()),
    ],
)
def test_every_mistake_has_its_code_its_place_and_what_would_be_right(
    spec: str, code: str, field: str, line: int, column: int, nearest: tuple[str, ...]
) -> None:
    (found,) = findings(f"{HEAD}spec:\n{spec}")
    assert (found.code, found.field, found.file, found.line, found.column) == (code, field, "pool.yaml", line, column)
    assert found.nearest[: len(nearest)] == nearest


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("1.30", "a number"),
        ("010", "a number"),
        ("12:30", "a number"),
        ("yes", "a boolean"),
        ("2024-01-01", "a date"),
        ("2024-01-01T00:00:00Z", "a date"),
        ("null", "nothing"),
        ("~", "nothing"),
    ],
)
def test_a_text_that_yaml_reads_as_something_else_is_to_be_quoted_as_it_was_written(value: str, kind: str) -> None:
    for labels in (f"{{version: {value}}}", f"{{{value}: version}}"):
        (found,) = findings(f"{HEAD}spec:\n  labels: {labels}\n")
        assert found.message.endswith(f"is a text, and YAML reads {value} as {kind}")
        assert found.hint == f'quote it: "{value}"'
        assert (found.line, found.column) == (4, 12)


@pytest.mark.parametrize(
    ("spec", "message", "hint"),
    [
        ("nodes: {count: '3'}", "spec.nodes.count is a whole number, and 3 is a text", "write 3"),
        ("nodes: {count: 3.0}", "spec.nodes.count is a whole number, and 3.0 is a number", "write 3"),
        ("nodes: [1]", "spec.nodes is a mapping, and [1] is a list", "its keys are count, min, max"),
        ("gpuTaint: 'false'", "spec.gpuTaint is true or false, and false is a text", "without quotes: false"),
        ("zones: us-central1-a", "spec.zones is a list, and us-central1-a is a text", "[us-central1-a]"),
        ("labels: {a: }", "spec.labels.a is a text, and nothing stands there", 'an empty text is ""'),
        ("sharing: {mig: 1g.5gb}", "spec.sharing.mig is a mapping, and 1g.5gb is a text", "its keys are profile"),
        ("nodes: {count: 9999999999}", "spec.nodes.count: no number here may be above 2147483647", ""),
    ],
)
def test_a_value_of_the_wrong_kind_is_told_what_belongs_there(spec: str, message: str, hint: str) -> None:
    (found,) = findings(f"{HEAD}spec:\n  {spec}\n")
    assert found.message == message
    assert (found.hint or "").startswith(hint)


def test_a_long_value_and_what_a_terminal_would_obey_are_not_repeated() -> None:
    (found,) = findings(f"{HEAD}spec: {{nodes: {'x' * 1000}}}\n")
    assert len(found.message) < 150
    (found,) = findings(f'{HEAD}spec: {{"\\e[31m": 1}}\n')
    assert "\x1b" not in found.message


@pytest.mark.parametrize("taint", ["foo", "a=b:NoSuch", "a=b:NoSchedul"])
def test_a_taint_that_is_none_comes_with_one_that_is(taint: str) -> None:
    (found,) = findings(f"{HEAD}spec: {{taints: ['{taint}']}}\n")
    assert found.code == "invalid-taint"
    read(f"{HEAD}spec: {{taints: ['{found.nearest[0]}']}}\n", "a")


@pytest.mark.parametrize("taint", ["5", "null", "[a]"])
def test_what_is_neither_text_nor_mapping_is_no_taint(taint: str) -> None:
    (found,) = findings(f"{HEAD}spec: {{taints: [{taint}]}}\n")
    assert (found.code, found.field) == ("invalid-taint", "spec.taints[0]")


def test_a_section_whose_lines_are_all_commented_out_says_nothing() -> None:
    empty = "".join(f"  {name}:\n" for name in ("cluster", "sharing", "nodes", "disk", "labels", "taints", "gke"))
    assert read(f"{HEAD}metadata:\nspec:\n{empty}", "a")[0].pool == read(f"{HEAD}spec: {{}}\n", "a")[0].pool


@pytest.mark.parametrize("item", ["1", "null", "a", "[]"])
def test_an_item_of_a_list_that_is_no_mapping_is_said_to_be_none(item: str) -> None:
    (found,) = findings(f"kind: NodePoolList\nitems: [{item}]\n")
    assert found.message.startswith("a NodePool is a mapping, and ")
    assert (found.field, found.line, found.column) == (None, 2, 9)


def test_mistakes_come_in_the_order_of_the_file_and_with_what_is_wrong_about_its_syntax() -> None:
    text = f"{HEAD}spec:\n  nodes: 1\n  machin: x\n---\nkind: Pod\n---\n{HEAD}spec: {{gpuu: a}}\n---\na: [\n"
    assert [one.line for one in findings(text)] == [4, 5, 7, 11, 14]


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [("a: b\n\tc: d\n", 2, 1), ("a: b\nc: \x00d\n", 2, 4), ("a: 2024-99-01\n", 1, 4), ("a: " + "9" * 5000, 1, 4)],
)
def test_a_syntax_error_is_placed_and_told_in_one_line(text: str, line: int, column: int) -> None:
    (found,) = findings(text)
    assert (found.code, found.line, found.column) == ("invalid-value", line, column)
    assert "\n" not in found.message
    assert len(found.message) < 200


def test_all_mistakes_of_all_documents_come_at_once() -> None:
    text = f"{HEAD}spec: {{a: 1, b: 2}}\n---\n{HEAD}spec: {{c: 1}}\n"
    assert [(one.field, one.line) for one in findings(text)] == [("spec.a", 3), ("spec.b", 3), ("spec.c", 7)]


@pytest.mark.parametrize(
    ("text", "code", "field", "line"),
    [
        ("kind: NodePool\nspec: {}\n", "missing-field", "apiVersion", 1),
        ("apiVersion: fracgpu/v1\nspec: {}\n", "missing-field", "kind", 1),
        ("apiVersion: karpenter.sh/v1\nkind: NodePool\nspec: {}\n", "invalid-value", "apiVersion", 1),
        ("apiVersion: fracgpu/v1\nkind: Pool\nspec: {}\n", "invalid-value", "kind", 2),
        ("- a\n", "invalid-value", None, 1),
        ("just words\n", "invalid-value", None, 1),
        (HEAD, "missing-field", "spec", 1),
        ("", "missing-field", None, None),
        ("# nothing\n---\n", "missing-field", None, None),
        (HEAD + "spec: {a: 1\n", "invalid-value", None, 4),
        (HEAD + "spec: {machine: a, machine: b}\n", "invalid-value", None, 3),
    ],
)
def test_a_file_that_is_no_node_pool_says_why(text: str, code: str, field: str | None, line: int | None) -> None:
    (found,) = findings(text)
    assert (found.code, found.field, found.line) == (code, field, line)
    assert found.file == "pool.yaml"


def test_a_file_nested_without_end_is_an_error_and_no_crash() -> None:
    text = f"{HEAD}spec:\n  eks: {{nodeRepairConfig: {{a: {'[' * 5000}{']' * 5000}}}}}\n"
    assert findings(text)[0].code == "invalid-value"


def test_folders_are_read_through_in_order_and_files_of_others_left_alone(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    for name, pool in (("b/2.yml", "two"), ("a.yaml", "one"), ("b/3.json", "three")):
        (tmp_path / name).write_text(GOOD.replace("name: a", f"name: {pool}"), encoding="utf-8")
    (tmp_path / "notes.txt").write_text("not YAML: [", encoding="utf-8")
    assert [one.pool.metadata.name for one in read_paths([str(tmp_path)])] == ["one", "two", "three"]


def test_folders_hold_hidden_things_and_pipes_that_are_not_read(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "a.yaml").write_text("not YAML: [", encoding="utf-8")
    (tmp_path / ".hidden.yaml").write_text("not YAML: [", encoding="utf-8")
    (tmp_path / "folder.yaml").mkdir()
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "A.YAML").write_text(GOOD, encoding="utf-8")
    assert [one.pool.metadata.name for one in read_paths([str(tmp_path)])] == ["a"]


def test_every_path_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "dangling.yaml").symlink_to(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    paths = ["", "x" * 5000, str(tmp_path / "missing.yaml"), str(tmp_path), str(tmp_path / "empty"), "a\0b"]
    with pytest.raises(Invalid) as caught:
        read_paths(paths)
    assert [(one.code, one.field) for one in caught.value.findings] == [("usage", "-f")] * len(paths)
    assert all(one.hint for one in caught.value.findings)


def test_standard_input_may_be_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(Invalid, match="standard input is closed"):
        read_paths(["-"])


def test_mistakes_of_several_files_come_together(tmp_path: Path) -> None:
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text(HEAD + "spec: {x: 1}\n", encoding="utf-8")
    with pytest.raises(Invalid) as caught:
        read_paths([str(tmp_path / "a.yaml"), str(tmp_path / "b.yaml")])
    assert [Path(one.file or "").name for one in caught.value.findings] == ["a.yaml", "b.yaml"]


def test_standard_input_is_a_file_called_dash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"\xef\xbb\xbf" + GOOD.encode())))
    (found,) = read_paths(["-"])
    assert (found.pool.metadata.name, found.origin.file) == ("a", "-")


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00", "folder"])
def test_what_cannot_be_read_is_a_usage_error_or_said_to_be_no_text(
    tmp_path: Path, content: bytes | str | None
) -> None:
    path = tmp_path / "pool.yaml"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content:
        path.mkdir()
    with pytest.raises(Invalid) as caught:
        read_paths([str(path)])
    assert "pool.yaml" in caught.value.message
    assert caught.value.code in ("usage", "invalid-value")


def test_a_finding_of_a_rule_is_placed_at_the_deepest_part_that_was_written() -> None:
    text = GOOD + "  labels:\n    example.com/a.b: x\n  sharing: {mig: {layout: {1g.5gb: 9}}}\n"
    (document,) = read(text, "pool.yaml")
    for field, place in (
        ("spec.labels.example.com/a.b", (7, 5)),
        ("spec.sharing.mig.layout.1g.5gb", (8, 28)),
        ("spec.sharing.mig.strategy", (8, 13)),
        ("spec.nodes.count", (4, 1)),
        ("metadata.name", (3, 12)),
    ):
        placed = document.origin.place(Finding("invalid-value", "m", field=field))
        assert (placed.line, placed.column) == place, field


def test_a_finding_that_has_a_place_keeps_it() -> None:
    (document,) = read(GOOD, "pool.yaml")
    placed = Finding("invalid-value", "m", field="spec", file="other.yaml", line=1, column=1)
    assert document.origin.place(placed) == placed


def test_a_document_says_only_what_was_said_in_the_order_of_the_file_form() -> None:
    taint = Taint(key="a", value="b", effect=TaintEffect.NO_SCHEDULE)
    spec = NodePoolSpec(cluster=Cluster(provider="gke"), taints=[taint], labels={}, zones=[])
    assert document_of(NodePool(spec=spec)) == {
        "apiVersion": "fracgpu/v1",
        "kind": "NodePool",
        "spec": {"cluster": {"provider": "gke"}, "taints": ["a=b:NoSchedule"]},
    }


def test_gpus_that_stay_whole_keep_their_place_in_a_document() -> None:
    pool = read(HEAD + "spec: {sharing: {mig: {devices: [~, {1g.5gb: 7}]}}}\n", "a")[0].pool
    assert document_of(pool)["spec"]["sharing"]["mig"]["devices"] == [None, {"1g.5gb": 7}]
