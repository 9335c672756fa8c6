"""English phrases with their French translations, from a small grammar of our own, with known alignments.

    from experiments.ch05.grammar import by_length

Every English word becomes exactly one French word, but many change places or form: most adjectives follow their noun in
French (*the red car*, *la voiture rouge*), and determiners and adjectives agree with it in gender and number. A phrase
may contain others, by *and*, a preposition or a relative clause, so sentences have any length. No French noun begins
with a vowel, nor does an adjective in front of it, so nothing is elided.

The French follows the rules of this grammar exactly, but a few of its words are not those that a dictionary gives
first: *ram* is translated as *mouton* (sheep; *bélier*), *love* as *chérir* (to cherish; *aimer*), *hear* as
*percevoir* (to perceive; *entendre*), *happy* as *content* (pleased; *heureux*), and *by* always as *par*, although a
place needs *près de*. The words stay, because recorded networks were trained on them.
"""

from __future__ import annotations

import random
from collections.abc import Container
from dataclasses import dataclass


@dataclass(frozen=True)
class Phrase:
    """English and French words; `alignment[j]` is the index of the English word that French word j translates."""

    english: list[str]
    french: list[str]
    alignment: list[int]

    def __add__(self, other: Phrase) -> Phrase:
        shifted = [index + len(self.english) for index in other.alignment]
        return Phrase(self.english + other.english, self.french + other.french, self.alignment + shifted)


def _rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.strip().splitlines()]


# English singular and plural, French singular and plural, gender.
NOUNS = _rows("""
    cat cats chat chats m
    dog dogs chien chiens m
    boy boys garçon garçons m
    king kings roi rois m
    baker bakers boulanger boulangers m
    book books livre livres m
    garden gardens jardin jardins m
    ram rams mouton moutons m
    wolf wolves loup loups m
    boat boats bateau bateaux m
    house houses maison maisons f
    girl girls fille filles f
    queen queens reine reines f
    mouse mice souris souris f
    cow cows vache vaches f
    table tables table tables f
    door doors porte portes f
    car cars voiture voitures f
    flower flowers fleur fleurs f
    goat goats chèvre chèvres f
""")
# English, place in French, masculine and feminine singular, masculine and feminine plural.
ADJECTIVES = _rows("""
    small before petit petite petits petites
    big before grand grande grands grandes
    pretty before joli jolie jolis jolies
    good before bon bonne bons bonnes
    bad before mauvais mauvaise mauvais mauvaises
    young before jeune jeune jeunes jeunes
    red after rouge rouge rouges rouges
    black after noir noire noirs noires
    white after blanc blanche blancs blanches
    green after vert verte verts vertes
    grey after gris grise gris grises
    round after rond ronde ronds rondes
    heavy after lourd lourde lourds lourdes
    strong after fort forte forts fortes
    soft after doux douce doux douces
    happy after content contente contents contentes
""")
# English, number, masculine, feminine.
DETERMINERS = _rows("""
    the singular le la
    the plural les les
    a singular un une
    this singular ce cette
    these plural ces ces
    my singular mon ma
    my plural mes mes
    two plural deux deux
    three plural trois trois
    every singular chaque chaque
""")
# English singular and plural, French singular and plural.
VERBS = _rows("""
    sees see voit voient
    loves love chérit chérissent
    follows follow suit suivent
    hears hear perçoit perçoivent
    finds find trouve trouvent
    watches watch regarde regardent
    leaves leave quitte quittent
    draws draw dessine dessinent
""")
PREPOSITIONS = _rows("""
    with avec
    without sans
    under sous
    behind derrière
    on sur
    against contre
    for pour
    by par
""")


def _word(english: str, french: str) -> Phrase:
    return Phrase([english], [french], [0])


class Grammar:
    """Draws phrases and sentences at random."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def noun_group(self) -> tuple[Phrase, bool]:
        """A determiner, up to three adjectives and a noun, and whether it is plural."""
        english_determiner, number, *determiners = self.random.choice(DETERMINERS)
        singular, several, french_singular, french_plural, gender = self.random.choice(NOUNS)
        plural, feminine = number == "plural", gender == "f"
        count = self.random.choices(range(4), [0.3, 0.35, 0.25, 0.1])[0]
        adjectives = [(a[0], a[1], a[2 + feminine + 2 * plural]) for a in self.random.sample(ADJECTIVES, count)]
        numbered = list(enumerate(adjectives, start=1))
        before = [(french, at) for at, (_, place, french) in numbered if place == "before"]
        after = [(french, at) for at, (_, place, french) in reversed(numbered) if place == "after"]
        noun = (french_plural if plural else french_singular, count + 1)
        aligned = [(determiners[feminine], 0), *before, noun, *after]
        english = [english_determiner, *(a[0] for a in adjectives), several if plural else singular]
        return Phrase(english, [word for word, _ in aligned], [at for _, at in aligned]), plural

    def verb(self, plural: bool) -> Phrase:
        verb = self.random.choice(VERBS)
        return _word(verb[plural], verb[2 + plural])

    def noun_phrase(self, depth: int) -> tuple[Phrase, bool]:
        """A noun group, perhaps with others attached to it, and whether it is plural."""
        phrase, plural = self.noun_group()
        chance = self.random.random()
        if depth == 0 or chance >= 0.62:
            return phrase, plural
        other, _ = self.noun_phrase(depth - 1)
        if chance < 0.22:
            return phrase + _word("and", "et") + other, True
        if chance < 0.45:
            return phrase + _word(*self.random.choice(PREPOSITIONS)) + other, plural
        return phrase + _word("that", "qui") + self.verb(plural) + other, plural

    def sentence(self, depth: int) -> Phrase:
        """A noun phrase alone, one in five times, or a subject, a verb and an object."""
        subject, plural = self.noun_phrase(depth)
        if self.random.random() < 0.2:
            return subject
        return subject + self.verb(plural) + self.noun_phrase(depth)[0]


def by_length(
    each: int, shortest: int = 3, longest: int = 15, seed: int = 0, without: Container[str] = ()
) -> dict[int, list[Phrase]]:
    """`each` different sentences of every English length from shortest to longest, none of them in `without`.

    Raises ValueError if the grammar has too few sentences of a length.
    """
    grammar = Grammar(seed)
    found: dict[int, dict[str, Phrase]] = {length: {} for length in range(shortest, longest + 1)}
    missing = len(found)
    for _ in range(2_000_000):
        if not missing:
            return {length: list(sentences.values()) for length, sentences in found.items()}
        phrase = grammar.sentence(grammar.random.choice([0, 1, 1, 2, 2, 3]))
        of_length = found.get(len(phrase.english))
        text = " ".join(phrase.english)
        if of_length is not None and len(of_length) < each and text not in of_length and text not in without:
            of_length[text] = phrase
            missing -= len(of_length) == each
    short = [length for length, sentences in found.items() if len(sentences) < each]
    raise ValueError(f"The grammar has fewer than {each} sentences of the lengths {short}. Ask for fewer.")
