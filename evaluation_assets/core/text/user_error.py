"""The base of errors that a person can mend."""


class UserError(Exception):
    """What a person gave, keeps or asks for cannot be used; the message says what is wrong, where, and what to do.

    It is shown without a traceback.
    """
