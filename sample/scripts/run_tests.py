# Call every function of the module; takes as long as it is told

import time


def main(inputs):
    names = {}
    exec(compile(inputs["source"], "module.py", "exec"), names)  # noqa: S102 - the sandbox is for that
    results = [{"function": name, "passed": "answers" in names[name]()} for name in inputs["functions"]]
    time.sleep(inputs["takes_s"])
    return {"passed": all(result["passed"] for result in results), "results": results}
