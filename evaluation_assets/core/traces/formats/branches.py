"""Conversations that are trees: a prompt that was edited, or an answer that was generated again, begins a branch."""

from collections.abc import Mapping


def path_to(leaf: str | None, parents: Mapping[str, str | None]) -> list[str]:
    """The IDs from the root to a leaf. It begins later where a parent is unknown, or refers back to its own branch."""
    path: dict[str, None] = {}
    while leaf is not None and leaf in parents and leaf not in path:
        path[leaf] = None
        leaf = parents[leaf]
    return list(reversed(path))


def branches_beside(path: list[str], parents: Mapping[str, str | None]) -> int:
    """How many branches leave a path, or begin beside its root."""
    shown = set(path)
    return sum(name not in shown and (parent is None or parent in shown) for name, parent in parents.items())
