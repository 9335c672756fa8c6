"""Every attack as Gradescope's container would meet it: student code runs as another user, without namespaces.

There it may see which processes run and use the machine's temporary folders, so an attack may find more; what it must
not do is the same: gain a point, read a secret, or change what the next submission gets.
"""

import os

import pytest
from attack import ATTACKS
from right_work import RIGHT
from test_attacks import LIMITS, PATIENT, hand_in, hidden_numbers, prelude, seed_of  # noqa: F401 - fixtures

from grader.running.other_user import OtherUser


@pytest.fixture(scope="module")
def sandbox():
    if os.geteuid() != 0:
        pytest.skip("only root can run code as another user")
    return OtherUser(LIMITS)


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_attack(attack, hand_in, prelude, session, token):  # noqa: F811
    found = hand_in("attacker", {"prelude": prelude, **attack.cells})
    assert found.points == attack.points, found.told
    assert len(found.shown) < 200_000
    assert not any(secret.encode() in found.crossed for secret in (token, seed_of(session)))
    assert not any(number in found.shown for number in hidden_numbers(session))
    if "next" in attack.cells:
        left = hand_in("accomplice", {"prelude": prelude, "start": attack.cells["next"]})
        assert token.encode() not in left.crossed
    assert hand_in("next", {**RIGHT, "start": f"mine = {token!r}"}, PATIENT).points == (2, 2)
