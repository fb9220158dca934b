"""Gitleaks 8."""

import re

from gitleaks_eval.scanners.adapter import Adapter, Sources

_MODULE = "github.com/zricethezav/gitleaks/v8"

GITLEAKS = Adapter(
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
)
