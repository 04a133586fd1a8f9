"""Terraform's language: what `terraform fmt` would leave, and nothing in a text that is evaluated."""

from __future__ import annotations

import pytest

from fracgpu.providers.hcl import Block, Expression, data, identifier, quoted, resource, variable

WANTED = """resource "kind" "a_b" {
  name  = "a.b"
  count = 3
  on    = true
  long = [
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy",
  ]
  reference = var.x
  labels = {
    team          = "vision"
    "example.com" = "x"
  }
  none = {}

  block {
    inner = []

    deep {
      x = 0.5
    }
  }

  many {
    n = 1
  }

  many {
    n = 2
  }
}
"""


def test_a_resource() -> None:
    text = resource(
        "kind",
        "a.b",
        {
            "name": "a.b",
            "block": Block({"inner": [], "left_out": None, "deep": Block({"x": 0.5})}),
            "count": 3,
            "on": True,
            "left_out": None,
            "long": ["x" * 40, "y" * 41],
            "many": [Block({"n": 1}), Block({"n": 2})],
            "reference": Expression("var.x"),
            "labels": {"team": "vision", "example.com": "x"},
            "none": {},
        },
    )
    assert text == WANTED


def test_a_resource_of_blocks_alone() -> None:
    assert resource("k", "n", {"b": Block({"x": 1})}) == 'resource "k" "n" {\n  b {\n    x = 1\n  }\n}\n'


def test_what_is_given_and_what_is_looked_up() -> None:
    assert variable("a.b", 'say "x"') == 'variable "a_b" {\n  type        = string\n  description = "say \\"x\\""\n}\n'
    assert data("kind", "n", {"name": "x"}) == 'data "kind" "n" {\n  name = "x"\n}\n'


@pytest.mark.parametrize(
    ("text", "literal"),
    [
        ("plain", '"plain"'),
        ('say "hi"', '"say \\"hi\\""'),
        ("${var.secret}", '"$${var.secret}"'),
        ("%{ if x }", '"%%{ if x }"'),
        ("a\nb\\", '"a\\nb\\\\"'),
        ("größe", '"größe"'),
    ],
)
def test_texts_are_literal(text: str, literal: str) -> None:
    assert quoted(text) == literal


@pytest.mark.parametrize(("name", "plain"), [("a-b_1", "a-b_1"), ("1a", "_1a"), ("a.b c", "a_b_c")])
def test_identifiers(name: str, plain: str) -> None:
    assert identifier(name) == plain
