"""The explorable `hello`: every number that it shows is PyTorch's."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from by_hand import on_paper, tab_to
from opened import PHONE, WIDE, Troubles, axe_violations, opened, overflow
from playwright.sync_api import Browser, Page, expect

from experiments.ch01.hello import VOCABULARY, load_weights

pytestmark = pytest.mark.browser

PAGE = "book/explorable.html"
READ = "hell"


def expected(step: int, weights: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """All the numbers of a step, from torch.nn.RNN and torch.nn.Linear."""
    W = {name: torch.from_numpy(weight) for name, weight in weights.items()}
    rnn = torch.nn.RNN(4, 3, batch_first=True, dtype=torch.float64)
    head = torch.nn.Linear(3, 4, dtype=torch.float64)
    with torch.no_grad():
        rnn.weight_ih_l0.copy_(W["W_xh"].T)
        rnn.weight_hh_l0.copy_(W["W_hh"].T)
        rnn.bias_ih_l0.copy_(W["b_h"])
        rnn.bias_hh_l0.zero_()
        head.weight.copy_(W["W_hy"].T)
        head.bias.copy_(W["b_y"])
        ids = torch.tensor([VOCABULARY.index(letter) for letter in READ])
        x = torch.nn.functional.one_hot(ids, 4).to(torch.float64)
        states = rnn(x[None])[0][0]  # (T, H)
        previous = torch.cat([torch.zeros(1, 3, dtype=torch.float64), states[:-1]])[step - 1]
        logits = head(states[step - 1])
        numbers = {
            "x": x[step - 1],
            "previous": previous,
            "fromInput": W["W_xh"].T @ x[step - 1],
            "fromState": W["W_hh"].T @ previous,
            "preActivation": torch.atanh(states[step - 1]),
            "state": states[step - 1],
            "fromHidden": logits - head.bias,
            "logits": logits,
            "probabilities": logits.softmax(dim=0),
        }
    return {name: values.numpy() for name, values in numbers.items()}


def assert_shown(page: Page, step: int, weights: dict[str, np.ndarray]) -> None:
    """The displayed numbers, in tables and picture, are these to their last digit; all of them are there."""
    shown: list[list[Any]] = page.evaluate(
        """() => [...document.querySelectorAll(".explorable [data-number]")]
        .map(e => [e.dataset.number, +e.dataset.digits, e.textContent, !!e.closest("svg")])"""
    )
    numbers = expected(step, weights)
    expected_keys = {f"{name}.{index}" for name, values in numbers.items() for index in range(len(values))}
    assert {key for key, _, _, drawn in shown if not drawn} == expected_keys
    assert {key.split(".")[0] for key, _, _, drawn in shown if drawn} == {
        "x", "previous", "state", "logits", "probabilities",
    }  # fmt: skip
    for key, digits, text, _ in shown:
        name, index = key.split(".")
        value = numbers[name][int(index)]
        assert re.fullmatch(r"−?\d+(\.\d+)?", text)
        got = float(text.replace("−", "-"))
        assert abs(got - value) <= 0.5 * 10**-digits + 1e-9, (key, text, value)
    fields = page.evaluate(
        """() => [...document.querySelectorAll(".explorable [data-weight]")].map(e => [e.dataset.weight, +e.value])"""
    )
    assert len(fields) == sum(weight.size for weight in weights.values()) == 40
    for path, value in fields:
        name, *indices = path.split(".")
        assert value == weights[name][tuple(map(int, indices))]
    summary = page.locator(".explorable .summary").inner_text()
    state = ", ".join(f"{value:.2f}".replace("-", "−") for value in numbers["state"])
    best = int(numbers["probabilities"].argmax())
    assert f"Step {step} of 4. The network reads “{READ[step - 1]}”." in summary
    assert f"to ({state})" in summary
    assert f"It predicts “{VOCABULARY[best]}” with probability {numbers['probabilities'][best]:.2f}" in summary


def focus_weight(page: Page, path: str) -> None:
    tab_to(page, f"[data-weight='{path}']")


def changed(path: str, value: float, weights: dict[str, np.ndarray] | None = None) -> dict[str, np.ndarray]:
    name, *indices = path.split(".")
    copy = {key: weight.copy() for key, weight in (weights or load_weights()).items()}
    copy[name][tuple(map(int, indices))] = value
    return copy


def test_every_number_is_torchs(browser: Browser, specimen_url: str) -> None:
    """Through all of `hell`, then with weights edited, then after a reload: by keyboard alone."""
    with opened(browser, specimen_url, PAGE) as (page, troubles):
        weights = load_weights()
        assert_shown(page, 1, weights)
        tab_to(page, ".explorable button:nth-child(2)")
        for step, key in [(2, "Enter"), (3, "Space"), (4, "ArrowRight")]:
            page.keyboard.press(key)
            assert_shown(page, step, weights)
        page.keyboard.press("ArrowRight")  # there is no fifth
        assert_shown(page, 4, weights)
        for step in (3, 2):
            page.keyboard.press("ArrowLeft")
            assert_shown(page, step, weights)

        for path, typed in [("b_h.2", "-1"), ("W_hh.0.1", "0.25"), ("W_hy.2.3", "1.5")]:
            focus_weight(page, path)
            page.keyboard.type(typed)
            weights = changed(path, float(typed), weights)
            assert_shown(page, 2, weights)
        page.keyboard.press("ArrowUp")
        weights = changed("W_hy.2.3", float(page.locator("[data-weight='W_hy.2.3']").input_value()), weights)
        assert weights["W_hy"][2, 3] > 1.5
        assert_shown(page, 2, weights)
        assert page.url.startswith(f"{specimen_url}{PAGE}#hello=2&")

        page.reload()
        assert_shown(page, 2, weights)
        tab_to(page, ".explorable button:nth-child(3)")
        page.keyboard.press("Enter")
        assert_shown(page, 1, load_weights())
        assert page.url == specimen_url + PAGE
        assert troubles == Troubles()


def test_from_a_file_too(browser: Browser, specimen: Path) -> None:
    with opened(browser, f"{specimen.as_uri()}/", f"{PAGE}#hello=3&b_y.1=2&W_xh.2.0=-3.5") as (page, troubles):
        weights = changed("b_y.1", 2.0, changed("W_xh.2.0", -3.5))
        assert_shown(page, 3, weights)
        page.get_by_role("button", name="Step").click()
        assert_shown(page, 4, weights)
        assert page.url.endswith("#hello=4&b_y.1=2&W_xh.2.0=-3.5")
        assert troubles == Troubles()


@pytest.mark.parametrize(
    "malformed",
    [
        "hello=0", "hello=5", "hello=", "hello", "hello=2&", "hello=2&W_hh.0.1", "hello=2&W_hh.0=1", "hello=2&b_h.3=1",
        "hello=2&W_hh.0.1.0=1", "hello=2&__proto__.0=1", "hello=2&constructor=1", "hello=2&b_h.0=1e9",
        "hello=2&b_h.0=NaN", "hello=2&b_h.length=0", "hello=2&b_h.0=100000", "hello=%E0%A4%A", "hello=<img src=x>",
        "a-section-after-it",
    ],
)  # fmt: skip
def test_a_malformed_address_is_ignored(browser: Browser, specimen_url: str, malformed: str) -> None:
    with opened(browser, specimen_url, f"{PAGE}#{malformed}") as (page, troubles):
        assert_shown(page, 1, load_weights())
        assert troubles == Troubles()


def test_what_is_no_number_changes_nothing(browser: Browser, specimen_url: str) -> None:
    with opened(browser, specimen_url, PAGE) as (page, _):
        field = page.locator("[data-weight='b_h.0']")
        for typed in ("", "-", "1000"):
            field.fill("")
            if typed == "-":
                page.keyboard.type(typed)
            else:
                field.fill(typed)
            expect(field).to_have_attribute("aria-invalid", "true")
            expect(page.locator(".explorable .summary")).to_contain_text("b_h, unit 0: type a number")
            field.blur()
            expect(field).to_have_value("0.34")
        page.get_by_role("button", name="Step").click()
        assert_shown(page, 2, load_weights())


def test_the_address_can_change_under_it(browser: Browser, specimen_url: str) -> None:
    with opened(browser, specimen_url, PAGE) as (page, _):
        page.evaluate("location.hash = 'hello=4'")
        page.wait_for_function("document.querySelector('.explorable .summary').textContent.includes('Step 4')")
        assert_shown(page, 4, load_weights())


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_it_is_accessible_in_use(browser: Browser, specimen_url: str, size: tuple[int, int], scheme: str) -> None:
    with opened(browser, specimen_url, PAGE, size, scheme) as (page, _):
        expect(page.get_by_role("group", name="The network that spells hello, step by step")).to_be_visible()
        page.locator("[data-weight='W_hh.1.1']").fill("-99")
        page.get_by_role("button", name="Step").click()
        assert axe_violations(page) == []
        assert overflow(page) == []


def test_without_script_and_on_paper(browser: Browser, specimen_url: str) -> None:
    with on_paper(browser, specimen_url, PAGE) as page:
        assert_shown(page, 1, load_weights())
