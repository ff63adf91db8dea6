"""Pawl's settings, one file. Every variable of the environment is read here, through config.env."""

from hashlib import sha256
from pathlib import Path

from csp.constants import NONCE, NONE, SELF

from config import env

BASE_DIR = Path(__file__).resolve().parent.parent
STATE_DIR = env.path("PAWL_STATE_DIR", BASE_DIR / ".pawl")  # what `make run` keeps between starts

# ------------------------------------------------------------------ Django
DEBUG = False
SECRET_KEY = env.text("PAWL_SECRET_KEY")
ALLOWED_HOSTS = env.words("PAWL_ALLOWED_HOSTS", "127.0.0.1,localhost,[::1]")
TRUSTED_PROXIES = env.number("PAWL_TRUSTED_PROXIES", 0)  # how many proxies stand in front and set X-Forwarded-*
HTTPS = env.flag("PAWL_HTTPS", default=False)  # people reach Pawl by https only
CSRF_TRUSTED_ORIGINS = env.words("PAWL_TRUSTED_ORIGINS")
INSTALLED_APPS = [
    "daphne",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "rest_framework",
    "drf_spectacular",
    "allauth",
    "allauth.account",
    "django_dramatiq",
    "teams",
    "builder.workflows",
    "builder.connections",
    "runs",
    "sample",
    "config",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "config.static_files.StaticFiles",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
]
ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
                "config.shell.style_tokens",
            ],
        },
    }
]
PGBOUNCER = env.flag("PAWL_PGBOUNCER", default=False)  # PostgreSQL is reached through one, in transaction mode
TIMEOUTS = "-c lock_timeout=10s -c statement_timeout=30s -c idle_in_transaction_session_timeout=30s"
DATABASES = {
    "default": {
        **env.database("DATABASE_URL"),
        "DISABLE_SERVER_SIDE_CURSORS": PGBOUNCER,
        "CONN_MAX_AGE": 0,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {
            "pool": {"min_size": 1, "max_size": env.number("PAWL_POOL_SIZE", 8, least=1), "timeout": 10},
            **({} if PGBOUNCER else {"options": TIMEOUTS}),  # else PgBouncer's connect_query says it
        },
        "TEST": {"NAME": env.text("PAWL_TEST_DATABASE", "pawl_test")},
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "teams.User"
LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
STATIC_URL = "/static/"
STATIC_ROOT = STATE_DIR / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedStaticFilesStorage"},
}
WHITENOISE_ALLOW_ALL_ORIGINS = False
WHITENOISE_USE_FINDERS = not STATIC_ROOT.is_dir()  # without `collectstatic`: straight from where the files are
STATICFILES_DIRS = [path for path in [BASE_DIR / "frontend" / "dist"] if path.exists()]

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": env.text("PAWL_LOG_LEVEL", "INFO")},
    "loggers": {"django": {"handlers": [], "level": "INFO", "propagate": True}},
}

# ------------------------------------------------------------------ safe by default
# Two installations on one machine share the cookies of 127.0.0.1 (cookies know no port): the session's is named apart.
SESSION_COOKIE_NAME = f"pawl_session_{sha256(SECRET_KEY.encode()).hexdigest()[:8]}"
# Where others reach this installation: what links in mails and callbacks begin with.
PUBLIC_URL = env.text("PAWL_PUBLIC_URL", "http://127.0.0.1:8000").rstrip("/")
SESSION_COOKIE_AGE = 14 * 24 * 3600
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^healthz$"]
SECURE_HSTS_SECONDS = env.number("PAWL_HSTS_S", 0)
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_SECONDS > 0
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if TRUSTED_PROXIES else None
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CSRF_FAILURE_VIEW = "config.errors.csrf_failed"
DATA_UPLOAD_MAX_MEMORY_SIZE = env.number("PAWL_BODY_LIMIT_BYTES", 10 * 1024 * 1024, least=1024)
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF, NONCE],
        "style-src": [SELF, NONCE],
        "img-src": [SELF, "data:", "blob:"],
        "font-src": [SELF, "data:"],  # the build writes small fonts into its style sheets
        "connect-src": [SELF],
        "worker-src": [SELF, "blob:"],
        "manifest-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    },
}

# ------------------------------------------------------------------ signing in, by django-allauth
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
LOGIN_URL = "/accounts/login/"
LOGIN_REDIRECT_URL = "/"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
ACCOUNT_ADAPTER = "teams.adapter.AccountAdapter"
ACCOUNT_LOGOUT_REDIRECT_URL = LOGIN_URL
ACCOUNT_SESSION_REMEMBER = True
ALLAUTH_TRUSTED_PROXY_COUNT = TRUSTED_PROXIES  # rate limits count by the address that the nearest trusted one saw
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*", "password2*"]
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_EMAIL_VERIFICATION = "none"

# ------------------------------------------------------------------ Pawl's own mail (not what steps send)
EMAIL_HOST = env.text("PAWL_SMTP_HOST", "")  # empty: no mail, and no pages that need it
EMAIL_PORT = env.number("PAWL_SMTP_PORT", 587, least=1)
EMAIL_HOST_USER = env.text("PAWL_SMTP_USER", "")
EMAIL_HOST_PASSWORD = env.text("PAWL_SMTP_PASSWORD", "")
EMAIL_USE_TLS = env.flag("PAWL_SMTP_STARTTLS", default=True)
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.text("PAWL_MAIL_FROM", "pawl@localhost")

# ------------------------------------------------------------------ API
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["teams.api.authentication.SessionAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["teams.api.parsing.StrictJSONParser"],
    "EXCEPTION_HANDLER": "config.errors.handle",
    "UNICODE_JSON": False,  # a lone surrogate of somebody's data can be written as \\ud800 only
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Pawl",
    "DESCRIPTION": "What Pawl's own pages use. Errors are RFC 9457 problems with a stable `code`.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api",
    "COMPONENT_SPLIT_REQUEST": False,
    "ENUM_NAME_OVERRIDES": {
        "RunStatus": "runs.api.shapes.RUN_STATUSES",
        "StepStatus": "runs.api.shapes.STEP_STATUSES",
        "TriggerKind": "runs.api.trigger_shapes.TRIGGER_KINDS",
        "FiringStatus": "runs.api.trigger_shapes.FIRING_STATUSES",
        "NodeFateAction": "runs.api.recovery_shapes.FATES",
        "OutcomeDecision": "runs.api.shapes.DECISIONS",
        "DoctorState": "runs.api.doctor.STATES",
        "FailureState": ["open", "handled", "ignored"],
        "AlertEvent": "runs.alerts.shapes.EVENTS",
        "AlertDeliveryStatus": "runs.api.alert_shapes.DELIVERY_STATUSES",
        "BulkOperationName": "runs.api.bulk_shapes.OPERATION_NAMES",
        "WaitStatus": ["open", "answered", "expired", "closed"],
    },
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "GET_LIB_DOC_EXCLUDES": "config.openapi.told_to_us_alone",
    "ENUM_ADD_EXPLICIT_BLANK_NULL_CHOICE": False,
    "PREPROCESSING_HOOKS": ["config.openapi.only_the_api"],
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "config.openapi.add_problems",
        "config.openapi.add_live_messages",
    ],
}

# ------------------------------------------------------------------ Redis: wake-ups and hints, never truth
REDIS_URL = env.text("REDIS_URL")
BROKER_URL = env.text("BROKER_URL", "") or REDIS_URL  # of the wake-ups alone: amqp://... for RabbitMQ
REDIS_BROKER = {
    "BROKER": "runs.broker.DoorbellBroker",
    "OPTIONS": {
        "url": BROKER_URL,
        "namespace": "pawl",
        "heartbeat_timeout": 20_000,  # idle polls back off to 5 s: less than 15 s would take live workers for dead
        "maintenance_chance": 1_000_000,
    },
}
RABBIT_BROKER = {"BROKER": "runs.rabbit.RabbitBroker", "OPTIONS": {"url": BROKER_URL}}
DRAMATIQ_BROKER = {
    **(RABBIT_BROKER if BROKER_URL.startswith(("amqp:", "amqps:")) else REDIS_BROKER),
    # No retries, time limits or results: a message only wakes, the engine's tables decide (docs/architecture.md). No
    # age limit either: a worker whose clock is ahead would drop every wake-up.
    "MIDDLEWARE": [
        "django_dramatiq.middleware.DbConnectionsMiddleware",
        "runs.broker.Lifecycle",
    ],
}
DRAMATIQ_AUTODISCOVER_MODULES = ["actors"]
# No channel layer: the live sockets' hub listens to Redis itself, and goes on without it (promise P7).

# ------------------------------------------------------------------ Pawl
STORAGE_ROOT = env.path("PAWL_STORAGE_ROOT", STATE_DIR / "storage")  # one folder a workspace below it
ARTIFACT_ROOT = env.path("PAWL_ARTIFACT_ROOT", STATE_DIR / "artifacts")  # files that attempts made, by content
ARTIFACT_LIMIT_BYTES = env.number("PAWL_ARTIFACT_LIMIT_BYTES", 256 * 1024 * 1024, least=1024)
OUTBOUND_ALLOW = frozenset(env.words("PAWL_OUTBOUND_ALLOW"))  # 'host:port' that steps may reach although private
# Where a lower room asks a higher one: names of functions, so that neither imports the other.
CONNECTION_USERS = "builder.workflows.selectors.using_connection"
LAST_RUNS = "runs.selectors.runs.last_runs"  # (workflow ids) -> {workflow id: LastRun}
ENCRYPTION_KEYS = env.words("PAWL_ENCRYPTION_KEYS")  # Fernet keys, the newest first

# ------------------------------------------------------------------ the sample's outside world
SAMPLE_HTTP = env.text("PAWL_SAMPLE_HTTP", "127.0.0.1:8765")  # its API, policy service and storage
SAMPLE_SMTP = env.text("PAWL_SAMPLE_SMTP", "127.0.0.1:8766")  # its mail server, whose mails the mailbox page shows
SAMPLE_STATE = env.path("PAWL_SAMPLE_STATE", STATE_DIR / "sample")
SAMPLE_DATABASE_URL = env.text("PAWL_SAMPLE_DATABASE_URL", "")  # of its purchase orders; made or replaced where empty
DEMO_PASSWORD = env.text("PAWL_DEMO_PASSWORD", "")  # read by `manage.py seed_demo` alone
WORKER_QUEUES = env.words("PAWL_WORKER_QUEUES", "default")  # the lanes that this host's workers serve
CALLBACK_LIMIT_BYTES = env.number("PAWL_CALLBACK_LIMIT_BYTES", 1024 * 1024, least=1024)
OUTPUT_LIMIT_BYTES = env.number("PAWL_OUTPUT_LIMIT_BYTES", 16 * 1024 * 1024, least=1024)
RETENTION_DAYS = env.number("PAWL_RETENTION_DAYS", 0)  # of final runs, where their workspace does not say; 0: for ever
LOG_LIMIT_BYTES = env.number("PAWL_LOG_LIMIT_BYTES", 1024 * 1024, least=1024)
# How long a worker may take to stop (Dramatiq is told the same). Running bodies may go on until a second before its
# end, then their steps are given back.
OLDEST_TRANSACTION_S = env.number("PAWL_OLDEST_TRANSACTION_S", 300, least=1)  # an older one is told by /api/health
DRAIN_MS = env.number("PAWL_DRAIN_MS", 30_000, least=1_000)
DRAIN_S = DRAIN_MS / 1000 - min(1.0, DRAIN_MS / 2000)
WORKER_THREADS = env.number("PAWL_WORKER_THREADS", 4, least=1)  # told to whoever looks at the fleet
