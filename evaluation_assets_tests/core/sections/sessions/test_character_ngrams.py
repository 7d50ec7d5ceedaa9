"""TF-IDF of character n-grams is that of scikit-learn, to the last bit."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from evaluation_assets.core.sections.sessions.character_ngrams import neighbouring_cosines, tf_idf

TEXTS = st.lists(
    st.lists(
        st.sampled_from(["order", "Order", "ordering", "a", "the", "退款", "x" * 40, "İs"]) | st.text(max_size=8)
    ).map(" ".join),
    min_size=1,
    max_size=6,
)


@given(texts=TEXTS)
@example(texts=["", ""])
@example(texts=["where is my order", "", "where is the order now"])
def test_the_figures_are_those_of_scikit_learn(texts: list[str]) -> None:
    found = tf_idf(texts)
    vectorizer = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True)
    try:
        expected = vectorizer.fit_transform(texts)
    except ValueError:  # no text has an n-gram
        assert found is None
        assert neighbouring_cosines(texts).tolist() == [0.0] * (len(texts) - 1)
        return
    assert found is not None
    assert np.array_equal((found @ found.T).toarray(), (expected @ expected.T).toarray())
    assert np.array_equal(neighbouring_cosines(texts), np.diagonal((expected @ expected.T).toarray(), 1))
