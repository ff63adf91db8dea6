"""Fourth agent: calls every function of the module. It takes as long as it is told, at first longer than its limit."""

import time


def main(inputs):
    names = {}
    exec(compile(inputs["source"], "module.py", "exec"), names)  # noqa: S102 - the sandbox is for that
    results = [{"function": name, "passed": "answers" in names[name]()} for name in inputs["functions"]]
    time.sleep(inputs["takes_s"])
    return {"passed": all(result["passed"] for result in results), "results": results}
