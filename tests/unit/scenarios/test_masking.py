"""What a report says beside its secrets holds none of them, and texts that differ stay different."""

import pytest
from builders import secret

from gitleaks_eval.scenarios.masking import Masks, as_shown_before, masks_of, without_tokens, without_words
from gitleaks_eval.scenarios.secrets import MASK

TOKEN, OTHER = secret("github-pat", "masks"), secret("github-pat", "masks too")


def test_a_secret_is_masked_whole_and_keeps_its_public_prefix() -> None:
    path = f"keys/{TOKEN}/a.py"
    assert masks_of([path], [TOKEN])(path) == f"keys/ghp_{MASK}/a.py"


@pytest.mark.parametrize("start", [4, 10, 32])
def test_eight_characters_of_a_secret_are_masked_and_seven_are_not(start: int) -> None:
    eight, seven = f"a/{TOKEN[start : start + 8]}.py", f"a/{TOKEN[start : start + 7]}.py"
    masks = masks_of([eight, seven], [TOKEN])
    assert (masks(eight), masks(seven)) == (f"a/{MASK}.py", seven)


def test_texts_that_differ_in_their_secrets_stay_different() -> None:
    paths = [f"keys/{value}.py" for value in (TOKEN, OTHER, TOKEN[4:], TOKEN[4:20])]
    assert len({masks_of(paths, [TOKEN, OTHER])(path) for path in paths}) == 4


def test_the_order_of_texts_and_secrets_does_not_matter() -> None:
    paths = [f"keys/{value}.py" for value in (TOKEN, OTHER)]
    assert masks_of(paths, [TOKEN, OTHER]) == masks_of(reversed(paths), [OTHER, TOKEN])


def test_a_short_secret_is_masked_as_a_word_and_a_syllable_never() -> None:
    texts = ["a/pass1/b", "a/pass12/b", "main.py"]
    masks = masks_of(texts, ["pass1", "a", "py"])
    assert [masks(text) for text in texts] == [f"a/{MASK}/b", "a/pass12/b", "main.py"]


def test_what_was_masked_before_stays_as_it_is() -> None:
    first, second = f"a/{TOKEN}.py", f"a/{OTHER}.py"
    before = without_tokens([first])
    masks = masks_of([first, second], [TOKEN, OTHER], before)
    assert masks(first) == before(first)
    assert len({masks(first), masks(second), first, second}) == 4


@pytest.mark.parametrize("path", ["src/test_generic_api_key_2026.py", "a/internationalization.py", "12345678901234567"])
def test_words_and_numbers_are_no_tokens(path: str) -> None:
    assert without_tokens([path])(path) == path


def test_masks_do_not_show_what_they_hide() -> None:
    assert TOKEN not in repr(masks_of([TOKEN], [TOKEN]))
    assert Masks()("as it is") == "as it is"


def test_a_text_that_looks_like_another_one_masked_is_not_taken_for_it() -> None:
    texts = [f"a/{TOKEN}.py", f"a/ghp_{MASK}.py", f"a/{OTHER}.py", f"a/ghp_{MASK}~2.py"]
    masks = masks_of(texts, [TOKEN, OTHER])
    assert len({masks(text) for text in texts}) == len(texts)
    assert [masks.undone(masks(text)) for text in texts] == texts


def test_a_word_is_masked_in_paths_where_it_stands_whole() -> None:
    paths = ["a/correct-horse/b", "a/correct-horses/b", "a/horse/b"]
    masks = without_words(paths, ["correct-horse", "horse"], Masks())
    assert [masks(path) for path in paths] == [f"a/{MASK}/b", *paths[1:]]


@pytest.mark.parametrize(
    ("texts", "before", "shown"),
    [
        (["a/horse/b.py"], [f"a/{MASK}/b.py"], [f"a/{MASK}/b.py"]),
        (["a/horse/b.py", "a/horse/c.py"], [f"a/{MASK}~2/c.py"], ["a/horse/b.py", f"a/{MASK}~2/c.py"]),
        # Each of two could be the one.
        (["a/horse/b.py", "a/mule/b.py"], [f"a/{MASK}/b.py"], ["a/horse/b.py", "a/mule/b.py"]),
        (["a/horse/b.py"], [f"a/{MASK}/b.py", f"{MASK}/b.py"], ["a/horse/b.py"]),
        # It was shown as it is, so the other one was another.
        (["a/horse/b.py"], ["a/horse/b.py", f"a/{MASK}/b.py"], ["a/horse/b.py"]),
        (["a/horse/b.py"], ["x/horse/b.py"], ["a/horse/b.py"]),
    ],
)
def test_what_was_shown_masked_is_shown_so_again_where_only_one_text_fits(
    texts: list[str], before: list[str], shown: list[str]
) -> None:
    masks = as_shown_before(texts, before)
    assert [masks(text) for text in texts] == shown
