"""What counts as a find of a planted secret."""

import pytest

from gitleaks_eval.scanners.canary import LONG_VALUE, finds
from gitleaks_eval.scanners.scan import Scan
from gitleaks_eval.scenarios.secrets import Secret


def planted(length: int, seed: str = "one") -> Secret:
    return Secret(f"[a-z]{{{length}}}", seed)


def scan_with(*reported: str) -> Scan:
    return Scan([{"Secret": text, "Match": text} for text in reported], 1.0, 1, 1)


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
    assert finds(Scan([{"Secret": "", "Match": "", key: secret.value}], 1.0, 1, 1), [secret])


def test_one_of_many_is_enough_and_none_is_none() -> None:
    secrets = [planted(40), planted(40, "two")]
    assert finds(scan_with("other", secrets[1].value), secrets)
    assert not finds(scan_with("other"), secrets)
    assert not finds(scan_with(), secrets)
