"""`fracgpu pool render`: a pool as another tool's command or configuration, offline."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from fracgpu.catalog.load import load
from fracgpu.catalog.models import ProviderName
from fracgpu.cli import output
from fracgpu.cli.choices import ContextYesOption, StrictOption
from fracgpu.cli.flags import SpecFlags, with_spec
from fracgpu.cli.output import Output, TextOption, say_notes
from fracgpu.cli.pool.meant import pools_meant
from fracgpu.cluster import PLACEHOLDER, ClusterRef
from fracgpu.errors import Finding, Invalid, info, warning
from fracgpu.model import camel
from fracgpu.operations.prepare import Prepared, prepare_all, raise_errors
from fracgpu.providers import Form, provider

CLOUD_OF = {
    Form.AZ: ProviderName.AKS,
    Form.GCLOUD: ProviderName.GKE,
    Form.AWS: ProviderName.EKS,
    Form.EKSCTL: ProviderName.EKS,
    Form.KARPENTER: ProviderName.EKS,
}
"""Forms of one cloud alone, which therefore say which cloud is meant where nothing else does."""
COORDINATES = ("resource_group", "subscription", "project", "location", "region")
SEPARATORS = {Form.EKSCTL: "---\n", Form.KARPENTER: "---\n"}
FormOption = Annotated[
    Form,
    typer.Option("--as", help="az, gcloud, aws, eksctl, karpenter or terraform", metavar="TOOL", show_default=False),
]


@with_spec
def render(
    flags: SpecFlags,
    form: FormOption,
    name: Annotated[str | None, typer.Argument(help="Name of the pool", show_default=False)] = None,
    strict: StrictOption = False,
    yes: ContextYesOption = False,
    out: TextOption = Output.TABLE,
) -> None:
    """The pool as another tool's command or configuration; what that tool cannot say is a note."""
    documents = pools_meant(name, flags, CLOUD_OF.get(form), yes=yes)
    pools = prepare_all(documents, load(), placeholder=True, strict=strict)
    check_form(form, pools)
    texts = [one.provider.render(form, one.resources, one.pool) for one in pools]
    said = [*together(form, pools), *(note for _, more in texts for note in more)]
    raise_errors(said, strict=strict)
    text = SEPARATORS.get(form, "\n").join(part if part.endswith("\n") else part + "\n" for part, _ in texts)
    gaps = [note for one, (part, _) in zip(pools, texts, strict=True) for note in open_cluster(one.pool.cluster, part)]
    notes = _once([note for one in pools for note in one.notes] + gaps + said)
    body = {"form": form.value, "text": text, "notes": [note.to_json() for note in notes]}
    if not output.write_document(out, "Rendering", body):
        output.write(text)
        say_notes(notes)


def check_form(form: Form, pools: list[Prepared]) -> None:
    """Raises Invalid with the forms that are right where a pool's cloud does not have this one."""
    for one in pools:
        forms = one.provider.FORMS
        if form not in forms:
            words = tuple(each.value for each in forms)
            cloud = CLOUD_OF.get(form)
            of = f" (it is {provider(cloud).TITLE}'s)" if cloud else ""
            message = f"{form} makes no node pools of {one.provider.TITLE}{of}: pool {one.pool.name}"
            hint = " or ".join(f"--as {word}" for word in words)
            raise Invalid.one("usage", message, field="--as", nearest=words, hint=hint)


def together(form: Form, pools: list[Prepared]) -> list[Finding]:
    """A warning where the texts of these pools are not to be used together: names that are taken twice, or manifests of
    several clusters."""
    clusters = sorted({one.pool.cluster.name for one in pools})
    names = [one.pool.name for one in pools]
    twice = sorted({name for name in names if names.count(name) > 1})
    if form is Form.TERRAFORM and twice:
        message = f"{', '.join(twice)} stands for several pools, and Terraform takes a name once in a folder"
    elif form is Form.KARPENTER and len({one.pool.cluster for one in pools}) > 1:
        message = f"these manifests are of several clusters: {', '.join(clusters)}"
    else:
        return []
    return [warning("form-gap", message, field="metadata.name", hint="render the pools of each cluster by themselves")]


def open_cluster(cluster: ClusterRef, text: str) -> list[Finding]:
    """A note on what of the cluster was left open, for which the text has words in capitals."""
    left = ["name"] if cluster.name == PLACEHOLDER else []
    left += [name for name in COORDINATES if getattr(cluster, name) is None and re.search(rf"\b{name.upper()}\b", text)]
    if not left:
        return []
    words = " and ".join(f"cluster.{camel(name)}" for name in left)
    message = f"{words} {'is' if len(left) == 1 else 'are'} not said; a word in capitals stands for it"
    return [info("form-gap", message, field=f"spec.cluster.{camel(left[0])}", hint="--cluster and the like say it")]


def _once(notes: list[Finding]) -> list[Finding]:
    return [note for index, note in enumerate(notes) if note not in notes[:index]]
