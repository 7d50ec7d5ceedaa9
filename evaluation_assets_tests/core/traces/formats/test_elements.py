"""Elements in texts of models: what is one, and that a hostile text takes no longer than its length asks for."""

from evaluation_assets.core.traces.formats.messages.elements import element_in, elements_in


def test_elements_are_taken_out_of_their_text() -> None:
    found, rest = elements_in('a<call>1</call>b<call n="2">x\n</call>c', "call")
    assert [(one.attributes, one.content) for one in found] == [("", "1"), ('n="2"', "x\n")]
    assert rest == "abc"


def test_another_name_and_an_open_element_are_text() -> None:
    assert elements_in("<calls>1</calls> <call>2", "call") == ([], "<calls>1</calls> <call>2")
    assert element_in("<calls><call> 1 </call></calls>", "call") == "1"
    assert element_in("nothing", "call") is None


def test_many_open_elements_are_read_once() -> None:
    text = "<call>" * 400_000
    assert elements_in(text, "call") == ([], text)  # a search from each of them would take hours
    assert elements_in("<calls>" * 400_000 + "</call>", "call")[0] == []
