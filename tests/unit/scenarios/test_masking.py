"""What a report says beside its secrets holds none of them, and texts that differ stay different."""

import pytest
from builders import secret

from gitleaks_eval.scenarios.masking import Masks, masks_of, without_tokens
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
