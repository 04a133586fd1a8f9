"""Options that several verbs have in common: what the user permits, and whether to wait."""

from __future__ import annotations

from typing import Annotated

import typer

YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask")]
ContextYesOption = Annotated[
    bool, typer.Option("--yes", "-y", help="Do not ask before the cluster of the kubectl context is used")
]
"""Of commands that ask nothing else."""
StrictOption = Annotated[bool, typer.Option("--strict", help="Warnings fail")]
DetailedOption = Annotated[bool, typer.Option("--detailed-exitcode", help="Exit 20 where changes are pending")]
PENDING = 20
"""Exit code of --detailed-exitcode where changes are pending."""
WaitOption = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until the cloud has done it")]
AdoptOption = Annotated[bool, typer.Option("--adopt", help="Take over pools that fracgpu did not make")]
RecreateOption = Annotated[bool, typer.Option("--recreate", help="Make pools anew that are in a failed state")]
ReplaceOption = Annotated[
    bool, typer.Option("--replace", help="Permit to drain, delete and make anew what cannot change in place")
]
NotOursOption = Annotated[bool, typer.Option("--not-ours", help="Also pools that fracgpu did not make")]
PreflightOption = Annotated[
    bool, typer.Option("--preflight/--no-preflight", help="Ask for quota and offerings before making a pool")
]
WithPluginOption = Annotated[
    bool, typer.Option("--with-plugin", help="Write the device-plugin config that the pools need too")
]
FleetOption = Annotated[
    str | None,
    typer.Option("--fleet", help="Mark the pools as one fleet's", metavar="NAME", show_default=False),
]
PruneOption = Annotated[
    bool, typer.Option("--prune", help="Delete pools of the fleet that no file declares (needs --fleet)")
]
FilesOption = Annotated[
    list[str] | None,
    typer.Option(
        "-f", "--file", help="NodePool file, folder or - (may be given again)", metavar="FILE", show_default=False
    ),
]
DrainTimeoutOption = Annotated[
    str, typer.Option("--drain-timeout", help="Give up when pods have not left after this long", metavar="TIME")
]
ForceOption = Annotated[bool, typer.Option("--force", help="Do not wait for pods that may not be moved")]
