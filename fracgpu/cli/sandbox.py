"""`fracgpu sandbox`: the three clouds on this machine, started, looked at, and made to fail."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer

from fracgpu.cli import output
from fracgpu.cli.globals import GLOBALS
from fracgpu.cli.lazy import group
from fracgpu.cli.output import Output, TableOption
from fracgpu.errors import Invalid, NotFound

HERE = "fracgpu.cli.sandbox"
app = group(
    {
        "start": (HERE, "start", "Start it, or find it running; returns when all answers"),
        "stop": (HERE, "stop", "Stop it"),
        "status": (HERE, "status", "Endpoints, clusters, and what an autoscaler believes"),
        "reset": (HERE, "reset", "Forget every cluster, pool and fault"),
        "env": (HERE, "env", "Shell exports for gcloud, aws, kubectl and fracgpu"),
        "fault": (HERE, "fault", "Calls that fail: add, list, clear"),
        "set": ("fracgpu.cli.sandbox_set", "app", "Quota, offerings, nodes, pods, operation time"),
    },
    "Three clouds and a Kubernetes API on this machine, for trying",
)


def control() -> Any:
    """The running sandbox's control client. Raises NotFound where none runs."""
    from fracgpu.sandbox import client, process

    running = process.find()
    if running is None:
        raise NotFound("no sandbox is running", hint="fracgpu sandbox start")
    return client.Control(running)


def start(out: TableOption = Output.TABLE) -> None:
    """Start the sandbox, or find the one that runs; returns when all of it answers."""
    from fracgpu.sandbox import client, process

    _print_status(client.Control(process.start()).status(), out)


def stop() -> None:
    """Stop the sandbox; fine where none runs."""
    from fracgpu.sandbox import process

    output.say("sandbox: stopped" if process.stop() else "sandbox: none was running")


def status(out: TableOption = Output.TABLE) -> None:
    """Endpoints and clusters; with -o json also what an autoscaler would believe of a new node of each pool."""
    _print_status(control().status(), out)


def reset() -> None:
    """Forget every cluster, pool and fault; settings stay."""
    control().reset()
    output.say("sandbox: as new")


def env(unset: Annotated[bool, typer.Option("--unset", help="Undo it")] = False) -> None:
    """Shell lines to eval: they point gcloud, aws, kubectl and fracgpu at the sandbox."""
    from fracgpu.sandbox import environment, process

    lines = environment.undo(os.environ) if unset else environment.script(process.ensure(), os.environ)
    output.write("\n".join(lines))


def _print_status(body: dict[str, Any], out: Output) -> None:
    GLOBALS.sandbox = True
    if output.write_document(out, "Sandbox", body):
        return
    rows = [[name, where] for name, where in (body.get("endpoints") or {}).items()]
    output.table(("ENDPOINT", "ADDRESS"), rows)
    output.write("")
    pools = [
        [cluster["provider"], cluster["name"], pool["name"], pool["state"], pool["nodes"], _believed(pool)]
        for cluster in body.get("clusters") or ()
        for pool in cluster["pools"]
    ]
    output.table(("CLOUD", "CLUSTER", "POOL", "STATE", "NODES", "AN AUTOSCALER BELIEVES"), pools)


def _believed(pool: dict[str, Any]) -> str:
    """Of a pool without nodes, what an autoscaler would expect of one; nobody has to guess where there are nodes."""
    return str(pool.get("autoscalerSummary", "-"))


fault = group(
    {
        "add": (HERE, "fault_add", "Make a call fail"),
        "list": (HERE, "fault_list", "The faults that are set, and how often each was met"),
        "clear": (HERE, "fault_clear", "Take all faults back"),
    },
    "Calls that fail: add, list, clear",
)


def fault_add(
    cloud: Annotated[str, typer.Option("--cloud", help="aks, gke, eks or k8s")],
    call: Annotated[str, typer.Option("--call", help="The API's own name of the call, as CreateNodegroup")],
    status: Annotated[
        int | None, typer.Option("--status", help="HTTP status of the answer", show_default=False)
    ] = None,
    code: Annotated[str | None, typer.Option("--code", help="The cloud's error code", show_default=False)] = None,
    message: Annotated[str | None, typer.Option("--message", help="Its message", show_default=False)] = None,
    times: Annotated[int, typer.Option("--times", min=0, help="How often; 0 is every time")] = 1,
    delay: Annotated[float, typer.Option("--delay", help="Seconds before the answer")] = 0.0,
    drop: Annotated[bool, typer.Option("--drop", help="Do it, and lose the answer")] = False,
    retry_after: Annotated[
        int | None, typer.Option("--retry-after", help="Seconds, in the answer", show_default=False)
    ] = None,
    outcome: Annotated[
        str | None,
        typer.Option("--outcome", help="The operation's end: failed, endless or partial", show_default=False),
    ] = None,
) -> None:
    """Make a call of a cloud fail, late, unanswered, or with an operation that ends badly; without more, with 500."""
    if cloud not in ("aks", "gke", "eks", "k8s"):
        raise Invalid.one("invalid-value", f"--cloud {cloud}", field="--cloud", nearest=("aks", "gke", "eks", "k8s"))
    if outcome not in (None, "failed", "endless", "partial"):
        words = ("failed", "endless", "partial")
        raise Invalid.one("invalid-value", f"--outcome {outcome}", field="--outcome", nearest=words)
    how = {"status": status, "code": code, "message": message, "retry_after": retry_after, "outcome": outcome}
    if not (delay or drop or any(value is not None for value in how.values())):
        how["status"] = 500
    fault = control().add_fault(cloud=cloud, call=call, times=times or None, delay=delay, drop=drop, **how)
    often = {0: "every time", 1: "once"}.get(times, f"{times} times")
    output.say(f"sandbox: {cloud} {call}: {_effect(fault)}, {often}")


def fault_list(out: TableOption = Output.TABLE) -> None:
    """The faults that are set, in order."""
    GLOBALS.sandbox = True
    faults = control().faults()
    if output.write_document(out, "FaultList", {"items": faults}):
        return
    rows = [[one["id"], one["cloud"], one["call"], _effect(one), _left(one), one["seen"]] for one in faults]
    output.table(("ID", "CLOUD", "CALL", "EFFECT", "LEFT", "SEEN"), rows)


def _effect(fault: dict[str, Any]) -> str:
    """What a fault does, in a few words."""
    code = " ".join(str(fault[name]) for name in ("status", "code") if fault.get(name) is not None)
    parts = [
        f"{fault['delay']:g} s late" if fault.get("delay") else "",
        f"operation {fault['outcome']}" if fault.get("outcome") else "",
        code or (fault.get("message") or ""),
        f"retry after {fault['retry_after']} s" if fault.get("retry_after") is not None else "",
        "answer lost" if fault.get("drop") else "",
    ]
    return ", ".join(part for part in parts if part) or "counted only"


def _left(fault: dict[str, Any]) -> str:
    """How often a fault strikes yet."""
    if fault["left"] is None:
        return "every time"
    return f"{fault['left']} of {fault['times']}" if fault["left"] else "used up"


def fault_clear() -> None:
    """Take all faults back."""
    control().clear_faults()
    output.say("sandbox: no faults")
