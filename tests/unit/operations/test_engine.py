"""Many jobs at once: clusters side by side, the pools of one in turn, and nobody stopped by another's failure."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator

import pytest

from fracgpu.catalog.models import ProviderName
from fracgpu.errors import Busy, FracgpuError, ImmutableField, Internal, PartlyApplied, Quota, Stock
from fracgpu.operations.engine import Job, Run, ask_all
from fracgpu.operations.outcome import Event, Item, Outcome, verdict
from fracgpu.plan import Action
from fracgpu.resolve import ClusterRef

PATIENCE = 30.0
"""Seconds until a test that hangs fails; none waits for them."""


def cluster(number: int) -> ClusterRef:
    return ClusterRef(ProviderName.EKS, f"c{number}", region="us-east-1")


def item(name: str, where: ClusterRef, error: FracgpuError | None = None) -> Item:
    return Item(name, where, Action.CREATE, Outcome.FAILED if error else Outcome.DONE, error=error)


def job(number: int, where: ClusterRef, act: Callable[[], None]) -> Job:
    name = f"p{number}"

    def work() -> Generator[Event, None, Item]:
        yield Event(name, where, "working")
        act()
        return item(name, where)

    return Job(name, where, Action.CREATE, work)


def outcomes(run: Run) -> list[Outcome]:
    while run.next() is not None:
        pass
    return [one.outcome for one in run.result()]


def test_clusters_are_worked_on_side_by_side() -> None:
    together = threading.Barrier(24)
    run = Run([job(number, cluster(number), lambda: _met(together)) for number in range(24)])
    assert outcomes(run) == [Outcome.DONE] * 24


def _met(barrier: threading.Barrier) -> None:
    barrier.wait(PATIENCE)


def test_pools_of_a_cluster_come_in_turn_and_in_order() -> None:
    at_work = threading.Lock()
    order: list[int] = []

    def act(number: int) -> Callable[[], None]:
        def take_turn() -> None:
            assert at_work.acquire(blocking=False), "two pools of one cluster at once"
            order.append(number)
            at_work.release()

        return take_turn

    run = Run([job(number, cluster(0), act(number)) for number in range(50)])
    assert outcomes(run) == [Outcome.DONE] * 50
    assert order == list(range(50))


def test_a_failure_stops_nobody() -> None:
    def fail() -> None:
        raise Stock("none left")

    acts = [fail if number == 1 else _nothing for number in range(4)]
    run = Run([job(number, cluster(number % 2), act) for number, act in enumerate(acts)])
    assert outcomes(run) == [Outcome.DONE, Outcome.FAILED, Outcome.DONE, Outcome.DONE]
    error = run.result()[1].error
    assert isinstance(error, Stock)


def _nothing() -> None:
    pass


def test_a_bug_in_one_pool_is_told_as_a_bug() -> None:
    def break_down() -> None:
        raise ZeroDivisionError("of its own")

    run = Run([job(0, cluster(0), break_down), job(1, cluster(0), _nothing)])
    assert outcomes(run) == [Outcome.FAILED, Outcome.DONE]
    assert isinstance(run.result()[0].error, Internal)


def test_stopping_finishes_what_is_under_way_and_begins_nothing() -> None:
    begun, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        begun.set()
        assert go_on.wait(PATIENCE)

    run = Run([job(0, cluster(0), hold), job(1, cluster(0), _nothing)])
    assert begun.wait(PATIENCE)
    run.stop()
    go_on.set()
    assert outcomes(run) == [Outcome.DONE, Outcome.SKIPPED]


def test_no_jobs_end_at_once() -> None:
    assert outcomes(Run([])) == []


def test_questions_are_asked_side_by_side_and_fail_alone() -> None:
    together = threading.Barrier(3)

    def ask(number: int) -> Callable[[], int]:
        def answer() -> int:
            together.wait(PATIENCE)
            if number == 1:
                raise Busy("not now")
            return number

        return answer

    answers = ask_all({number: ask(number) for number in range(3)})
    assert answers.found == {0: 0, 2: 2}
    assert isinstance(answers.failed[1], Busy)


def test_a_bug_in_a_question_is_raised() -> None:
    def break_down() -> int:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ask_all({0: break_down})


HERE = cluster(0)


@pytest.mark.parametrize(
    ("errors", "code", "exit_code"),
    [
        ([None, None], None, 0),
        ([Stock("none")], "stock", 5),
        ([Stock("none"), Quota("no")], "stock", 5),
        ([Stock("none"), Busy("later")], "partly-applied", 10),
        ([Stock("none"), None], "partly-applied", 10),
    ],
)
def test_how_a_command_ends(errors: list[FracgpuError | None], code: str | None, exit_code: int) -> None:
    error = verdict([item(f"p{n}", HERE, one) for n, one in enumerate(errors)], "fracgpu pool apply -f x")
    assert (error.findings[0].code if error else None) == code
    assert (error.exit_code if error else 0) == exit_code
    if isinstance(error, PartlyApplied):
        assert "p0 (c0): stock" in error.message


def test_what_failed_among_many_says_why_and_what_to_do() -> None:
    immutable = ImmutableField("a new pool is needed", hint="--replace makes it anew")
    error = verdict([item("p0", HERE, immutable), item("p1", HERE, None)], "fracgpu pool apply -f x")
    assert error is not None
    told = [(finding.code, finding.message, finding.hint) for finding in error.findings[1:]]
    assert told == [("immutable-field", "p0 (c0): a new pool is needed", "--replace makes it anew")]
    assert error.to_json()["code"] == "partly-applied"
