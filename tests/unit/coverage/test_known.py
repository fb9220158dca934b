"""Which measured build another is held against."""

import pytest

from gitleaks_eval.coverage.configuration.known import Known, fired_by, known_build
from gitleaks_eval.coverage.configuration.rules import Dialect


@pytest.mark.parametrize(
    ("scanner", "version", "title", "is_stated"),
    [
        ("gitleaks", "8.30.1", "gitleaks 8.30.1", True),
        ("gitleaks", "8.24.3", "gitleaks 8.18.4", False),
        ("gitleaks", "8.31.0", "gitleaks 8.30.1", False),
        ("gitleaks", "8.2.0", "gitleaks 8.16.0", False),
        ("gitleaks", None, "gitleaks 8.30.1", False),
        ("gitleaks", "unknown (sha256 0123456789ab)", "gitleaks 8.30.1", False),
        ("betterleaks", "1.8.1", "betterleaks 1.4.0", False),
    ],
)
def test_a_build_is_held_against_the_newest_known_one_that_is_no_newer(
    scanner: str, version: str | None, title: str, *, is_stated: bool
) -> None:
    known = known_build(Dialect(scanner, version))
    assert known is not None
    assert (known.title, known.is_stated) == (title, is_stated)


def test_of_a_scanner_that_was_never_measured_nothing_is_known() -> None:
    assert known_build(Dialect("otherleaks", "3.1.0")) is None


@pytest.mark.parametrize(("version", "rules"), [("8.16.0", 147), ("8.18.4", 173), ("8.26.0", 211), ("8.30.1", 222)])
def test_each_known_version_of_gitleaks_fires_all_of_its_rules(version: str, rules: int) -> None:
    assert len(fired_by(Known("gitleaks", version, is_stated=True))) == rules
