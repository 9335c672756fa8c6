"""The explorable `gates`: its numbers and pictures agree with NumPy, and its controls work by keyboard and touch."""

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

from experiments.ch04 import gates as reference

pytestmark = pytest.mark.browser

PAGE = "book/gates.html"
LEFT, RIGHT, TOP, BOTTOM = 34, 332, 16, 156
NUMBER = r"−?\d+\.\d+"


class Settings(NamedTuple):
    step: int = 20
    f: float = 0.95
    i: float = 0.1
    o: float = 0.8
    z: float = 0.9
    r: float = 1.0
    after: str = "noise"

    @property
    def hash(self) -> str:
        shown = (f"{value:g}" if isinstance(value, float) else value for value in self)
        return "#" + "&".join(f"{name}={value}" for name, value in zip(self._fields, shown, strict=True))

    @property
    def states(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """c and h of the LSTM, h of the GRU, from the initial state on (41,)."""
        _, c, h = reference.lstm(self.f, self.i, self.o, self.after)
        _, state = reference.gru(self.r, self.z, self.after)
        return tuple(np.concatenate([[0.0], each]) for each in (c, h, state))  # type: ignore[return-value]


def near(text: str, value: float) -> bool:
    """Whether a number as it is shown is this value, to the last digit."""
    assert re.fullmatch(NUMBER, text), text
    last = 10.0 ** -len(text.partition(".")[2])
    return abs(float(text.replace("−", "-")) - value) <= (0.5 + 1e-6) * last


def assert_shown(page: Page, settings: Settings) -> None:
    """Check the numbers of the summary and of the tables, and the three curves with their points."""
    c, h, state = settings.states
    t = settings.step
    said = page.locator(".explorable .summary").inner_text()
    found = re.match(
        rf"At step {t}, the cell state of the LSTM is ({NUMBER}) and its hidden state ({NUMBER}); "
        rf"the state of the GRU is ({NUMBER})\. ",
        said,
    )
    assert found, said
    for text, value in zip(found.groups(), (c[t], h[t], state[t]), strict=True):
        assert near(text, value), settings
    later = t - reference.load_numbers()["pulse"] - 1
    if later > 0:
        ago = "1 step" if later == 1 else f"{later} steps"
        found = re.search(rf"wrote {ago} ago, the share ({NUMBER}) .* alone, and ({NUMBER}) in the GRU", said)
        assert found, said
        assert near(found[1], settings.f**later)
        assert near(found[2], settings.z**later)
    else:
        assert said.endswith("This is the pulse: here both units write, with i = 1 and z = 0.") == (later == 0)
    g, _, _ = reference.lstm(*settings[1:4], settings.after)
    n, _ = reference.gru(settings.r, settings.z, settings.after)
    rows = page.locator(".explorable .tables tbody tr").evaluate_all(
        "rows => rows.map(row => [row.cells[0].textContent, row.cells[2].textContent])"
    )
    expected = [g[t - 1], c[t], h[t], n[t - 1], state[t]]
    assert [name for name, _ in rows] == [f"g{t}", f"c{t}", f"h{t}", f"n{t}", f"h{t}"]
    assert all(near(text, value) for (_, text), value in zip(rows, expected, strict=True)), settings

    drawn = page.evaluate(
        """() => [...document.querySelectorAll(".explorable .panel svg")].map(svg => ({
        curves: [...svg.querySelectorAll("path.cell, path.hidden")].map(e => e.getAttribute("d")),
        dots: [...svg.querySelectorAll("circle")].map(e => [+e.getAttribute("cx"), +e.getAttribute("cy")]),
        limit: +[...svg.querySelectorAll(".tick.end")].at(-1).textContent,
        }))"""
    )
    for picture, lines in zip(drawn, ([c, h], [state]), strict=True):
        reach = max(abs(line).max() for line in lines)
        assert reach <= picture["limit"]
        assert picture["limit"] in (1, 2, 5, 10, 20, 50)
        for path, dot, line in zip(picture["curves"], picture["dots"], lines, strict=True):
            points = np.array([[float(part) for part in point.split()] for point in path[2:].split(" L ")])
            y = (TOP + BOTTOM) / 2 - (BOTTOM - TOP) / 2 * line / picture["limit"]
            assert np.allclose(points[:, 1], y, atol=0.011), settings
            assert np.allclose(points[:, 0], np.linspace(LEFT, RIGHT, 41), atol=0.011)
            assert np.allclose(dot, points[t], atol=0.011)


def test_the_data_are_what_the_reader_is_told() -> None:
    numbers = reference.load_numbers()
    pulse, drawn = numbers["pulse"], np.round(np.random.default_rng(0).normal(size=40) / 2, 2)
    assert numbers["x"]["noise"] == [*[0.0] * pulse, 2.0, *drawn[pulse + 1 :]]
    assert numbers["x"]["silence"] == [*[0.0] * pulse, 2.0, *[0.0] * (39 - pulse)]


@pytest.mark.parametrize("after", ["noise", "silence"])
def test_the_reference_agrees_with_pytorch(after: str) -> None:
    """With weights of the gates that are zero, and biases that give the wanted values, PyTorch's cells are the same."""
    numbers = reference.load_numbers()
    logit = lambda p: float(np.log(p) - np.log1p(-p))  # noqa: E731
    f, i, o, z, r = 0.9, 0.2, 0.7, 0.8, 0.4
    _, c, h = reference.lstm(f, i, o, after)
    _, state = reference.gru(r, z, after)
    lstm, gru = torch.nn.LSTMCell(1, 1, dtype=torch.float64), torch.nn.GRUCell(1, 1, dtype=torch.float64)
    with torch.no_grad():
        for cell in (lstm, gru):
            for weights in cell.parameters():
                weights.zero_()
        lstm.weight_ih[2], lstm.weight_hh[2] = numbers["w"], numbers["u"]
        gru.weight_ih[2], gru.weight_hh[2] = numbers["w"], numbers["u"]
        h_t = c_t = s_t = torch.zeros(1, 1, dtype=torch.float64)
        for t, x_t in enumerate(numbers["x"][after]):
            writes = t == numbers["pulse"]
            lstm.bias_ih.copy_(torch.tensor([40.0 if writes else logit(i), logit(f), 0.0, logit(o)]))
            gru.bias_ih.copy_(torch.tensor([logit(r), -40.0 if writes else logit(z), 0.0]))
            x = torch.tensor([[x_t]], dtype=torch.float64)
            h_t, c_t = lstm(x, (h_t, c_t))
            s_t = gru(x, s_t)
            for ours, theirs in ((h[t], h_t), (c[t], c_t), (state[t], s_t)):
                assert ours == pytest.approx(theirs.item(), abs=1e-6)


@pytest.mark.parametrize("after", ["noise", "silence"])
def test_every_number_is_numpys(browser: Browser, specimen_url: str, after: str) -> None:
    """At the ends of all sliders and between them."""
    with opened(browser, specimen_url, PAGE) as (page, troubles):
        steps = itertools.cycle((1, 5, 6, 7, 20, 33, 40))
        for f, i, o in itertools.product((0.0, 0.97, 1.0), (0.0, 0.13, 1.0), (0.0, 1.0)):
            settings = Settings(next(steps), f, i, o, z=f, r=i, after=after)
            go_to(page, settings.hash)
            assert_shown(page, settings)
        assert troubles == Troubles()


def test_every_control_works_by_keyboard(browser: Browser, specimen_url: str) -> None:
    with opened(browser, specimen_url, PAGE) as (page, troubles):
        settings = Settings()
        assert_shown(page, settings)
        for name, keys, news in [
            ("after", ["ArrowRight"], {"after": "silence"}),
            ("f", ["End"], {"f": 1.0}),
            ("i", ["Home"], {"i": 0.0}),
            ("o", ["ArrowRight"] * 2, {"o": 0.82}),
            ("z", ["ArrowLeft"], {"z": 0.89}),
            ("r", ["Home", "ArrowRight"], {"r": 0.01}),
            ("step", ["End", "ArrowLeft", "ArrowLeft"], {"step": 38}),
        ]:
            tab_to(page, f"[name=gates-{name}]")
            for key in keys:
                page.keyboard.press(key)
            settings = settings._replace(**news)  # type: ignore[arg-type]
            assert_shown(page, settings)
        page.wait_for_url(f"**/{PAGE}{settings.hash}")
        page.reload()
        assert_shown(page, settings)
        tab_to(page, ".explorable button")
        page.keyboard.press("Enter")
        assert_shown(page, Settings())
        page.wait_for_url(lambda url: url == specimen_url + PAGE)
        assert troubles == Troubles()


@pytest.mark.parametrize("picture", [0, 1])
def test_the_pictures_can_be_dragged(browser: Browser, specimen_url: str, picture: int) -> None:
    with opened(browser, specimen_url, PAGE) as (page, _):
        box = page.locator(".explorable .panel svg").nth(picture).bounding_box()
        assert box is not None
        x = lambda t: box["x"] + box["width"] * (LEFT + (RIGHT - LEFT) * t / 40) / 340  # noqa: E731
        page.mouse.move(x(7), box["y"] + 60)
        page.mouse.down()
        assert_shown(page, Settings(7))
        page.mouse.move(x(33), box["y"] + 40)
        assert_shown(page, Settings(33))
        page.mouse.move(x(60), box["y"] + 40)  # far to the right of the axis
        assert_shown(page, Settings(40))
        page.mouse.up()
        page.mouse.move(x(10), box["y"] + 40)
        assert_shown(page, Settings(40))


def test_from_a_file_too(browser: Browser, specimen: Path) -> None:
    settings = Settings(8, 0.5, 0.0, 1.0, 0.2, 0.0, "silence")
    with opened(browser, f"{specimen.as_uri()}/", PAGE + settings.hash) as (page, troubles):
        assert_shown(page, settings)
        page.get_by_role("slider", name="Forget gate").fill("0.3")
        settings = settings._replace(f=0.3)
        assert_shown(page, settings)
        page.wait_for_url(f"**{settings.hash}")
        assert troubles == Troubles()


RIGHT_ADDRESS = "step=2&f=1&i=0&o=1&z=1&r=1&after=noise"
MALFORMED = [
    "step=20",
    "a-section-after-it",
    f"{RIGHT_ADDRESS}&",
    RIGHT_ADDRESS.replace("step=2&f=1", "f=1&step=2"),
    *(RIGHT_ADDRESS.replace("step=2", f"step={step}") for step in ("0", "41", "2.5", "-1", "")),
    *(RIGHT_ADDRESS.replace("f=1", f"f={f}") for f in ("1.01", "0.955", "NaN", "1=1")),
    RIGHT_ADDRESS.replace("noise", "__proto__"),
]


def test_a_malformed_address_changes_nothing(browser: Browser, specimen_url: str) -> None:
    with opened(browser, specimen_url, f"{PAGE}#{MALFORMED[0]}") as (page, troubles):
        assert_shown(page, Settings())
        settings = Settings(7, 0.5, 0.2)
        go_to(page, settings.hash)
        for malformed in MALFORMED:
            go_to(page, f"#{malformed}")
            assert_shown(page, settings)
        go_to(page, f"#{RIGHT_ADDRESS}")
        assert_shown(page, Settings(2, 1.0, 0.0, 1.0, 1.0))
        assert troubles == Troubles()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_it_is_accessible_in_use(browser: Browser, specimen_url: str, size: tuple[int, int], scheme: str) -> None:
    with opened(browser, specimen_url, PAGE, size, scheme) as (page, _):
        expect(page.get_by_role("group", name="Gates of the LSTM").get_by_role("slider")).to_have_count(3)
        expect(page.get_by_role("group", name="Gates of the GRU").get_by_role("slider")).to_have_count(2)
        expect(page.locator(".explorable .summary")).to_have_attribute("role", "status")
        described = re.compile(rf"GRU unit over 40 steps: .*{Settings().states[2][20]:.2f} at step 20")
        expect(page.get_by_role("img", name=described)).to_be_visible()
        for settings in [Settings(), Settings(40, 1.0, 1.0, 1.0, 1.0), Settings(1, 0.0, 0.0, 0.0, 0.0, 0.0)]:
            go_to(page, settings.hash)
            assert axe_violations(page) == []
            assert overflow(page) == []


def test_words_stay_inside_their_pictures_and_the_text_below_in_place(browser: Browser, specimen_url: str) -> None:
    for size in (WIDE, PHONE):
        with opened(browser, specimen_url, PAGE, size) as (page, _):
            heights = set()
            for step, f, after in itertools.product((1, 6, 7, 40), (0.0, 1.0), ("noise", "silence")):
                go_to(page, Settings(step, f, f, f, f, f, after).hash)
                heights.add(page.locator(".explorable").evaluate("e => e.offsetHeight"))
                assert words_outside(page) == [], (size, step, f, after)
            assert len(heights) == 1, (size, heights)


def test_without_script_and_on_paper(browser: Browser, specimen_url: str) -> None:
    with on_paper(browser, specimen_url, PAGE) as page:
        assert_shown(page, Settings())


def test_it_is_small() -> None:
    assert size_of("gates", json.loads(reference.NUMBERS_FILE.read_text("utf-8"))) < 25_000
