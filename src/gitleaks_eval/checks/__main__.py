"""Print the catalogue of the shipped checks, which docs/checks.md holds."""

import sys

from gitleaks_eval.checks.catalogue import as_markdown

sys.stdout.write(as_markdown())
