"""`fracgpu pool`: one module a verb, or a few that belong together."""

from __future__ import annotations

from fracgpu.cli.lazy import group

HERE = "fracgpu.cli.pool"
app = group(
    {
        "create": (f"{HERE}.create", "create", "Make one pool and wait until it is ready"),
        "plan": (f"{HERE}.plan", "plan", "What apply would change"),
        "apply": (f"{HERE}.apply", "apply", "Make the pools of files so, many at once"),
        "list": (f"{HERE}.list_pools", "list_pools", "Pools of a cluster, and what they advertise"),
        "show": (f"{HERE}.show", "show", "One pool in the file form, with its status"),
        "export": (f"{HERE}.show", "export", "The file form of an existing pool"),
        "scale": (f"{HERE}.scale", "scale", "Change the number of nodes"),
        "update": (f"{HERE}.update", "update", "Change what can be changed in place"),
        "delete": (f"{HERE}.delete", "delete", "Delete pools"),
        "wait": (f"{HERE}.wait", "wait", "Wait until a pool is ready, deleted or verified"),
        "verify": (f"{HERE}.verify", "verify", "Hold the nodes against the promise"),
        "explain": (f"{HERE}.explain", "explain", "What nodes will advertise and a pod must ask for; offline"),
        "render": (f"{HERE}.render", "render", "The pool as another tool's command or configuration; offline"),
    },
    "Make, change, look at and remove node pools",
)
