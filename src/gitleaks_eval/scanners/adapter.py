"""What has to be known of a scanner before one of its builds is asked."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Adapter:
    """A scanner: how it is named, where its releases are, how it is built, what must be switched off in it.

    `repository` is `owner/name` on GitHub; `checksums` is the file of a release that lists the SHA-256 of its
    archives, with `{version}` for the version; `module` is the Go module of its program and
    `other_modules` are others that its build information may name; the variables `version_stamps` hold the
    version in a build; `live_validation` is the flag, where a build has it, that would send findings to services.
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

    @property
    def build_information(self) -> re.Pattern[bytes]:
        """Finds the version in what Go stores as text in a program, stripped or not."""
        modules = "|".join(map(re.escape, (self.module, *self.other_modules)))
        return re.compile(rf"(?:mod|dep)\t(?:{modules})\tv(\d[\w.+-]*)[\t\n]".encode())
