"""The world outside Pawl: an API that a workflow calls, which can be broken, mended and made slow."""

import json
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# More than a JavaScript number holds: it must reach the screen and come back as it is.
LONG_INTEGER = 7615917337495251231
LONGEST_WAIT_S = 50.0


class Outside:
    def __init__(self) -> None:
        outside = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outside.answer(self)

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"] or 0))
                outside.answer(self)

            def log_message(self, *args: Any) -> None:
                """Quiet."""

        self.broken: set[str] = set()  # paths that answer 503
        self.delay_s = 0.0
        self.is_open = threading.Event()  # cleared: whoever asks waits until it is set
        self.is_open.set()
        self.asked: Counter[str] = Counter()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._server.server_address[1]}"

    def mend(self) -> None:
        self.broken.clear()
        self.delay_s = 0.0
        self.is_open.set()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join(5)
        self._server.server_close()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        path = request.path.partition("?")[0]
        self.asked[path] += 1
        time.sleep(self.delay_s)
        self.is_open.wait(LONGEST_WAIT_S)
        is_broken = path in self.broken
        body = {"error": "the warehouse is closed"} if is_broken else {"amount": 900, "order": LONG_INTEGER}
        content = json.dumps(body).encode()
        request.send_response(503 if is_broken else 200)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        request.wfile.write(content)
