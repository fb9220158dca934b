"""Mutants that nobody can notice, and why."""

# What nobody can notice, and why: by file name, the line as it stands there, and what the mutant makes of a part of it.
_BOUND = "a bound that nothing comes near: one more is as good"
EQUIVALENT: dict[tuple[str, str, str], str] = {
    ("generate.py", "CHARACTERS_AT_MOST = 20_000", "20001"): _BOUND,
    ("places_repository.py", "_WHEN = datetime(2026, 1, 1, 9, tzinfo=timezone.utc)", "10"): (
        "the hour at which a commit of ours was made"
    ),
    (
        "folder.py",
        "_LOCK_SECONDS = 60",
        "61",
    ): "how long another run may hold a lock; a test would wait a minute",
    (
        "places_hiding.py",
        "width = next(width for width in range(2, 99) if comb(width, width // 2) >= len(candidates))",
        "3",
    ): "one more bit in codes that are told apart with two",
    (
        "silencing.py",
        "is_many = len(self.entries) > FORESEEN_AT_MOST",
        "len(self.entries) >= FORESEEN_AT_MOST",
    ): "both ways of asking have the same answer, and at the bound the same cost",
    ("firing.py", "RULES_AT_MOST = 6_000", "6001"): _BOUND,
    ("store.py", "LARGEST = 1_000_000", "1000001"): _BOUND,
    ("html_views.py", "at_most = max(1, CELLS_AT_MOST // max(1, len(checks)))", "2"): (
        "the rows of a page with more than 2000 checks, or of one check in more than 2000 scenarios"
    ),
    (
        "faults.py",
        'Fault("every line far off", (_move(40),), {DA: (1, "no location is right")}, 30, frozenset({FP, SC, SV})),',
        "41",
    ): "a line that is 40 away from the secret is as wrong as one that is 41 away",
    (
        "faults.py",
        'return {"File": path, "RuleID": rule_id, "StartLine": line, "Commit": "1" * 40, "Secret": value}',
        "41",
    ): "the id of the one commit of a made-up report, which only names it",
    (
        "panel.py",
        "alpha=krippendorff_alpha(units) if len(settings.models) > 1 else None,",
        "len(settings.models) >= 1",
    ): "the agreement of one model with itself is None either way: there are no pairs",
    (
        "against.py",
        "if not (silent and accepted):",
        "silent or accepted",
    ): "a scan more, without anything removed or of nothing that is silent, which changes no answer",
    ("builtin.py", "place = 0", "1"): "what is looked for begins with a line end, and no program does",
    (
        "client.py",
        "most += price.cost(len(json.dumps(bodies[index])), MAX_TOKENS) if price else 0",
        "1",
    ): "the sum is looked at only where there is a price",
}
