"""An update under way, and its form in an operation's token, from which another process can go on."""

from __future__ import annotations

import json

from fracgpu.plan import Json
from fracgpu.providers.gke.steps import SIZE, Step


class Chain:
    """An update under way: what the pool should become, the step that runs, and those that were taken."""

    def __init__(self, after: Json, size: bool, current: str = "") -> None:
        self.after = after
        self.size = size
        self.current = current
        self.done: set[str] = set()
        self.held = False
        """The next step waits for somebody else's operation."""

    def begun(self, operation: str, step: Step) -> None:
        self.current = operation
        self.held = False
        self.done.add(step.what)
        self.size = self.size and step.what != SIZE

    def arrived(self, step: Step) -> None:
        """The step was taken although its answer was lost: nothing of it is left to do or to follow."""
        self.begun(self.current or f"lost answer: {step.what}", step)
        self.held = True

    def follow(self, operation: str) -> None:
        """An operation is in flight that may be this update's own; what it leaves undone is begun after it."""
        self.current = operation
        self.held = False

    def token(self) -> str:
        """All that another process needs to go on."""
        return json.dumps({"after": self.after, "size": self.size, "done": sorted(self.done)})

    @classmethod
    def read(cls, token: str, current: str) -> Chain:
        written = json.loads(token)
        chain = cls(written["after"], written["size"], current)
        chain.done = set(written["done"])
        return chain
