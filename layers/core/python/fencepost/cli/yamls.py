"""YAML as these files want it: instants stay text, and a name that is there twice is an error, not a choice."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import yaml

WIDTH = 100


class _Loader(yaml.SafeLoader):
    """The safe loader, stricter."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """Refuses a key that is there already; merge keys (<<) may be overridden."""
        seen: set[Hashable] = set()
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                continue
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, Hashable) and key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"{key!r} is there twice", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep=deep)


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


class _Dumper(yaml.SafeDumper):
    """The safe dumper, without aliases: people edit these files."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ANN401 - any value
        """Nothing is written as a reference to something else."""
        del data
        return True


def read(text: str) -> Any:  # noqa: ANN401 - any value
    """The one document. Raises yaml.YAMLError."""
    return yaml.load(text, Loader=_Loader)  # noqa: S506 - a safe loader


def read_all(text: str) -> list[Any]:
    """Every document. Raises yaml.YAMLError."""
    return list(yaml.load_all(text, Loader=_Loader))


def write(value: Any) -> str:  # noqa: ANN401 - any value
    """A document that reads as the value, keys in their own order."""
    return str(yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=WIDTH))
