"""The explorable `lag`: its numbers and its pictures agree with NumPy, and its controls work by keyboard and touch."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import torch
from by_hand import go_to, on_paper, size_of, tab_to, words_outside
from opened import PHONE, WIDE, Troubles, axe_violations, opened, overflow
from playwright.sync_api import Browser, Page, expect

from experiments.ch03 import lag as reference

pytestmark = pytest.mark.browser

PAGE = "book/lag.html"
MATRICES = ("rotation", "symmetric", "non-normal")
SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
NUMBER = r"\d+(?:\.\d+)?(?:·10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?"


class Settings(NamedTuple):
    lag: int = 20
    radius: float = 1.5
    strength: float = 1.0
    activation: str = "tanh"
    matrix: str = "rotation"

    @property
    def network(self) -> tuple[str, float, str, float]:
        return self.matrix, self.radius, self.activation, self.strength

    @property
    def hash(self) -> str:
        names = ("lag", "radius", "input", "activation", "matrix")
        shown = (f"{value:g}" if isinstance(value, float) else value for value in self)
        return "#" + "&".join(f"{name}={value}" for name, value in zip(names, shown, strict=True))


def summary(page: Page) -> str:
    return page.locator(".explorable .summary").inner_text()


def agrees(text: str, value: float) -> bool:
    """Whether a number as it is shown is this value, to the last digit."""
    digits, _, power = text.partition("·10")
    assert re.fullmatch(NUMBER, text), text
    unit = 10.0 ** int(power.translate(SUPERSCRIPTS) or 0)
    last = 10.0 ** -len(digits.partition(".")[2])
    return abs(float(digits) * unit - value) <= (0.5 + 1e-6) * last * unit


def assert_said(page: Page, settings: Settings) -> None:
    """Check every number of the summary, and the number beside the mark."""
    said, lag = summary(page), settings.lag
    norm = reference.norms(*settings.network)[lag]
    W_hh = reference.recurrent_weights(settings.matrix, settings.radius)
    told = page.locator(".explorable text.told")
    assert agrees(told.nth(0).text_content() or "", norm), settings
    assert told.nth(1).text_content() == f"lag {lag}"
    if lag:
        found = re.match(rf"At lag {lag}, the gradient’s norm is ({NUMBER}) times what it was; ", said)
        assert found, said
        assert agrees(found[1], norm), settings
    else:
        assert said.startswith("At lag 0, the gradient has not been passed back yet; ")
    found = re.search(rf"the spectral radius is ({NUMBER}) and the largest singular value ({NUMBER})", said)
    assert found, said
    assert agrees(found[1], max(abs(np.linalg.eigvals(W_hh))))
    assert agrees(found[2], np.linalg.norm(W_hh, 2))
    if settings.activation == "linear":
        assert said.endswith("; the derivative of a linear unit is 1.")
    elif lag:
        found = re.search(rf"; the mean derivative of tanh in th(?:ese|is) (?:\d+ )?steps? is ({NUMBER})\.$", said)
        assert found, said
        assert agrees(found[1], reference.mean_derivative(lag, *settings.network)), settings


def points(path: str) -> np.ndarray:
    return np.array([[float(part) for part in point.split()] for point in path.removeprefix("M ").split(" L ")])


def assert_drawn(page: Page, settings: Settings) -> None:
    """Check the curve, the states and the eigenvalues against the scales of their pictures."""
    drawn = page.evaluate(
        """() => {
        const all = (selector) => [...document.querySelectorAll(`.explorable ${selector}`)];
        const d = (kind) => all(`path.${kind}`).map(e => e.getAttribute("d"));
        const circles = (kind) => all(`circle.${kind}`).map(e => [+e.getAttribute("cx"), +e.getAttribute("cy")]);
        return {
          ticks: all("svg g .tick").map(e => [e.textContent, +e.getAttribute("y") - 4]),
          curve: d("curve")[0], bound: d("bound")[0], passed: d("passed")[0], way: d("way")[0], recent: d("recent")[0],
          diamonds: d("diamond"), jacobians: circles("jacobian"), here: circles("here"), circle: circles("unit-circle"),
          radius: +all("circle.unit-circle")[0].getAttribute("r"),
          frame: ["x", "y", "width"].map(name => +all("rect.frame")[1].getAttribute(name)),
          limit: all(".tick.end").filter(e => !e.closest("g")).map(e => e.textContent),
        };
        }"""
    )
    norms, h = reference.norms(*settings.network), reference.trajectory(*settings.network)
    exponents = [
        0 if text == "1" else int(text.removeprefix("10").translate(SUPERSCRIPTS)) for text, _ in drawn["ticks"]
    ]
    pitch, origin = np.polyfit(exponents, [y for _, y in drawn["ticks"]], 1)
    curve = points(drawn["curve"])
    assert np.allclose(curve[:, 1], origin + pitch * np.log10(norms), atol=0.02), settings
    assert np.allclose(np.diff(curve[:, 0]), (328 - 42) / 50, atol=0.02)
    powers = np.log10(settings.radius) * np.arange(51)
    assert np.allclose(points(drawn["bound"])[:, 1], origin + pitch * powers, atol=0.02)
    assert np.array_equal(points(drawn["passed"]), curve[: settings.lag + 1])
    assert np.allclose(drawn["here"][0], curve[settings.lag], atol=0.02)
    assert curve[:, 1].min() >= 20
    assert curve[:, 1].max() <= 196

    text = drawn["limit"][0]
    limit = 10.0 ** int(text[2:].translate(SUPERSCRIPTS)) if re.fullmatch(r"10\D+", text) else None
    if limit is None:
        digits, _, power = text.partition("·10")
        limit = float(digits) * 10.0 ** int(power.translate(SUPERSCRIPTS) or 0)
    assert max(1.0, abs(h).max()) <= limit * (1 + 1e-12) <= 5 * max(1.0, abs(h).max())
    x, y, side = drawn["frame"]
    middle, half = np.array([x + side / 2, y + side / 2]), side / 2 * np.array([1, -1])
    way = points(drawn["way"])
    assert np.allclose(way, middle + half * np.vstack([[0, 0], h]) / limit, atol=0.02), settings
    assert np.array_equal(points(drawn["recent"]), way[60 - settings.lag :])
    assert np.allclose(drawn["here"][1:], way[[60, 60 - settings.lag]], atol=0.02)

    zero, unit = np.array(drawn["circle"][0]), drawn["radius"] * np.array([1, -1])
    W_hh = reference.recurrent_weights(settings.matrix, settings.radius)
    tops = [[float(part) for part in path.split()[1:3]] for path in drawn["diamonds"]]
    jacobians = reference.step_eigenvalues(*settings.network)[60 - settings.lag :].ravel()
    for shown, values in [
        (np.array(tops) + np.array([0, 6]), np.linalg.eigvals(W_hh)),
        (np.array(drawn["jacobians"]), jacobians),
    ]:
        assert len(shown) == len(values)
        if len(shown):
            found = np.sort_complex(np.round(((shown - zero) / unit) @ [1, 1j], 3))
            expected = np.sort_complex(np.round(values.astype(complex), 3))
            near = np.abs(found[:, None] - expected[None, :])
            assert near.min(axis=0).max() < 0.002, settings
            assert near.min(axis=1).max() < 0.002, settings


def by_autograd(settings: Settings) -> np.ndarray:
    """Return the norms of the last state's gradient by lag, from PyTorch."""
    network = reference.load_network()
    W_hh = settings.radius * torch.tensor(network["matrices"][settings.matrix], dtype=torch.float64)
    w_xh = torch.tensor(network["w_xh"], dtype=torch.float64)
    h = [torch.zeros(2, dtype=torch.float64, requires_grad=True)]
    for x_t in network["x"]:
        a_t = settings.strength * x_t * w_xh + h[-1] @ W_hh
        h.append(torch.tanh(a_t) if settings.activation == "tanh" else 1.0 * a_t)
    last = h[-1] @ torch.tensor(network["dh"], dtype=torch.float64)
    return np.array([each.norm().item() for each in torch.autograd.grad(last, h[:9:-1])])


def test_the_data_are_what_the_reader_is_told() -> None:
    network = reference.load_network()
    x = np.random.default_rng(0).normal(size=60)
    assert network["x"] == np.round((x - x.mean()) / x.std(), 2).tolist()
    assert np.linalg.norm(network["dh"]) == pytest.approx(1)
    assert tuple(network["matrices"]) == MATRICES
    for matrix in MATRICES:
        W = reference.recurrent_weights(matrix, 1.0)
        assert max(abs(np.linalg.eigvals(W))) == pytest.approx(1)
        assert np.allclose(W @ W.T, W.T @ W) == (matrix != "non-normal")
        assert np.iscomplexobj(np.linalg.eigvals(W)) == (matrix == "rotation")
    growth = reference.norms("non-normal", 0.9, "linear")
    assert growth[0] < growth.max()
    assert growth[50] < 0.1
    assert growth.argmax() not in (0, 50)


@pytest.mark.parametrize("matrix", MATRICES)
def test_the_reference_agrees_with_autograd(matrix: str) -> None:
    for radius, strength, activation in itertools.product((0.5, 1.0, 1.6), (0.0, 0.1, 1.5), ("tanh", "linear")):
        settings = Settings(0, radius, strength, activation, matrix)
        assert np.allclose(reference.norms(*settings.network), by_autograd(settings), rtol=1e-6, atol=0)


@pytest.mark.parametrize("matrix", MATRICES)
def test_every_number_is_numpys(browser: Browser, specimen_url: str, matrix: str) -> None:
    """At the ends of all sliders and between them."""
    with opened(browser, specimen_url, PAGE) as (page, troubles):
        lags = itertools.cycle((0, 1, 20, 37, 2))
        for radius, strength, activation in itertools.product((0.5, 0.9, 1.0, 1.6), (0, 0.05, 1.5), ("tanh", "linear")):
            for lag in (next(lags), 50):
                settings = Settings(lag, radius, float(strength), activation, matrix)
                go_to(page, settings.hash)
                assert_said(page, settings)
                assert_drawn(page, settings)
        assert troubles == Troubles()


def test_every_control_works_by_keyboard(browser: Browser, specimen_url: str) -> None:
    with opened(browser, specimen_url, PAGE) as (page, troubles):
        settings = Settings()
        assert_said(page, settings)
        for name, keys, news in [
            ("matrix", ["ArrowRight"], {"matrix": "symmetric"}),
            ("activation", ["ArrowRight", "ArrowLeft"], {}),
            ("radius", ["ArrowLeft"] * 3, {"radius": 1.35}),
            ("input", ["Home"], {"strength": 0.0}),
            ("lag", ["End", "ArrowLeft", "ArrowLeft"], {"lag": 48}),
        ]:
            tab_to(page, f"[name=lag-{name}]")
            for key in keys:
                page.keyboard.press(key)
            settings = settings._replace(**news)
            assert_said(page, settings)
            assert_drawn(page, settings)
        page.wait_for_url(f"**/{PAGE}{settings.hash}")
        page.reload()
        assert_said(page, settings)
        tab_to(page, ".explorable button")
        page.keyboard.press("Enter")
        assert_said(page, Settings())
        page.wait_for_url(lambda url: url == specimen_url + PAGE)
        assert troubles == Troubles()


def test_the_picture_can_be_dragged(browser: Browser, specimen_url: str) -> None:
    with opened(browser, specimen_url, PAGE) as (page, _):
        box = page.locator(".explorable svg").first.bounding_box()
        assert box is not None
        x = lambda lag: box["x"] + box["width"] * (42 + 286 * lag / 50) / 340  # noqa: E731
        page.mouse.move(x(7), box["y"] + 90)
        page.mouse.down()
        assert_said(page, Settings(7))
        page.mouse.move(x(33), box["y"] + 40)
        assert_said(page, Settings(33))
        page.mouse.move(x(80), box["y"] + 40)  # far to the right of the axis
        assert_said(page, Settings(50))
        page.mouse.up()
        page.mouse.move(x(10), box["y"] + 40)
        assert_said(page, Settings(50))


def test_from_a_file_too(browser: Browser, specimen: Path) -> None:
    settings = Settings(8, 0.9, 0.0, "linear", "non-normal")
    with opened(browser, f"{specimen.as_uri()}/", PAGE + settings.hash) as (page, troubles):
        assert_said(page, settings)
        page.get_by_role("radio", name="tanh").check()
        page.get_by_role("slider", name="Input strength").fill("0.3")
        settings = settings._replace(activation="tanh", strength=0.3)
        assert_said(page, settings)
        page.wait_for_url(f"**{settings.hash}")
        assert troubles == Troubles()


RIGHT = "lag=2&radius=1&input=1&activation=tanh&matrix=rotation"
MALFORMED = [
    "lag=20",
    "lag=%E0%A4%A",
    "lag=<img src=x>",
    "a-section-after-it",
    f"{RIGHT}&",
    RIGHT.replace("&matrix=rotation", ""),
    RIGHT.replace("lag=2&radius=1", "radius=1&lag=2"),
    *(RIGHT.replace("lag=2", f"lag={lag}") for lag in ("51", "2.5", "-1", "")),
    *(RIGHT.replace("radius=1", f"radius={radius}") for radius in ("1.52", "0.45", "NaN", "1=1")),
    RIGHT.replace("input=1", "input=1e0"),
    RIGHT.replace("tanh", "relu"),
    *(RIGHT.replace("rotation", name) for name in ("length", "__proto__")),
]


def test_a_malformed_address_changes_nothing(browser: Browser, specimen_url: str) -> None:
    with opened(browser, specimen_url, f"{PAGE}#{MALFORMED[0]}") as (page, troubles):
        assert_said(page, Settings())
        settings = Settings(7, 1.1, 0.2, "tanh", "symmetric")
        go_to(page, settings.hash)
        for malformed in MALFORMED:
            go_to(page, f"#{malformed}")
            assert_said(page, settings)
        go_to(page, f"#{RIGHT}")
        assert_said(page, Settings(2, 1.0))
        assert troubles == Troubles()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_it_is_accessible_in_use(browser: Browser, specimen_url: str, size: tuple[int, int], scheme: str) -> None:
    with opened(browser, specimen_url, PAGE, size, scheme) as (page, _):
        expect(page.get_by_role("group", name="A network of two units")).to_be_visible()
        expect(page.get_by_role("slider", name=re.compile("Spectral radius|Input strength|Lag"))).to_have_count(3)
        expect(page.get_by_role("group", name="Recurrent weights").get_by_role("radio")).to_have_count(3)
        expect(page.locator(".explorable .summary")).to_have_attribute("role", "status")
        expect(page.get_by_role("img", name=re.compile("norm against lag.*4.0·10⁻³ at lag 20"))).to_be_visible()
        for settings in [Settings(), Settings(50, 1.6, 1.5, "linear", "non-normal"), Settings(0, 0.5, 0.0)]:
            go_to(page, settings.hash)
            assert axe_violations(page) == []
            assert overflow(page) == []


def test_words_stay_inside_their_pictures_and_the_text_below_in_place(browser: Browser, specimen_url: str) -> None:
    for size in (WIDE, PHONE):
        with opened(browser, specimen_url, PAGE, size) as (page, _):
            heights = set()
            for lag, radius, activation, matrix in itertools.product(
                (0, 31, 50), (0.5, 1.6), ("tanh", "linear"), MATRICES
            ):
                go_to(page, Settings(lag, radius, 1.5, activation, matrix).hash)
                heights.add(page.locator(".explorable").evaluate("e => e.offsetHeight"))
                assert words_outside(page) == [], (size, lag, radius, activation, matrix)
            assert len(heights) == 1, (size, heights)


def test_without_script_and_on_paper(browser: Browser, specimen_url: str) -> None:
    with on_paper(browser, specimen_url, PAGE) as page:
        assert_said(page, Settings())


def test_it_is_small() -> None:
    assert size_of("lag", json.loads(reference.NETWORK_FILE.read_text("utf-8"))) < 25_000
