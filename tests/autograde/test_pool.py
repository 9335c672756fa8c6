"""Workers of every kind give the same results, do not repeat stored ones, and lose nothing when interrupted."""

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from right_work import RIGHT

from grader.gradebook import gradebook_url
from grader.grading import chapter, pool, recorder, store
from grader.grading.chapter import autograde, chosen
from grader.grading.release import AutogradeError
from grader.manifest import load_manifest

CHAPTER = "ch01_vanilla_rnn"
WRONG = "def rnn_step(x_t, h_prev, W_xh, W_hh, b_h):\n    return {}\n"
KINDS = [
    RIGHT["rnn_step"],
    WRONG.format("np.tanh(x_t @ W_xh + h_prev @ W_hh)"),
    WRONG.format("x_t[0, 0]"),
    WRONG.format("np.random.rand(2, 4)"),
    "import os\nos._exit(0)",
    "def rnn_step(",
]


@pytest.fixture
def term(tmp_path, right):
    """A class of eight, none of them alike."""
    return write_class(tmp_path / "a term", right, 8)


def write_class(term, right, count):
    for number in range(count):
        tree = json.loads(json.dumps(right))
        for cell in tree["cells"]:
            if cell["metadata"].get("nbgrader", {}).get("grade_id") == "rnn_step":
                cell["source"] = f"# {number}\n{KINDS[number % len(KINDS)]}"
        folder = term / "submitted" / f"student{number:02}" / CHAPTER
        folder.mkdir(parents=True)
        (folder / "recurrence.ipynb").write_text(json.dumps(tree))
        (folder / "timestamp.txt").write_text(f"2026-03-{1 + number % 28:02} 12:00:00 UTC")
    return term


def run(root, term, execute=pool.here, **choice):
    """Grade; return the results without their times, and whose were taken from an earlier run."""
    stored = set()
    graded = autograde(
        root,
        term,
        CHAPTER,
        execute,
        db_url=gradebook_url(term),
        tasks=chosen(term, load_manifest(root / "course.toml").chapter(CHAPTER), **choice),
        on_graded=lambda done: stored.add(done.graded.student) if done.stored else None,
    )
    return {g.student: replace(g, seconds={}) for g in graded}, stored


def written(term):
    """All that grading leaves: notebooks, results without their times, and the gradebook's scores."""
    notebooks = {str(p.relative_to(term)): p.read_bytes() for p in sorted((term / "autograded").rglob("*.ipynb"))}
    results = {}
    for path in sorted((term / "results").rglob("result.json")):
        tree = json.loads(path.read_text())
        tree["graded"].pop("seconds")
        results[path.parent.name] = tree
    with closing(sqlite3.connect(term / "gradebook.db")) as database:
        rows = database.execute(
            "select a.student_id, a.timestamp, n.notebook_id, g.cell_id, g.auto_score, g.manual_score, "
            "g.needs_manual_grade from grade g join submitted_notebook n on g.notebook_id = n.id "
            "join submitted_assignment a on n.assignment_id = a.id"
        ).fetchall()
        names = dict(database.execute("select id, name from base_cell").fetchall())
        books = dict(database.execute("select id, name from notebook").fetchall())
    scores = sorted((row[0], row[1], books[row[2]], names[row[3]], *row[4:]) for row in rows)
    left = [path for path in term.rglob(".*") if path.name != ".ipynb_checkpoints"]
    assert left == []  # no half-written file
    return notebooks, results, scores


def test_every_way_to_run_gives_the_same(small_course, term, tmp_path):
    first = written_by(pool.here, small_course, term)
    other = tmp_path / "other"
    for execute in (pool.local(1), pool.local(2), pool.dask(None, 2)):
        shutil.rmtree(other, ignore_errors=True)
        shutil.copytree(term / "submitted", other / "submitted")
        shutil.copytree(term / "hidden", other / "hidden")
        assert written_by(execute, small_course, other) == first
    assert len(first[0]) == len(first[1]) == 8


def written_by(execute, root, term):
    run(root, term, execute)
    return written(term)


def test_what_is_known_is_not_found_again(small_course, term):
    first, stored = run(small_course, term)
    assert stored == set()
    before = written(term)
    second, stored = run(small_course, term)
    assert (second, stored) == (first, set(first))
    assert written(term) == before

    notebook = term / "submitted" / "student01" / CHAPTER / "recurrence.ipynb"
    notebook.write_text(notebook.read_text().replace("np.tanh", "np.sin"))
    shutil.rmtree(term / "autograded" / "student02")
    third, stored = run(small_course, term)
    assert set(first) - stored == {"student01", "student02"}
    assert (third["student02"], third["student00"]) == (first["student02"], first["student00"])
    assert third["student01"] != first["student01"]
    assert (term / "autograded" / "student02" / CHAPTER / "recurrence.ipynb").is_file()


def test_a_lost_gradebook_is_filled_without_running_anything(small_course, term):
    run(small_course, term)
    before = written(term)
    (term / "gradebook.db").unlink()
    _, stored = run(small_course, term)
    assert len(stored) == 8
    assert written(term) == before


def test_a_result_that_cannot_be_read_is_found_again(small_course, term):
    first, _ = run(small_course, term)
    path = term / "results" / CHAPTER / "student03" / "result.json"
    path.write_bytes(path.read_bytes()[:-20])
    second, stored = run(small_course, term)
    assert set(first) - stored == {"student03"}
    assert second == first


def test_choosing(small_course, term):
    first, _ = run(small_course, term, students=["student03", "student00"])
    assert set(first) == {"student00", "student03"}
    _, stored = run(small_course, term, students=["student00"], again=True)
    assert stored == set()
    everyone, stored = run(small_course, term)
    assert stored == {"student00", "student03"}
    again, stored = run(small_course, term, only_failed=True)
    assert stored == set()
    assert set(again) == {name for name, graded in everyone.items() if graded.remarks}
    assert 0 < len(again) < 8
    with pytest.raises(AutogradeError, match=r"No submission for ch01_vanilla_rnn by 'nobody' in .*submitted"):
        run(small_course, term, students=["nobody"])


def test_a_submission_that_goes_away_meanwhile(small_course, term):
    def execute(job, state, tasks):
        for task in tasks:
            if task.student == "student02":
                shutil.rmtree(task.folder)
            yield pool.work(job, state, task)

    results, _ = run(small_course, term, execute)
    assert "was the submission moved or deleted?" in results["student02"].fault
    assert [name for name, graded in results.items() if graded.fault] == ["student02"]


def test_a_full_disk_costs_those_it_hits_alone(small_course, term, monkeypatch):
    real = store.write

    def write(term, chapter, stored):
        if stored.graded.student == "student05":
            raise OSError(28, "No space left on device")
        real(term, chapter, stored)

    monkeypatch.setattr(store, "write", write)
    results, _ = run(small_course, term)
    assert "No space left on device" in results["student05"].fault
    assert [name for name, graded in results.items() if graded.fault] == ["student05"]
    monkeypatch.undo()
    again, stored = run(small_course, term)
    assert set(again) - stored == {"student05"}
    assert not again["student05"].fault


def test_results_that_come_fast_are_recorded_together():
    """Slow ones as they come."""
    now = 0.0

    def come():
        nonlocal now
        for seconds in [0, 5, 0.1, 0.2, 0.2, 0.1, 3, *[0.01] * 20]:
            now += seconds
            yield seconds

    seen = list(recorder.batches(come(), lambda: now))
    assert seen == [[0], [5], [0.1, 0.2, 0.2], [0.1, 3], [0.01] * 16, [0.01] * 4]


def test_a_gradebook_that_another_program_holds(small_course, term, monkeypatch):
    """What cannot be written is told, the rest of its batch is, and the next run writes it without grading again."""
    from grader.gradebook import GradebookError, Writer

    real, sizes = Writer.record_all, []

    def record_all(writer, submissions):
        sizes.append(len(submissions))
        if "student04" in [given.student_id for given in submissions]:
            raise GradebookError("database is locked")
        real(writer, submissions)

    monkeypatch.setattr(Writer, "record_all", record_all)
    monkeypatch.setattr(chapter, "batches", lambda all_done: [list(all_done)])
    results, _ = run(small_course, term)
    assert results["student04"].fault == "graded, but not written to the gradebook: database is locked"
    assert [name for name, graded in results.items() if graded.fault] == ["student04"]
    assert sizes == [8] + [1] * 8
    monkeypatch.undo()
    again, stored = run(small_course, term)
    assert len(stored) == 8
    assert not again["student04"].fault


def test_a_worker_that_dies_before_it_is_handed_more(small_course, term, monkeypatch):
    """`submit` refuses then; what it was to hand over is not lost."""
    calls = []

    class Executor(ProcessPoolExecutor):
        def submit(self, *given):
            calls.append(given)
            if len(calls) == 3:
                raise BrokenProcessPool
            return super().submit(*given)

    monkeypatch.setattr(pool, "ProcessPoolExecutor", Executor)
    results, _ = run(small_course, term, pool.local(2))
    assert len(results) == 8
    assert [graded.fault for graded in results.values()] == [""] * 8


def test_what_a_worker_died_on_is_tried_again_first_and_alone():
    to_do = pool._ToDo([pool.Task(str(number), Path()) for number in range(20)], workers=1)

    def batch(running):
        found = to_do.batch(running)
        to_do.given(found)
        return [task.student for task in found]

    assert batch(running=0) == ["0", "1", "2", "3"]
    assert batch(running=1) == ["4", "5", "6", "7"]
    assert batch(running=2) == []
    assert [to_do.again(pool.Task(name, Path())) for name in ("1", "0", "0", "0")] == [True, True, True, False]
    assert [batch(running=1), batch(running=0)] == [[], ["1"]]
    assert [batch(running=0), batch(running=0), batch(running=0)] == [["0"], ["0"], ["8", "9", "10"]]
    assert to_do


# --- whole commands, and what befalls them -------------------------------------------------------------------


def command(root, term, *more):
    return subprocess.Popen(
        [sys.executable, "-m", "grader", "autograde", CHAPTER, "--term", str(term), "--workers", "2", *more],
        cwd=root,
        env=dict(os.environ, PYTHONPATH=str(Path(__file__).parents[2]), TERM="dumb"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for_results(term, count, process):
    while process.poll() is None and len(list((term / "results").rglob("result.json"))) < count:
        time.sleep(0.02)


@pytest.mark.system
def test_ctrl_c_stops_cleanly_and_the_next_run_goes_on(small_course, tmp_path, right):
    term = write_class(tmp_path / "term", right, 30)
    first = command(small_course, term)
    wait_for_results(term, 3, first)
    os.killpg(first.pid, signal.SIGINT)
    _, errors = first.communicate(timeout=60)
    assert first.returncode == 130, errors
    assert "Stopped. Finished results are kept" in errors
    assert "Traceback" not in errors
    known = len(list((term / "results").rglob("result.json")))
    assert 3 <= known < 30
    second = command(small_course, term, "--json")
    printed, errors = second.communicate(timeout=120)
    assert second.returncode == 0, errors
    assert len(json.loads(printed)["students"]) == 30
    undisturbed = tmp_path / "undisturbed"
    shutil.copytree(term / "submitted", undisturbed / "submitted")
    shutil.copytree(term / "hidden", undisturbed / "hidden")
    assert written_by(pool.local(2), small_course, undisturbed) == written(term)


@pytest.mark.system
def test_ctrl_c_twice_ends_workers_that_do_not_answer(small_course, tmp_path, right):
    term = write_class(tmp_path / "term", right, 30)
    first = command(small_course, term)
    wait_for_results(term, 3, first)
    workers = [worker for each in psutil.Process(first.pid).children() for worker in each.children(recursive=True)]
    for process in workers:
        with suppress(psutil.NoSuchProcess):
            process.suspend()
    for _ in range(2):
        os.killpg(first.pid, signal.SIGINT)
        time.sleep(0.5)
    first.wait(timeout=60)
    for process in workers:  # a suspended one may keep the pipe open
        with suppress(psutil.NoSuchProcess):
            process.kill()
    _, errors = first.communicate(timeout=60)
    assert first.returncode == 130, errors
    assert "Stopped.\n" in errors
    assert "Traceback" not in errors
    second = command(small_course, term, "--json")
    printed, errors = second.communicate(timeout=120)
    assert second.returncode == 0, errors
    assert len(json.loads(printed)["students"]) == 30


@pytest.mark.system
def test_ctrl_c_at_any_moment_gives_one_line(small_course, tmp_path, right):
    """Also while the command still imports what it needs."""
    term = write_class(tmp_path / "term", right, 2)
    started = time.monotonic()
    command(small_course, term).communicate(timeout=60)
    took = time.monotonic() - started
    for part in range(1, 12):
        process = command(small_course, term, "--force")
        time.sleep(took * part / 12)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert process.returncode in (0, 130), errors
        assert "Traceback" not in errors
        assert ("Stopped." in errors) == (process.returncode == 130)


@pytest.mark.system
def test_kill_at_any_moment(small_course, tmp_path, right):
    """The leader, a worker, a warm process or a student's own is killed again and again: nothing is lost."""
    students, kills = 60, 30
    term = write_class(tmp_path / "term", right, students)
    shutil.copytree(term / "submitted", tmp_path / "undisturbed" / "submitted")
    dice = random.Random(4)
    killed = {"leader": 0, "below it": 0}
    for _ in range(100):
        process = command(small_course, term)
        known = len(list((term / "results").rglob("result.json")))
        wait_for_results(term, min(students, known + 1), process)  # it has begun
        while process.poll() is None and sum(killed.values()) < kills:
            below = descendants(process.pid)
            whom = process.pid if dice.random() < 0.25 or not below else dice.choice(below)
            try:
                os.kill(whom, signal.SIGKILL)
            except ProcessLookupError:
                continue
            killed["leader" if whom == process.pid else "below it"] += 1
            time.sleep(dice.uniform(0.0, 0.3))
        process.communicate(timeout=300)
        if process.returncode == 0 and sum(killed.values()) >= kills:
            break
        wait_for_the_orphans()
    else:
        pytest.fail("it never came to an end")
    assert min(killed.values()) > 0
    shutil.copytree(term / "hidden", tmp_path / "undisturbed" / "hidden")
    left = [path for path in (term / "hidden").iterdir() if path.name.startswith((".", "canary"))]
    for path in [*left, *(p for p in term.rglob(".*") if p.is_file())]:
        path.unlink(missing_ok=True)  # what a killed process was about to write
    assert written_by(pool.local(2), small_course, tmp_path / "undisturbed") == written(term)


@pytest.mark.system
def test_two_runs_at_the_same_time(small_course, tmp_path, right):
    term = write_class(tmp_path / "term", right, 10)
    both = [command(small_course, term), command(small_course, term)]
    for process in both:
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
    undisturbed = tmp_path / "undisturbed"
    for name in ("submitted", "hidden"):
        shutil.copytree(term / name, undisturbed / name)
    assert written_by(pool.local(2), small_course, undisturbed) == written(term)


def descendants(pid):
    """All processes below this one that have not ended."""
    found = []
    for process in psutil.Process(pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            found += [process.pid] if process.status() != psutil.STATUS_ZOMBIE else []
    return found


def wait_for_the_orphans():
    """Workers whose leader was killed end by themselves."""
    end = time.monotonic() + 20
    while time.monotonic() < end and any(
        "--multiprocessing-fork" in (process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"])
    ):
        time.sleep(0.05)
