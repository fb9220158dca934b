"""Lists of repositories: files of paths, URLs and JSON objects, and folders of clones."""

import json
from pathlib import Path

import pytest

from gitleaks_eval.core.errors import InputError
from gitleaks_eval.repositories.listed import RepositoryList, is_list, read_list
from gitleaks_eval.repositories.sources import host_of, place_of


def written(folder: Path, *lines: str) -> str:
    (folder / "list.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return "@list.txt"


def read(folder: Path, *lines: str) -> RepositoryList:
    return read_list([written(folder, *lines)], folder, {})


def make_clone(path: Path) -> Path:
    (path / ".git").mkdir(parents=True)
    return path


def test_a_line_is_a_path_a_url_or_an_object_and_all_keep_their_order(tmp_path: Path) -> None:
    make_clone(tmp_path / "shop")
    (tmp_path / "labels.yaml").touch()
    said = {"repo": "https://user:password@example.com/team/api.git", "name": "the-api", "labels": "labels.yaml"}
    found = read(tmp_path, "# ours", "", "shop", "site=git@example.com:x/y.git", json.dumps(said)).listed
    assert [(one.number, one.repository.name) for one in found] == [(0, "shop"), (1, "site"), (2, "the-api")]
    assert found[2].repository.source == "https://example.com/team/api.git"
    assert found[2].repository.location == said["repo"]
    assert [one.labels for one in found] == [(), (), (tmp_path / "labels.yaml",)]


def test_of_many_repositories_one_may_be_gone_and_is_in_the_list_all_the_same(tmp_path: Path) -> None:
    (one,) = read(tmp_path, "gone").listed
    assert one.repository.location == str(tmp_path / "gone")


def test_what_is_listed_twice_is_two_of_different_names(tmp_path: Path) -> None:
    make_clone(tmp_path / "shop")
    assert [one.repository.name for one in read(tmp_path, "shop", "./shop").listed] == ["shop", "shop-2"]


def test_labels_of_the_project_belong_to_their_repository(tmp_path: Path) -> None:
    labels = {place_of("https://example.com/a.git"): [tmp_path / "labels/a.yaml"]}
    (tmp_path / "labels").mkdir()
    (tmp_path / "labels/a.yaml").touch()
    found = read_list(
        [written(tmp_path, "https://u:p@example.com/a.git", "https://example.com/b.git")], tmp_path, labels
    )
    assert [one.labels for one in found.listed] == [(tmp_path / "labels/a.yaml",), ()]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"repo": ', "line 1: line 1, column"),
        ('{"name": "a"}', "line 1: there is no repo"),
        ('{"repo": "a", "labls": "b"}', "line 1: 'labls' is wrong"),
        ('{"repo": "a", "name": "x/y"}', "line 1: 'x/y' is no name"),
        ('{"repo": "a", "labels": "gone.yaml"}', "gone.yaml: there is no such file"),
        ('{"repo": 7}', "line 1: 'repo' is wrong"),
        ("ext::sh -c x", "names a command"),
        ("ftp://example.com/a", "the transport of"),
        ("-u", "looks like an option"),
        ("# nothing", "names no repository"),
    ],
)
def test_a_line_that_is_wrong_on_sight_is_named(tmp_path: Path, line: str, problem: str) -> None:
    with pytest.raises(InputError) as error:
        read(tmp_path, line)
    assert problem in str(error.value)


def test_a_folder_of_clones_is_a_list_and_a_clone_is_none(tmp_path: Path) -> None:
    for name in ("b/two", "a", "b/one", "c/d/e/f/deep"):
        make_clone(tmp_path / name)
    bare = tmp_path / "mirrored.git"
    (bare / "objects").mkdir(parents=True)
    (bare / "HEAD").touch()
    (tmp_path / "group").symlink_to(tmp_path / "b")
    (tmp_path / "linked").symlink_to(tmp_path / "a")
    (tmp_path / "no-clone").mkdir()
    assert is_list(str(tmp_path), tmp_path)
    assert not is_list(str(tmp_path / "a"), tmp_path)
    assert not is_list(str(tmp_path / "no-clone"), tmp_path)
    assert is_list("@gone.txt", tmp_path)
    found = read_list([str(tmp_path)], tmp_path, {}).listed
    assert [one.repository.name for one in found] == ["a", "one", "two", "deep", "linked", "mirrored"]


def test_two_machines_agree_on_a_list_wherever_it_lies_and_whatever_passwords_are_in_it(tmp_path: Path) -> None:
    lists = []
    for name, password in (("one", "a"), ("two", "b")):
        make_clone(tmp_path / name / "shop")
        lists.append(read(tmp_path / name, "shop", f"https://user:{password}@example.com/a.git").sha256)
    assert lists[0] == lists[1]
    assert lists[0] != read(tmp_path / "one", "shop").sha256


def test_what_labels_say_is_part_of_a_list(tmp_path: Path) -> None:
    line = '{"repo": "https://example.com/a.git", "labels": "a.yaml"}'
    (tmp_path / "a.yaml").write_text("one", encoding="ascii")
    before = read(tmp_path, line).sha256
    (tmp_path / "a.yaml").write_text("two", encoding="ascii")
    assert read(tmp_path, line).sha256 != before


def test_repositories_of_one_host_have_one_word_for_it() -> None:
    same = ["https://example.com/a", "https://u:p@EXAMPLE.com:443/b", "git@example.com:c", "ssh://git@example.com/d"]
    assert len(set(map(host_of, same))) == 1
    assert host_of("https://example.org/a") != host_of(same[0])
    assert host_of("/home/a") == host_of("file:///home/a") == ""
