import socket

from config.services.ports import LOOPBACK, accepts, free_port, is_free, reserve


def test_a_port_that_somebody_listens_on_is_not_free_and_another_is_given() -> None:
    with socket.create_server((LOOPBACK, 0)) as other:
        port = other.getsockname()[1]
        assert not is_free(port)
        assert accepts(port)
        assert free_port([port]) != port


def test_a_preferred_port_is_given_when_it_is_free() -> None:
    port = free_port()
    assert free_port([port]) == port
    assert free_port([port], taken=[port]) != port


def test_a_listener_on_all_addresses_also_takes_the_port() -> None:
    with socket.create_server(("0.0.0.0", 0)) as other:
        assert not is_free(other.getsockname()[1])


def test_a_reserved_port_is_kept_until_it_is_given_back() -> None:
    port = free_port()
    keeper = reserve(port)
    assert keeper is not None
    assert reserve(port) is None
    keeper.close()
    again = reserve(port)
    assert again is not None
    again.close()
