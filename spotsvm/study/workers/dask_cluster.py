"""Dask clusters: the client in use, and the connection to a scheduler at an address."""

from __future__ import annotations

import logging
import warnings
from typing import Any

from spotsvm.errors import ArgumentError, WorkersError

_log = logging.getLogger(__name__)


def is_dask(executor: Any) -> bool:
    """Return whether an executor is a Dask client or "dask", without importing Dask."""
    if isinstance(executor, str):
        return executor == "dask"
    return any(kind.__name__ == "Client" and kind.__module__.split(".")[0] == "distributed" for kind in type(executor).__mro__)


def dask_client(executor: Any) -> Any:
    """Return the Dask client that is given, or for "dask" the current one; raise ArgumentError if it cannot be used."""
    client = executor
    if isinstance(executor, str):
        distributed = _distributed('executor="dask"')
        try:
            client = distributed.Client.current()
        except ValueError as error:
            raise ArgumentError(
                'executor="dask" needs a client in use, and there is none; create one with distributed.Client(...), or pass one'
            ) from error
    if client.asynchronous:
        raise ArgumentError(
            f"executor={client!r} is an asynchronous client, which works only where it is awaited; use Client(...) without "
            "asynchronous=True"
        )
    if client.status != "running":
        raise ArgumentError(f"executor={client!r} is {client.status}; use a client that is connected to a scheduler")
    return client


def _distributed(wanted_by: str) -> Any:
    try:
        import distributed
    except ImportError as error:
        raise ArgumentError(f'{wanted_by} needs Dask; install it by pip install "spotsvm[dask]"') from error
    return distributed


def connect(address: str, name: str, *, security: Any = None, timeout: float | str | None = None) -> Any:
    """Open a client that does not become the default client.

    `name` is the argument or option that gave the address, for messages, and `timeout` as Dask takes it. Raises ArgumentError if
    Dask is not installed or the address is not valid, and WorkersError if no scheduler answers there.
    """
    distributed = _distributed(name)
    options: dict[str, Any] = {} if timeout is None else {"timeout": timeout}
    try:
        _check_address(address)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            client = distributed.Client(address, security=security, set_as_default=False, name="spotsvm", **options)
    except (TypeError, ValueError) as error:
        raise ArgumentError(
            f"{name} {address!r} is not the address of a Dask scheduler: {error}; use one such as tcp://host:8786"
        ) from error
    except (OSError, ImportError) as error:  # a timeout is an OSError
        raise WorkersError(f"{name} {address}: no Dask scheduler answers there ({type(error).__name__}: {error})") from error
    for warning in caught:
        if type(warning.message).__name__ == "VersionMismatchWarning":
            _log.warning("%s %s: %s", name, address, _differences(client))
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return client


def _check_address(address: str) -> None:
    """Raise ValueError for an invalid address, at which a client would try to close for half a minute."""
    from distributed.comm.addressing import get_address_host_port, parse_address
    from distributed.comm.registry import get_backend

    scheme, _ = parse_address(address, strict=True)
    get_backend(scheme)
    if scheme in ("tcp", "tls", "ucx", "ws", "wss"):
        get_address_host_port(address, strict=True)


def _differences(client: Any) -> str:
    """Return one line on the versions that differ between this process, the scheduler and the workers."""
    versions = client.get_versions()
    here = versions["client"]["packages"]
    there = {"the scheduler": versions["scheduler"], **versions["workers"]}
    differing = [
        f"{package} {other['packages'].get(package)} at {place} (here {version})"
        for place, other in there.items()
        for package, version in here.items()
        if other["packages"].get(package) != version
    ]
    more = f" and {len(differing) - 5} more" if len(differing) > 5 else ""
    return f"versions differ, and trials may fail: {', '.join(differing[:5])}{more}"
