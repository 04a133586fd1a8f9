"""A command as it is pasted: continued lines, comments, prompts, quotes."""

from __future__ import annotations

import pytest

from fracgpu.convert.shell import variables, words_of
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
    assert words_of([text]) == words


def test_words_that_a_shell_has_split_are_left_alone() -> None:
    assert words_of(["az", "--labels", "a=$b c", "d && e"]) == ["az", "--labels", "a=$b c", "d && e"]


@pytest.mark.parametrize(
    "text", ["az aks 'nodepool", "az a && az b", "az a; az b", "az a | grep b", "az a > file", "az a &"]
)
def test_what_is_not_one_command_is_refused(text: str) -> None:
    with pytest.raises(Invalid) as caught:
        words_of([text])
    assert caught.value.code == "usage"


def test_variables_that_no_shell_replaced_are_said() -> None:
    notes = list(variables(["--name", "$NAME", "--project=${PROJECT}", "$(id)", "$NAME", "plain"]))
    assert [note.message.split()[0] for note in notes] == ["$NAME", "${PROJECT}", "$(id)"]
