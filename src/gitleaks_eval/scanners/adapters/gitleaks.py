"""Gitleaks 8."""

import re

from gitleaks_eval.config.keys import ConfigKeys
from gitleaks_eval.scanners.adapter import Adapter, Sources

_MODULE = "github.com/zricethezav/gitleaks/v8"

ADAPTER = Adapter(
    name="gitleaks",
    title="Gitleaks",
    version_form=re.compile(r"8\.[0-9]+\.[0-9]+"),
    example_version="8.30.1",
    repository="gitleaks/gitleaks",
    checksums="gitleaks_{version}_checksums.txt",
    module=_MODULE,
    other_modules=("github.com/gitleaks/gitleaks/v8",),
    # Up to 8.18 the version stands in cmd.Version, later in version.Version; naming both is harmless.
    version_stamps=(f"{_MODULE}/cmd.Version", f"{_MODULE}/version.Version"),
    live_validation=None,
    sources=Sources(("GITLEAKS_CONFIG",), ("GITLEAKS_CONFIG_TOML",), (".gitleaks.toml",)),
    contents_since=(8, 24, 3),
    ignore_files=(".gitleaksignore",),
    allow_comments=("gitleaks:allow",),
    ignore_allow="--ignore-gitleaks-allow",
    # Measured: 8.16.0 compares whole fingerprints only, 8.18.4 also those without a commit.
    short_fingerprints_since=(8, 18, 0),
    # Upstream #1333 and #1559, in go-gitdiff up to 0.9.0.
    own_commits_since=(8, 21, 0),
    config_keys=ConfigKeys(
        scanner="gitleaks",
        checked_against=("8.16.0", "8.18.4", "8.20.1", "8.21.4", "8.23.1", "8.24.3", "8.25.0", "8.26.0", "8.30.1"),
        kinds={
            "top": {
                "8.0.0": "title description extend rules allowlist",
                "8.25.0": "allowlists",
                "8.29.0": "minVersion",
            },
            "extend": {
                "8.0.0": "path url useDefault",
                "8.23.1": "disabledRules",
            },
            "rule": {
                "8.0.0": "id description path regex secretGroup entropy keywords tags allowlist",
                "8.21.0": "allowlists",
                "8.28.0": "required skipReport",
            },
            "required": {
                "8.28.0": "id withinLines withinColumns",
            },
            "component": {},
            "rule allowlist": {
                "8.0.0": "description commits paths regexTarget regexes stopwords",
                "8.21.0": "condition",
            },
            "global allowlist": {
                "8.0.0": "description commits paths regexTarget regexes stopwords",
                "8.25.0": "condition targetRules",
            },
        },
        minimum="minVersion",
        # Upstream config.go: an [[allowlists]] with targetRules is dropped where its file extends another.
        drops_targets_up_to="8.28",
    ),
)
