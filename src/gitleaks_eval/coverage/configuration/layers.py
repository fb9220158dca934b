"""The files of a configuration and the scanner's own as one stack of tables, that can be written changed."""

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import tomli_w

from gitleaks_eval.config.chain import Configuration, parsed
from gitleaks_eval.config.tables import (
    ALLOWLISTS,
    CRITERIA,
    FILTERS,
    Address,
    Table,
    allowlists,
    named,
    tables,
    value_of,
)


@dataclass(frozen=True, slots=True)
class Layer:
    """One document of the stack; `file` is None for what is not the user's, `changed` says it is not as it was."""

    file: Path | None
    document: Table
    changed: bool = False


Layers = tuple[Layer, ...]
# Where something stands: the layer and the address in its document.
Spot = tuple[int, Address]


def layers_of(configuration: Configuration, builtin: Table) -> Layers:
    """The user's files from the first to the last that is extended, and the scanner's own where they end there."""
    files = tuple(Layer(file.path, parsed(file)) for file in configuration.chain)
    if not files:
        files = (Layer(None, {"extend": {"useDefault": True}}),)
    if not configuration.chain or configuration.chain[-1].extends_default:
        files += (Layer(None, builtin),)
    return files


def is_builtin(layers: Layers, index: int) -> bool:
    """Whether a layer is the scanner's own."""
    return layers[index].file is None


def without(layers: Layers, spots: Iterable[Spot]) -> Layers:
    """The layers with what stands at these spots removed, and allowlists that have nothing left."""
    by_layer: dict[int, list[Address]] = {}
    for index, address in spots:
        by_layer.setdefault(index, []).append(address)
    changed = list(layers)
    for index, addresses in by_layer.items():
        document = copy.deepcopy(dict(layers[index].document))
        # The last one first: an index counts only while those before it are there.
        for address in sorted(set(addresses), key=_in_order, reverse=True):
            holder: Any = document
            for step in address[:-1]:
                holder = holder[step]
            del holder[address[-1]]
        _drop_empty(document)
        changed[index] = replace(layers[index], document=document, changed=True)
    return tuple(changed)


def without_allowlists(layers: Layers) -> Layers:
    """The layers without any allowlist, the scanner's own included, and without expressions that drop findings."""
    spots: list[Spot] = []
    for index, layer in enumerate(layers):
        spots += [(index, address) for address, _ in allowlists(layer.document)]
        holders = [((), layer.document), *tables(layer.document, "rules")]
        spots += [
            (index, (*above, found[0]))
            for above, holder in holders
            for name in FILTERS
            if (found := named(holder, name))
        ]
    return without(layers, spots)


def with_rule(layers: Layers, rule: Mapping[str, Any]) -> Layers:
    """The layers with one more rule, in the first of them."""
    document = dict(layers[0].document)
    key, rules = named(document, "rules") or ("rules", [])
    document[key] = [*(rules if isinstance(rules, list) else [rules]), rule]
    return (replace(layers[0], document=document, changed=True), *layers[1:])


def write_layers(layers: Layers, folder: Path) -> Path:
    """Write the layers into a folder, each extending the next, and return the first file."""
    files = [folder / f"layer-{index}.toml" for index in range(len(layers))]
    for index, layer in enumerate(layers):
        document = dict(layer.document)
        key, extend = named(document, "extend") or ("extend", {})
        kept = {name: value for name, value in extend.items() if name.lower() not in {"usedefault", "path"}}
        following = layers[index + 1] if index + 1 < len(layers) else None
        if following is None:
            # What the last one extends is not followed by the scanner either.
            target: Mapping[str, Any] = {}
        elif following.file is None and not following.changed:
            target = {"useDefault": True}
        else:
            target = {"path": str(files[index + 1])}
        if kept or target:
            document[key] = {**kept, **target}
        else:
            document.pop(key, None)
        files[index].write_bytes(tomli_w.dumps(document).encode())
        if target == {"useDefault": True}:
            break
    return files[0]


def _in_order(address: Address) -> tuple[tuple[int, str], ...]:
    return tuple((step, "") if isinstance(step, int) else (-1, step) for step in address)


def _drop_empty(document: dict[str, Any]) -> None:
    for holder in (document, *(rule for _, rule in tables(document, "rules"))):
        for name in ALLOWLISTS:
            key, value = named(holder, name) or ("", None)
            if isinstance(value, list):
                kept = [one for one in value if any(value_of(one, criterion) for criterion in CRITERIA)]
                if kept:
                    holder[key] = kept  # type: ignore[index]
                else:
                    del holder[key]  # type: ignore[attr-defined]
            elif isinstance(value, dict) and not any(value_of(value, criterion) for criterion in CRITERIA):
                del holder[key]  # type: ignore[attr-defined]
