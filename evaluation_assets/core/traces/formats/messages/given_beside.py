"""What a call is given, in fields beside its name, as programs of one's own write it.

{"tool": "search", "query": "Faust", "result": "by Goethe", "duration_ms": 12}
"""

import re
from collections.abc import Collection
from typing import Any

from evaluation_assets.core.traces.trajectories.model import JsonObject

_ABOUT = frozenset(
    """
    id uuid stepid callid toolcallid tooluseid runid sessionid traceid spanid parentid parentspanid messageid eventid
    requestid conversationid threadid episodeid trajectoryid taskid
    index idx step stepnumber stepindex stepnum turn turnnumber turnindex turnid round iteration iter seq sequence
    time timestamp ts at datetime createdat startedat endedat finishedat completedat calledat starttime endtime
    duration durationms durations durationseconds latency latencyms latencys latencyseconds elapsed elapsedms elapseds
    elapsedseconds runtime executiontime executiontimems timems
    status state success ok iserror haserror error errors errormessage errortype errorcode exception stderr exitcode
    returncode reward rewards score scores done terminated truncated info meta metadata extra
    model modelname provider usage tokens totaltokens inputtokens outputtokens prompttokens completiontokens tokenusage
    tokencount tokensused cost costusd
    agent agentname agentid role speaker sender author type kind event eventtype level name label labels tags category
    tool tools toolname toolid function functionname action actions actiontype server
    content text message messages thought thoughts thinking reasoning reasoningcontent rationale reflection reason
    explanation description comment note summary confidence plan prompt llminput llmoutput llmresponse llmrequest
    modeloutput rawoutput rawresponse rawaction raw toolcalls calls functioncall
    screenshot screenshots screenshotpath html axtree dom image images log logs
    valid isvalid correct iscorrect expected attempt attempts retries cached final isfinal answer finalanswer
    """.split()
)
"""What is said of a call, or of its step, by names without their underscores."""
_OF_STEPS = frozenset(
    """
    llm model generation completion chat chain agent evaluation eval metric score error start started end ended finish
    finished stop stopped result output summary step status state judge critic complete completed run session workflow
    task response request message event observation thought
    """.split()
)
"""Words in the kinds of steps that are none of a tool."""


def given_beside(call: JsonObject, read: Collection[str]) -> JsonObject:
    """The fields of a call that are not `read` and do not say something of it."""
    return {
        key: value
        for key, value in call.items()
        if key not in read and value is not None and key.replace("_", "").lower() not in _ABOUT
    }


def may_be_tool(kind: Any) -> bool:
    """Whether the kind of a step may be the name of a tool."""
    words = re.findall("[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind).lower()) if isinstance(kind, str) else ()
    return bool(words) and _OF_STEPS.isdisjoint(words)
