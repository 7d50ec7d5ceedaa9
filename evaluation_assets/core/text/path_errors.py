"""What is wrong with a place on a disk, by the number of the system's error, and what to do. Imports nothing else."""

import errno

OF_DISKS = dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "the disk is full") | {errno.EROFS: "it is read-only"}
"""Only writing meets these."""

OF_PATHS = {
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.EEXIST: "a part of the path is not a folder",
    errno.ENOTDIR: "a part of the path is not a folder",
    errno.EISDIR: "it is a folder",
    errno.ELOOP: "it is a link that leads to itself",
    errno.ENAMETOOLONG: "its name is too long",
}
"""Reading meets these too."""

_REMEDIES = dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "Free some space") | {
    errno.EROFS: "Make it writable",
    errno.EACCES: "Change its permissions",
    errno.EPERM: "Change its permissions",
}


def remedy_of(number: int | None) -> str | None:
    """What makes a place usable; `None` where only another place helps."""
    return None if number is None else _REMEDIES.get(number)
