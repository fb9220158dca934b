"""What counts as a find of a planted secret."""

import pytest

from gitleaks_eval.scanners.canary import LONG_VALUE, finds, misreported
from gitleaks_eval.scanners.scan import Scan
from gitleaks_eval.scenarios.secrets import Secret


def planted(length: int, seed: str = "one") -> Secret:
    return Secret(f"[a-z]{{{length}}}", seed)


def scan_with(*reported: str) -> Scan:
    return Scan([{"File": "a", "Secret": text, "Match": text} for text in reported], 1.0, 1, 1)


@pytest.mark.parametrize("length", [8, 40, LONG_VALUE - 1, LONG_VALUE])
def test_a_short_secret_is_found_whole_or_not_at_all(length: int) -> None:
    secret = planted(length)
    assert finds(scan_with(secret.value), [secret])
    assert finds(scan_with(f"before {secret.value} after"), [secret])
    assert not finds(scan_with(secret.value[:-1]), [secret])


@pytest.mark.parametrize("length", [LONG_VALUE + 1, 1_700])
def test_a_long_secret_may_lack_its_last_character_and_no_more(length: int) -> None:
    secret = planted(length)
    assert finds(scan_with(secret.value), [secret])
    assert finds(scan_with(secret.value[:-1]), [secret])
    assert not finds(scan_with(secret.value[:-2]), [secret])


@pytest.mark.parametrize("key", ["Secret", "Match"])
def test_a_secret_is_found_in_either_place_of_a_finding(key: str) -> None:
    secret = planted(40)
    assert finds(Scan([{"File": "a", "Secret": "", "Match": "", key: secret.value}], 1.0, 1, 1), [secret])


def test_one_of_many_is_enough_and_none_is_none() -> None:
    secrets = [planted(40), planted(40, "two")]
    assert finds(scan_with("other", secrets[1].value), secrets)
    assert not finds(scan_with("other"), secrets)
    assert not finds(scan_with(), secrets)


def reported(file: str, secret: Secret, **other: str) -> dict[str, str]:
    return {"File": file, "Secret": secret.value, "Match": f"key = {secret.value}", "Commit": "c" * 40, **other}


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({}, None),
        ({"Commit": "d" * 40}, "its report names a commit that is not there"),
        ({"Match": ""}, "its report has a match that does not hold its secret"),
        ({"File": "canary/0.txt"}, "it reports in one file what stands in two"),
    ],
)
def test_a_report_that_says_what_is_not_so_is_named(other: dict[str, str], said: str | None) -> None:
    secret = planted(40)
    findings = [reported("canary/0.txt", secret), {**reported("canary/0-again.txt", secret), **other}]
    assert misreported(Scan(findings, 1.0, 1, 1), [secret], "c" * 40) == said


def test_a_secret_that_no_rule_finds_is_not_misreported() -> None:
    assert misreported(Scan([], 1.0, 1, 1), [planted(40)], "c" * 40) is None
