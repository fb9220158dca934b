"""The usual places as data, what is planted in them, and what git says of the repository that they become."""

import ast
import base64
import re
from collections import Counter
from pathlib import Path
from urllib.parse import unquote

import builders
import pytest

import gitleaks_eval.coverage
from gitleaks_eval.coverage.configuration.known import PLACES_FILE
from gitleaks_eval.coverage.places.contents import content_of
from gitleaks_eval.coverage.places.places import PLAIN, Planted, github_pat, secret_of, usual_places
from gitleaks_eval.coverage.places.repository import HiddenBytes, HiddenText, PlantedPlaces, plant
from gitleaks_eval.coverage.places.scan import ground
from gitleaks_eval.repositories.build import build
from gitleaks_eval.repositories.log import readable
from gitleaks_eval.repositories.staging import stage, staged_diff
from gitleaks_eval.scenarios.recipe import Recipe

MODULES = sorted(Path(gitleaks_eval.coverage.__file__).parent.glob("places/*.py"))
PLACES = {place.title: place for place in usual_places()}
LARGE = {"form:big_1mb", "form:long_line", "form:minified", "form:many_lines"}
NAMES = {"git:file_name", "git:branch_name"}
SECRET = github_pat("a test")


def git(repository: Path, *arguments: str) -> str:
    return builders.git(repository, *arguments).decode("latin-1")


@pytest.fixture(scope="module")
def planted() -> PlantedPlaces:
    return plant("1")


@pytest.fixture(scope="module")
def repository(planted: PlantedPlaces, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("places") / "repository"
    build(planted.recipe, folder)
    return folder


@pytest.fixture(scope="module")
def staged(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("staged") / "repository"
    stage(repository, folder)
    return folder


def test_each_measured_place_is_one_of_the_data_and_the_other_way_round() -> None:
    lines = [line for line in PLACES_FILE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    names = [line.partition("\t")[0] for line in lines[1:]]
    assert [place.title for place in usual_places() if not place.is_dropped] == names
    families = {"path": 191, "form": 53, "git": 24, "project": 174}
    assert Counter(place.family for place in usual_places()) == families


def test_the_paths_of_projects_stand_one_to_eight_folders_deep() -> None:
    paths = [place.file for place in usual_places() if place.family == "project"]
    assert len(paths) >= 150
    assert {path.count("/") + 1 for path in paths} == set(range(1, 9))


def test_a_form_has_a_file_of_its_own_and_its_content() -> None:
    forms = [place for place in usual_places() if place.family == "form"]
    assert len({place.file for place in forms}) == len(forms)
    assert all(place.content for place in forms)


def test_large_places_are_planted_only_where_they_are_asked_for_and_the_largest_never() -> None:
    usual, all_of_them = plant("1").secrets.keys(), plant("1", large=True).secrets.keys()
    assert {place.title for place in all_of_them - usual} == LARGE
    assert {place.title for place in PLACES.values() if place not in all_of_them} == {"form:big_12mb"}


def test_each_place_has_a_value_of_its_own_which_only_the_seed_changes(planted: PlantedPlaces) -> None:
    values = {place: secret.value for place, secret in planted.secrets.items()}
    again = {place: secret.value for place, secret in plant("1").secrets.items()}
    others = {place: secret.value for place, secret in plant("2").secrets.items()}
    assert values == again
    assert len({*values.values(), *others.values()}) == 2 * len(values)
    assert all(re.fullmatch(r"ghp_[A-Za-z0-9]{36}", value) for value in values.values())


def test_a_maker_of_ones_own_gives_the_secret_and_the_identifier_before_it() -> None:
    def acme(seed: str) -> Planted:
        return Planted("acme" + github_pat(seed).value, "acme_key")

    content = content_of(PLACES[PLAIN], secret_of(PLACES[PLAIN], "1", acme)).decode()
    assert re.fullmatch(r'# settings\nacme_key = "acmeghp_\w{36}"\n# end\n', content)


@pytest.mark.parametrize(
    "value", ["-----BEGIN KEY-----\nMII/a==\n-----END KEY-----", "a b", "x/../y", "k" * 201, "~^:"]
)
def test_what_can_be_no_name_is_planted_in_none(value: str, tmp_path: Path) -> None:
    planted = plant("1", lambda _: Planted(value))
    assert {place.title for place in plant("1").secrets.keys() - planted.secrets.keys()} == NAMES
    build(planted.recipe, tmp_path / "repository")
    git(tmp_path / "repository", "fsck", "--strict")


def encoded(case: str) -> str:
    return content_of(PLACES[f"form:{case}"], SECRET).decode().removeprefix("data = ").strip()


def test_encoded_forms_hold_the_value_and_do_not_show_it() -> None:
    value = SECRET.value
    assert base64.b64decode(encoded("base64")).decode() == value
    assert base64.b64decode(base64.b64decode(encoded("base64x2"))).decode() == value
    assert bytes.fromhex(encoded("hex")).decode() == value
    assert unquote(encoded("percent")) == value
    assert encoded("unicode_escape").encode().decode("unicode_escape") == value
    assert value in base64.urlsafe_b64decode(encoded("base64url")).decode()
    assert set("-_") <= set(encoded("base64url"))
    wrapped = encoded("b64wrapped")
    assert base64.b64decode(wrapped).decode().strip("-\n") == value
    assert not any(value.encode() in base64.b64decode(line) for line in wrapped.splitlines())
    for case in ("split_plus", "split_lines", "html_entity", "utf16le", "gzip", "zip", "jar", "docx", "targz"):
        assert value.encode() not in content_of(PLACES[f"form:{case}"], SECRET)


def test_contents_are_the_same_whenever_they_are_made() -> None:
    files = [place for place in usual_places() if place.file and not place.is_dropped]
    assert [content_of(place, SECRET) for place in files] == [content_of(place, SECRET) for place in files]


def test_git_finds_no_fault_with_what_is_built(repository: Path, staged: Path) -> None:
    assert git(repository, "fsck", "--strict", "--no-dangling") == ""
    assert git(staged, "fsck", "--strict", "--no-dangling") == ""


def test_each_corner_of_git_is_where_its_name_says(repository: Path, planted: PlantedPlaces) -> None:
    value = {place.case: secret.value for place, secret in planted.secrets.items()}

    def holds(where: str, case: str) -> bool:
        return value[case] in git(repository, "cat-file", "-p", where)

    refs = git(repository, "for-each-ref", "--format=%(refname)")
    assert value["deleted"] in git(repository, "log", "-p", "main", "--", "places/deleted")
    assert "places/deleted" not in git(repository, "ls-tree", "-r", "main")
    assert holds("side:places/side_branch", "side_branch")
    assert holds("v0.9:places/tag_only", "tag_only")
    assert "only-tagged" not in refs
    assert git(repository, "ls-tree", "-r", "--name-only", "orphan").split() == ["places/orphan"]
    assert git(repository, "rev-list", "--count", "orphan").strip() == "1"
    for case in ("evil_merge", "merge_conflict"):
        assert holds(f"main:places/{case}", case)
        assert value[case] not in git(repository, "log", "-p", "--all")
        assert value[case] in git(repository, "log", "-p", "--all", "-m")
    assert value["stash"] in git(repository, "stash", "show", "-p", "refs/stash")
    assert git(repository, "rev-list", "--parents", "-n1", "refs/stash").count(" ") == 2
    assert value["note"] in git(repository, "notes", "show", "4b825dc642cb6eb9a060e54bf8d69288fbee4904")
    assert value["commit_message"] in git(repository, "log", "--format=%B", "main")
    assert git(repository, "cat-file", "-t", "v1.0").strip() == "tag"
    assert holds("v1.0", "tag_message")
    assert f"refs/heads/feature/{value['branch_name']}" in refs
    assert value["file_name"] in git(repository, "ls-tree", "-r", "main")
    assert value["rename_only"] in git(repository, "cat-file", "-p", "main:places/renamed")
    assert holds("main:places/symlink_target", "symlink_target")
    assert holds("refs/remotes/origin/feature:places/remote_ref", "remote_ref")
    assert holds("refs/pull/1/head:places/pull_ref", "pull_ref")
    unreachable = git(repository, "fsck", "--unreachable", "--no-reflogs")
    assert "unreachable commit" in unreachable
    assert value["detached_unreachable"] not in git(repository, "log", "-p", "--all")
    assert value["staged"] in git(repository, "diff", "--cached")
    assert value["staged"] not in git(repository, "log", "-p", "--all")


def test_what_is_staged_is_all_of_head_and_what_stands_in_the_index_alone(repository: Path, staged: Path) -> None:
    in_head = git(repository, "ls-tree", "-r", "-z", "main").replace(" blob ", " ").replace("\t", " 0\t").split("\0")
    index = git(staged, "ls-files", "--stage", "-z").split("\0")
    [alone] = set(index) - set(in_head)
    assert set(in_head) < set(index)
    assert alone.endswith("\tplaces/staged")
    assert git(staged, "for-each-ref") == ""


def test_the_readable_of_what_is_staged_counts_the_lines_of_the_index(repository: Path, staged: Path) -> None:
    there = readable(repository, command=staged_diff(repository))
    lines = git(staged, "diff", "--cached", "-U0").split("\n")
    added = sum(len(line) for line in lines if line.startswith("+") and not line.startswith("+++ "))
    assert there.added_bytes == added - sum(line.startswith("\\ No newline") for line in lines)
    assert (there.commits_with_changes, there.commits_with_text) == (1, 0)


def test_nothing_planted_stands_in_what_is_shown_of_it(planted: PlantedPlaces) -> None:
    shown = f"{planted!r}{planted.recipe!r}{list(planted.secrets.values())!r}{ground('git', '1')!r}"
    assert not [place.title for place, secret in planted.secrets.items() if secret.value[4:] in shown]


def test_of_what_is_staged_only_what_can_be_staged_is_asked() -> None:
    staged, committed = ground("staged", "1").secrets, ground("git", "1").secrets
    assert set(staged) == {place for place in committed if place.can_be_staged}
    assert 0 < len(staged) < len(committed)


def test_the_key_of_the_cache_names_what_is_planted() -> None:
    recipes: list[Recipe] = [plant(seed).recipe for seed in ("1", "1", "2")]
    assert repr(recipes[0]) == repr(recipes[1]) != repr(recipes[2])
    assert repr(HiddenBytes(b"a")) != repr(HiddenBytes(b"b"))
    assert repr(HiddenText("a")) != repr(HiddenText("b"))


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_the_modules_of_the_map_do_not_import_pytest(module: Path) -> None:
    tree = ast.parse(module.read_text(encoding="utf-8"))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not {name for name in names if name.split(".")[0] in {"pytest", "_pytest"}}
