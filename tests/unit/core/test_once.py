"""What the processes of a run share: each product made once, each fault with its place and without its traceback."""

import json
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.core.once import file_made_once
from gitleaks_eval.core.resources import PACKAGE

# One module of each folder of the package.
MODULES = sorted({path.parent: path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py")}.values())


def product(place: Path, text: str) -> bytes:
    return file_made_once(place, text.encode).read_bytes()


def test_a_product_is_made_once_whichever_process_comes_first(tmp_path: Path) -> None:
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        made = list(pool.map(product, [tmp_path / "it"] * 4, "abcd"))
    assert len(set(made)) == 1
    assert product(tmp_path / "it", "e") == made[0]


def test_products_of_like_named_places_do_not_meet(tmp_path: Path) -> None:
    names = ["a", "a.made", "a.lock", "a.failed", "a.made.lock"]
    assert [product(tmp_path / name, name) for name in names] == [name.encode() for name in names]


def test_a_failure_is_made_once_and_has_the_same_text_each_time(tmp_path: Path) -> None:
    def fails() -> bytes:
        raise EvaluationError("first line", "second line")

    for make in (fails, b"later".strip):
        with pytest.raises(EvaluationError) as caught:
            file_made_once(tmp_path / "it", make)
        assert str(caught.value) == "first line\nsecond line"


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_a_fault_in_any_sub_package_names_its_place_and_not_what_it_was_about(tmp_path: Path, module: Path) -> None:
    # As if the module had these lines; the error itself is raised in the standard library.
    names = {"json": json}
    exec(compile("\n\ndef broken():\n    json.loads('something secret')", PACKAGE / module, "exec"), names)  # noqa: S102
    with pytest.raises(EvaluationError) as caught:
        file_made_once(tmp_path / "it", names["broken"])  # type: ignore[arg-type]
    place = f"JSONDecodeError at {module.as_posix()}:4"
    assert str(caught.value) == f"a fault of gitleaks-eval itself: {place}; please report it"
