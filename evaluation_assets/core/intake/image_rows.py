"""Images as rows of `images`, and back."""

from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.lake.stored import Stored, grouped
from evaluation_assets.core.traces.trajectories.images import Image


def image_row(drop: str, trajectory_id: str, image: Image) -> Row:
    """A row of `images`."""
    return {
        "drop": drop,
        "trajectory_id": trajectory_id,
        "digest": image.digest,
        "media_type": image.media_type,
        "width": image.width,
        "height": image.height,
        "data": image.data,
    }


class ImagesInOrder:
    """The images of trajectories, which are asked for in the order of the table; others may be passed over."""

    def __init__(self, images: Stored) -> None:
        self._known = set(images.values("trajectory_id"))
        self._groups = grouped(images.rows())

    def at(self, trajectory_id: str) -> list[Image]:
        """The images of a trajectory, in the order of its text."""
        if trajectory_id not in self._known:
            return []
        rows = next((rows for key, rows in self._groups if key == trajectory_id), [])
        return [Image(row["digest"], row["media_type"], row["width"], row["height"], row["data"]) for row in rows]
