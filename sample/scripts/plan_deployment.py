# Say where the module may go: without a test result, no further than to the trial place


def main(inputs):
    tested = inputs["tests"]["passed"] is True
    return {
        "target": "production" if tested else "trial",
        "because": "all tests passed" if tested else inputs["tests"].get("note", "a test failed"),
        "functions": inputs["functions"],
    }
