"""Kubernetes' own form of label and taint keys and values."""

from __future__ import annotations

import pytest

from fracgpu.providers.kubernetes_syntax import in_domain, is_key, is_value


@pytest.mark.parametrize("key", ["a", "A.b_c-9", "a" * 63, "example.com/a", "x/a", f"{'a.' * 126}a/b"])
def test_keys(key: str) -> None:
    assert is_key(key)


@pytest.mark.parametrize(
    "key",
    ["", "-a", "a-", "a b", "a" * 64, "/a", "a/", "Example.com/a", "a//b", "a/b/c", f"{'a.' * 127}a/b", "ä", "a\n"],
)
def test_no_keys(key: str) -> None:
    assert not is_key(key)


@pytest.mark.parametrize(
    ("value", "good"),
    [("", True), ("a.b_C-9", True), ("a" * 63, True), ("a" * 64, False), ("-a", False), ("a b", False), ("a\n", False)],
)
def test_values(value: str, good: bool) -> None:
    assert is_value(value) == good


@pytest.mark.parametrize(
    ("key", "inside"),
    [
        ("k8s.io/a", True),
        ("node.k8s.io/a", True),
        ("myk8s.io/a", False),
        ("k8s.io", False),
        ("example.com/k8s.io", False),
    ],
)
def test_domains(key: str, inside: bool) -> None:
    assert in_domain(key, "k8s.io") == inside
