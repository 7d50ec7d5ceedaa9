"""Failure groups: findings of all drops that are the same failure, with a state that people keep.

Here belong how findings are grouped, what is new, and the file of states. What went wrong in one run belongs to
`findings`; reading the drops to `pipeline`.
"""
