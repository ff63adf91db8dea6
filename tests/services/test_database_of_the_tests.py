import pytest
import redis


@pytest.mark.django_db
def test_the_tests_talk_to_a_real_postgresql() -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("show server_version_num")
        assert int(cursor.fetchone()[0]) >= 180000


def test_the_tests_talk_to_a_real_redis(redis_url: str) -> None:
    with redis.Redis.from_url(redis_url) as client:
        assert client.set("a", "b")
        assert client.get("a") == b"b"
