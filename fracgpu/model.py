"""The model that every part of the file form is, and the kinds of value that its fields hold."""

# No `from __future__ import annotations`: pydantic would have to evaluate each annotation anew whenever this is loaded.
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Strict
from pydantic_core import PydanticCustomError

LARGEST = 2**31 - 1
"""The clouds and Kubernetes count in 32 bits."""


def _counted(code: str) -> AfterValidator:
    """Refuses numbers that nobody can count to."""

    def check_size(number: int) -> int:
        if abs(number) > LARGEST:
            raise PydanticCustomError(code, "no number here may be above {largest}", {"largest": str(LARGEST)})
        return number

    return AfterValidator(check_size)


Int = Annotated[int, Strict(), _counted("invalid-value")]
Replicas = Annotated[int, Strict(), _counted("replicas-out-of-range")]
NodeCount = Annotated[int, Strict(), _counted("nodes-out-of-range")]
Bool = Annotated[bool, Strict()]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]


def not_empty(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("invalid-value", "must not be empty", {"hint": "leave it out, or say what it is"})
    return text


Text = Annotated[str, AfterValidator(not_empty)]


def camel(name: str) -> str:
    """A name of the code as the file form spells it."""
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


class Model(BaseModel):
    """camelCase in files, snake_case in code, no unknown keys, no changes after reading; built when first used."""

    model_config = ConfigDict(
        alias_generator=camel, populate_by_name=True, extra="forbid", frozen=True, defer_build=True, strict=False
    )
