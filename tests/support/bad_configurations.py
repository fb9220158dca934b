"""Configurations by which much is lost, made of the scanner's own rules; each looks like care."""

from collections.abc import Callable, Mapping
from typing import Any

import tomli_w

Tables = list[dict[str, Any]]
Document = Mapping[str, Any]
# Without the rule that finds most of what other rules lose.
EXTENDS = {"extend": {"useDefault": True, "disabledRules": ["generic-api-key"]}}
# Rules whose secrets begin with a prefix, by id.
PREFIXES = {
    "github-pat": "ghp_[a-zA-Z0-9]{36}",
    "github-oauth": "gho_[a-zA-Z0-9]{36}",
    "gitlab-pat": "glpat-[a-zA-Z0-9]{20}",
    "npm-access-token": "npm_[a-z0-9]{36}",
    "digitalocean-pat": "dop_v1_[a-f0-9]{64}",
    "shopify-access-token": "shpat_[a-f0-9]{32}",
    "linear-api-key": "lin_api_[a-z0-9]{40}",
    "pulumi-api-token": "pul-[a-f0-9]{40}",
}


def junk(own: Document) -> str:
    """A copy in which all but six rules look for nothing."""

    def change(rule: dict[str, Any], number: int) -> dict[str, Any]:
        return {"regex": f"zq{number}[0-9]{{3}}qz", "secretGroup": 0} if number > 5 and "regex" in rule else {}

    return _copy(own, change)


def nowhere(own: Document) -> str:
    """A copy in which each rule looks at a folder that nobody has."""
    return _copy(own, lambda *_: {"path": "^nowhere/"})


def half(own: Document) -> str:
    """An old copy: every second rule came later."""
    return _document({**own, "rules": _rules(own)[::2]})


def high_entropy(own: Document) -> str:
    """A copy against noise: no secret has so much entropy."""
    return _copy(own, lambda *_: {"entropy": 5.5})


def absent_keywords(own: Document) -> str:
    """A copy with other keywords."""
    return _copy(own, lambda *_: {"keywords": ["acme_internal"]})


def renamed_junk(own: Document) -> str:
    """A copy in which rules have the names of the company, and every third looks for nothing."""
    return _copy(
        own,
        lambda rule, number: {
            "id": f"acme-{rule['id']}",
            **({"regex": f"zq{number}"} if number % 3 == 0 or "generic" in rule["id"] else {}),
        },
    )


def tuned(_: Document) -> str:
    """Eight rules that are tuned, so that they want a word before the secret."""
    return _with(lambda regex: {"regex": f"acme_prod_{regex}"})


def key_groups(_: Document) -> str:
    """Eight rules that report the name of the secret."""
    return _with(lambda regex: {"regex": f"(\\w+)\\W{{1,6}}({regex})", "secretGroup": 1})


def key_groups_of_two(_: Document) -> str:
    """Two groups before the secret, and the second is taken."""
    return _with(lambda regex: {"regex": f"(\\w+)(\\W{{1,6}})({regex})", "secretGroup": 2})


def key_group_of_one_rule(_: Document) -> str:
    """One rule in place of all others, and it reports the name."""
    every = "|".join(PREFIXES.values())
    rule = {"id": "acme", "description": "all", "regex": f"(\\w+)\\W{{1,6}}({every})", "secretGroup": 1}
    return _document({"rules": [rule]})


def prefix_groups(_: Document) -> str:
    """The prefix is reported, and not what stands behind it."""
    return _with(lambda regex: {"regex": f"({regex.partition('[')[0]}){regex[regex.index('[') :]}", "secretGroup": 1})


def short_groups(_: Document) -> str:
    """The first four characters are reported."""
    return _with(lambda regex: {"regex": f"({regex[:3]}){regex[3:]}", "secretGroup": 1})


def _with(change: Callable[[str], dict[str, Any]]) -> str:
    rules = [{"id": name, "description": name, **change(regex)} for name, regex in PREFIXES.items()]
    return _document({**EXTENDS, "rules": rules})


def _copy(own: Document, change: Callable[[dict[str, Any], int], dict[str, Any]]) -> str:
    rules = [{**rule, **change(rule, number)} for number, rule in enumerate(_rules(own))]
    return _document({**own, "rules": rules})


def _rules(own: Document) -> Tables:
    return [dict(rule) for rule in own["rules"]]


def _document(tables: Document) -> str:
    return tomli_w.dumps(tables)
