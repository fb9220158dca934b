"""The rubrics, computed: what the counts alone say, as a yardstick beside the LLM, and instead of it.

Detection accuracy and false positives have numbers in the requirements ("LLM Judge Details"); an edge that
two bands share (70 % found, 15 % wrong) belongs to the lower. Coverage, severity and all of the real-world mode have
none there: those thresholds are ours.
"""

from collections import defaultdict
from collections.abc import Iterable

from gitleaks_eval.analysis.matching import EXACT, MOVED, RELABELLED, Match
from gitleaks_eval.analysis.severity import LEVELS
from gitleaks_eval.judges.judge import Opinion
from gitleaks_eval.judges.material import REAL_WORLD, Facts, Material

UNCERTAIN = 0.6
_URGENT = {"CRITICAL", "HIGH"}


def found_band(found: int, of: int) -> int:
    """5 for all, 4 for more than 90 %, 3 for more than 70 %, 2 for 50 % or more, else 1."""
    if found == of:
        return 5
    # In whole numbers: 0.9 * 10 is not 9 in binary.
    if 50 * of <= 100 * found <= 70 * of:
        return 2
    return next((score for score, percent in ((4, 90), (3, 70)) if found * 100 > of * percent), 1)


def noise_band(wrong: int, of: int) -> int:
    """5 for none, 4 below 5 %, 3 below 15 %, 2 up to 30 %, else 1."""
    if wrong == 0:
        return 5
    if 15 * of <= 100 * wrong <= 30 * of:
        return 2
    return next((score for score, percent in ((4, 5), (3, 15)) if wrong * 100 < of * percent), 1)


def detection_accuracy(material: Material) -> Opinion | None:
    """5 if all expected secrets are found exactly, else by the share that was found at all."""
    if material.mode == REAL_WORLD:
        return _sound_output(material)
    expected, found = _expected(material), sum(facts.found() for facts in material.facts)
    if not expected:
        return None
    exact, moved, relabelled = (
        sum(facts.count(status) for facts in material.facts) for status in (EXACT, MOVED, RELABELLED)
    )
    score = found_band(found, expected)
    if found == expected and exact < expected:
        score = 4
    return Opinion(
        score,
        {
            "true_positive_rate": found_band(found, expected),
            "location_accuracy": found_band(found - moved, found) if found else 1,
            "rule_matching": found_band(found - relabelled, found) if found else 1,
        },
        f"{found} of {expected} expected secrets were found: {exact} exactly, {moved} moved, {relabelled} relabelled.",
    )


def false_positive(material: Material) -> Opinion | None:
    """By the share of reported findings whose file and rule nothing expected has."""
    if material.mode == REAL_WORLD:
        return _noise(material)
    wrong, reported = sum(facts.count_false_positives() for facts in material.facts), material.reported
    if not reported:
        return None
    rules = {rule for facts in material.facts for rule in facts.reported_rules}
    noisy = {match.reported_rule_id for facts in material.facts for match in facts.false_positives()}
    clean = [facts for facts in material.facts if not facts.expected]
    disturbed = sum(facts.reported > 0 for facts in clean)
    return Opinion(
        noise_band(wrong, reported),
        {
            "false_positive_count": noise_band(wrong, reported),
            "pattern_quality": noise_band(len(noisy), len(rules)) if noisy else noise_band(wrong, reported),
            "noise_level": min(noise_band(wrong, reported), noise_band(disturbed, len(clean)) + 1),
        },
        f"{wrong} of {reported} findings are false positives, by {len(noisy)} of {len(rules)} rules; "
        f"{disturbed} of {len(clean)} clean repositories have a finding.",
    )


def secret_coverage(material: Material) -> Opinion | None:
    """By the share of expected rule types that found something of theirs, and of expected history."""
    if material.mode == REAL_WORLD:
        return _baseline_coverage(material)
    if not _expected(material):
        return None
    types = {rule for facts in material.facts for rule in facts.expected_rules}
    # The history counts as one more type, when any is expected.
    history = sum(facts.expected_history for facts in material.facts)
    seen = sum(min(facts.expected_history, facts.reported_history) for facts in material.facts)
    covered = {rule for facts in material.facts for rule in covered_rules(facts)}
    if not types:
        # A truth with totals only: no type is named, so what was found stands for them.
        types, covered = {"any"}, {"any"} if any(facts.found() for facts in material.facts) else set()
    formats = _formats(match for facts in material.facts for match in facts.matches)
    handled = sum(found > 0 for _, found in formats.values())
    units, whole = len(covered & types) + (history > 0) * (seen == history), len(types) + (history > 0)
    breadth = found_band(len(covered & types), len(types))
    return Opinion(
        found_band(units, whole),
        {
            "type_breadth": breadth,
            "format_handling": found_band(handled, len(formats)) if formats else breadth,
            "historical_coverage": found_band(seen, history) if history else breadth,
        },
        f"{len(covered & types)} of {len(types)} expected rule types and {handled} of {len(formats)} file formats "
        f"have a finding; {seen} of {history} secrets that only history holds were found. The thresholds are ours.",
    )


def severity_classification(material: Material) -> Opinion | None:
    """By the share of severities that are wrong and how far, of the expected findings with one that were found."""
    if material.mode == REAL_WORLD:
        return _priorities(material)
    if not material.reported:
        return None
    compared = [pair for facts in material.facts for pair in facts.severities]
    if not any(facts.severities_expected for facts in material.facts):
        return None
    if not compared:
        names = ("classification_accuracy", "risk_assessment", "context_awareness")
        return Opinion(1, dict.fromkeys(names, 1), "None of the findings with an expected severity was found.")
    wrong = [(match, expected) for match, expected in compared if match.reported_severity != expected]
    urgent = [(match, expected) for match, expected in compared if expected in _URGENT]
    underrated = [match for match, expected in urgent if _level(match.reported_severity) < _level(expected)]
    right = len(compared) - len(wrong)
    return Opinion(
        _severity_band(wrong, len(compared)),
        {
            "classification_accuracy": found_band(right, len(compared)),
            "risk_assessment": found_band(len(urgent) - len(underrated), len(urgent)) if urgent else 5,
            "context_awareness": _severity_band(wrong, len(compared)),
        },
        f"{right} of {len(compared)} severities are as expected; {len(underrated)} of {len(urgent)} CRITICAL or HIGH "
        "ones are underrated. The thresholds are ours.",
    )


def covered_rules(facts: Facts) -> set[str]:
    """The expected rules that found one of their own secrets, moved or not."""
    return {match.rule_id for match in facts.matches if match.status in {EXACT, MOVED}}


def _expected(material: Material) -> int:
    return sum(facts.expected for facts in material.facts)


def _level(severity: str | None) -> int:
    return LEVELS.index(severity) if severity in LEVELS else -1


def _severity_band(wrong: list[tuple[Match, str]], compared: int) -> int:
    if not wrong:
        return 5
    near = all(abs(_level(match.reported_severity) - _level(expected)) == 1 for match, expected in wrong)
    share = len(wrong) / compared
    lost = any(expected == "CRITICAL" and _level(match.reported_severity) < _level("HIGH") for match, expected in wrong)
    band = 1 if share > 0.5 else 2 if share > 0.3 else 4 if near else 3
    return min(band, 2) if lost else band


def _formats(matches: Iterable[Match]) -> dict[str, tuple[int, int]]:
    """For each file format with an expected finding: how many are expected and found."""
    formats: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for match in matches:
        if match.status == "unexpected":
            continue
        name = match.file_path.rpartition("/")[2]
        suffix = name.rpartition(".")[2]
        expected, found = formats[suffix]
        formats[suffix] = expected + 1, found + (match.status in {EXACT, MOVED, RELABELLED})
    return dict(formats)


def _sound_output(material: Material) -> Opinion:
    failing = material.failed_checks
    score = max(1, 5 - len(failing))
    baseline = material.baseline or {}
    if baseline.get("failed_checks"):
        score = min(score, 3)
    names = ("true_positive_rate", "location_accuracy", "rule_matching")
    return Opinion(
        score,
        dict.fromkeys(names, score),
        f"{len(failing)} structural checks fail; in the synthetic baseline {baseline.get('found')} of "
        f"{baseline.get('expected')} expected secrets were found. Whether these findings are true is not known here.",
        UNCERTAIN,
    )


def _noise(material: Material) -> Opinion | None:
    reported, noisy = material.reported, sum(facts.noisy for facts in material.facts)
    if not reported:
        return None
    score = noise_band(noisy, reported)
    names = ("false_positive_count", "pattern_quality", "noise_level")
    return Opinion(
        score,
        dict.fromkeys(names, score),
        f"{noisy} of {reported} findings stand in files that look like tests, examples or documentation. "
        "The thresholds are ours.",
        UNCERTAIN,
    )


def _baseline_coverage(material: Material) -> Opinion:
    baseline = material.baseline or {}
    covered, types = baseline.get("rule_types_covered", 0), baseline.get("rule_types", 0)
    score = found_band(covered, types) if types else 1
    names = ("type_breadth", "format_handling", "historical_coverage")
    found = len({rule for facts in material.facts for rule in facts.reported_rules})
    return Opinion(
        score,
        dict.fromkeys(names, score),
        f"The synthetic baseline covers {covered} of {types} rule types; {found} rules found something here.",
        UNCERTAIN,
    )


def _priorities(material: Material) -> Opinion | None:
    if not material.reported:
        return None
    noisy, urgent = (sum(getattr(facts, name) for facts in material.facts) for name in ("noisy", "noisy_and_urgent"))
    score = noise_band(urgent, material.reported)
    names = ("classification_accuracy", "risk_assessment", "context_awareness")
    return Opinion(
        score,
        dict.fromkeys(names, score),
        f"{urgent} of {noisy} findings in files that look like tests, examples or documentation are rated HIGH or "
        "CRITICAL. The thresholds are ours.",
        UNCERTAIN,
    )
