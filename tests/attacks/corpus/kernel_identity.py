"""Tries to change its user, groups, capabilities and session, and to run a program that can.

Must: it has no capability, can get none, and runs no program.
Points: 0, 2
Seen: TOLD ['EPERM'] 1000
"""
# %% start
import subprocess

calls = [("setuid", 0), ("setresuid", 0, 0, 0), ("setgroups", 0, 0), ("capset", struct.pack("Ii", 0x20080522, 0), b"\xff" * 24)]
calls += [("prctl", option, argument, 0, 0, 0) for option, argument in ((4, 1), (8, 1), (23, 0), (24, 0), (38, 0), (47, 2))]
results = {tried(lambda: syscall(*call)) for call in calls}
results |= {tried(lambda: subprocess.run(["/usr/bin/true"])), tried(lambda: os.execv(sys.executable, ["python"]))}
results |= {tried(lambda: syscall("execveat", -100, b"/usr/lib", 0, 0, 0)), tried(lambda: os.posix_spawn("/bin/sh", ["sh"], {}))}
tell(sorted(results), os.getuid())
