"""Fourth agent: calls every function of the module. It takes the time it is told to take, longer than its limit at first."""

import time


def main(inputs):
    names = {}
    exec(compile(inputs["source"], "module.py", "exec"), names)
    results = [{"function": name, "passed": "answers" in names[name]()} for name in inputs["functions"]]
    time.sleep(inputs["takes_s"])
    return {"passed": all(result["passed"] for result in results), "results": results}
