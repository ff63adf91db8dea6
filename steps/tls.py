"""How we trust a server's certificate. For bodies only."""

import ssl
from functools import cache

import certifi


@cache
def tls_context() -> ssl.SSLContext:
    """One for the life of the child: reading the certificates takes 20 ms. The system's own authorities count too."""
    context = ssl.create_default_context(cafile=certifi.where())
    context.load_default_certs()
    return context
