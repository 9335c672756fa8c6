"""Sends from the sockets that it has to other addresses, and hands descriptors over them.

Must: a pair's end speaks to its other end alone; no descriptor can be handed on.
Points: 0, 2
Seen: TOLD ['EPERM'] -1
"""
# %% start
address = struct.pack("<H", socket.AF_UNIX) + b"\0unrolled"
results = {tried(lambda: syscall("connect", number, address, len(address))) for number in SOCKETS}
results |= {tried(lambda: syscall(call, number, ctypes.create_string_buffer(56), 0)) for call in ("sendmsg", "recvmsg") for number in SOCKETS}
tell(sorted(results), libc.sendto(SOCKETS[1], b"\xff" * 100, 100, 0, address, len(address)))
