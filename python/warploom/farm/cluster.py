"""The connection to a cluster."""

from __future__ import annotations

import logging
import signal
import threading
from contextlib import contextmanager
from typing import Any, Iterator

from .errors import Error, need


@contextmanager
def connect(client: Any, workers: int) -> Iterator[Any]:
    """Gives a `distributed.Client`: the client itself, one for an address, or a local cluster's."""
    need("dask")
    distributed = need("distributed")
    if client is None:
        with _without_interrupts():
            cluster = distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                dashboard_address=":0",
                silence_logs=logging.CRITICAL,
                # One death is enough: the batch then runs in child processes.
                scheduler_kwargs={"allowed_failures": 0},
            )
        with cluster, distributed.Client(cluster, set_as_default=False) as own:
            yield own
    elif isinstance(client, str):
        addressing = need("distributed.comm.addressing")
        registry = need("distributed.comm.registry")
        try:
            # A client for an unknown kind of address does not end.
            registry.get_backend(addressing.parse_address(client)[0])
            own = distributed.Client(client, set_as_default=False)
        except (OSError, ValueError) as error:
            raise Error(
                f"{client}: no scheduler answers; expected an address as `dask scheduler` prints "
                f"it, such as tcp://host:8786 ({error})"
            ) from error
        with own:
            yield own
    else:
        yield client


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Makes processes that start here ignore Ctrl-C, which this process handles for them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
