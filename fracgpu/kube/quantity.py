"""Counts of extended resources, as Kubernetes writes them.

https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

QUANTITY = re.compile(r"(?P<number>[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)(?P<suffix>[KMGTPE]i|[numkMGTPE]?)")
POWERS = {"n": -3, "u": -2, "m": -1, "": 0, "k": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}


def whole(text: Any) -> int:
    """The count, rounded down. Extended resources are whole, and the API may write 2000 as 2k; 0 for no quantity."""
    match = QUANTITY.fullmatch(str(text))
    if not match:
        return 0
    suffix = match["suffix"]
    factor = 1024 ** "KMGTPE".index(suffix[0]) * 1024 if suffix.endswith("i") else Decimal(1000) ** POWERS[suffix]
    return int(Decimal(match["number"]) * factor)
