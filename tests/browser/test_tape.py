"""The explorable `tape`: every number that it shows agrees with PyTorch, in every order of the backward pass."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import torch
from by_hand import on_paper, tab_to
from opened import PHONE, WIDE, Troubles, axe_violations, opened, overflow
from playwright.sync_api import Browser, Page, expect

from experiments.ch02.tape import load_network

pytestmark = pytest.mark.browser

PAGE = "book/tape.html"
WEIGHTS = ("w_xh", "w_hh", "b_h")
TAPE = [f"{kind} {t}" for t in (1, 2, 3) for kind in ("step", "loss")]


def by_autograd() -> dict[str, list[float | None]]:
    """Return all final numbers. Each step has its own copies of the weights, whose gradients are the single terms."""
    network = load_network()
    copies = {name: torch.full((3,), network[name], dtype=torch.float64, requires_grad=True) for name in WEIGHTS}
    h = [torch.tensor(network["h_0"], dtype=torch.float64, requires_grad=True)]
    losses, pre_activations = [], []
    for t, (x_t, y_t) in enumerate(zip(network["x"], network["y"], strict=True)):
        pre_activations.append(x_t * copies["w_xh"][t] + copies["w_hh"][t] * h[-1] + copies["b_h"][t])
        h.append(torch.tanh(pre_activations[-1]))
        losses.append((h[-1] - y_t) ** 2 / 2)

    def gradients(of: torch.Tensor, by: Iterable[torch.Tensor]) -> list[float]:
        return [each.item() for each in torch.autograd.grad(of, list(by), retain_graph=True)]

    total = torch.stack(losses).sum()
    out = [0.0] + [gradients(loss, [state])[0] for loss, state in zip(losses, h[1:], strict=True)]
    dh = gradients(total, h)
    terms = {
        name: [None, *torch.autograd.grad(total, copy, retain_graph=True)[0].tolist()] for name, copy in copies.items()
    }
    slope = [gradients(state, [a_t])[0] for state, a_t in zip(h[1:], pre_activations, strict=True)]
    return {
        "x": [None, *network["x"]],
        "y": [None, *network["y"]],
        "h": [state.item() for state in h],
        "slope": [None, *slope],
        "out": out,
        "next": [a - b for a, b in zip(dh, out, strict=True)],
        **terms,
    }


def expected(operations: Iterable[str]) -> dict[str, float | None]:
    """Return the number of each cell after these operations, None where nothing has been added yet."""
    done, end, cells = set(operations), by_autograd(), {}
    for t in (1, 2, 3):
        for name in ("x", "y", "h", "slope"):
            cells[f"{name}.{t}"] = end[name][t]
        cells[f"out.{t}"] = end["out"][t] if f"loss {t}" in done else None
        cells[f"next.{t - 1}"] = end["next"][t - 1] if f"step {t}" in done else None
        for name in WEIGHTS:
            cells[f"{name}.{t}"] = end[name][t] if f"step {t}" in done else None
    for t in range(4):
        cells[f"dh.{t}"] = (cells.get(f"out.{t}") or 0.0) + (cells.get(f"next.{t}") or 0.0)
    for at, name in enumerate(WEIGHTS):
        cells[f"sums.{at}"] = sum(cells[f"{name}.{t}"] or 0.0 for t in (1, 2, 3))
    return cells


def summary(page: Page) -> str:
    return page.locator(".explorable .summary").inner_text()


def assert_shown(page: Page, operations: Iterable[str]) -> None:
    """Check every number in the tables and the picture, to its last digit."""
    operations = list(operations)
    shown: list[list[Any]] = page.evaluate(
        """() => [...document.querySelectorAll(".explorable [data-number]")]
        .map(e => [e.dataset.number, +e.dataset.digits, e.textContent, !!e.closest("svg")])"""
    )
    cells = expected(operations)
    assert {key for key, _, _, drawn in shown if not drawn} == set(cells)
    assert {key for key, _, _, drawn in shown if drawn} == {
        *(f"h.{t}" for t in range(4)), *(f"dh.{t}" for t in range(4)), *(f"sums.{at}" for at in range(3)),
    }  # fmt: skip
    for key, digits, text, _ in shown:
        value = cells[key] if key != "h.0" else load_network()["h_0"]
        if value is None:
            assert text == "·", key
            continue
        assert re.fullmatch(r"−?\d+\.\d+", text), key
        assert abs(float(text.replace("−", "-")) - value) <= 0.5 * 10**-digits + 1e-9, (key, text, value)
    pressed = page.locator(".operation[aria-pressed=true]").all_inner_texts()
    assert pressed == [f"✓ {operation}" for operation in TAPE if operation in operations]


def press(page: Page, operation: str) -> None:
    page.get_by_role("group", name="The tape, in the order").get_by_role("button", name=operation).click()


def may_run(operation: str, done: list[str]) -> bool:
    kind, t = operation.split()
    later = f"step {int(t) + 1}"
    return kind == "loss" or (f"loss {t}" in done and (later in done or later not in TAPE))


def test_backward_along_the_tape_by_keyboard(browser: Browser, specimen_url: str) -> None:
    """At every stage, also after an undo, each number agrees with autograd and the summary says what happened."""
    with opened(browser, specimen_url, PAGE) as (page, troubles):
        assert_shown(page, [])
        assert "every accumulator holds 0" in summary(page)
        tab_to(page, ".buttons button:nth-child(1)")
        backward, end = TAPE[::-1], by_autograd()
        for done, key in zip(range(1, 7), itertools.cycle(["Enter", "ArrowLeft", "Space"]), strict=False):
            page.keyboard.press(key)
            assert_shown(page, backward[:done])
            kind, t = backward[done - 1].split()
            told = {"loss": [end["out"]], "step": [*(end[name] for name in WEIGHTS), end["slope"]]}[kind]
            for values in told:
                assert f"{values[int(t)]:.3f}".replace("-", "−") in summary(page)
        assert summary(page).endswith("You went backward along the tape.")
        page.keyboard.press("ArrowLeft")  # there is no seventh
        assert_shown(page, backward)
        for undone, left in [("Step 1", 5), ("Loss 1", 4)]:
            page.keyboard.press("ArrowRight")
            assert_shown(page, backward[:left])
            assert summary(page) == f"{undone} is undone. {left} of 6 operations are done."
        tab_to(page, ".buttons button:nth-child(3)")
        page.keyboard.press("Enter")
        assert_shown(page, [])
        assert troubles == Troubles()


def test_any_order_that_waits_for_its_sources(browser: Browser, specimen_url: str) -> None:
    """Of all 720 orders, exactly those that the graph allows can be completed, and all of them agree with autograd."""
    allowed = [
        order
        for order in itertools.permutations(TAPE)
        if all(may_run(each, list(order[:at])) for at, each in enumerate(order))
    ]
    assert len(allowed) == 15
    with opened(browser, specimen_url, PAGE) as (page, _):
        for order in allowed:
            for at, operation in enumerate(order):
                for early in TAPE:  # an operation that is not ready is refused and changes nothing
                    if early not in order[:at] and not may_run(early, list(order[:at])):
                        press(page, early)
                        assert summary(page).startswith(f"Not yet: {early} uses the accumulator")
                press(page, operation)
            assert_shown(page, order)
            other = list(order) != TAPE[::-1]
            assert ("not the reversed tape" in summary(page)) == other
            page.get_by_role("button", name="Start again").click()


def test_what_is_not_ready_is_told_why(browser: Browser, specimen_url: str) -> None:
    with opened(browser, specimen_url, PAGE) as (page, _):
        for operation, said in [
            ("step 1", "Not yet: step 1 uses the accumulator of h₁, and loss 1 and step 2 still have to add to it."),
            ("step 3", "Not yet: step 3 uses the accumulator of h₃, and loss 3 still has to add to it."),
        ]:
            press(page, operation)
            assert summary(page).startswith(said)
            assert_shown(page, [])
        press(page, "loss 3")
        assert summary(page).endswith("it is final.")
        press(page, "loss 3")
        assert summary(page).startswith("Loss 3 has already run.")
        assert_shown(page, ["loss 3"])
        press(page, "loss 2")
        assert summary(page).endswith("Step 3 still has to add to it.")
        press(page, "step 2")
        assert "of h₂, and step 3 still has to add" in summary(page)
        assert_shown(page, ["loss 3", "loss 2"])
        expect(page.locator(".explorable .summary")).to_have_attribute("role", "status")


def test_from_a_file_too(browser: Browser, specimen: Path) -> None:
    with opened(browser, f"{specimen.as_uri()}/", PAGE) as (page, troubles):
        for _ in range(3):
            page.get_by_role("button", name="Next", exact=True).click()
        assert_shown(page, TAPE[:2:-1])
        assert troubles == Troubles()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_it_is_accessible_in_use(browser: Browser, specimen_url: str, size: tuple[int, int], scheme: str) -> None:
    with opened(browser, specimen_url, PAGE, size, scheme) as (page, _):
        expect(page.get_by_role("group", name="The tape, run backward")).to_be_visible()
        for done in range(7):
            if done:
                page.get_by_role("button", name="Next", exact=True).click()
            assert axe_violations(page) == []
            assert overflow(page) == []


def test_the_text_below_does_not_jump(browser: Browser, specimen_url: str) -> None:
    """The summary may be long or short: the tables stay in place."""
    for size in (WIDE, PHONE):
        with opened(browser, specimen_url, PAGE, size) as (page, _):
            tops = []
            for operation in ["step 1", *TAPE[::-1], "step 1"]:
                tops.append(page.locator(".explorable .tables").evaluate("e => e.offsetTop"))
                press(page, operation)
            assert set(tops) == {tops[0]}, size


def test_without_script_and_on_paper(browser: Browser, specimen_url: str) -> None:
    with on_paper(browser, specimen_url, PAGE) as page:
        assert_shown(page, [])
