"""The base of models that are data: validated when they are made, and never changed."""

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """A model whose fields cannot be assigned. Unknown fields are ignored, since stored data may be newer."""

    model_config = ConfigDict(frozen=True)
