"""Communication between the grader and a notebook's process, while the process has time left."""

from __future__ import annotations

import hashlib
import os
import select
import socket
from collections.abc import Iterator

from grader.inside.frames import Frame, FrameReader
from grader.running.meter import Meter


class TooMuchError(Exception):
    """A child wrote more than allowed."""


class Frames:
    """Frames from a descriptor, as they come, until its other end is closed; at most `most` bytes in total.

    Iterating raises OutOfTimeError, StarvedError, CodecError, and TooMuchError.
    """

    def __init__(self, descriptor: int, meter: Meter, most: int) -> None:
        self._descriptor = descriptor
        self._meter = meter
        self._most = most
        self.reader = FrameReader()
        self._read = hashlib.sha256()

    @property
    def digest(self) -> bytes:
        """Of all bytes that were read."""
        return self._read.digest()

    def __iter__(self) -> Iterator[Frame]:
        total = 0
        while True:
            self._meter.wait(self._descriptor, select.POLLIN)
            data = os.read(self._descriptor, 1 << 16)
            if not data:
                return
            total += len(data)
            if total > self._most:
                raise TooMuchError
            self._read.update(data)
            yield from self.reader.feed(data)


def send(line: socket.socket, data: bytes, meter: Meter) -> None:
    """Send all data to a process, which must read it within its time."""
    rest = memoryview(data)
    while rest:
        meter.wait(line.fileno(), select.POLLOUT)
        rest = rest[line.send(rest) :]


def is_readable(line: socket.socket) -> bool:
    """Whether there is unread data. Sets the socket to non-blocking. (A closed end is noticed when sending.)"""
    line.setblocking(False)
    try:
        return bool(line.recv(1, socket.MSG_PEEK))
    except BlockingIOError:
        return False
