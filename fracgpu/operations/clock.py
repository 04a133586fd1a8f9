"""Time, as the operations see it; replaced in tests so that nothing there really waits."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    def now(self) -> float:
        """Seconds on a clock that only goes forward, also in the machine's sleep where there is such a clock."""

    def sleep(self, seconds: float) -> None: ...


class SystemClock:
    """The machine's own. Boot time counts a laptop's sleep, so that a deadline passes there too."""

    def now(self) -> float:
        if hasattr(time, "CLOCK_BOOTTIME"):
            return time.clock_gettime(time.CLOCK_BOOTTIME)
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)
