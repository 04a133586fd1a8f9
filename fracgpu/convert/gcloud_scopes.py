"""gcloud's short words for OAuth scopes: https://cloud.google.com/sdk/gcloud/reference/container/node-pools/create"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fracgpu.errors import Invalid
from fracgpu.providers.gke.desired import SCOPES

_SCOPES = "https://www.googleapis.com/auth/"
DEFAULT = tuple(scope.removeprefix(_SCOPES) for scope in SCOPES)
WORDS: dict[str, tuple[str, ...]] = {
    "gke-default": DEFAULT,
    "default": DEFAULT,
    "bigquery": ("bigquery",),
    "cloud-platform": ("cloud-platform",),
    "compute-ro": ("compute.readonly",),
    "compute-rw": ("compute",),
    "datastore": ("datastore",),
    "logging-write": ("logging.write",),
    "monitoring": ("monitoring",),
    "monitoring-read": ("monitoring.read",),
    "monitoring-write": ("monitoring.write",),
    "pubsub": ("pubsub",),
    "service-control": ("servicecontrol",),
    "service-management": ("service.management.readonly",),
    "sql-admin": ("sqlservice.admin",),
    "storage-full": ("devstorage.full_control",),
    "storage-ro": ("devstorage.read_only",),
    "storage-rw": ("devstorage.read_write",),
    "taskqueue": ("taskqueue",),
    "trace": ("trace.append",),
    "userinfo-email": ("userinfo.email",),
}


def scopes(words: Iterable[str]) -> list[str]:
    """Scopes in full, in order, each once. Raises Invalid for a word that is neither one of gcloud's nor a URL."""
    return sorted(dict.fromkeys(scope for word in words for scope in _scope(word)))


def _scope(word: str) -> Iterator[str]:
    if word.startswith("https://"):
        yield word
    elif word in WORDS:
        yield from (_SCOPES + name for name in WORDS[word])
    else:
        hint = f"write it in full: {_SCOPES}..."
        raise Invalid.one("invalid-value", f"--scopes {word} is not known", field="--scopes", hint=hint)
