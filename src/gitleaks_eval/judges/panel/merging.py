"""Many replies to a question become one answer, and an answer stands on what it cites.

The median of a model's samples counts, then the majority of the models. What a citation names must stand in the prompt.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median_low

from gitleaks_eval.judges.model.answer import Answer
from gitleaks_eval.judges.model.question import Reply, usage

# What stands between spaces, brackets, quotes; each pattern takes a time that is linear in its text, which is anyone's.
_WORD = re.compile(r"(?:[\w@$-]|[./:](?![./:]))+")
# Something inside that no plain word has: a path, a rule id, a key of the evidence, a check's id.
_IS_NAME = re.compile(r"[./_:-][\w@$-]")
_EDGES = "./:-`'\"()[]{},;"
_LINE = re.compile(r":\d+(?:-\d+)?$")


@dataclass(frozen=True, slots=True)
class Merged:
    """All replies of a case as one: the answer whose score counts, and how the others differ from it.

    The confidence of the answer is the median of all, `spread` the distance from the lowest score to the highest,
    `by_model` the median of each model's samples.
    """

    answer: Answer
    spread: int
    by_model: Mapping[str, int]

    @property
    def disagreement(self) -> bool:
        """Whether the models differ."""
        return len(set(self.by_model.values())) > 1


def merged(replies: Sequence[Reply]) -> Merged | Reply:
    """Return the replies as one, or the first failure where half of a model's samples are none.

    The lower median and, without a majority, the lower score count: what is in doubt is never the better one.
    """
    by_model: dict[str, int] = {}
    for model in dict.fromkeys(reply.model_requested for reply in replies):
        of_model = [reply for reply in replies if reply.model_requested == model]
        scores = [reply.answer.score for reply in of_model if reply.answer]
        if 2 * len(scores) <= len(of_model):
            return next(reply for reply in of_model if reply.answer is None)
        by_model[model] = median_low(scores)
    answers = [reply.answer for reply in replies if reply.answer]
    score = _majority(list(by_model.values()))
    counted = next(answer for answer in answers if answer.score == score)
    return Merged(
        replace(counted, confidence=median_low(answer.confidence for answer in answers)),
        max(answer.score for answer in answers) - min(answer.score for answer in answers),
        by_model,
    )


def _majority(scores: Sequence[int]) -> int:
    counts = Counter(scores)
    return min(score for score, count in counts.items() if count == max(counts.values()))


def sample_rows(replies: Sequence[Reply]) -> tuple[Mapping[str, object], ...]:
    """Return each sample as the reports keep it."""
    return tuple(
        {
            "model": reply.model_requested,
            "sample": reply.sample,
            "score": reply.answer.score if reply.answer else None,
            "confidence": reply.answer.confidence if reply.answer else None,
            "unscored_kind": reply.kind,
            "source": reply.source,
            **usage([reply]),
        }
        for reply in replies
    )


@dataclass(frozen=True, slots=True)
class Grounds:
    """The grounds of an answer: confidence less the share of `unfounded` citations, and the `problem` if it fails."""

    confidence: float
    unfounded: tuple[str, ...] = ()
    problem: str = ""


def grounded(answer: Answer, prompt: str) -> Grounds:
    """Hold the citations of an answer against the prompt that it answers."""
    citations, lowered = answer.evidence_cited, prompt.lower()
    unfounded = tuple(citation for citation in citations if not all(name in lowered for name in _names(citation)))
    if not citations:
        return Grounds(answer.confidence, problem="it cites nothing" if answer.confidence else "its confidence is 0")
    confidence = round(answer.confidence * (1 - len(unfounded) / len(citations)), 4)
    problem = "nothing that it cites stands in the evidence" if len(unfounded) == len(citations) else ""
    return Grounds(confidence, unfounded, problem if answer.confidence else "its confidence is 0")


def _names(citation: str) -> Sequence[str]:
    names = filter(_IS_NAME.search, _WORD.findall(citation))
    found = (_LINE.sub("", name.strip(_EDGES)).lower() for name in names)
    return [part for name in found for part in _parts(name) if any(char.isalpha() for char in part)]


def _parts(name: str) -> Iterable[str]:
    # `by_rule.private-key.missed` is a way through the evidence, `config/key.pem` one name.
    return [name] if "/" in name or "_" not in name else name.split(".")
