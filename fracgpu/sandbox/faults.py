"""Faults that a user sets on the sandbox: which call of which cloud fails, how, and how often."""

from __future__ import annotations

import itertools
import threading
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(slots=True)
class Fault:
    """One rule.

    `call` is the API's own name, `times` how often it strikes (None: every time), `seen` how often it has,
    `outcome` is of the operation, not of the call.
    """

    id: int
    cloud: str
    call: str
    status: int | None = None
    code: str | None = None
    message: str | None = None
    times: int | None = 1
    delay: float = 0.0
    drop: bool = False
    retry_after: int | None = None
    outcome: str | None = None
    seen: int = 0

    @property
    def left(self) -> int | None:
        """How often it strikes yet; None where it never ends."""
        return None if self.times is None else self.times - self.seen


class Faults:
    """The faults that are set, in the order in which they were set."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ids = itertools.count(1)
        self._faults: list[Fault] = []

    def add(self, cloud: str, call: str, **how: Any) -> Fault:
        with self._lock:
            fault = Fault(next(self._ids), cloud, call, **how)
            self._faults.append(fault)
            return fault

    def take(self, cloud: str, call: str) -> Fault | None:
        """The first fault for this call that is not used up, counted; None when the call should go well."""
        with self._lock:
            for fault in self._faults:
                if fault.cloud == cloud and fault.call == call and fault.left != 0:
                    fault.seen += 1
                    return fault
            return None

    def list(self) -> list[dict[str, Any]]:
        with self._lock:
            return [{**asdict(fault), "left": fault.left} for fault in self._faults]

    def clear(self) -> None:
        with self._lock:
            self._faults.clear()
