"""The rubrics' bands: what a share of found or of wrong findings scores.

Detection accuracy and false positives have numbers in the requirements ("LLM Judge Details"); an edge that
two bands share (70 % found, 15 % wrong) belongs to the lower. Coverage, severity and all of the real-world mode have
none there: those thresholds are ours.
"""

# The confidence of numbers about real repositories, where nobody knows the truth.
UNCERTAIN = 0.6


def found_band(found: int, of: int) -> int:
    """Return 5 for all, 4 for more than 90 %, 3 for more than 70 %, 2 for 50 % or more, else 1."""
    if found == of:
        return 5
    # In whole numbers: 0.9 * 10 is not 9 in binary.
    if 50 * of <= 100 * found <= 70 * of:
        return 2
    return next((score for score, percent in ((4, 90), (3, 70)) if found * 100 > of * percent), 1)


def noise_band(wrong: int, of: int) -> int:
    """Return 5 for none, 4 below 5 %, 3 below 15 %, 2 up to 30 %, else 1."""
    if wrong == 0:
        return 5
    if 15 * of <= 100 * wrong <= 30 * of:
        return 2
    return next((score for score, percent in ((4, 5), (3, 15)) if wrong * 100 < of * percent), 1)
