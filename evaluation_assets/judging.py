"""Write checks of your own: plain functions that judge a subject, named in panel.yaml as `module:function`."""

from evaluation_assets.core.judging.own.checks import Checked, Score, judge
from evaluation_assets.core.judging.own.view import Call, SaidMessage, SubjectView
from evaluation_assets.core.judging.own.view import SubjectView as Subject

__all__ = ["Call", "Checked", "SaidMessage", "Score", "Subject", "SubjectView", "judge"]
