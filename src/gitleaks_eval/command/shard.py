"""Which shard of a run this job is: as the line says it, or as the CI's variables do."""

from collections.abc import Mapping

from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.text import printable

# The number of a job and how many there are, as CI systems say it; from which number they count.
CI_VARIABLES = (
    ("CI_NODE_INDEX", "CI_NODE_TOTAL", 1),
    ("CIRCLE_NODE_INDEX", "CIRCLE_NODE_TOTAL", 0),
    ("BUILDKITE_PARALLEL_JOB", "BUILDKITE_PARALLEL_JOB_COUNT", 0),
    ("SYSTEM_JOBPOSITIONINPHASE", "SYSTEM_TOTALJOBSINPHASE", 1),
    # Kubernetes says the number of an indexed job; the recipe in the docs says how many there are.
    ("JOB_COMPLETION_INDEX", "JOB_COMPLETIONS", 0),
)


def shard_of(text: str, environment: Mapping[str, str]) -> tuple[int, int]:
    """The number of a shard, from 1, and how many there are: `2/3`, or what the CI's variables say where it is empty.

    Raises:
        InputError: when there is no such shard, or no variable says it.
    """
    if not text:
        return _shard_of_ci(environment)
    number, separator, total = text.partition("/")
    if not separator or not _is_shard(number, total):
        raise InputError(f"--shard {printable(text)}: write K/N, such as 2/3, with K from 1 to N")
    return int(number), int(total)


def _shard_of_ci(environment: Mapping[str, str]) -> tuple[int, int]:
    for index, total, first in CI_VARIABLES:
        if index in environment and total in environment:
            number, of = environment[index], environment[total]
            number = str(int(number) + 1 - first) if number.isdecimal() else number
            if not _is_shard(number, of):
                said = f"{index}={printable(environment[index])}, {total}={printable(of)}"
                raise InputError(f"--shard: {said} name no shard; write K/N")
            return int(number), int(of)
    names = ", ".join(f"{index} and {total}" for index, total, _ in CI_VARIABLES)
    raise InputError(f"--shard: no variables of a CI say which; write K/N, or set {names}")


def _is_shard(number: str, total: str) -> bool:
    digits = all(one.isascii() and one.isdecimal() and len(one) < 7 for one in (number, total))
    return digits and 1 <= int(number) <= int(total)
