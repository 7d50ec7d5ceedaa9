"""Write a new version of a rubric into an installation."""

from importlib.resources import files

from upath import UPath

from evaluation_assets.core.judging.rubrics.model import Rubric, own_file
from evaluation_assets.core.lake.stored import publish_bytes
from evaluation_assets.core.text.unique_keys import settings_of
from evaluation_assets.core.text.yaml_edits import with_value


def write_examples(folder: UPath, rubric: Rubric) -> UPath:
    """Write the version and the examples of a rubric into its file below `folder`; a shipped one is copied first.

    Everything else of the file stays as it is.

    Raises:
        CannotEdit: the file is written in a way that cannot be edited in place.
        InvalidRubric: a file of the installation is no rubric.
    """
    path = own_file(folder, rubric)
    if path is None:
        shipped = files("evaluation_assets.core.judging.rubrics") / rubric.level / f"{rubric.name}.yaml"
        path, text = folder / rubric.level / f"{rubric.name}.yaml", shipped.read_text("utf-8")
    else:
        text = path.read_text("utf-8")
    text = with_value(text, ["version"], rubric.version)
    text = with_value(text, ["examples"], [example.model_dump() for example in rubric.examples])
    assert Rubric.model_validate(settings_of(text)) == rubric, "only version and examples have changed"
    publish_bytes(path, text.encode() if text.endswith("\n") else f"{text}\n".encode())
    return path
