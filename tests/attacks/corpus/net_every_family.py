"""Opens sockets of every family and kind: TCP, UDP, unix, netlink, raw, packet, vsock; pairs and servers; looks up names.

Must: no socket can be made at all.
Points: 0, 2
Seen: TOLD ['EPERM', 'EPERM'] gaierror
"""
# %% start
families = {getattr(socket, name) for name in dir(socket) if name.startswith("AF_")}
results = {tried(lambda: socket.socket(family, kind)) for family in families for kind in (1, 2, 3, 5)}
pairs = {tried(lambda: socket.socketpair(socket.AF_UNIX, kind)) for kind in (1, 2, 5)}
tell(sorted([*results, *pairs]), tried(lambda: socket.getaddrinfo("example.org", 80)))
# %% rnn_step
def rnn_step(**inputs):
    return tried(lambda: socket.create_connection(("127.0.0.1", 80), 1))
