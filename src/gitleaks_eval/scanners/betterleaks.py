"""Betterleaks 1, the successor of Gitleaks by the same author."""

import re

from gitleaks_eval.scanners.adapter import Adapter, Sources

_MODULE = "github.com/betterleaks/betterleaks"

BETTERLEAKS = Adapter(
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
)
