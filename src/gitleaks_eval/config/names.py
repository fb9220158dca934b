"""What the file of tests and acceptances is called; a run that evaluates nothing loads no more than that."""

NAME = ".gitleaks-eval.yaml"
# Beside a configuration of another name.
OTHERS = {"betterleaks.toml": "betterleaks-eval.yaml", ".betterleaks.toml": ".betterleaks-eval.yaml"}
NAMES = (NAME, *OTHERS.values())
