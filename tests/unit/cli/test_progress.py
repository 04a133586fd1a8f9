"""What a log shows of work: what the cloud does, for how long, and how long it usually takes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fracgpu.catalog.models import ProviderName
from fracgpu.cli.progress import watch
from fracgpu.operations.outcome import Event
from fracgpu.resolve import ClusterRef

HERE = ClusterRef(ProviderName.GKE, "c", project="p", location="us-central1")


def test_one_line_a_change_with_elapsed_and_usual_time(capsys: pytest.CaptureFixture[str]) -> None:
    def work() -> Iterator[Event]:
        yield Event("gpu", HERE, "asking")
        yield Event("gpu", HERE, "creating", 65.0, usual=190.0)
        yield Event("gpu", HERE, "creating", 75.0, usual=190.0)
        yield Event("gpu", HERE, "joining", 80.0)

    watch(work(), "fracgpu pool wait gpu")  # type: ignore[arg-type]
    assert capsys.readouterr().err.splitlines() == [
        "gpu: asking (0s)",
        "gpu: creating (1m05s, usually 3m10s)",
        "gpu: joining (1m20s)",
    ]
