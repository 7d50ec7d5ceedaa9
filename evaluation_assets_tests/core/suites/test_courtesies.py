"""Courtesies, which say nothing, and sentences that are polite and say something."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.suites.courtesies import without_courtesies

COURTESIES = (
    "Thank you for your patience.",
    "Thank you, Mr. Silva!",
    "Thank you so much for reaching out to us today!",
    "Thank you for choosing Delta Airlines, Mia!",
    "Thank you for your understanding, and have a nice day.",
    "We appreciate your business and look forward to serving you again.",
    "If you have any more questions or need further assistance, feel free to ask!",
    "If there’s anything else I can help you with, don’t hesitate to reach out.",
    "Should you have any further questions, please do not hesitate to contact us at any time.",
    "Is there anything else I can help you with today?",
    "You're very welcome, Olivia.",
    "Sure, I can help you with that!",
    "Great question!",
    "I hope this helps!",
    "We apologize for any inconvenience this may have caused.",
    "Hello Raj! How can I help you today?",
    "Safe travels, and take care!",
    "Best regards, Anna",
    "No problem.",
    "Vielen Dank für Ihre Geduld.",
    "Falls Sie weitere Fragen haben, stehe ich Ihnen gerne zur Verfügung.",
    "Zögern Sie nicht, sich bei mir zu melden. Ich wünsche Ihnen einen schönen Tag!",
    "Gern geschehen!",
    "Muchas gracias por su paciencia. ¿Hay algo más en lo que pueda ayudarle?",
    "No dudes en preguntarme si tienes alguna otra duda.",
    "¡Que tenga un buen día!",
    "Merci pour votre patience. N'hésitez pas à me contacter si vous avez d'autres questions.",
    "Je reste à votre disposition pour toute autre question. Bonne journée !",
    "Se precisar de mais alguma coisa, é só me avisar. Tenha um ótimo dia!",
    "Se ha bisogno di altro, mi faccia sapere. Buona giornata!",
    "Если у вас есть ещё вопросы, обращайтесь. Хорошего дня!",
    "Nếu bạn cần thêm gì, hãy cho tôi biết. Chúc bạn một ngày tốt lành!",
    "感谢您的耐心等待。",
    "如有任何疑问，欢迎随时与我联系。祝您生活愉快！",
    "还有什么可以帮您的吗？",
    "お待ちいただきありがとうございます。",
    "ご不明な点がございましたら、お気軽にお問い合わせください。",
    "기다려 주셔서 감사합니다.",
    "다른 도움이 필요하시면 언제든지 말씀해 주세요.",
)

SAYING = (
    "Paris",
    "No.",
    "I'm not able to help you with that.",
    "Thank you, your refund is on its way.",
    "Sure, the flight leaves at nine.",
    "Let me know your reservation number.",
    "Please let me know how you'd like to proceed.",
    "If you don't know your reservation ID, let me know and I can help you locate it.",
    "Would you like me to transfer you to a human agent for further assistance?",
    "I apologize for the error.",
    "Please contact customer support.",
    "Please hold on for a moment.",
    "If you need to cancel, call the airline.",
    "Danke, die Erstattung ist unterwegs.",
    "Ich kann Ihnen dabei leider nicht helfen.",
    "Gracias, su reembolso está en camino.",
    "No puedo ayudarle con eso.",
    "Merci, votre remboursement est en route.",
    "Je ne peux pas vous aider.",
    "谢谢，您的退款已处理。",
    "抱歉，我无法帮助您。",
    "ありがとうございます、返金しました。",
    "申し訳ございませんが、お手伝いできません。",
    "감사합니다, 환불되었습니다.",
    "죄송하지만 도와드릴 수 없습니다.",
)


@pytest.mark.parametrize("courtesy", COURTESIES)
def test_a_courtesy_says_nothing(courtesy: str) -> None:
    assert without_courtesies(courtesy) == ""


@pytest.mark.parametrize("said", SAYING)
def test_what_says_something_stays(said: str) -> None:
    assert without_courtesies(said) == said


@given(
    st.lists(st.sampled_from(COURTESIES), max_size=2), st.sampled_from(SAYING), st.lists(st.sampled_from(COURTESIES))
)
def test_an_answer_is_what_stands_between_courtesies(before: list[str], said: str, after: list[str]) -> None:
    assert without_courtesies("\n".join([*before, said, *after])) == said


@given(st.text())
def test_what_is_left_of_any_text_is_a_part_of_it(text: str) -> None:
    left = without_courtesies(text)
    assert left in text
    assert without_courtesies(left) == left


def test_a_courtesy_within_an_answer_stays() -> None:
    letter = "Dear customer, your order is late.\nThank you for your patience.\nIt ships on Monday."
    assert without_courtesies(letter) == letter


def test_tags_around_an_answer_hide_no_courtesy() -> None:
    assert without_courtesies("It is 42. <answer>42. I hope this helps!</answer>") == "It is 42. <answer>42."
