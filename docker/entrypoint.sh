#!/bin/sh
# One image, one command a process: web | worker | sweeper | migrate. Anything else is run as it stands.
set -eu
cd "$(dirname "$0")/.."
PYTHON="${PAWL_PYTHON:-python}"

case "${1:-}" in
web)
    exec "$PYTHON" -m daphne -b "${PAWL_BIND:-0.0.0.0}" -p "${PAWL_PORT:-8000}" \
        --application-close-timeout 5 -v 0 config.asgi:application
    ;;
worker)
    # Fetched ahead, a short task would wait behind a long one.
    threads="${PAWL_WORKER_THREADS:-4}"
    export dramatiq_queue_prefetch="$threads" PAWL_WORKER_THREADS="$threads"
    exec "$PYTHON" -m dramatiq --processes "${PAWL_WORKER_PROCESSES:-1}" --threads "$threads" \
        --worker-shutdown-timeout "${PAWL_DRAIN_MS:-30000}" django_dramatiq.setup runs.actors
    ;;
sweeper)
    exec "$PYTHON" manage.py sweeper
    ;;
migrate)
    exec "$PYTHON" manage.py migrate --no-input
    ;;
"")
    echo "Say what this container is: web, worker, sweeper or migrate." >&2
    exit 64
    ;;
*)
    exec "$@"
    ;;
esac
