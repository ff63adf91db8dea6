"""Third agent: writes the module that the design asks for, and reads it back with Python's own parser."""

import ast


def main(inputs):
    parts = []
    for function in inputs["functions"]:
        parts.append(
            f"def {function['name']}():\n    {function['says']!r}\n    return {{'answers': {function['answers']!r}}}\n"
        )
    source = "\n\n".join(parts)
    tree = ast.parse(source)
    return {"source": source, "functions": [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]}
