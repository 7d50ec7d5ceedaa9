"""Environments that have the entry points of pyproject.toml, whether this version is installed or not."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent


def with_pytest_plugin(folder: Path) -> str:
    """A PYTHONPATH with this project and the metadata of its pytest plugin, which is written below a folder."""
    points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["pytest11"]
    installed = folder / "installed" / "evaluation_assets-0.1.0.dist-info"
    installed.mkdir(parents=True)
    written = "\n".join(f"{name} = {value}" for name, value in points.items())
    (installed / "entry_points.txt").write_text(f"[pytest11]\n{written}\n")
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: evaluation-assets\nVersion: 0.1.0\n")
    return f"{installed.parent}:{ROOT}"
