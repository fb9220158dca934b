"""`python -m gitleaks_eval` is the command `gitleaks-eval`."""

import sys

from gitleaks_eval.command import main

sys.exit(main())
