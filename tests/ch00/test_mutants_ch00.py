from tests.mutants_tried import of_chapter

test_nearly_right_work_fails_without_a_false_name = of_chapter(0)
