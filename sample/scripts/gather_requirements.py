# Turn a wish into numbered requirements

import re


def main(inputs):
    sentences = [part.strip() for part in re.split(r"[.;\n]+", inputs["wish"]) if part.strip()]
    if not sentences:
        raise ValueError("The wish is empty: say what should be built.")
    return {
        "requirements": [{"id": f"R{number}", "text": text} for number, text in enumerate(sentences, start=1)],
    }
