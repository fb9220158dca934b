"""Betterleaks 1, the successor of Gitleaks by the same author."""

import re

from gitleaks_eval.config.keys import ConfigKeys
from gitleaks_eval.scanners.adapter import Adapter, Sources

_MODULE = "github.com/betterleaks/betterleaks"

ADAPTER = Adapter(
    name="betterleaks",
    title="Betterleaks",
    version_form=re.compile(r"1\.[0-9]+\.[0-9]+"),
    example_version="1.4.0",
    repository="betterleaks/betterleaks",
    checksums="checksums.txt",
    module=_MODULE,
    other_modules=(),
    version_stamps=(f"{_MODULE}/version.Version",),
    # Its rules can ask the service that a secret is for; off by default in 1.4.0, absent in 1.0.0.
    live_validation="--validation",
    sources=Sources(
        ("BETTERLEAKS_CONFIG", "GITLEAKS_CONFIG"),
        ("BETTERLEAKS_CONFIG_TOML", "GITLEAKS_CONFIG_TOML"),
        (".betterleaks.toml", ".gitleaks.toml"),
    ),
    contents_since=(1, 0, 0),
    # It came after Gitleaks and reads its names, too.
    ignore_files=(".betterleaksignore", ".gitleaksignore"),
    allow_comments=("betterleaks:allow", "gitleaks:allow"),
    ignore_allow="--ignore-gitleaks-allow",
    short_fingerprints_since=(1, 0, 0),
    own_commits_since=(1, 0, 0),
    config_keys=ConfigKeys(
        scanner="betterleaks",
        checked_against=("1.0.0", "1.4.0", "1.6.0", "1.6.1", "1.7.0", "1.8.1"),
        kinds={
            "top": {
                "1.0.0": "title description extend rules allowlist allowlists minVersion betterleaksMinVersion",
                "1.2.0": "prefilter filter",
            },
            "extend": {
                "1.0.0": "path url useDefault disabledRules",
            },
            "rule": {
                "1.0.0": (
                    "id description path regex secretGroup entropy keywords tags allowlist allowlists "
                    "required skipReport tokenEfficiency"
                ),
                "1.1.1": "validate",
                "1.2.0": "filter",
                "1.6.0": "specificity",
                "1.8.0": "confidence components",
            },
            "required": {
                "1.0.0": "id withinLines withinColumns",
            },
            "component": {
                "1.8.0": "id optional within",
            },
            "rule allowlist": {
                "1.0.0": "description condition commits paths regexTarget regexes stopwords",
            },
            "global allowlist": {
                "1.0.0": "description condition commits paths regexTarget regexes stopwords targetRules",
            },
        },
        minimum="betterleaksMinVersion",
        # Upstream report/finding.go (ToCELMap) and sources/attribute.go of 1.4.0, without what other sources than git
        # and files have.
        variables={
            "finding": "secret match line rule_id description context",
            "attributes": (
                "path url resource git.sha git.author_name git.author_email git.date git.message git.remote_url "
                "git.platform fs.symlink"
            ),
        },
    ),
)
