"""What can go wrong, by what the caller can do about it. One exit code a class; `code` is stable and kebab-case.

    FracgpuError                      exit
    ├── Internal                        1   a bug in fracgpu
    ├── CannotWrite                     1   the answer found no room
    ├── Invalid                         2   usage or an invalid spec; nothing was sent
    ├── NotFound                        3
    ├── NoAccess                        4   NotSignedIn · Forbidden · PartNotInstalled
    ├── NoCapacity                      5   Quota · Stock
    ├── SlicesMissing                   6   verification failed
    ├── TimedOut                        7   the cloud goes on
    ├── Conflict                        8   Busy · ExistsDifferently · ImmutableField · NotOurs · StalePlan
    │                                       DrainBlocked
    ├── CloudFailure                    9   CloudError · Throttled · Unreachable · PoolFailed
    ├── PartlyApplied                  10
    └── Interrupted                   130

A `Finding` is one thing that is wrong with, or worth knowing about, a spec. `Invalid` carries all findings of a spec at
once; every other error is about one fact.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from dataclasses import field as member
from enum import StrEnum
from typing import Any, ClassVar

Detail = Mapping[str, Any]


class Level(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


INVALID_CODES = frozenset(
    {
        "usage",
        "missing-field",
        "invalid-value",
        "conflicting-fields",
        "unknown-key",
        "unknown-gpu",
        "unknown-machine",
        "unknown-profile",
        "profile-not-on-gpu",
        "gpu-not-mig-capable",
        "machine-gpu-mismatch",
        "layout-does-not-fit",
        "not-expressible",
        "sharing-conflict",
        "replicas-out-of-range",
        "nodes-out-of-range",
        "invalid-name",
        "invalid-label",
        "invalid-taint",
        "invalid-tag",
        "spot-system-pool",
        "driver-none-with-mig",
        "ami-not-gpu",
        "ami-retired",
        "request-exceeds-share",
        "plugin-key-missing",
        "confirmation-required",
        "warnings-as-errors",
    }
)
"""Codes that mean: nothing was sent, because what was asked for is not valid."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One fact about a spec.

    `field` is the path in the file form (`spec.sharing.mig.profile`), `nearest` what would be right instead, `file`,
    `line` and `column` (from 1) where it was written, when it was.
    """

    code: str
    message: str
    level: Level = Level.ERROR
    field: str | None = None
    hint: str | None = None
    nearest: tuple[str, ...] = ()
    link: str | None = None
    detail: Detail = member(default_factory=dict)
    file: str | None = None
    line: int | None = None
    column: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The finding as INTERFACE's Error and notes have it; empty members are kept so that keys are stable."""
        return {
            "level": self.level.value,
            "code": self.code,
            "message": self.message,
            "hint": self.hint,
            "field": self.field,
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "nearest": list(self.nearest),
            "link": self.link,
            "detail": dict(self.detail),
        }

    def at(self, file: str | None, line: int | None, column: int | None) -> Finding:
        about = (self.code, self.message, self.level, self.field, self.hint, self.nearest, self.link, self.detail)
        return Finding(*about, file, line, column)  # a file of thousands of pools has tens of thousands of these


def warning(code: str, message: str, **rest: Any) -> Finding:
    return Finding(code, message, Level.WARNING, **rest)


def info(code: str, message: str, **rest: Any) -> Finding:
    return Finding(code, message, Level.INFO, **rest)


class FracgpuError(Exception):
    """Base of all errors that a user may see. `detail` holds the cloud's own code, message and request id where there
    is one."""

    code: ClassVar[str] = "internal"
    exit_code: ClassVar[int] = 1

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        field: str | None = None,
        nearest: Iterable[str] = (),
        detail: Detail | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.field = field
        self.nearest = tuple(nearest)
        self.detail: dict[str, Any] = dict(detail or {})

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The error as findings; one for every class but `Invalid`."""
        own = Finding(
            self.code, self.message, field=self.field, hint=self.hint, nearest=self.nearest, detail=self.detail
        )
        return (own,)

    def to_json(self) -> dict[str, Any]:
        """INTERFACE's Error document, without `apiVersion` and `kind`."""
        findings = self.findings
        first = findings[0].to_json()
        first.pop("level")
        return {
            "code": first.pop("code"),
            "exitCode": self.exit_code,
            **first,
            "errors": [finding.to_json() for finding in findings],
        }


class Internal(FracgpuError):
    """A bug in fracgpu."""


class CannotWrite(FracgpuError):
    """stdout takes no more. What was asked for is done; only its answer is lost."""

    code = "cannot-write"


class Invalid(FracgpuError):
    """Usage or a spec that cannot work. Carries every finding, sorted as they should be read; its code is the first
    one's."""

    exit_code = 2

    def __init__(self, findings: Iterable[Finding]) -> None:
        self._findings = tuple(findings)
        if not self._findings:
            raise ValueError("Invalid needs at least one finding")
        first = self._findings[0]
        super().__init__(first.message, hint=first.hint, field=first.field, nearest=first.nearest, detail=first.detail)

    @property
    def code(self) -> str:  # type: ignore[override]
        return self._findings[0].code

    @property
    def findings(self) -> tuple[Finding, ...]:
        return self._findings

    @classmethod
    def one(cls, code: str, message: str, **rest: Any) -> Invalid:
        """An error with a single finding."""
        return cls([Finding(code, message, **rest)])


class NotFound(FracgpuError):
    code = "not-found"
    exit_code = 3


class NoAccess(FracgpuError):
    """Not signed in, not permitted, or a part not installed."""

    exit_code = 4


class NotSignedIn(NoAccess):
    code = "not-signed-in"


class Forbidden(NoAccess):
    code = "forbidden"


class PartNotInstalled(NoAccess):
    code = "part-not-installed"


class NoCapacity(FracgpuError):
    """The cloud will not give the machines: a limit of the account, or none left."""

    exit_code = 5


class Quota(NoCapacity):
    code = "quota"


class Stock(NoCapacity):
    code = "stock"


class SlicesMissing(FracgpuError):
    code = "slices-missing"
    exit_code = 6


class TimedOut(FracgpuError):
    """`--timeout` passed. The cloud goes on; the message has the `wait` command."""

    code = "timeout"
    exit_code = 7


class Conflict(FracgpuError):
    exit_code = 8


class Busy(Conflict):
    """Another operation holds the cluster or the pool; waiting and trying again is right."""

    code = "busy"


class ExistsDifferently(Conflict):
    code = "exists-differently"


class ImmutableField(Conflict):
    code = "immutable-field"


class NotOurs(Conflict):
    code = "not-ours"


class StalePlan(Conflict):
    code = "stale-plan"


class DrainBlocked(Conflict):
    code = "drain-blocked"


class CloudFailure(FracgpuError):
    """Any other answer of the cloud, or none."""

    exit_code = 9


class CloudError(CloudFailure):
    code = "cloud-error"


class Throttled(CloudFailure):
    """Asked too often. `retry_after` is what the cloud said, in seconds."""

    code = "throttled"

    def __init__(self, message: str, *, retry_after: float | None = None, **rest: Any) -> None:
        super().__init__(message, **rest)
        self.retry_after = retry_after


class Unreachable(CloudFailure):
    code = "unreachable"


class PoolFailed(CloudFailure):
    """The pool is in a failed state, or an operation on it ended in error, for a reason other than capacity."""

    code = "pool-failed"


class PartlyApplied(FracgpuError):
    """Some of it went well. `causes` are the findings of what did not, each saying whose it is."""

    code = "partly-applied"
    exit_code = 10
    causes: tuple[Finding, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        return (*super().findings, *self.causes)


class Interrupted(FracgpuError):
    code = "interrupted"
    exit_code = 130
