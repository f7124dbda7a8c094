from constraints.verdict import Violation, number


def test_a_violation_involves_its_parameter_unless_it_says_more():
    assert Violation("gpus", "3", "2", "within_quota", "too many").involves == ("gpus",)
    assert Violation("gpus", "3", "2", "price", "too much", ("gpus", "cpus")).involves == ("gpus", "cpus")


def test_numbers_are_written_as_people_do_and_keep_what_distinguishes_them():
    assert [number(value) for value in (128.0, 0.0003, 21600.5, 1e20)] == ["128", "0.0003", "21600.5", "1e+20"]
