"""Reaches for the kernel's wider surface: io_uring, userfaultfd, bpf, perf, keyrings, personality, modules, time.

Must: all refused by the list of calls.
Points: 0, 2
Seen: TOLD ['EPERM']
"""
# %% start
zero = ctypes.create_string_buffer(256)
names = """
io_uring_setup userfaultfd bpf perf_event_open keyctl add_key request_key personality memfd_create memfd_secret
init_module finit_module kexec_load reboot syslog acct settimeofday sethostname setdomainname iopl ioperm vhangup
landlock_create_ruleset listmount statmount pidfd_open process_madvise vmsplice kcmp sched_setaffinity setpriority
sched_setscheduler
""".split()
arguments = {"io_uring_setup": (4, zero), "bpf": (0, zero, 72), "perf_event_open": (zero, 0, -1, -1, 0), "keyctl": (0, -3, 1)}
results = {name: tried(lambda: syscall(name, *arguments.get(name, (0, 0, 0, 0, 0)))) for name in names if CALLS[name] >= 0}
tell(sorted(set(results.values())))
"EPERM" == "".join(set(results.values())) or tell(results)
