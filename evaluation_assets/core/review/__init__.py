"""People: the review queue, their labels, judge cards, pass rates corrected by labels."""
