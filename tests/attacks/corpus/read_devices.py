"""Opens what may stand in /dev, /sys and elsewhere: memory, disks, terminals, shared memory, accounts, logs.

Must: null and urandom are there, and nothing else.
Points: 0, 2
Seen: TOLD ['null', 'urandom'] {'ENOENT'}
"""
# %% start
names = "mem kmem port sda vda fuse kvm tty console ptmx pts/0 shm mqueue fd/3 stdin loop0 net/tun kmsg userfaultfd".split()
paths = [f"/dev/{name}" for name in names] + ["/sys", "/sys/fs/cgroup", "/run", "/var", "/etc/passwd"]
tell(sorted(os.listdir("/dev")), {tried(lambda: os.open(path, os.O_RDONLY)) for path in paths})
