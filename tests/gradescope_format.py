"""Is a tree one that Gradescope documents? https://gradescope-autograders.readthedocs.io/en/latest/specs/"""

TEXTS = ("output", "visibility")
OF_RESULTS = {
    **dict.fromkeys((*TEXTS, "output_format", "test_output_format", "test_name_format", "stdout_visibility"), str),
    "score": float,
    "execution_time": int,
    "extra_data": dict,
    "tests": list,
}
OF_A_TEST = {
    **dict.fromkeys((*TEXTS, "name", "number", "status"), str),
    **dict.fromkeys(("score", "max_score"), float),
    "tags": list,
    "extra_data": dict,
}


def assert_documented(results):
    """Only documented fields, of their types, and visible to the student."""
    for tree, fields in ((results, OF_RESULTS), *((test, OF_A_TEST) for test in results["tests"])):
        assert tree.keys() <= fields.keys()
        assert all(isinstance(value, fields[name]) for name, value in tree.items()), tree
        assert tree["visibility"] == "visible"
        assert tree.get("status", "passed") in ("passed", "failed")
    assert {results["output_format"], results["test_output_format"], results["test_name_format"]} == {"text"}
    assert results["stdout_visibility"] == "hidden"
    assert [test["number"] for test in results["tests"]] == [str(n + 1) for n in range(len(results["tests"]))]
