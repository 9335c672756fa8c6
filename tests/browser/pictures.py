"""Make the pictures that README.md shows, and the card that a link to the book shows.

    python -m tests.browser.pictures [--site build/book/_build/html]

It needs the built book (`make book`) and Chromium. A page of the book is taken by day and by night, a class report of
an invented class by day, and the card is drawn from the report on a wrong `rnn_step`. What they show changes with the
course, so run it when it looks different; no test compares the pictures themselves.
"""

from __future__ import annotations

import argparse
import dataclasses
import io
import shutil
import sys
import tempfile
from html import escape
from pathlib import Path

import numpy as np
from msgspec.structs import replace
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests" / "browser"), str(ROOT / "book" / "_ext")]

from conftest import FLAGS, SITE, served  # noqa: E402
from opened import opened  # noqa: E402
from social_card import CARD, SIZE  # noqa: E402

from grader import check  # noqa: E402
from grader.checking.evaluate import verdict  # noqa: E402
from grader.checking.verdict import Diagnosis  # noqa: E402
from grader.classreport.figures import distribution, exercise_figures, mistakes  # noqa: E402
from grader.classreport.gather import FORMAT_VERSION, ClassReport, Students  # noqa: E402
from grader.classreport.page import report_page  # noqa: E402
from grader.grading.grade import Graded  # noqa: E402
from grader.manifest import load_manifest  # noqa: E402
from grader.released import Released  # noqa: E402

PICTURES = ROOT / "docs" / "pictures"
PAGE = "book/ch06_attention/looking_back.html"
LARGEST = 120_000  # bytes of a picture
WRONG = """\
def rnn_step(x_t, h_prev, W_xh, W_hh, b_h):
    from_input = x_t @ W_xh
    from_state = h_prev @ W_hh.T
    return np.tanh(from_input + from_state + b_h)
"""
# Of the invented class: how many made which mistake in which exercise, and an excerpt of their code.
MADE = {
    "rnn_step": ("W_hh_transposed", 9, "from_state = h_prev @ W_hh.T"),
    "rnn_forward": ("starts_from_zero", 6, "h_t = np.zeros_like(h_0)"),
    "sequence_loss": ("sum_for_mean", 5, "return -np.log(p[rows, steps, targets]).sum()"),
    "softmax": ("no_shift", 4, "e = np.exp(z)\nreturn e / e.sum(axis=axis, keepdims=True)"),
}
STUDENTS = 32


def report() -> str:
    """The class report of the invented class, as a page."""
    manifest = load_manifest(ROOT / "course.toml")
    chapter, data = manifest.chapter("ch01_vanilla_rnn"), Released(ROOT / "grader" / "data")
    messages = {exercise.id: data.messages(exercise.id) for exercise in chapter.exercises}
    order = np.random.default_rng(0).permuted(np.tile(np.arange(STUDENTS), (len(MADE), 1)), axis=1)
    failed = {name: set(row[: MADE[name][1]].tolist()) for name, row in zip(MADE, order, strict=True)}
    results = []
    for student in range(STUDENTS):
        found: dict[str, dict] = {}
        for notebook in chapter.notebooks:
            for exercise in notebook.exercises:
                place, wrong = manifest.place(exercise.id), student in failed.get(exercise.id, ())
                each = verdict(place, "failed" if wrong else "passed")
                if wrong:
                    each = dataclasses.replace(each, diagnosis=Diagnosis(MADE[exercise.id][0], ""))
                found.setdefault(notebook.name, {})[exercise.id] = each
        results.append(Graded(f"student {student + 1}", found))
    none = Students(0, ())
    made = tuple(
        replace(each, excerpts=(MADE[each.exercise][2],), students=())
        for each in mistakes(manifest, chapter, results, messages)
    )
    return report_page(
        ClassReport(
            format=FORMAT_VERSION,
            course=manifest.title,
            chapter=chapter.id,
            title=chapter.title,
            anonymous=True,
            students=STUDENTS,
            ungraded=none,
            outdated=none,
            unsafe=none,
            absent=none,
            unread=0,
            points=distribution(chapter, results, {}),
            exercises=exercise_figures(chapter, results, {}, []),
            mistakes=made,
            reviews=(),
            waiting=(),
            last_run=None,
        )
    )


def told() -> str:
    """What the report on the wrong `rnn_step` says: its first line and the likely cause, as a terminal shows them."""
    names: dict = {"np": np}
    exec(WRONG, names)
    return str(check("rnn_step", names["rnn_step"]))


def card() -> str:
    """The card as a page of its size: the wrong line, and the sentence that names the mistake."""
    cause = next(line for line in told().splitlines() if line.strip().startswith("likely cause"))
    cause = cause.split("likely cause", 1)[1].strip()
    first = cause[: cause.index(". ") + 1].replace("`", "")
    lines = [f"<mark>{escape(line)}</mark>" if "W_hh.T" in line else escape(line) for line in WRONG.splitlines()]
    return f"""<!doctype html><meta charset="utf-8"><style>
    * {{ box-sizing: border-box; margin: 0 }}
    body {{ width: {SIZE[0]}px; height: {SIZE[1]}px; padding: 56px 72px; background: #fff; color: #222;
      font-family: "DejaVu Sans", sans-serif; border-bottom: 18px solid #0b6a75; }}
    h1 {{ font-size: 76px; color: #0b6a75; line-height: 1.1 }}
    p.what {{ font-size: 31px; margin: 6px 0 36px }}
    pre {{ font: 27px/1.5 "DejaVu Sans Mono", monospace; background: #f3f4f5; padding: 20px 28px;
      border-radius: 10px }}
    mark {{ background: #fbe0c8; color: inherit; outline: 3px solid #b34700; border-radius: 3px }}
    p.told {{ font-size: 30px; margin-top: 30px; padding-left: 24px; border-left: 8px solid #b34700; line-height: 1.4 }}
    </style><h1>Unrolled</h1><p class="what">Recurrent networks from scratch, in a course that grades itself</p>
    <pre>{chr(10).join(lines)}</pre><p class="told">{escape(first)}</p>"""


def save(page: Page, file: Path, clip: tuple[int, int, int, int] | None = None) -> None:
    """Take a picture of a page, or of a part of it, with as few colours as it needs, so that the file is small."""
    part = dict(zip(("x", "y", "width", "height"), clip, strict=True)) if clip else None
    picture = Image.open(io.BytesIO(page.screenshot(clip=part))).convert("RGB")
    file.parent.mkdir(parents=True, exist_ok=True)
    picture.quantize(128, dither=Image.Dither.NONE).save(file, optimize=True)
    size = file.stat().st_size
    print(f"{file.relative_to(ROOT)}  {picture.width} × {picture.height}  {size:,} bytes")
    if size > LARGEST:
        raise SystemExit(f"{file.name} has more than {LARGEST:,} bytes. Show less, or with fewer colours.")


def take(browser: Browser, site: Path) -> None:
    with served(site) as base:
        for scheme in ("light", "dark"):
            with opened(browser, base, PAGE, (1180, 900), scheme) as (page, _):
                page.evaluate("document.querySelector('h1').scrollIntoView()")
                save(page, PICTURES / f"page-{scheme}.png", (0, 0, 1180, 900))
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {"report": report(), "card": card()}.items():
            (Path(folder) / f"{name}.html").write_text(text, "utf-8")
        for scheme in ("light", "dark"):
            with opened(browser, f"{Path(folder).as_uri()}/", "report.html", (980, 800), scheme) as (page, _):
                save(page, PICTURES / f"class-report-{scheme}.png", (0, 0, 980, 800))
        with opened(browser, f"{Path(folder).as_uri()}/", "card.html", SIZE) as (page, _):
            save(page, ROOT / "book" / CARD)


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the pictures of README.md and the card of the book.")
    parser.add_argument("--site", type=Path, default=SITE, help="the built book")
    given = parser.parse_args()
    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("Chromium is missing: install Debian's package `chromium`.")
    if not (given.site / PAGE).is_file():
        raise SystemExit(f"{given.site} has no {PAGE}. Run `make book` first, or name the built book with --site.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        take(browser, given.site)
        browser.close()


if __name__ == "__main__":
    main()
