"""The file of states, which people edit or commands write: `groups.yaml` in the home folder."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, RootModel
from upath import UPath

from evaluation_assets.core.lake.stored import publish_bytes
from evaluation_assets.core.system.configuration import InvalidConfiguration, Section, read_settings, validated
from evaluation_assets.core.text.unique_keys import settings_of, settings_text
from evaluation_assets.core.text.yaml_edits import CannotEdit, with_value

State = Literal["new", "grown", "open", "acknowledged", "resolved", "reopened"]
"""`new`, `grown`: the last drop of a suite has the first runs, or a larger share, beyond chance. `reopened`: seen again
after it was resolved."""


Change = Literal["new", "grown"]
"""What the last drop of an agent in a suite may say of a group."""


class KeptState(Section):
    """What was said about a group.

    Attributes:
        state: `acknowledged` (known, no alert) or `resolved`; `null`: nobody said so.
        drops: Drops that had the group when it was resolved. It is reopened when it is seen in another one. `null`: all
            that have it when groups are next updated; they are then written to the file.
        by: Who said so.
        at: When, UTC.
        note: Why.
        name: What fails, in one line, shown beside the name by rule.
        named_by: The judge who gave the name; empty: a person.
    """

    state: Literal["acknowledged", "resolved"] | None = None
    drops: tuple[str, ...] | None = None
    by: str = ""
    at: str = ""
    note: str = ""
    name: str = ""
    named_by: str = ""


def _text(name: Any) -> Any:
    if not isinstance(name, str):
        raise ValueError("put the ID in quotes, YAML reads it as a number")
    return name


_Entries = RootModel[dict[Annotated[str, BeforeValidator(_text)], dict[str, Any]]]


def read_states(file: UPath) -> dict[str, KeptState]:
    """States by ID of the group; none without a file.

    Raises:
        InvalidConfiguration: the file is not valid.
    """
    if not file.exists():
        return {}
    entries = read_settings(file, _Entries, InvalidConfiguration).root
    return {
        name: validated(entry, KeptState, f"{file}: {name}", InvalidConfiguration) for name, entry in entries.items()
    }


def write_states(file: UPath, states: Mapping[str, KeptState]) -> None:
    """Set these states in the file, atomically. Its comments and other entries stay, and comments on fields.

    Raises:
        InvalidConfiguration: the file is written in a way that cannot be edited.
    """
    text = file.read_text("utf-8") if file.exists() else ""
    for name, state in states.items():
        entry = state.model_dump(mode="json", exclude_defaults=True)
        known = settings_of(text) or {}
        try:
            if not known:
                text += settings_text({name: entry})
            elif name in known:
                for field, value in state.model_dump(mode="json", include={*entry, *known[name]}).items():
                    text = with_value(text, [name, field], value)
            else:
                text = with_value(text, [name], entry)
        except CannotEdit as problem:
            raise InvalidConfiguration(f"{file}: {problem}; write {name} as the others in blocks") from None
    publish_bytes(file, text.encode())


def shown_name(by_rule: str, kept: KeptState | None) -> str:
    """The name of a group by rule, and the one that it was given."""
    return by_rule if kept is None or not kept.name else f"{by_rule} \N{EM DASH} {' '.join(kept.name.split())}"


def state_of(kept: KeptState | None, drops: Iterable[str], change: Change | None) -> State:
    """The state of a group that was seen in `drops`. `change` is what the last drop of a suite says of it."""
    if kept is None or kept.state is None:
        return change or "open"
    if kept.state == "resolved" and kept.drops is not None and not set(drops) <= set(kept.drops):
        return "reopened"
    return kept.state
