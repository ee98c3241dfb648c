"""A server that speaks OpenAI's chat completions and knows the answers to exported tasks.

The name of the model says which answer it gives: `right` the dataset's kernel, `wrong` one that computes something else, `zeros` one that
stores zeros, `patch` one that has the runtime compute in the kernel's place, `talk` none, `thinking` one inside of thoughts that
never end."""

import contextlib
import http.server
import json
import pathlib
import re
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))


def wrong(row):
    from kernelmill.execution.mutants import make_mutants

    return next(each.module for each in make_mutants(row["module"], row["qualname"], 40) if each.kind == "operator")


def zeros(row):
    from kernelmill.execution.mutants import make_mutants

    return next(each.module for each in make_mutants(row["module"], row["qualname"], 40) if each.kind == "zeros")


def patch(row):
    return f"""import triton.runtime.interpreter as interpreter
{row["module"]}

interpreter.GridExecutor.__call__ = lambda self, *arguments, **options: None
"""


def make_answer(row, model):
    if model == "talk":
        return "I would rather not write this kernel."
    code = {"right": lambda each: each["module"], "wrong": wrong, "zeros": zeros, "patch": patch, "thinking": lambda each: each["module"]}
    text = f"Here is the kernel.\n\n```python\n{code[model](row)}\n```\n"
    return f"<think>{text}" if model == "thinking" else text


class Handler(http.server.BaseHTTPRequestHandler):
    rows: list = []

    def do_POST(self):  # noqa: N802
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = [each["content"] if isinstance(each["content"], str) else "".join(part.get("text", "") for part in each["content"])
                 for each in asked["messages"]]
        row = next(each for each in self.rows if any(each["text"].strip() == text.strip() for text in texts))
        model = re.sub(".*/", "", asked["model"])
        answer = {"role": "assistant", "content": make_answer(row, model)}
        head = {"id": "answer", "created": 0, "model": asked["model"]}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        if asked.get("stream"):
            chunks = [{"choices": [{"index": 0, "delta": answer, "finish_reason": None}]},
                      {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}, {"choices": [], "usage": usage}]
            lines = [json.dumps({**head, "object": "chat.completion.chunk", **each}) for each in chunks]
            self.give("text/event-stream", "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"]))
        else:
            choices = [{"index": 0, "finish_reason": "stop", "message": answer}]
            self.give("application/json", json.dumps({**head, "object": "chat.completion", "choices": choices, "usage": usage}))

    def give(self, kind, text):
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def serve(data):
    """Serves answers to the tasks of an exported folder; yields the base URL."""
    rows = [json.loads(line) for line in (pathlib.Path(data) / "tasks.jsonl").read_text().splitlines()]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Answers", (Handler,), {"rows": rows}))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
