"""The mistakes in `beam_search`."""

from grader.spec.spec import change, instead
from solutions.ch05_encoder_decoder.beam_search.spec import SPEC

TEST = "if ids and ids[-1] == eos_id:\n    candidates.append((ids, total, s))\n    continue"
NEW = "([*ids, k], total + log_p[k], s_new)"
EXTEND = f"candidates += [{NEW} for k in range(len(log_p))]"
SORTED = "sorted(candidates, key=lambda c: -c[1])"
END = "if all(ids[-1] == eos_id for ids, _, _ in beams):"
SCORE = "score = total / len(ids) ** length_penalty"
IDS = "[k for k in ids if k != eos_id]"
RESULT = "sorted(results, key=lambda pair: -pair[1])"
UNPENALISED = ["width 1", "several beams", "ties"]


def aside(kept, ended, stop, returned, limit="[:beam_width]"):
    """The change to a search with a list `done` of finished hypotheses: the candidates of which the unfinished ones are
    the next beams, those of which the finished ones are stored, when to stop, and what is returned.
    """
    return change(
        f"beams = {SORTED}[:beam_width]",
        f"candidates = {SORTED}\nkept = {kept}\nended = {ended}",
        (END, f"done += [c for c in ended if c[0][-1] == eos_id]\nbeams = {UNFINISHED}\nif not beams{stop}:"),
        ("beams = [([]", "done = []\nbeams = [([]"),
        ("in beams:\n    score", f"in {returned}:\n    score"),
        ("-pair[1])", f"-pair[1]){limit}"),
    )


UNFINISHED = "[c for c in kept if c[0][-1] != eos_id][:beam_width]"
STOPS = ("", " or len(done) >= beam_width")
WITH_UNFINISHED = ("done + beams", "done or beams")
BEST_CANDIDATES = "candidates[:beam_width]"
FREE_PLACES = "candidates[: beam_width - len(done)]"
BEST_LIVE = "[c for c in candidates if c[0][-1] != eos_id][:beam_width]"
TO_THE_LAST_LIVE = f"candidates[: candidates.index({BEST_LIVE}[-1])] if len({BEST_LIVE}) == beam_width else candidates"
BEST = f"sorted([{NEW} for k in range(len(log_p))], key=lambda c: -c[1])"

SPEC.mistakes(
    {
        "finished_beams_dropped": change("candidates.append((ids, total, s))", ""),
        "finished_beams_extended": [
            change(TEST, ""),
            change(TEST, "", (IDS, "ids[: ids.index(eos_id)] if eos_id in ids else ids")),
            change(TEST, "", (IDS, "ids[:-1] if ids[-1] == eos_id else ids")),
            change(
                TEST,
                "",
                (IDS, "ids[: ids.index(eos_id)] if eos_id in ids else ids"),
                ("len(ids) **", "((ids + [eos_id]).index(eos_id) + (eos_id in ids)) **"),
            ),
        ],
        "finished_beams_padded_at_a_cost": change(
            TEST, "", ("in range(len(log_p))]", "in ([eos_id] if eos_id in ids else range(len(log_p)))]")
        ),
        "finished_beams_extended_at_no_cost": [
            change(TEST, "", ("log_softmax(logits)[0]", "log_softmax(logits)[0] * (eos_id not in ids)")),
            change(
                TEST,
                "",
                ("log_softmax(logits)[0]", "log_softmax(logits)[0] * (eos_id not in ids)"),
                (IDS, "ids[: ids.index(eos_id)] if eos_id in ids else ids"),
            ),
            change(
                TEST,
                "",
                ("log_softmax(logits)[0]", "log_softmax(logits)[0] * (eos_id not in ids)"),
                (IDS, "ids[:-1] if ids[-1] == eos_id else ids"),
            ),
            change(
                TEST,
                "",
                ("log_softmax(logits)[0]", "log_softmax(logits)[0] * (ids[-1:] != [eos_id])"),
                (IDS, "ids[:-1] if ids[-1] == eos_id else ids"),
            ),
        ],
        "loop_left_at_a_finished_beam": [
            change("continue", "break"),
            change("candidates.append((ids, total, s))", "", ("continue", "break")),
        ],
        "finished_beams_put_aside": [
            *(
                aside(BEST_CANDIDATES, "kept", stop, pool, limit)
                for stop in STOPS
                for pool in WITH_UNFINISHED
                for limit in ("[:beam_width]", "")
            ),
            *(aside(FREE_PLACES, "kept", "", pool) for pool in WITH_UNFINISHED),
            *(aside(BEST_LIVE, BEST_CANDIDATES, stop, pool) for stop in STOPS for pool in WITH_UNFINISHED),
            *(aside(BEST_LIVE, TO_THE_LAST_LIVE, stop, pool) for stop in STOPS for pool in WITH_UNFINISHED),
        ],
        "stops_at_the_first_finished": change("if all(", "if any("),
        "stops_when_the_best_is_finished": [
            change(END, "if beams[0][0][-1] == eos_id:"),
            change(TEST, "", (END, "if beams[0][0][-1] == eos_id:")),
            change(TEST, "", (END, "if beams[0][0][-1] == eos_id:"), (IDS, "ids[:-1] if ids[-1] == eos_id else ids")),
        ],
        "stops_when_the_last_is_finished": change(END, "if beams[-1][0][-1] == eos_id:"),
        "unfinished_left_out_beside_finished": change(
            "in beams:\n    score", "in [c for c in beams if c[0][-1] == eos_id] or beams:\n    score"
        ),
        "finished_first_in_the_result": change(
            "for ids, total, _ in beams:\n",
            "for ids, total, _ in sorted(beams, key=lambda c: c[0][-1] != eos_id):\n",
            (RESULT, "sorted(results, key=lambda pair: (pair[2], -pair[1]))"),
            (f"({IDS}, score)", f"({IDS}, score, ids[-1] != eos_id)"),
            ("(pair[2], -pair[1]))", "(pair[2], -pair[1]))\nreturn [pair[:2] for pair in results]"),
            ("return sorted(", "results = sorted("),
        ),
        "pruned_by_the_mean": change("-c[1])", "-c[1] / len(c[0]))"),
        "pruned_by_the_last_id": change(
            "sorted(candidates, key=lambda c: -c[1])",
            "sorted(candidates, key=lambda c: -c[3])",
            (NEW, "([*ids, k], total + log_p[k], s_new, log_p[k])"),
            ("candidates.append((ids, total, s))", "candidates.append((ids, total, s, last))"),
            ("0.0, state)", "0.0, state, 0.0)"),
            ("for ids, total, s in", "for ids, total, s, last in"),
            ("for ids, _, _ in", "for ids, *_ in"),
            ("for ids, total, _ in", "for ids, total, *_ in"),
        ),
        "width_for_each_beam": [
            change(EXTEND, f"candidates += {BEST}[:beam_width]", (f"{SORTED}[:beam_width]", SORTED)),
            change(
                EXTEND,
                f"candidates += {BEST}[:beam_width]",
                (f"{SORTED}[:beam_width]", SORTED),
                ("-pair[1])", "-pair[1])[:beam_width]"),
            ),
        ],
        "one_hypothesis_only": [
            change(EXTEND, f"candidates += {BEST}[:1]"),
            change(f"{SORTED}[:beam_width]", f"{SORTED}[:1]"),
        ],
        **instead(
            EXTEND,
            {
                "one_candidate_for_each_beam": f"candidates += {BEST}[: beam_width if not ids else 1]",
                "two_candidates_for_each_beam": f"candidates += {BEST}[:2]",
            },
        ),
        "only_the_best_extended": [
            change("for ids, total, s in beams:", "for ids, total, s in beams[:1]:"),
            change(
                "for ids, total, s in beams:",
                "for number, (ids, total, s) in enumerate(beams):",
                ("if ids and ids[-1]", "if number > 0 or ids and ids[-1]"),
            ),
        ],
        "one_beam_for_each_last_id": change(
            f"beams = {SORTED}[:beam_width]",
            f"best = {{}}\nfor c in {SORTED}:\n    best.setdefault(c[0][-1], c)\n"
            f"beams = list(best.values())[:beam_width]",
        ),
        "starts_with_copies": change("state)]\n", "state)] * beam_width\n"),
        "state_of_another_beam": [
            change(
                SORTED + "[:beam_width]",
                SORTED + "[:beam_width]\nbeams = [(ids, total, s_new) for ids, total, _ in beams]",
            ),
            change(
                "candidates = []",
                "candidates, states = [], []",
                ("candidates.append((ids, total, s))", "candidates.append((ids, total, s))\nstates.append(s)"),
                (EXTEND, f"{EXTEND}\nstates.append(s_new)"),
                (END, f"beams = [(*c[:2], states[min(i, len(states) - 1)]) for i, c in enumerate(beams)]\n{END}"),
            ),
            change(
                "candidates = []",
                "candidates = []\nnow = state",
                ("np.array([y_prev]), s)", "np.array([y_prev]), now)\nnow = state = s_new"),
            ),
            change("np.array([y_prev]), s)", "np.array([y_prev]), beams[0][2])"),
            *(
                change(
                    "candidates = []",
                    "candidates, states = [], []",
                    ("candidates.append((ids, total, s))", f"candidates.append((ids, total, s)){finished}"),
                    ("np.array([y_prev]), s)", "np.array([y_prev]), state)\nstates.append(s_new)"),
                    (END, f"state = [*states, state][0]\n{END}"),
                )
                for finished in ("", "\nstates.append(state)")
            ),
        ],
        "id_of_another_beam_fed_back": change("y_prev = ids[-1]", "y_prev = beams[0][0][-1]"),
        "sorted_by_the_ids": [change(RESULT, "sorted(results)"), change(RESULT, "sorted(results, reverse=True)")],
        "worst_first": change("-pair[1])", "pair[1])"),
        "only_the_best": change(RESULT, f"{RESULT}[:1]"),
    },
    keeps=["width 1"],
)
SPEC.mistakes(
    {
        "candidates_not_emptied": change(
            "    candidates = []\n", "", ("for _step in range", "candidates = []\nfor _step in range")
        ),
        "predicted_sos_ends_a_hypothesis": change("ids and ids[-1] == eos_id", "ids and ids[-1] in (sos_id, eos_id)"),
        "always_max_length_steps": [
            change(TEST, "", (END, "if False:")),
            change(TEST, "", (END, "if False:"), (IDS, "ids[: ids.index(eos_id)] if eos_id in ids else ids")),
            change(TEST, "", (END, "if False:"), (IDS, "ids[:-1] if ids[-1] == eos_id else ids")),
        ],
        "only_the_finished_put_aside": [
            *(aside(BEST_CANDIDATES, "kept", stop, "done") for stop in STOPS),
            aside(FREE_PLACES, "kept", "", "done"),
            *(aside(BEST_LIVE, BEST_CANDIDATES, stop, "done") for stop in STOPS),
            *(aside(BEST_LIVE, TO_THE_LAST_LIVE, stop, "done") for stop in STOPS),
        ],
        "every_ended_candidate_stored": [
            *(aside(BEST_LIVE, "candidates", stop, pool) for stop in STOPS for pool in ("done + beams", "done")),
            *(
                aside(BEST_LIVE, "candidates[: 2 * beam_width]", stop, pool)
                for stop in STOPS
                for pool in ("done + beams", "done")
            ),
        ],
        "eos_never_a_candidate": change("in range(len(log_p))]", "in range(len(log_p)) if k != eos_id]"),
        "some_ids_never_candidates": [
            change("in range(len(log_p))]", "in range(1, len(log_p))]"),
            change("in range(len(log_p))]", "in range(len(log_p) - 1)]"),
            change("in range(len(log_p))]", "in range(len(log_p)) if k != sos_id]"),
            change("in range(len(log_p))]", "in range(1, len(log_p)) if k != sos_id]"),
        ],
        "last_step_missing": [
            change("range(max_length)", "range(max_length - 1)"),
            change("range(max_length)", "range(max(1, max_length - 1))"),
            change("range(max_length)", "range(max_length - 1)", ("len(ids) **", "(len(ids) + 1) **")),
        ],
        "returns_after_the_first_step": change("range(max_length)", "range(1)"),
        "unfinished_left_out": change(
            "in beams:\n    score", "in [c for c in beams if c[0][-1] == eos_id]:\n    score"
        ),
        "eos_forced_at_the_end": change(
            "for ids, total, _ in beams:\n",
            "for ids, total, s in beams:\n"
            "    if ids[-1] != eos_id:\n"
            "        total += log_softmax(step(np.array(ids[-1:]), s)[0])[0][eos_id]\n"
            "        ids = [*ids, eos_id]\n",
        ),
        "finished_pruned_by_the_mean": change("-c[1])", "-c[1] / (len(c[0]) if c[0][-1] == eos_id else 1))"),
        "divided_at_every_step": [
            change("total + log_p[k]", "(total + log_p[k]) / (len(ids) + 1)"),
            change("total + log_p[k]", "(total + log_p[k]) / (len(ids) + 1)", (SCORE, "score = total")),
            change("total + log_p[k]", "(total * len(ids) + log_p[k]) / (len(ids) + 1)", (SCORE, "score = total")),
            change("total + log_p[k]", "(total * len(ids) + log_p[k]) / (len(ids) + 1)"),
        ],
        "not_sorted": change(SORTED, "candidates"),
        "not_pruned": change(f"{SORTED}[:beam_width]", SORTED, ("-pair[1])", "-pair[1])[:beam_width]")),
        "worst_candidates_kept": [
            change("-c[1])", "c[1])"),
            change("log_softmax(logits)[0]", "-log_softmax(logits)[0]"),
        ],
        "state_not_passed_on": change("log_p[k], s_new)", "log_p[k], s)"),
        "id_not_fed_back": change("y_prev = ids[-1] if ids else sos_id", "y_prev = sos_id"),
        "first_id_fed_back": change("y_prev = ids[-1]", "y_prev = ids[0]"),
        "starts_with_another_id": [
            change("else sos_id", "else eos_id"),
            change("else sos_id", "else 0"),
            change("else sos_id", "else 1"),
        ],
        "logits_summed": [
            change("log_softmax(logits)[0]", "logits[0]"),
            change("log_softmax(logits)[0]", "logits[0] - logits[0].max()"),
        ],
        "sum_not_carried_on": change("total + log_p[k]", "log_p[k]"),
        "sums_mixed_up": [
            change(
                EXTEND,
                "for k in range(len(log_p)):\n    total += log_p[k]\n    candidates.append(([*ids, k], total, s_new))",
            ),
            change("total + log_p[k]", "total + log_p.sum()"),
            change("total + log_p[k]", "total + log_p.max()"),
        ],
        "log_probabilities_multiplied": change("total + log_p[k]", "total * log_p[k]", ("0.0, state", "1.0, state")),
        "sum_starts_at_one": change("0.0, state", "1.0, state"),
        **instead(
            "log_softmax(logits)[0]",
            {
                "softmax_twice": "log_softmax(np.exp(log_softmax(logits)))[0]",
                "log_taken_twice": "np.log(log_softmax(logits)[0])",
                "sums_stay_zero": "log_softmax(logits.T)[:, 0]",
                "probabilities_summed": "np.exp(log_softmax(logits)[0])",
            },
        ),
        "another_base": [
            change("log_softmax(logits)[0]", "log_softmax(logits)[0] / np.log(2)"),
            change("log_softmax(logits)[0]", "log_softmax(logits)[0] / np.log(10)"),
        ],
        "perplexities": [
            change(SCORE, "score = np.exp(-total / len(ids) ** length_penalty)"),
            change(SCORE, "score = np.exp(-total / len(ids) ** length_penalty)", ("-pair[1])", "pair[1])")),
            change(SCORE, "score = np.exp(-total / len(ids))"),
            change(SCORE, "score = np.exp(-total / len(ids))", ("-pair[1])", "pair[1])")),
        ],
        "probabilities_multiplied": [
            change(
                "log_softmax(logits)[0]",
                "np.exp(log_softmax(logits)[0])",
                ("0.0, state", "1.0, state"),
                ("total + log", "total * log"),
            ),
            change(SCORE, "score = np.exp(total / len(ids) ** length_penalty)"),
        ],
        "eos_not_in_the_sum": [
            change("total + log_p[k]", "total + log_p[k] * (k != eos_id)"),
            change(
                "log_p[k], s_new)",
                "log_p[k], s_new if k != eos_id else total)",
                ("total, _ in beams:\n    score", "total, s in beams:\n    score"),
                (SCORE, "score = (s if ids[-1] == eos_id else total) / len(ids) ** length_penalty"),
            ),
            change("total + log_p[k]", "total + log_p[k] * (k != eos_id)", ("len(ids) **", f"max(1, len({IDS})) **")),
            change(
                "log_p[k], s_new)",
                "log_p[k], s_new if k != eos_id else total)",
                ("total, _ in beams:\n    score", "total, s in beams:\n    score"),
                (SCORE, f"score = (s if ids[-1] == eos_id else total) / max(1, len({IDS})) ** length_penalty"),
            ),
        ],
        "power_of_the_mean": [
            change(SCORE, "score = -((-total / len(ids)) ** length_penalty)"),
            change(SCORE, "score = (total / len(ids)) ** length_penalty"),
        ],
        "divided_by_the_length": change(" ** length_penalty", ""),
        "scores_negated": [change("score))", "-score))", ("-pair[1])", "pair[1])")), change("score))", "-score))")],
        **instead(
            IDS,
            {
                "eos_kept": "ids",
                "last_id_cut": "ids[:-1]",
            },
        ),
        "sos_and_eos_kept": [
            change(IDS, "[sos_id] + ids"),
            change(IDS, "[sos_id] + ids", ("len(ids) **", "(len(ids) + 1) **")),
        ],
        "first_id_cut": [
            change("if k != eos_id]", "if k != eos_id][1:]"),
            change("if k != eos_id]", "if k != eos_id][1:]", ("len(ids) **", "max(1, len(ids) - 1) **")),
        ],
        "list_shared": [
            change(
                EXTEND,
                "for k in range(len(log_p)):\n    ids.append(k)\n    candidates.append((ids, total + log_p[k], s_new))",
            ),
            change(
                EXTEND,
                "for k in range(len(log_p)):\n    ids.append(k)\n"
                "    candidates.append((ids[:], total + log_p[k], s_new))",
            ),
            change(
                EXTEND,
                "new = [ids, total, s_new]\n"
                "for k in range(len(log_p)):\n"
                "    new[0], new[1] = [*new[0], k], new[1] + log_p[k]\n"
                "    candidates.append(new)",
            ),
            change(
                EXTEND,
                "for k in range(len(log_p)):\n    ids.append(k)\n    candidates.append((ids, total + log_p[k], s_new))",
                (IDS, "ids[:-1] if ids[-1] == eos_id else ids"),
            ),
            change(
                EXTEND,
                "for k in range(len(log_p)):\n    ids.append(k)\n"
                "    candidates.append((ids[:], total + log_p[k], s_new))",
                (IDS, "ids[:-1] if ids[-1] == eos_id else ids"),
            ),
        ],
        "sos_kept": [
            change(IDS, f"[sos_id] + {IDS}"),
            change("[([], 0.0", "[([sos_id], 0.0", ("if ids and ids[-1]", "if len(ids) > 1 and ids[-1]")),
        ],
        "predicted_sos_left_out": change("if k != eos_id]", "if k not in (sos_id, eos_id)]"),
        "other_ids_left_out": [
            change("if k != eos_id]", "if k not in (0, eos_id)]"),
            change("if k != eos_id]", "if k not in (0, sos_id, eos_id)]"),
            change("if k != eos_id]", "if k > 2]"),
        ],
        "a_pair_in_place_of_a_list": change(RESULT, f"{RESULT}[0]"),
    }
)
SPEC.mistakes(
    {
        "pruned_by_score": [
            change("-c[1])", "-c[1] / len(c[0]) ** length_penalty)"),
            change("-c[1])", "-c[1] / (len(c[0]) ** length_penalty if c[0][-1] == eos_id else 1))"),
        ],
        "penalty_at_every_step": [
            change("total + log_p[k]", "(total + log_p[k]) / (len(ids) + 1) ** length_penalty"),
            change(
                "total + log_p[k]", "(total + log_p[k]) / (len(ids) + 1) ** length_penalty", (SCORE, "score = total")
            ),
            change("total + log_p[k]", "total + log_p[k] / (len(ids) + 1) ** length_penalty", (SCORE, "score = total")),
        ],
        "eos_not_counted": [
            change(
                f"results.append(({IDS}, score))",
                f"results.append(({IDS}, total / max(1, len({IDS})) ** length_penalty))",
            ),
            change(
                f"results.append(({IDS}, score))",
                f"words = {IDS}\nresults.append((words, np.float64(total) / np.float64(len(words)) ** length_penalty))",
            ),
        ],
        "sos_counted": change("len(ids) **", "(len(ids) + 1) **"),
        **instead(
            "len(ids) **",
            {
                "eos_counted_in_unfinished": f"(len({IDS}) + 1) **",
                "penalty_of_wu": "((5 + len(ids)) / 6) **",
            },
        ),
        "same_length_for_all": [
            change("len(ids) **", "max_length **"),
            change("len(ids) **", "max(len(b[0]) for b in beams) **"),
        ],
        "penalty_not_an_exponent": [
            change(SCORE, "score = total - length_penalty * len(ids)"),
            change(SCORE, "score = total + length_penalty * len(ids)"),
            change(SCORE, "score = total / (length_penalty * len(ids) if length_penalty else 1)"),
            change(SCORE, "score = total / max(1, length_penalty * len(ids))"),
            change(SCORE, "score = total / (1 + length_penalty * len(ids))"),
            change(SCORE, "score = total / (1 + length_penalty * (len(ids) - 1))"),
            change(SCORE, "score = total / (length_penalty ** len(ids) if length_penalty else 1)"),
            change(SCORE, "score = total / len(ids) if length_penalty else total"),
        ],
        **instead(
            SCORE,
            {
                "penalty_ignored": "score = total",
                "unfinished_not_divided": f"{SCORE} if ids[-1] == eos_id else total",
            },
        ),
        "sorted_by_the_sum": change(RESULT, "results"),
        "sums_returned": change("score))", "score, total))", (RESULT, f"[(pair[0], pair[2]) for pair in {RESULT}]")),
    },
    keeps=UNPENALISED,
)
SPEC.mistakes(
    {
        "ties_in_another_order": [
            change(SORTED, "sorted(candidates, key=lambda c: c[1])[::-1]"),
            change(SORTED, "sorted(candidates, key=lambda c: (-c[1], c[0][-1]))"),
            change(SORTED, "sorted(candidates, key=lambda c: (-c[1], -c[0][-1]))"),
            change(SORTED, "sorted(candidates, key=lambda c: (c[1], c[0]), reverse=True)"),
            change(SORTED, "sorted(candidates, key=lambda c: (-c[1], c[0]))"),
            change("for ids, total, s in beams:", "for ids, total, s in reversed(beams):"),
        ],
        **instead(
            SORTED,
            {
                "finished_preferred": "sorted(candidates, key=lambda c: (-c[1], c[0][-1:] != [eos_id]))",
                "unfinished_preferred": "sorted(candidates, key=lambda c: (-c[1], c[0][-1:] == [eos_id]))",
            },
        ),
    },
    keeps=["width 1", "several beams", "length penalty"],
)
