"""Both servers of the sample in one process: the outside world that the sample's workflow talks to."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from sample.documents import make_documents
from sample.smtp import mail_server
from sample.state import Address, SampleState
from sample.web import web_server


@contextmanager
def running_services(state: SampleState, *, http: Address, smtp: Address) -> Iterator[None]:
    """The documents are there and both servers answer while the block runs."""
    make_documents(state.documents)
    web = web_server(http, state)
    thread = threading.Thread(target=web.serve_forever, kwargs={"poll_interval": 0.1}, name="sample-web", daemon=True)
    mail = mail_server(smtp, state)
    thread.start()
    try:
        mail.start()
        try:
            yield
        finally:
            mail.stop()
    finally:
        web.shutdown()
        web.server_close()


def serve(state: SampleState, *, http: Address, smtp: Address, say: Callable[[str], None]) -> None:
    """Serves until SIGTERM or SIGINT."""
    stop = threading.Event()

    def on_signal(number: int, frame: FrameType | None) -> None:
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, on_signal)
    with running_services(state, http=http, smtp=smtp):
        say(f"The sample's API and storage listen on http://{http}, its mailbox on smtp://{smtp}.")
        stop.wait()
