"""Mounts, unmounts, moves its root: by the old calls and the new ones.

Must: all refused; what lies below its own disk and below /proc stays covered.
Points: 0, 2
Seen: TOLD ['EPERM'] ENOENT
"""
# %% start
null, here = b"none", b"/submission"
calls = [
    ("mount", null, here, b"proc", 0, 0),
    ("mount", null, b"/proc", null, 32, 0),
    ("umount2", b"/proc", 2),
    ("umount2", here, 2),
    ("pivot_root", here, here),
    ("chroot", here),
    ("open_tree", -100, b"/", 1),
    ("move_mount", -100, here, -100, b"/proc", 0),
    ("fsopen", b"tmpfs", 0),
    ("fsmount", 3, 0, 0),
    ("mount_setattr", -100, b"/", 0x8000, struct.pack("<4Q", 0, 1, 0, 0), 32),
    ("open_by_handle_at", 3, ctypes.create_string_buffer(128), 0),
    ("name_to_handle_at", -100, b"/", ctypes.create_string_buffer(128), ctypes.create_string_buffer(8), 0),
    ("swapon", here, 0),
    ("quotactl", 0, here, 0, 0),
]
tell(sorted({tried(lambda: syscall(*call)) for call in calls}), tried(lambda: os.stat("/proc/self")))
