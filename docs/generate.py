"""Write the generated parts of the documentation; with --check say which are stale, and fail.

python docs/generate.py [--check]
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from docs.generator import clouds, codes, commands, file_form, hardware
from fracgpu.catalog.load import load

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "reference"


def pages() -> dict[Path, str]:
    """Every generated file with what it should hold. Raises LookupError for a code that codes.toml does not explain."""
    if missing := codes.without_words():
        raise LookupError(f"docs/generator/codes.toml has no words for {', '.join(missing)}")
    catalog = load()
    reference = {
        "gpus.md": hardware.gpus(catalog),
        "profiles.md": hardware.profiles(catalog),
        "machines.md": hardware.machines(catalog),
        "clouds.md": clouds.page_of_clouds(),
        "commands.md": commands.commands(),
        "file-form.md": file_form.file_form(),
        "errors.md": codes.errors(),
        "notes.md": codes.notes(),
    }
    readme = ROOT / "README.md"
    return {
        **{REFERENCE / name: text for name, text in reference.items()},
        readme: between(readme.read_text(encoding="utf-8"), "support", clouds.support()),
    }


def between(text: str, name: str, content: str) -> str:
    """The text with `content` between the markers of that name. Raises ValueError where they are missing."""
    start, end = f"<!-- generated: {name} -->", "<!-- /generated -->"
    pattern = re.compile(f"{re.escape(start)}\n.*?{re.escape(end)}", re.DOTALL)
    if not pattern.search(text):
        raise ValueError(f"no {start} ... {end}")
    return pattern.sub(lambda _: f"{start}\n{content}\n{end}", text)


def stale() -> dict[Path, str]:
    """The files that are not what they should be, with what they should hold."""
    return {path: text for path, text in pages().items() if not path.is_file() or path.read_text("utf-8") != text}


def main(arguments: list[str]) -> int:
    """0 when all is well; 1 with --check where something is stale, named on stdout."""
    wrong = stale()
    if arguments == ["--check"]:
        for path in wrong:
            print(f"stale: {path.relative_to(ROOT)} (run python docs/generate.py)")
        return 1 if wrong else 0
    REFERENCE.mkdir(exist_ok=True)
    for path, text in wrong.items():
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
