"""clouds.md and the README's table: which cloud can express which sharing, how, and why not."""

from __future__ import annotations

from docs.generator.markdown import code, page, table
from fracgpu.catalog.models import ProviderName
from fracgpu.providers import Provider, Support, provider
from fracgpu.sharing import SharingKind

WORDS = {
    SharingKind.WHOLE: "whole GPUs",
    SharingKind.MIG: "MIG, one profile",
    SharingKind.MIG_LAYOUT: "MIG, several profiles a GPU",
    SharingKind.TIME_SLICING: "time-slicing",
    SharingKind.MPS: "MPS",
    SharingKind.MIG_TIME_SLICING: "MIG, each slice time-sliced",
    SharingKind.MIG_MPS: "MIG, each slice with MPS",
}


def clouds_known() -> list[Provider]:
    return [provider(name) for name in ProviderName]


def support() -> str:
    """The table of clouds by kinds of sharing, with reasons."""
    clouds = clouds_known()
    columns = ("", *(cloud.NAME.value.upper() for cloud in clouds))
    rows = [[WORDS[kind], *(_support(cloud.SUPPORT[kind]) for cloud in clouds)] for kind in SharingKind]
    return table(columns, rows)


def _support(said: Support) -> str:
    text = f"{'yes' if said.possible else '**no**'}: {said.how}"
    return f"{text} ([source]({said.link}))" if said.link else text


def page_of_clouds() -> str:
    """Each cloud in its own words: sharing, forms, sign-in; and the table of EKS backends."""
    lead = "What each cloud can express, in the words of its own API. A *no* is an error before anything is sent."
    backends = "\n\n".join(["## Who cuts and shares on EKS", BACKENDS, eks_matrix()])
    parts = [support(), *(_cloud(cloud) for cloud in clouds_known()), backends]
    return page("Clouds", "SUPPORT and FORMS of fracgpu/providers/*", lead, *parts)


def _cloud(cloud: Provider) -> str:
    rows = [
        ["the pool in a plan", code(cloud.POOL_KIND)],
        ["sign in", code(cloud.sign_in_hint())],
        *([f"`pool render --as {form.value}`", code(what)] for form, what in cloud.FORMS.items()),
    ]
    return "\n\n".join([f"## {cloud.NAME.value.upper()}", cloud.TITLE, table(("", ""), rows)])


BACKENDS = """\
`--backend` (`eks.backend`) says who does it. Left out, MIG is cut by `bottlerocket`, or by `user-data` where strategy
or layout needs it, and whole GPUs are shared by `device-plugin`."""


def eks_matrix() -> str:
    """Every backend with every cut, strategy and share: how it works, or why not."""
    from fracgpu.providers.eks.matrix import combinations, verdict

    columns = ("backend", "GPUs are cut", "strategy", "shared by", "")
    rows = []
    for row in combinations():
        said = verdict(row)
        instead = f"; `--backend {said.instead.value}` can" if said.instead else ""
        text = f"yes: {said.text}" if said.works else f"**{said.code}**: {said.text}{instead}"
        rows.append([code(row.backend.value), row.cutting.value, row.strategy, row.shared.value, text])
    return table(columns, rows)
