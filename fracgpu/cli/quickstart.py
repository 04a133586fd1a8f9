"""What makes the program start and end sooner: together a quarter of the time of a dry run."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from types import ModuleType
from typing import Any, NoReturn

PLUGINS = "pydantic.plugin._loader"


def quicken() -> None:
    """To be called before pydantic is imported. Collection of garbage is off until `begin_long_work`.

    What is imported stays until the end, and looking through it for garbage again and again finds none.
    """
    gc.disable()
    _without_plugins()


def begin_long_work() -> None:
    """To be called before work that may take hours and make garbage: what is there by now is not looked at again."""
    gc.freeze()
    gc.enable()


def leave(code: int) -> NoReturn:
    """End the process. Python would take apart all that was imported, and the system frees it at once.

    After long work there are threads and clients with ends of their own, and whoever looks on, a debugger or profiler,
    wants to see the end: these get the usual one.
    """
    if gc.isenabled() or sys.gettrace() or sys.getprofile():
        sys.exit(code)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(code)


def _without_plugins() -> None:
    """pydantic looks through every installed package for plugins of its own, and none of them would be for us.

    That can be switched off (https://docs.pydantic.dev/latest/concepts/plugins/#disable-plugins), but it loads
    importlib.metadata, and with it email, csv and zipfile, all the same. So its loader is stood in for; whatever else
    is asked of it is answered by the real one.
    """
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    if PLUGINS not in sys.modules:
        sys.modules[PLUGINS] = _NoPlugins(PLUGINS)


class _NoPlugins(ModuleType):
    """Stands in for pydantic's plugin loader."""

    @staticmethod
    def get_plugins() -> tuple[()]:
        return ()

    def __getattr__(self, name: str) -> Any:
        import importlib

        if name.startswith("__"):
            raise AttributeError(name)
        del sys.modules[PLUGINS]
        return getattr(importlib.import_module(PLUGINS), name)
