"""The shipped judges ("LLM Judge Dimensions" of the requirements): one module and one prompt a dimension."""

from importlib import import_module

from gitleaks_eval.judges.judge import PROMPTS, Judge


def _shipped(dimension: str) -> Judge:
    judge: Judge = import_module(f"gitleaks_eval.judges.dimensions.{dimension}").JUDGE
    return judge


# A prompt names its module: neither works without the other, and no other module has to be imported to look.
SHIPPED = tuple(_shipped(prompt.stem) for prompt in sorted(PROMPTS.glob("*.md")))
