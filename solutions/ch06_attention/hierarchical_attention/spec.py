"""How `hierarchical_attention` is checked: against PyTorch, sentence by sentence, with its real words only."""

import numpy as np
import torch

from grader.spec.spec import Case, Facet, Output, Spec, Tolerance, change, instead

ORDINARY, NOTHING = "ordinary", "nothing to attend to"


def weighted(vectors, W, u):
    """PyTorch's softmax of tanh(vectors W) u, and the sum of the vectors with these weights."""
    shares = torch.softmax(torch.mv(torch.tanh(torch.mm(vectors, torch.from_numpy(W))), torch.from_numpy(u)), dim=0)
    return torch.mv(vectors.T, shares), shares.numpy()


def oracle(states, word_mask, sentence_mask, W_w, u_w, W_s, u_s):
    """Each sentence by itself, with its real words only; then each document, with its own sentences only."""
    B, S, _, H = states.shape
    document, word_weights, sentence_weights = np.zeros((B, H)), np.zeros(word_mask.shape), np.zeros((B, S))
    for b in range(B):
        sentences = torch.zeros((S, H), dtype=torch.float64)
        for i, real in enumerate(word_mask[b]):
            if real.any():
                sentences[i], word_weights[b, i, real] = weighted(torch.from_numpy(states[b, i, real]), W_w, u_w)
        real = sentence_mask[b]
        if real.any():
            vector, sentence_weights[b, real] = weighted(sentences[torch.from_numpy(real)], W_s, u_s)
            document[b] = vector.numpy()
    return document, word_weights, sentence_weights


EXAMPLE = Case(
    sizes={"B": 1, "S": 2, "T": 3, "H": 2, "A": 2, "C": 1},
    inputs={
        "states": np.array(
            [[[[0.70, -0.45], [-0.50, 0.85], [0.90, 1.30]], [[-1.10, 0.60], [0.30, -0.80], [1.50, 0.35]]]]
        ),
        "word_mask": np.array([[[True, True, True], [True, True, False]]]),
        "sentence_mask": np.array([[True, True]]),
        "W_w": np.array([[1.20, -0.60], [0.50, 0.90]]),
        "u_w": np.array([2.00, -1.00]),
        "W_s": np.array([[0.80], [-1.10]]),
        "u_s": np.array([1.80]),
    },
    kind=ORDINARY,
)


def query(rng, size):
    """Its numbers are neither small nor so large that some weights are less than a millionth of others, so that a
    constant of 1e-12 in a denominator does not matter.
    """
    return rng.uniform(0.8, 2, size=size) * rng.choice([-1, 1], size=size) * (1.7 / max(size, 1.7))


def case(rng, words, T, H, A, C, hidden=(), S=None, gaps=False):
    """Documents whose sentences have so many words of T; S - len(words[b]) sentences of padding have none. `hidden` are
    pairs of a document and a sentence that has words and may not be attended to. With gaps, a word inside is masked.
    """
    B, S = len(words), S or max(map(len, words))
    lengths = np.array([[*row, *[0] * (S - len(row))] for row in words])
    word_mask = np.arange(T) < lengths[..., None]
    if gaps:
        word_mask[..., 0] &= lengths < 2
    sentence_mask = lengths > 0
    for pair in hidden:
        sentence_mask[pair] = False
    return Case(
        sizes={"B": B, "S": S, "T": T, "H": H, "A": A, "C": C},
        inputs={
            "states": rng.normal(size=(B, S, T, H)) * 1.5,
            "word_mask": word_mask,
            "sentence_mask": sentence_mask,
            "W_w": rng.normal(size=(H, A)),
            "u_w": query(rng, A),
            "W_s": rng.normal(size=(H, C)),
            "u_s": query(rng, C),
        },
        kind=ORDINARY if lengths.all() else NOTHING,
    )


def cases(rng):
    yield case(rng, [[2, 1, 3]], T=3, H=2, A=3, C=4)
    yield case(rng, [[3, 5, 2, 4], [1, 2, 5, 3], [4, 1, 3, 2]], T=5, H=6, A=7, C=2)
    yield case(rng, [[2, 3, 3], [3, 1, 2]], T=3, H=4, A=3, C=3)
    yield case(rng, [[2, 4, 3], [4, 2, 3]], T=4, H=3, A=2, C=5, hidden=[(0, 1), (1, 0)])  # headlines
    yield case(rng, [[3, 4], [2, 4], [4, 3]], T=4, H=3, A=4, C=2, gaps=True)
    yield case(rng, [[4, 3, 4], [3, 4, 2], [4, 4, 3]], T=4, H=4, A=4, C=4, hidden=[(2, 1)])
    yield case(rng, [[3], [2]], T=3, H=2, A=3, C=2)  # one sentence
    yield case(rng, [[1, 1, 1], [1, 1, 1]], T=1, H=3, A=2, C=4)  # one word
    yield case(rng, [[2, 3], [3, 1]], T=3, H=1, A=2, C=3)
    yield case(rng, [[2, 3], [3, 3]], T=3, H=3, A=1, C=2)
    yield case(rng, [[3, 2, 3], [2, 3, 1]], T=3, H=2, A=4, C=1)
    yield case(rng, [[2, 2, 2], [2, 2, 2], [2, 2, 2]], T=2, H=2, A=2, C=2)
    yield case(rng, [[2, 3, 1], [3]], T=3, H=4, A=3, C=2)  # sentences of padding
    yield case(rng, [[2], [4, 1, 3, 2], [3, 2]], T=4, H=3, A=5, C=6)
    yield case(rng, [[3, 2], [], [1, 3, 2]], T=3, H=2, A=3, C=4)  # a document of padding
    yield case(rng, [[]], T=2, H=3, A=2, C=2, S=2)


SPEC = Spec(
    outputs=[
        Output("document", ("B", "H")),
        Output("word_weights", ("B", "S", "T")),
        Output("sentence_weights", ("B", "S")),
    ],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    tolerance=Tolerance(relative=1e-8, absolute=1e-10),  # a constant of 1e-9 in a denominator is no mistake
    facets=[
        Facet("word_weights", 2, outputs=("word_weights",), kinds=(ORDINARY,)),
        Facet("sentence_weights", 2, outputs=("sentence_weights",), kinds=(ORDINARY,)),
        Facet("document", 1, outputs=("document",), kinds=(ORDINARY,)),
        Facet("nothing to attend to", 1, kinds=(NOTHING,)),
    ],
)

WORD_SCORES = "np.tanh(states @ W_w) @ u_w"
SENTENCE_SCORES = "np.tanh(sentences @ W_s) @ u_s"
WORDS, SENTENCES = "np.where(word_mask, word_scores, -np.inf)", "np.where(sentence_mask, sentence_scores, -np.inf)"
SUM = "(word_weights[..., None] * states).sum(axis=2)"
DOCUMENT = "(sentence_weights[..., None] * sentences).sum(axis=1)"
RETURN = "return document, word_weights, sentence_weights"
NUMBER = "np.maximum(sentence_mask.sum(axis=1, keepdims=True), 1)"
PLAIN = """
def plain(scores):
    with np.errstate(all="ignore"):
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return powers / powers.sum(axis=-1, keepdims=True)
"""
WORD_SOFTMAX, SENTENCE_SOFTMAX = f"softmax({WORDS})", f"softmax({SENTENCES})"
WORD_POWERS, SENTENCE_POWERS = "np.exp(word_scores) * word_mask", "np.exp(sentence_scores) * sentence_mask"
FEWER = "(lambda p: p / ({0}))({1})"  # weights made of powers, and what these are divided by
NONZERO = "np.where(p.sum(axis=-1, keepdims=True) == 0, 1, p.sum(axis=-1, keepdims=True))"


def both(words, sentences):
    """A mistake on the first level, and on both levels."""
    return [change(*words), change(*words, sentences)]


def denominators(powers, scores, mask):
    """Weights whose powers are divided by more than their sum, or not by less than 1."""
    real = f"np.exp({scores} - np.where({mask}, {scores}, -1e9).max(axis=-1, keepdims=True)) * {mask}"
    total = "p.sum(axis=-1, keepdims=True)"
    more = [f"{total} + {constant}" for constant in (1, 1e-3, 1e-5, 1e-6, 1e-7)]
    pairs = [*((powers, each) for each in (f"np.maximum({total}, 1)", *more)), *((real, each) for each in more)]
    return [FEWER.format(divisor, numerators) for numerators, divisor in pairs]


UNGUARDED = ("word_scores =", f"{PLAIN.strip()}\nword_scores =")

FILLED = (SUM, f"np.nan_to_num({SUM})")
QUIET = "quotient({0})"
QUIETLY = (
    "word_scores =",
    """
def quotient(powers):
    with np.errstate(all="ignore"):
        return powers / powers.sum(axis=-1, keepdims=True)
word_scores =""".strip(),
)

# What the words of a sentence make of it.
SPEC.mistakes(
    {
        **instead(
            f"softmax({WORDS})",
            {
                "one_softmax_over_all_words": (f"softmax({WORDS}.reshape(len(states), -1)).reshape(word_mask.shape)"),
                "word_softmax_over_the_sentences": (f"softmax({WORDS}.swapaxes(1, 2)).swapaxes(1, 2)"),
                "words_masked_after_the_softmax": "softmax(word_scores) * word_mask",
                "word_softmax_over_the_documents": f"softmax({WORDS}.transpose(1, 2, 0)).transpose(2, 0, 1)",
            },
        ),
        "word_mask_not_used": both((WORDS, "word_scores"), (SENTENCES, "sentence_scores")),
        "word_mask_inverted": both((WORDS, WORDS.replace("(w", "(~w")), (SENTENCES, SENTENCES.replace("(s", "(~s"))),
        "whole_sentences_masked_for_words": [
            change(WORDS, WORDS.replace("word_mask", "word_mask.any(axis=2, keepdims=True)")),
            *both(
                (WORDS, WORDS.replace("word_mask", "sentence_mask[..., None]")),
                (SENTENCES, SENTENCES.replace("sentence_mask", "word_mask.any(axis=2)")),
            ),
        ],
        "word_scores_divided": [
            change(WORD_SCORES, f"{WORD_SCORES} / {words}", *more)
            for words, sentences in (
                ("np.sqrt(len(u_w))", "np.sqrt(len(u_s))"),
                ("np.sqrt(states.shape[3])", "np.sqrt(states.shape[3])"),
                ("len(u_w)", "len(u_s)"),
            )
            for more in ((), ((SENTENCE_SCORES, f"{SENTENCE_SCORES} / {sentences}"),))
        ],
        "u_w_before_the_tanh": [
            *both(
                (WORD_SCORES, "np.tanh(states @ W_w * u_w).sum(axis=3)"),
                (SENTENCE_SCORES, "np.tanh(sentences @ W_s * u_s).sum(axis=2)"),
            ),
            *both(
                (WORD_SCORES, "np.tanh(states @ W_w + u_w).sum(axis=3)"),
                (SENTENCE_SCORES, "np.tanh(sentences @ W_s + u_s).sum(axis=2)"),
            ),
        ],
        "tanh_before_W_w": both(
            (WORD_SCORES, "np.tanh(states) @ W_w @ u_w"), (SENTENCE_SCORES, "np.tanh(sentences) @ W_s @ u_s")
        ),
        "second_tanh": both((WORD_SCORES, f"np.tanh({WORD_SCORES})"), (SENTENCE_SCORES, f"np.tanh({SENTENCE_SCORES})")),
        "another_function_for_tanh": [
            way
            for function in ("np.maximum(a, 0)", "1 / (1 + np.exp(-a))")
            for way in both(
                ("np.tanh(states", f"(lambda a: {function})(states"),
                ("np.tanh(sentences", f"(lambda a: {function})(sentences"),
            )
        ],
        "weights_of_the_other_level": [
            change(WORD_SCORES, "np.tanh(states @ W_s) @ u_s", *more)
            for more in ((), ((SENTENCE_SCORES, "np.tanh(sentences @ W_w) @ u_w"),))
        ],
        "word_weights_without_a_softmax": [
            *both((WORD_SOFTMAX, WORD_POWERS), (SENTENCE_SOFTMAX, SENTENCE_POWERS)),
            *both(
                (WORD_SOFTMAX, "word_mask / (1 + np.exp(-word_scores))"),
                (SENTENCE_SOFTMAX, "sentence_mask / (1 + np.exp(-sentence_scores))"),
            ),
            *both(
                (WORD_SOFTMAX, FEWER.format(NONZERO, "word_scores * word_mask")),
                (SENTENCE_SOFTMAX, FEWER.format(NONZERO, "sentence_scores * sentence_mask")),
            ),
        ],
        "another_denominator_for_words": [
            way
            for words, sentences in zip(
                denominators(WORD_POWERS, "word_scores", "word_mask"),
                denominators(SENTENCE_POWERS, "sentence_scores", "sentence_mask"),
                strict=True,
            )
            for way in both((WORD_SOFTMAX, words), (SENTENCE_SOFTMAX, sentences))
        ],
        **instead(
            WORD_SCORES,
            {
                "tanh_missing_for_words": "states @ W_w @ u_w",
                "u_w_inside_the_tanh": "np.tanh(states @ W_w @ u_w)",
                "summed_without_u_w": "np.tanh(states @ W_w).sum(axis=3)",
            },
        ),
        "masked_words_with_zero": [
            change(WORDS, "word_scores * word_mask"),
            change(WORDS, "np.where(word_mask, word_scores, 0.0)"),
        ],
        "masked_words_not_low_enough": [
            change(WORDS, f"np.where(word_mask, word_scores, {low})") for low in ("-5.0", "-10.0")
        ],
    }
)
SPEC.mistakes(
    {
        **instead(
            SUM,
            {
                "words_averaged": (
                    "(word_mask[..., None] * states).sum(axis=2) / np.maximum(word_mask.sum(axis=2), 1)[..., None]"
                ),
                "words_summed_without_weights": "(word_mask[..., None] * states).sum(axis=2)",
                "mean_in_place_of_the_sum_of_words": "(word_weights[..., None] * states).mean(axis=2)",
                "largest_word_alone": (
                    "np.take_along_axis(states, word_weights.argmax(axis=2)[..., None, None], axis=2)[:, :, 0]"
                ),
            },
        ),
        "sentence_weights_from_word_scores": [
            change(SENTENCE_SCORES, "(word_weights * word_scores).sum(axis=2)"),
            change(SENTENCE_SCORES, "(word_weights * (np.tanh(states @ W_s) @ u_s)).sum(axis=2)"),
            change(SENTENCE_SCORES, "np.where(word_mask, word_scores, 0.0).sum(axis=2)"),
            change(SENTENCE_SCORES, "np.where(word_mask, word_scores, -1e9).max(axis=2)"),
            change(
                SENTENCE_SCORES,
                "np.where(word_mask, word_scores, 0.0).sum(axis=2) / np.maximum(word_mask.sum(axis=2), 1)",
            ),
        ],
        "tanh_missing_for_sentences": change(SENTENCE_SCORES, "sentences @ W_s @ u_s"),
        "u_s_inside_the_tanh": change(SENTENCE_SCORES, "np.tanh(sentences @ W_s @ u_s)"),
        "summed_without_u_s": change(SENTENCE_SCORES, "np.tanh(sentences @ W_s).sum(axis=2)"),
        "sentences_masked_after_the_softmax": change(
            f"softmax({SENTENCES})", "softmax(sentence_scores) * sentence_mask"
        ),
        "masked_sentences_with_zero": [
            change(SENTENCES, "sentence_scores * sentence_mask"),
            change(SENTENCES, "np.where(sentence_mask, sentence_scores, 0.0)"),
        ],
        "masked_sentences_not_low_enough": [
            change(SENTENCES, f"np.where(sentence_mask, sentence_scores, {low})") for low in ("-5.0", "-10.0")
        ],
        "sentence_scores_divided": [
            change(SENTENCE_SCORES, f"{SENTENCE_SCORES} / {size}")
            for size in ("np.sqrt(len(u_s))", "np.sqrt(states.shape[3])", "len(u_s)")
        ],
        "u_s_before_the_tanh": [
            change(SENTENCE_SCORES, f"np.tanh(sentences @ W_s {sign} u_s).sum(axis=2)") for sign in "*+"
        ],
        "weights_of_the_words_for_the_sentences": change(SENTENCE_SCORES, "np.tanh(sentences @ W_w) @ u_w"),
        "sentence_weights_without_a_softmax": [
            change(SENTENCE_SOFTMAX, SENTENCE_POWERS),
            change(SENTENCE_SOFTMAX, "sentence_mask / (1 + np.exp(-sentence_scores))"),
        ],
        "another_denominator_for_sentences": [
            change(SENTENCE_SOFTMAX, each) for each in denominators(SENTENCE_POWERS, "sentence_scores", "sentence_mask")
        ],
        "softmax_over_the_documents": change(f"softmax({SENTENCES})", f"softmax({SENTENCES}.T).T"),
    },
    keeps=["word_weights"],
)
SPEC.mistakes(
    {
        **instead(
            DOCUMENT,
            {
                "summed_over_the_entries": "(sentence_weights[..., None] * sentences).sum(axis=2)",
                "sentences_returned": "sentences",
                "largest_sentence_alone": "sentences[np.arange(len(states)), sentence_weights.argmax(axis=1)]",
            },
        ),
        "sentences_averaged": [
            change(DOCUMENT, f"(sentence_mask[..., None] * sentences).sum(axis=1) / {NUMBER}"),
            change(DOCUMENT, "sentences.mean(axis=1)"),
        ],
        "sentences_summed_without_weights": [
            change(DOCUMENT, "(sentence_mask[..., None] * sentences).sum(axis=1)"),
            change(DOCUMENT, "sentences.sum(axis=1)"),
        ],
        "mean_in_place_of_the_sum_of_sentences": [
            change(DOCUMENT, "(sentence_weights[..., None] * sentences).mean(axis=1)"),
            change(DOCUMENT, f"{DOCUMENT} / {NUMBER}"),
        ],
        "words_weighted_by_sentences_only": [
            change(
                DOCUMENT,
                f"(sentence_weights[..., None, None] * word_mask[..., None] * states{number}).sum(axis=(1, 2))",
            )
            for number in ("", " / np.maximum(word_mask.sum(axis=2), 1)[..., None, None]")
        ],
    },
    keeps=["word_weights", "sentence_weights"],
)
SPEC.mistakes(
    {
        "projected_states_summed": change(SUM, "(word_weights[..., None] * np.tanh(states @ W_w)).sum(axis=2)"),
        "words_summed_over_the_sentences": change(SUM, "(word_weights[..., None] * states).sum(axis=1)"),
        "document_alone_returned": change(RETURN, "return document"),
    }
)
SPEC.mistakes(
    {
        "projected_sentences_summed": change(
            DOCUMENT, "(sentence_weights[..., None] * np.tanh(sentences @ W_s)).sum(axis=1)"
        ),
    },
    keeps=["word_weights", "sentence_weights"],
)
SPEC.mistakes(
    {
        "word_weights_times_sentence_weights": change(
            RETURN, "return document, word_weights * sentence_weights[..., None], sentence_weights"
        ),
    },
    keeps=["sentence_weights", "document"],
)
SPEC.mistakes(
    {
        "unmasked_weights_returned": change(RETURN, "return document, softmax(word_scores), softmax(sentence_scores)"),
        "scores_returned": [
            change(RETURN, "return document, word_scores, sentence_scores"),
            change(RETURN, f"return document, {WORDS}, {SENTENCES}"),
        ],
    },
    keeps=["document"],
)
SPEC.mistakes(
    {"unmasked_word_weights_returned": change(RETURN, "return document, softmax(word_scores), sentence_weights")},
    keeps=["document", "sentence_weights"],
)
SPEC.mistakes(
    {"unmasked_sentence_weights_returned": change(RETURN, "return document, word_weights, softmax(sentence_scores)")},
    keeps=["document", "word_weights"],
)
for level, scores, mask, kept in (
    ("word", WORDS, "word_mask", ["nothing to attend to"]),
    ("sentence", SENTENCES, "sentence_mask", ["word_weights", "nothing to attend to"]),
):
    first = scores.replace(mask, f"np.arange({mask}.shape[-1]) < {mask}.sum(axis=-1, keepdims=True)")
    SPEC.mistakes({f"{level}_mask_used_as_a_length": change(scores, first)}, keeps=kept)
SPEC.mistakes(
    {"weights_returned_in_the_wrong_order": change(RETURN, "return document, sentence_weights, word_weights")},
    keeps=["document"],
)
SPEC.mistakes(
    {
        "sentence_mask_not_used": change(SENTENCES, "np.where(word_mask.any(axis=2), sentence_scores, -np.inf)"),
    },
    keeps=["word_weights", "nothing to attend to"],
)
SPEC.mistakes(
    {"masks_combined": change(WORDS, "np.where(word_mask & sentence_mask[..., None], word_scores, -np.inf)")},
    keeps=["sentence_weights", "document", "nothing to attend to"],
)
SPEC.mistakes(
    {
        "empty_sentence_attends": [
            change(WORDS, words, *more)
            for words, sentences in (
                ("np.where(word_mask, word_scores, -1e9)", "np.where(sentence_mask, sentence_scores, -1e9)"),
                ("word_scores + np.where(word_mask, 0, -1e9)", "sentence_scores + np.where(sentence_mask, 0, -1e9)"),
            )
            for more in ((), ((SENTENCES, sentences),))
        ],
        "empty_document_attends": change(SENTENCES, "np.where(sentence_mask, sentence_scores, -1e9)"),
        "nothing_is_not_a_number": [
            change("word_weights = softmax", "word_weights = plain", UNGUARDED),
            change(
                "word_weights = softmax",
                "word_weights = plain",
                UNGUARDED,
                ("sentence_weights = softmax", "sentence_weights = plain"),
            ),
            change("sentence_weights = softmax", "sentence_weights = plain", UNGUARDED),
            change(WORD_SOFTMAX, QUIET.format(WORD_POWERS), (SENTENCE_SOFTMAX, QUIET.format(SENTENCE_POWERS)), QUIETLY),
            change("word_weights = softmax", "word_weights = plain", UNGUARDED, FILLED),
            change(
                "word_weights = softmax",
                "word_weights = plain",
                UNGUARDED,
                FILLED,
                ("sentence_weights = softmax", "sentence_weights = plain"),
            ),
        ],
    },
    keeps=["word_weights", "sentence_weights", "document"],
)


def softmax(scores):
    """The softmax that the notebook gives, for the alternatives: zeros where all scores are -inf."""
    powers = np.exp(scores - np.maximum(scores.max(axis=-1, keepdims=True), -1e300))
    return powers / np.maximum(powers.sum(axis=-1, keepdims=True), 1)


@SPEC.alternative
def one_level_twice(states, word_mask, sentence_mask, W_w, u_w, W_s, u_s):
    """One function for both levels: what it does to the words of a sentence, it does to the sentences of a document."""

    def level(vectors, mask, W, u):
        weights = softmax(np.where(mask, np.tanh(vectors @ W) @ u, -np.inf))
        return (weights[..., None, :] @ vectors)[..., 0, :], weights

    sentences, word_weights = level(states, word_mask, W_w, u_w)
    document, sentence_weights = level(sentences, sentence_mask, W_s, u_s)
    return document, word_weights, sentence_weights


@SPEC.alternative
def sentence_by_sentence(states, word_mask, sentence_mask, W_w, u_w, W_s, u_s):
    """Loops over documents and sentences, with nothing but the real words of each."""
    B, S, T, H = states.shape
    documents, alphas, betas = np.zeros((B, H)), np.zeros((B, S, T)), np.zeros((B, S))
    for b in range(B):
        vectors = np.zeros((S, H))
        for i in range(S):
            real = word_mask[b, i]
            if real.any():
                powers = np.exp(np.tanh(states[b, i, real] @ W_w) @ u_w)
                alphas[b, i, real] = powers / powers.sum()
                vectors[i] = alphas[b, i] @ states[b, i]
        if sentence_mask[b].any():
            powers = np.exp(np.tanh(vectors @ W_s) @ u_s) * sentence_mask[b]
            betas[b] = powers / powers.sum()
            documents[b] = betas[b] @ vectors
    return documents, alphas, betas


@SPEC.alternative
def with_einsum(states, word_mask, sentence_mask, W_w, u_w, W_s, u_s):
    """Axes by name; the powers of what is masked are set to 0."""
    powers = np.exp(np.einsum("bstn,n->bst", np.tanh(np.einsum("bsth,hn->bstn", states, W_w)), u_w)) * word_mask
    alpha = powers / np.maximum(powers.sum(axis=-1, keepdims=True), 1e-300)
    sentences = np.einsum("bst,bsth->bsh", alpha, states)
    powers = np.exp(np.einsum("bsn,n->bs", np.tanh(np.einsum("bsh,hn->bsn", sentences, W_s)), u_s)) * sentence_mask
    beta = powers / np.maximum(powers.sum(axis=-1, keepdims=True), 1e-300)
    return np.einsum("bs,bsh->bh", beta, sentences), alpha, beta
