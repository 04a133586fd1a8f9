"""What is loaded when: no SDK before `connect`, and a clear word where it is missing."""

from __future__ import annotations

import subprocess
import sys

WITHOUT_SDK = """
import sys
sys.modules["azure"] = None
from fracgpu.errors import PartNotInstalled
from fracgpu.providers import aks
from fracgpu.providers.access import Access
from tests.aks_pools import A100_MIG, pool, properties, seen

made = pool(**A100_MIG)
aks.read(seen(made, properties(**A100_MIG)))
try:
    aks.connect(made.cluster, Access())
except PartNotInstalled as error:
    print(error.exit_code, error.hint)
"""


def test_all_but_connect_works_without_the_sdk() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_SDK], capture_output=True, text=True, check=True)
    assert done.stdout == "4 pip install azure-identity azure-mgmt-containerservice\n"
