"""A command as it is pasted: continued lines, comments, prompts, quotes."""

from __future__ import annotations

import pytest

from fracgpu.convert.shell import commands_of, variables
from fracgpu.errors import Invalid


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("az aks nodepool add -n a", ["az", "aks", "nodepool", "add", "-n", "a"]),
        ("az aks \\\n  nodepool \\\r\n add", ["az", "aks", "nodepool", "add"]),
        ("az aks `\n  nodepool", ["az", "aks", "nodepool"]),
        ("az aks ^\n  nodepool", ["az", "aks", "nodepool"]),
        ("$ az aks --labels 'a=b c'", ["az", "aks", "--labels", "a=b c"]),
        ("sudo AZURE_X=1 az aks", ["az", "aks"]),
        ("# makes a pool\naz aks \\\n  # not this\n  nodepool", ["az", "aks", "nodepool"]),
        ('aws --tags \'{"a": "b"}\'', ["aws", "--tags", '{"a": "b"}']),
        ("gcloud --metadata=a#b x", ["gcloud", "--metadata=a#b", "x"]),
    ],
)
def test_a_line_is_split_as_a_shell_splits_it(text: str, words: list[str]) -> None:
    assert commands_of([text]) == [words]


def test_words_that_a_shell_has_split_are_left_alone() -> None:
    words = ["az", "--labels", "a=$b c", "d && e"]
    assert commands_of(words) == [words]


@pytest.mark.parametrize("text", ["aws a\n\naws b\n", "aws a; aws b", "aws a && aws b", "aws a \\\n ;\n aws b"])
def test_several_commands_are_told_apart(text: str) -> None:
    assert commands_of([text]) == [["aws", "a"], ["aws", "b"]]


def test_what_is_quoted_is_no_end_of_a_command() -> None:
    assert commands_of(['aws --a \'{"b": "c; d",\n"e": 1}\' \'\'']) == [["aws", "--a", '{"b": "c; d",\n"e": 1}', ""]]


@pytest.mark.parametrize(
    "text", ["az aks 'nodepool", "az a | grep b", "az a > file", "az a &", "az a || az b", "az a < b"]
)
def test_what_is_more_than_commands_is_refused(text: str) -> None:
    with pytest.raises(Invalid) as caught:
        commands_of([text])
    assert caught.value.code == "usage"


def test_variables_that_no_shell_replaced_are_said() -> None:
    notes = list(variables(["--name", "$NAME", "--project=${PROJECT}", "$(id)", "$NAME", "plain"]))
    assert [note.message.split()[0] for note in notes] == ["$NAME", "${PROJECT}", "$(id)"]
