"""What a session reads of the files that stand beside configurations."""

from pathlib import Path

import pytest

from gitleaks_eval.config.names import NAME
from gitleaks_eval.core.errors import InputError
from gitleaks_eval.engine.session.session import Session
from gitleaks_eval.engine.session.targets import Subjects
from gitleaks_eval.engine.settings.settings import Settings

NOTHING = Subjects((), (), {})


@pytest.mark.parametrize(
    ("candidates", "reads_beside", "is_read"), [(1, True, False), (2, True, True), (2, False, False)]
)
def test_the_file_of_rootdir_counts_where_candidates_are_compared_and_what_people_accepted_is_asked_for(
    tmp_path: Path, candidates: int, *, reads_beside: bool, is_read: bool
) -> None:
    (tmp_path / NAME).write_text("tests: [", encoding="utf-8")
    team = tmp_path / "team"
    team.mkdir()
    names = [f"{number}.toml" for number in range(candidates)]
    for name in names:
        (team / name).write_text("[extend]\nuseDefault = true\n", encoding="utf-8")
    settings = Settings.of(tmp_path, config=[f"team/{name}" for name in names])
    if not is_read:
        Session(settings, NOTHING, reads_beside=reads_beside).close()
        return
    with pytest.raises(InputError, match=NAME):
        Session(settings, NOTHING, reads_beside=reads_beside)
