"""What ships in the package: the only place that asks where it is."""

from pathlib import Path

PACKAGE = Path(__file__).parents[1]


def data(name: str) -> Path:
    """Return a shipped data file, such as `severity_policy.json`."""
    return PACKAGE / "data" / name


def schema(name: str) -> Path:
    """Return a shipped JSON Schema, by its stem (`report`)."""
    return PACKAGE / "schemas" / f"{name}.schema.json"


def shipped_data(name: str) -> Path:
    """Return the folder `name` that ships with us: inside the package in a wheel, at the top in a checkout."""
    packaged = PACKAGE / name
    return packaged if packaged.is_dir() else PACKAGE.parents[1] / name
