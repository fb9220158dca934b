"""The line of a configuration that would change a difference: looked up by how its cause is said."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from gitleaks_eval.config.chain import ConfigFile, Configuration, parsed
from gitleaks_eval.config.lines import place_lines
from gitleaks_eval.config.tables import items, place, tables, value_of
from gitleaks_eval.core.text import printable, shown_path

HIDDEN, AND = "hidden by ", " and by "
SWITCHED_OFF, NO_SUCH_RULE = "rule switched off by ", "no such rule with "
_OF_A_RULE = ("another ", "several differences of the configurations")


class Lines:
    """The lines of a configuration, as `.gitleaks.toml:12`, its files relative to `root`."""

    def __init__(self, configuration: Configuration | None, root: Path) -> None:
        self._files = configuration.chain if configuration else ()
        self._root = root

    def of_entry(self, title: str) -> str:
        """The line of `.gitleaks.toml [allowlist] paths[0]`; empty where it has none."""
        return self._by_title.get(title, "")

    def of_rule(self, rule_id: str) -> str:
        """The line where a rule is defined; empty where no file has it."""
        return self._rules.get(rule_id, "")

    def of_switch(self, rule_id: str) -> str:
        """The line that switches a rule off; empty where none does."""
        return self._switches.get(rule_id, "")

    @cached_property
    def _by_title(self) -> dict[str, str]:
        return {
            printable(f"{shown_path(file.path, self._root)} {where}"): self._line(file, line)
            for file, lines in self._read
            for where, line in lines.items()
        }

    @cached_property
    def _rules(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for file, lines in self._read:
            for address, rule in tables(parsed(file), "rules"):
                if (where := place(address)) in lines:
                    found.setdefault(str(value_of(rule, "id")), self._line(file, lines[where]))
        return found

    @cached_property
    def _switches(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for file, lines in self._read:
            for address, extend in tables(parsed(file), "extend"):
                for below, rule_id in items(extend, "disabledrules"):
                    if (where := place((*address, *below))) in lines:
                        found.setdefault(str(rule_id), self._line(file, lines[where]))
        return found

    @cached_property
    def _read(self) -> Sequence[tuple[ConfigFile, dict[str, int]]]:
        return [(file, place_lines(file.content)) for file in self._files]

    def _line(self, file: ConfigFile, line: int) -> str:
        return printable(f"{shown_path(file.path, self._root)}:{line}")


def lines_of(cause: str | None, rules: Sequence[str], missing: Lines, finder: Lines) -> list[str]:
    """The lines that would change what a cause says; none where it is the scanner's own doing, or not proven.

    `missing` are those of the configuration that does not report it, `finder` those of the other.
    """
    return list(dict.fromkeys(filter(None, _lines_of(cause or "", rules, missing, finder))))


def _lines_of(cause: str, rules: Sequence[str], missing: Lines, finder: Lines) -> Iterator[str]:
    if cause.startswith(HIDDEN):
        yield from map(missing.of_entry, cause.removeprefix(HIDDEN).split(AND))
    elif cause.startswith(SWITCHED_OFF):
        yield from map(missing.of_switch, rules)
    elif cause.startswith(NO_SUCH_RULE):
        yield from map(finder.of_rule, rules)
    elif cause.startswith(_OF_A_RULE):
        for rule_id in rules:
            yield missing.of_rule(rule_id) or finder.of_rule(rule_id)
