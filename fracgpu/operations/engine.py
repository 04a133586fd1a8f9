"""Many pools at once: clusters side by side, the pools of one cluster in turn.

A cluster takes one change of its node pools at a time (AKS answers OperationNotAllowed to a second, GKE
CLUSTER_ALREADY_HAS_OPERATION: https://github.com/kubernetes-sigs/cluster-api-provider-gcp/issues/1363), so each cluster
has one worker, which takes its pools in their order. A pool that fails is an item of the result and stops nobody.
Workers are daemon threads that spend their time asleep: whoever has waited enough leaves, and the clouds go on.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from fracgpu.errors import FracgpuError, Internal
from fracgpu.operations.outcome import Event, Item, Outcome, Work
from fracgpu.plan import Action
from fracgpu.resolve import ClusterRef

MOST_WORKERS = 256
"""Clusters worked on at once; a sleeping thread costs some tens of kB."""

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Job:
    """The work on one pool. `start` is called in the cluster's worker when its turn has come."""

    name: str
    cluster: ClusterRef
    action: Action
    start: Callable[[], Work]


@dataclass(slots=True)
class Run:
    """Jobs at work. `next` gives what happens, in the order in which it happens, to one reader."""

    jobs: Sequence[Job]
    items: list[Item | None] = field(init=False)
    _said: queue.SimpleQueue[Event | Item | None] = field(init=False, default_factory=queue.SimpleQueue)
    _stopping: threading.Event = field(init=False, default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.items = [None] * len(self.jobs)
        lanes: dict[ClusterRef, list[int]] = {}
        for index, job in enumerate(self.jobs):
            lanes.setdefault(job.cluster, []).append(index)
        crew(self._lane, list(lanes.values()), lambda: self._said.put(None))

    @property
    def stopping(self) -> bool:
        return self._stopping.is_set()

    def stop(self) -> None:
        """Begin no further pool; those that are being worked on are finished."""
        self._stopping.set()

    def next(self) -> Event | Item | None:
        """What happens next; None when all is over. An item is also in `items`, in the order of the jobs."""
        return self._said.get()

    def result(self) -> list[Item]:
        """An item for every job; those that were not reached are skipped, those under way pending."""
        return [item or _skipped(job) for item, job in zip(self.items, self.jobs, strict=True)]

    def _lane(self, indexes: Sequence[int]) -> None:
        for index in indexes:
            job = self.jobs[index]
            item = _skipped(job) if self.stopping else self._finished(job)
            self.items[index] = item
            self._said.put(item)

    def _finished(self, job: Job) -> Item:
        """The job's item, a failed one where it raises."""
        try:
            work = job.start()
            while True:
                self._said.put(next(work))
        except StopIteration as end:
            item: Item = end.value
            return item
        except FracgpuError as error:
            return _failed(job, error)
        except Exception as error:  # noqa: BLE001 - a bug in one pool's work must not take the others with it
            bug = Internal(f"{type(error).__name__}: {error}", hint="this is a bug; run that pool alone with -v")
            bug.__cause__ = error
            return _failed(job, bug)


def _skipped(job: Job) -> Item:
    return Item(job.name, job.cluster, job.action, Outcome.SKIPPED)


def _failed(job: Job, error: FracgpuError) -> Item:
    return Item(job.name, job.cluster, job.action, Outcome.FAILED, error=error)


def crew(work: Callable[[T], None], tasks: Sequence[T], over: Callable[[], None]) -> None:
    """Do all tasks in daemon threads, as many at once as there are workers; `over` is called when all are done."""
    waiting: queue.SimpleQueue[T] = queue.SimpleQueue()
    for task in tasks:
        waiting.put(task)
    count = min(len(tasks), MOST_WORKERS)
    left = [count]
    lock = threading.Lock()

    def worker() -> None:
        try:
            while True:
                work(waiting.get_nowait())
        except queue.Empty:
            pass
        finally:
            with lock:
                left[0] -= 1
                last = left[0] == 0
            if last:
                over()

    for number in range(count):
        threading.Thread(target=worker, name=f"fracgpu-{number}", daemon=True).start()
    if not count:
        over()


@dataclass(frozen=True, slots=True)
class Answers(Generic[K, T]):
    """What each key's question was answered, or the error that it raised."""

    found: Mapping[K, T]
    failed: Mapping[K, FracgpuError]


def ask_all(questions: Mapping[K, Callable[[], T]]) -> Answers[K, T]:
    """Ask side by side; an error of one leaves the others be."""
    found: dict[K, T] = {}
    failed: dict[K, FracgpuError] = {}
    done: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()

    def ask(key: K) -> None:
        try:
            found[key] = questions[key]()
        except FracgpuError as error:
            failed[key] = error
        except Exception as error:  # noqa: BLE001 - raised again in the thread that asked
            done.put(error)

    crew(ask, list(questions), lambda: done.put(None))
    bug = done.get()
    if bug is not None:
        raise bug
    return Answers({key: found[key] for key in questions if key in found}, failed)
