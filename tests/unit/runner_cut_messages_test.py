from runs.runner.execute import told_within


def test_a_message_that_is_cut_says_so_and_how_long_it_was() -> None:
    cut = told_within("x" * 9_000, 4_000)
    assert len(cut) == 4_000
    assert cut.endswith("x… (cut: it has 9,000 characters)")


def test_a_message_that_fits_is_left_alone() -> None:
    assert told_within("x" * 4_000, 4_000) == "x" * 4_000
