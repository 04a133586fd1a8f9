"""The pools of all clusters of an account. A cluster that cannot be asked is a warning, and the others are listed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from fracgpu.catalog.load import Catalog
from fracgpu.errors import (
    Finding,
    FracgpuError,
    Invalid,
    NotSignedIn,
    PartlyApplied,
    PartNotInstalled,
    info,
    warning,
)
from fracgpu.operations.engine import Answers, ask_all
from fracgpu.operations.list_pools import Listed, listed
from fracgpu.operations.wait import asked
from fracgpu.providers import Connect
from fracgpu.resolve import ClusterRef


def listed_everywhere(
    account: ClusterRef, connect: Connect, catalog: Catalog, *, without_gpu: bool = False, slices: bool = True
) -> tuple[Listed, FracgpuError | None]:
    """The pools, in the clouds' order of clusters, and what the command ends in where a cluster could not be asked:
    PartlyApplied, or its own error where all failed alike. Raises what the list of clusters itself raises."""

    def look(cluster: ClusterRef) -> Listed:
        return listed(connect(cluster), cluster, catalog, without_gpu=without_gpu, slices=slices)

    inventory = asked(connect(account).clusters)
    answers = ask_all({one: partial(look, one) for one in inventory.clusters})
    items = tuple(item for found in answers.found.values() for item in found.items)
    notes = [note for found in answers.found.values() for note in found.notes]
    notes += [_left_out(cluster, error) for cluster, error in answers.failed.items()]
    return Listed(items, (*inventory.notes, *notes)), _verdict(answers)


def _left_out(cluster: ClusterRef, error: FracgpuError) -> Finding:
    message = f"the pools of {cluster.name} are not in the list: {error.message}"
    return warning("cluster-not-listed", message, hint=error.hint, detail={"code": error.code, **cluster.to_json()})


def _verdict(answers: Answers[ClusterRef, Listed]) -> FracgpuError | None:
    errors = list(answers.failed.values())
    if not errors:
        return None
    if not answers.found and len({error.exit_code for error in errors}) == 1:
        return errors[0]
    failed = [f"{cluster.name}: {error.code}" for cluster, error in answers.failed.items()]
    count = len(errors) + len(answers.found)
    message = f"{len(errors)} of {count} clusters could not be asked: {'; '.join(failed[:5])}"
    return PartlyApplied(message, hint="the notes say why; the others are listed", detail={"failed": failed})


def listed_in_all_clouds(
    accounts: Sequence[ClusterRef],
    connect: Connect,
    catalog: Catalog,
    *,
    without_gpu: bool = False,
    slices: bool = True,
) -> tuple[Listed, FracgpuError | None]:
    """The pools of every account, cloud after cloud, and what the command ends in. A cloud that nobody is signed in at,
    or whose account nobody names, is a note as long as another answers. Raises where none does."""

    def look(account: ClusterRef) -> tuple[Listed, FracgpuError | None]:
        return listed_everywhere(account, connect, catalog, without_gpu=without_gpu, slices=slices)

    answers = ask_all({one: partial(look, one) for one in accounts})
    if not answers.found:
        raise _nowhere(list(answers.failed.values()))
    items = tuple(item for found, _ in answers.found.values() for item in found.items)
    notes = [note for found, _ in answers.found.values() for note in found.notes]
    notes += [_cloud_left_out(account, error) for account, error in answers.failed.items()]
    broken = [error for error in answers.failed.values() if not isinstance(error, ABSENT)]
    errors = [error for _, error in answers.found.values() if error] + broken
    if not errors:
        return Listed(items, tuple(notes)), None
    message = "; ".join(error.message for error in errors)
    return Listed(items, tuple(notes)), PartlyApplied(message, hint="the notes say why; the others are listed")


def _nowhere(errors: Sequence[FracgpuError]) -> FracgpuError:
    broken = [error for error in errors if not isinstance(error, ABSENT)]
    if broken:
        return broken[0]
    return NotSignedIn("no cloud can be listed: nobody is signed in", hint="fracgpu doctor says for each what to do")


ABSENT = (NotSignedIn, PartNotInstalled, Invalid)
"""The user has nothing there, or has not said where."""


def _cloud_left_out(account: ClusterRef, error: FracgpuError) -> Finding:
    message = f"{account.provider.upper()} is not in the list: {error.message}"
    detail = {"code": error.code}
    if isinstance(error, ABSENT):
        return info("cloud-not-listed", message, hint=error.hint, detail=detail)
    return warning("cloud-not-listed", message, hint=error.hint, detail=detail)
