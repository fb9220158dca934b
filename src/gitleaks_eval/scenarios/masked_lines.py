"""The lines in which a recipe plants its secrets, with a mask in place of each secret: what people may be shown."""

from collections.abc import Iterator, Mapping, Sequence

from gitleaks_eval.scenarios.recipe import PLACEHOLDER, Part, Recipe
from gitleaks_eval.scenarios.secrets import MASK, Secret

LONGEST = 200


def masked_lines(recipe: Recipe) -> Mapping[tuple[str, int], str]:
    """By path and line number, each line that holds a planted secret; of a file that changes, its last such line there.

    A file that is not all text, or is made of repeated or generated parts, is left out.
    """
    found: dict[tuple[str, int], str] = {}
    for commit in recipe.commits:
        for path, parts in commit.write.items():
            if all(part.repeat == 1 and not part.data and not part.lines for part in parts):
                shown = path.decode("utf-8", "surrogateescape")
                found |= {(shown, number): line for number, line in _lines(parts, recipe.secrets)}
    return found


def _lines(parts: Sequence[Part], secrets: Mapping[str, Secret]) -> Iterator[tuple[int, str]]:
    # A secret of several lines is a mask a line, so that what follows keeps its number.
    text = PLACEHOLDER.sub(
        lambda name: "\n".join([MASK] * len(secrets[name[1]].value.split("\n"))), "".join(part.text for part in parts)
    )
    for number, line in enumerate(text.split("\n"), start=1):
        if MASK in line:
            yield number, line.strip()[:LONGEST]
