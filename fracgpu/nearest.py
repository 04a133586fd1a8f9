"""Did you mean: the known words most like one that was typed."""

from __future__ import annotations

from collections.abc import Iterable

SHORTEST = 3
"""Letters that tell what a word begins with."""


def nearest_words(word: str, known: Iterable[str], most: int = 3, cutoff: float = 0.5) -> tuple[str, ...]:
    """The known words that begin with a word or resemble it, the one that takes the fewest slips of the fingers first.

    `cutoff` is how much of the letters they have in common, from 0 to 1: difflib alone, which does not see that two
    letters changed places, would take --mgi for --min rather than --mig.
    """
    import difflib  # only wanted for a mistake

    words = tuple(known)
    longer = [one for one in words if len(word) >= SHORTEST and one.startswith(word)]
    alike = difflib.get_close_matches(word, words, n=most * 4, cutoff=cutoff)
    return tuple(sorted(dict.fromkeys((*longer, *alike)), key=lambda one: slips(word, one))[:most])


def slips(typed: str, meant: str) -> int:
    """How many letters were left out, put in, mistaken or exchanged with their neighbour."""
    before: list[int] = []
    row = list(range(len(meant) + 1))
    for line, letter in enumerate(typed, 1):
        before, above, row = row, before, [line]
        for column, wanted in enumerate(meant, 1):
            cost = min(before[column] + 1, row[-1] + 1, before[column - 1] + (letter != wanted))
            swapped = typed[line - 2 : line] == meant[column - 2 : column][::-1] and line > 1 < column
            row.append(min(cost, above[column - 2] + 1) if swapped else cost)
    return row[-1]
