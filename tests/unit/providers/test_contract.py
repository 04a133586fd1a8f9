"""What a new cloud forgot: every registered provider has all members of the contract, its data, its documents."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import fracgpu.providers
from fracgpu.advertise import NodeFacts
from fracgpu.catalog.load import load, profiles_folder
from fracgpu.catalog.models import ProviderName
from fracgpu.cli.cluster_sources import sandbox_cluster
from fracgpu.differences import Comparison
from fracgpu.operations.prepare import prepare
from fracgpu.providers import REGISTRY, Form, Provider, Session, provider
from fracgpu.sharing import SharingKind
from fracgpu.spec import Cluster, NodePool, NodePoolSpec

ROOT = Path(__file__).parents[3]
CLOUDS = list(ProviderName)
MEMBERS = sorted({*get_type_hints(Provider), *(name for name in vars(Provider) if not name.startswith("_"))})


def test_every_package_is_registered_and_every_name_has_a_package() -> None:
    packages = {one.name for one in pkgutil.iter_modules(fracgpu.providers.__path__) if one.ispkg}
    assert packages == {name.value for name in REGISTRY} == {name.value for name in ProviderName}


@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize("cloud", CLOUDS)
def test_has_every_member(cloud: ProviderName, member: str) -> None:
    assert hasattr(provider(cloud), member)


FUNCTIONS = [name for name, value in vars(Provider).items() if inspect.isfunction(value) and not name.startswith("_")]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("cloud", CLOUDS)
def test_functions_take_what_the_contract_says(cloud: ProviderName, name: str) -> None:
    wanted = list(inspect.signature(getattr(Provider, name)).parameters)[1:]
    assert len(inspect.signature(getattr(provider(cloud), name)).parameters) == len(wanted)


@pytest.mark.parametrize("cloud", CLOUDS)
def test_no_module_of_a_package_takes_a_members_name(cloud: ProviderName) -> None:
    """Importing a submodule puts it into its package, in the place of a function of that name."""
    package = f"fracgpu.providers.{cloud.value}"
    for found in pkgutil.iter_modules(importlib.import_module(package).__path__, f"{package}."):
        importlib.import_module(found.name)
    assert [name for name in FUNCTIONS if not callable(getattr(provider(cloud), name))] == []


@pytest.mark.parametrize("cloud", CLOUDS)
def test_calls_itself_by_its_own_name(cloud: ProviderName) -> None:
    own = provider(cloud)
    assert (own.NAME, own.POOL_KIND.partition(".")[0]) == (cloud, cloud.value)
    assert own.TITLE
    assert own.sign_in_hint()


@pytest.mark.parametrize("kind", list(SharingKind))
@pytest.mark.parametrize("cloud", CLOUDS)
def test_says_of_every_kind_of_sharing_how_or_why_not(cloud: ProviderName, kind: SharingKind) -> None:
    said = provider(cloud).SUPPORT[kind]
    assert said.how
    assert said.link is None or said.link.startswith("https://")


@pytest.mark.parametrize("cloud", CLOUDS)
def test_renders_terraform_and_a_form_of_its_own(cloud: ProviderName) -> None:
    assert {Form.TERRAFORM} < set(provider(cloud).FORMS)


@pytest.mark.parametrize("cloud", CLOUDS)
def test_no_form_belongs_to_two_clouds(cloud: ProviderName) -> None:
    others = {form for other in CLOUDS if other is not cloud for form in provider(other).FORMS}
    assert others & set(provider(cloud).FORMS) == {Form.TERRAFORM}


@pytest.mark.parametrize("cloud", CLOUDS)
def test_has_machines_and_a_sandbox_cluster(cloud: ProviderName) -> None:
    assert (profiles_folder() / "machines" / f"{cloud.value}.toml").is_file()
    assert load().machines(cloud)
    assert sandbox_cluster(cloud.value).provider == cloud.value


@pytest.mark.parametrize("cloud", CLOUDS)
def test_has_options_of_its_own_in_the_file_form(cloud: ProviderName) -> None:
    assert cloud.value in NodePoolSpec.model_fields


PAPERS = (
    "docs/guides/first-pool-{cloud}.md",
    "tests/golden/{cloud}",
    "tests/golden/test_{cloud}.py",
    "tests/unit/providers/{cloud}",
    "tests/wire/test_{cloud}_session.py",
)


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("cloud", CLOUDS)
def test_has_its_guide_and_its_tests(cloud: ProviderName, paper: str) -> None:
    assert (ROOT / paper.format(cloud=cloud.value)).exists()


@pytest.mark.parametrize("cloud", CLOUDS)
def test_has_its_rows_in_the_documents(cloud: ProviderName) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for page, heading in ((readme, f"### {cloud.value.upper()}"), (_reference("clouds"), f"## {cloud.value.upper()}")):
        assert f"\n{heading}\n" in page
    assert f"\n## {cloud.value}\n" in _reference("machines")


def _reference(name: str) -> str:
    return (ROOT / "docs" / "reference" / f"{name}.md").read_text(encoding="utf-8")


def _whole(cloud: ProviderName) -> Any:
    """The smallest pool of a cloud: its first machine, uncut."""
    machine = next(one for one in load().machines(cloud) if not one.fractional and not one.accessory)
    cluster = sandbox_cluster(cloud.value).model_copy(update={"name": "prod"})
    spec = NodePoolSpec(cluster=Cluster.model_validate(cluster.model_dump()), machine=machine.name)
    return prepare(NodePool(spec=spec), load())


@pytest.mark.parametrize("cloud", CLOUDS)
def test_makes_bodies_whose_last_is_the_pool(cloud: ProviderName) -> None:
    prepared, own = _whole(cloud), provider(cloud)
    resources = own.desired(prepared.pool, None)
    assert resources[-1].kind == own.POOL_KIND
    assert all(isinstance(own.comparison(resource.kind), Comparison) for resource in resources)


@pytest.mark.parametrize("cloud", CLOUDS)
def test_nodes_can_be_selected_by_labels_that_they_have(cloud: ProviderName) -> None:
    prepared = _whole(cloud)
    facts = provider(cloud).node_facts(prepared.pool)
    assert isinstance(facts, NodeFacts)
    assert facts.selector
    assert facts.selector.items() <= facts.labels.items()


@pytest.mark.parametrize("cloud", CLOUDS)
def test_renders_every_form_that_it_names(cloud: ProviderName) -> None:
    prepared, own = _whole(cloud), provider(cloud)
    for form in own.FORMS:
        text, _ = own.render(form, own.desired(prepared.pool, None), prepared.pool)
        assert prepared.pool.name in text


def _classes(package: str) -> Iterator[type]:
    """Every class of a package's modules."""
    root = importlib.import_module(package)
    for found in pkgutil.walk_packages(root.__path__, f"{package}."):
        yield from (one for _, one in inspect.getmembers(importlib.import_module(found.name), inspect.isclass))


@pytest.mark.parametrize("cloud", CLOUDS)
def test_its_session_has_every_call_of_the_protocol(cloud: ProviderName) -> None:
    wanted = {name for name, value in vars(Session).items() if inspect.isfunction(value) and not name.startswith("_")}
    own = [one for one in _classes(f"fracgpu.providers.{cloud.value}.session") if one is not Session]
    assert any(wanted <= set(dir(one)) for one in own)
