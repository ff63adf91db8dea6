"""Static files by whitenoise, fitted to an ASGI server and to Vite's file names."""

from pathlib import Path
from typing import Any

from django.http import HttpRequest, HttpResponse
from whitenoise.middleware import WhiteNoiseMiddleware  # type: ignore[import-untyped]


class StaticFiles(WhiteNoiseMiddleware):  # type: ignore[misc]
    def add_files(self, root: str, prefix: str | None = None) -> None:
        """Without `collectstatic` (tests, first start) there is no such folder, and the finders serve instead."""
        if Path(root).is_dir():
            super().add_files(root, prefix)

    def immutable_file_test(self, path: str, url: str) -> bool:
        """Vite puts a hash of the content into every name below assets/: browsers may keep those for ever."""
        return url.startswith(f"{self.static_prefix}assets/")

    @staticmethod
    def serve(static_file: Any, request: HttpRequest) -> HttpResponse:
        """Whole, not as a stream of a plain file: Django warns of those under ASGI, and our files are small."""
        found = static_file.get_response(request.method, request.META)
        content = b""
        if found.file is not None:
            with found.file:
                content = found.file.read()
        response = HttpResponse(content, status=int(found.status))
        del response["content-type"]
        for name, value in found.headers:
            response[name] = value
        return response
