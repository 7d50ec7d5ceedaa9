"""What the docstring of a model says: about the model, and about each field in its section `Attributes:`."""

from typing import Any

from pydantic import BaseModel


def prose(model: type[BaseModel]) -> str:
    """The docstring without the section `Attributes:`."""
    return _of(model)[0]


def meanings(model: type[BaseModel]) -> dict[str, str]:
    """The meaning of each field by its name; a model inherits those that it does not give itself."""
    by_field: dict[str, str] = {}
    for ancestor in reversed(model.__mro__):
        if issubclass(ancestor, BaseModel) and ancestor is not BaseModel:
            by_field |= _of(ancestor)[1]
    return by_field


def describe(schema: dict[str, Any], model: type[BaseModel]) -> None:
    """Give the JSON Schema of a model a description for each field, for `json_schema_extra`."""
    schema["description"] = prose(model)
    for name, meaning in meanings(model).items():
        schema["properties"][model.model_fields[name].alias or name]["description"] = meaning


def _of(model: type[BaseModel]) -> tuple[str, dict[str, str]]:
    import docstring_parser  # noqa: PLC0415  (only documentation needs it)

    docstring = docstring_parser.parse(model.__doc__ or "", docstring_parser.DocstringStyle.GOOGLE)
    fields = {entry.arg_name: " ".join((entry.description or "").split()) for entry in docstring.params}
    return (docstring.description or "").strip(), fields
