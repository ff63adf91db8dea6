"""What a condition says."""

from steps.base import StepFailure

WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False, "": False}


def is_true(value: object) -> bool:
    """Numbers, lists, objects and null as in Python; a text only where it is a word of truth.

    Any other text is nearly always a condition without its {{ }}, which would always be true: StepFailure.
    """
    if not isinstance(value, str):
        return bool(value)
    word = value.strip().lower()
    if word not in WORDS:
        raise StepFailure(
            "bad_condition",
            f"The condition is the text '{value[:100]}', which is neither true nor false. Write it as an expression: "
            "{{ steps.total.output > 500 }}",
        )
    return WORDS[word]
