"""The forms in which a secret is written down, and in which of them a rule that wants a name before it is blind."""

import base64
import json
import threading
import xml.etree.ElementTree as ET
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
import yaml

from gitleaks_eval.config.chain import BUILTIN_CONTENT
from gitleaks_eval.coverage.samples.forms import FORMS, NAME, Written, render, written
from gitleaks_eval.repositories.build import build
from gitleaks_eval.scanners.build import probe
from gitleaks_eval.scanners.scan import Scanner
from gitleaks_eval.scenarios.pattern import generate
from gitleaks_eval.scenarios.recipe import Commit, Part, Recipe

MEASURED = (
    "raw env env-eof env-crlf export yaml yaml-quoted json json-min assign assign-1q go call xml xml-attr next-line "
    "yaml-block name-value url-query header cli-flag comment markdown escaped-json minified base64-line base64-value "
    "url-encoded hex-encoded diff"
).split()
ENCODED = {"base64-line", "base64-value", "url-encoded", "hex-encoded"}
# Where neither an operator nor the end of a word stands around the value as a rule for names wants it.
BLIND = {
    *("xml", "xml-attr", "next-line", "yaml-block", "name-value", "url-query", "cli-flag"),
    *("comment", "markdown", "escaped-json"),
}
AWKWARD = "-----BEGIN KEY-----\nMII\"<a&b>'\\=\n-----END KEY-----"


def one(value: str = "a1B2c3") -> Written:
    return Written("acme_key", value, f"acme_key={value}")


def text(form: str, value: str = "a1B2c3") -> str:
    return render(form, one(value)).decode()


def test_the_forms_are_those_that_were_measured() -> None:
    assert list(FORMS) == MEASURED


@pytest.mark.parametrize("form", MEASURED)
def test_a_form_holds_the_name_and_the_value_but_where_it_hides_them(form: str) -> None:
    rendered = text(form)
    assert rendered == text(form)
    if form not in ENCODED:
        assert "a1B2c3" in rendered
        assert "acme_key" in rendered


@pytest.mark.parametrize("value", ["a1B2c3", AWKWARD])
def test_what_reads_a_form_gets_the_value_back(value: str) -> None:
    assert json.loads(text("json", value))["acme_key"] == value
    assert json.loads(text("json-min", value))["acme_key"] == value
    assert json.loads(json.loads(text("escaped-json", value))["payload"])["acme_key"] == value
    assert ET.fromstring(text("xml", value)).findtext("acme_key") == value  # noqa: S314 - made here
    assert ET.fromstring(text("xml-attr", value))[0].get("value") == value  # noqa: S314 - made here
    assert yaml.safe_load(text("yaml-quoted", value))["settings"]["acme_key"] == value
    assert yaml.safe_load(text("yaml-block", value))["acme_key"] == value + "\n"
    assert yaml.safe_load(text("name-value", value))["env"] == [{"name": "acme_key", "value": value}]
    assert parse_qs(urlsplit(text("url-query", value).strip()).query)["acme_key"] == [value]
    assert base64.b64decode(yaml.safe_load(text("base64-value", value))["acme_key"]).decode() == value
    names: dict[str, str] = {}
    for form in ("assign", "assign-1q", "next-line"):
        exec(text(form, value), {}, names)  # noqa: S102 - made here
        assert names.pop("acme_key") == value
    for decoded in (
        base64.b64decode(text("base64-line", value).removeprefix("data: ")).decode(),
        unquote(text("url-encoded", value)).removesuffix("\n"),
        bytes.fromhex(text("hex-encoded", value)).decode(),
    ):
        assert decoded == text("assign", value)


@pytest.mark.parametrize(
    ("match", "value", "name"),
    [
        ('acme_api_key = "a1B2c3"', "a1B2c3", "acme_api_key"),
        ("acme.key: a1B2c3;", "a1B2c3", "acme.key"),
        ("acme api key: a1B2c3", "a1B2c3", "acme_api_key"),
        ("acme-token => 'a1B2c3'", "a1B2c3", "acme-token"),
        ("a1B2c3", "a1B2c3", NAME),
        (":= a1B2c3", "a1B2c3", NAME),
    ],
)
def test_the_name_of_a_sample_is_the_identifier_before_its_value(match: str, value: str, name: str) -> None:
    assert written(match, match, value) == Written(name, value, match)


@pytest.mark.parametrize(
    "match",
    ["login me with a1B2c3 there", "https://hooks.example.com/a1B2c3", "ZXlKa1B2c3", "xa1B2c3y", "a1B2c3@host"],
)
def test_a_value_among_other_words_is_written_down_with_them(match: str) -> None:
    assert written(f"{match}\n", match, "a1B2c3") == Written(NAME, match, f"{match}\n")


def test_a_sample_without_a_value_of_its_own_is_written_whole() -> None:
    assert written("whole text", "whole", "") == Written(NAME, "whole", "whole text")


def test_a_secret_that_is_written_down_is_not_shown() -> None:
    assert "a1B2c3" not in repr(one())


def test_a_rule_for_tokens_sees_all_forms_and_one_for_names_is_blind_in_ten(
    gitleaks: Callable[[str], Path], tmp_path: Path
) -> None:
    token = Written("the_token", generate("ghp_[a-zA-Z0-9]{36}", "forms"), "")
    named = Written("acme_api_key", generate("[a-z][0-9][a-z]{2}[0-9]([a-z][0-9]){14}", "forms"), "")
    files = {
        f"{kind}/{form}".encode(): (Part(data=render(form, secret)),)
        for kind, secret in (("token", token), ("named", named))
        for form in FORMS
        if form != "raw"
    }
    author, day = "Test <test@example.com>", datetime(2026, 1, 1, tzinfo=timezone.utc)
    build(Recipe({}, (Commit("Test", author, day, write=files),)), tmp_path / "repository")
    config = tmp_path / "builtin.toml"
    config.write_bytes(BUILTIN_CONTENT)
    scanner = Scanner(probe(gitleaks("8.30.1"), "a test"), config, tmp_path, 60, threading.Event())
    found = {finding["File"] for finding in scanner.scan(tmp_path / "repository").findings}
    assert {form for form in FORMS if f"token/{form}" not in found} == {"raw"}
    assert {form for form in FORMS if f"named/{form}" not in found} - {"raw", "base64-value"} == BLIND
