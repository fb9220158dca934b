"""What asking a model costs: an estimate from a dated list of prices, and unknown where that has none."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gitleaks_eval.core.documents import LARGEST_TEXT, read_json
from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.resources import data
from gitleaks_eval.core.schema import schema_problems

SHIPPED_PRICES = data("judge_prices.json")
_A_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a model in US dollars for a million tokens, and the day of that price."""

    input: float
    output: float
    as_of: str

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        """Return the cost of so many tokens, in US dollars."""
        return (self.input * input_tokens + self.output * output_tokens) / _A_MILLION


def load_prices(path: Path = SHIPPED_PRICES) -> Mapping[str, Price]:
    """Return the prices by the full ids of models.

    Raises:
        InputError: when the file is missing, unreadable, no JSON, or does not follow the schema.
    """
    document = read_json(path, "the prices of models", LARGEST_TEXT)
    if problems := schema_problems("judge_prices", document):
        raise InputError(*(f"the prices of models {path}: {problem}" for problem in problems[:5]))
    return {
        model: Price(price["input"], price["output"], document["as_of"]) for model, price in document["models"].items()
    }
