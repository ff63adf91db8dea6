# A function for each requirement

import re


def function_name(text):
    words = re.findall(r"[a-z0-9]+", text.lower())[:5]
    name = "_".join(words) or "part"
    return name if name[0].isalpha() else f"f_{name}"


def main(inputs):
    return {
        "functions": [
            {"name": function_name(requirement["text"]), "answers": requirement["id"], "says": requirement["text"]}
            for requirement in inputs["requirements"]
        ]
    }
