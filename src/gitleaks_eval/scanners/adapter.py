"""What has to be known of a scanner before one of its builds is asked."""

import re
from dataclasses import dataclass, replace

from gitleaks_eval.config.keys import ConfigKeys


@dataclass(frozen=True, slots=True)
class Sources:
    """Where a scanner looks for its configuration when none is named, each group from the first to the last.

    First the environment variables `paths`, which name a file, then `contents`, which hold the configuration itself,
    then `files` in the root of what is scanned.
    """

    paths: tuple[str, ...]
    contents: tuple[str, ...]
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Adapter:
    """A scanner: how it is named, released and built, what it reads, and what must be switched off in it.

    `repository` is `owner/name` on GitHub; `checksums` is the file of a release that lists the SHA-256 of its
    archives, with `{version}` for the version; `module` is the Go module of its program and
    `other_modules` are others that its build information may name; the variables `version_stamps` hold the
    version in a build; `live_validation` is the flag, where a build has it, that would send findings to services.
    `sources` are those of the newest version; configurations in a variable are obeyed from the version
    `contents_since` on. Of the `ignore_files` at the root of a repository it reads the first that is there; a line with
    one of `allow_comments` hides nothing in a scan with the flag `ignore_allow`, where a build has it. From
    `short_fingerprints_since` on an entry of an ignore file may leave out the commit, and from `own_commits_since` on a
    finding names its own commit; before, it named a neighbour without a diff where there was one.
    """

    name: str
    title: str
    version_form: re.Pattern[str]
    example_version: str
    repository: str
    checksums: str
    module: str
    other_modules: tuple[str, ...]
    version_stamps: tuple[str, ...]
    live_validation: str | None
    sources: Sources
    contents_since: tuple[int, ...]
    ignore_files: tuple[str, ...]
    allow_comments: tuple[str, ...]
    ignore_allow: str
    short_fingerprints_since: tuple[int, ...]
    own_commits_since: tuple[int, ...]
    config_keys: ConfigKeys

    @property
    def build_information(self) -> re.Pattern[bytes]:
        """Finds the version in what Go stores as text in a program, stripped or not."""
        modules = "|".join(map(re.escape, (self.module, *self.other_modules)))
        return re.compile(rf"(?:mod|dep)\t(?:{modules})\tv(\d[\w.+-]*)[\t\n]".encode())

    def sources_of(self, version: str) -> Sources:
        """Where this version, `8.30.1`, looks for its configuration."""
        numbers = tuple(map(int, version.split(".")))
        return self.sources if numbers >= self.contents_since else replace(self.sources, contents=())

    def knows_short_fingerprints(self, version: str) -> bool:
        """Return whether this version takes entries of an ignore file without a commit; one that is not known does."""
        return _is_since(version, self.short_fingerprints_since)

    def names_own_commits(self, version: str) -> bool:
        """Return whether findings of this version name the commit that they stand in; those of an unknown one do."""
        return _is_since(version, self.own_commits_since)

    def sources_by_help(self, usage: str) -> Sources:
        """Where a build looks for its configuration that has this `--help`."""
        return self.sources if "_CONFIG_TOML" in usage else replace(self.sources, contents=())


def _is_since(version: str, first: tuple[int, ...]) -> bool:
    numbers = re.match(r"(\d+)\.(\d+)\.(\d+)", version)
    return numbers is None or tuple(map(int, numbers.groups())) >= first
