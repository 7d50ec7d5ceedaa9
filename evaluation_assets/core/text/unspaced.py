"""Scripts without spaces between words."""

UNSPACED = "\u0e00-\u0eff\u3005-\u30ff\u3400-\u9fff\uac00-\ud7af"
"""Letters of Thai, Lao, Japanese, Chinese and Korean, for a class of a pattern: a number stands beside a word there."""
