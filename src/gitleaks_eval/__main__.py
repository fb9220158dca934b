"""`python -m gitleaks_eval` is the command `gitleaks-eval`."""

import sys

from gitleaks_eval.command import main

if __name__ == "__main__":
    sys.exit(main())
