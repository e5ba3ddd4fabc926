# SPDX-License-Identifier: Apache-2.0
"""A debugger's stop, for tests: seizes and interrupts all threads of a process, says so, lets go when its input ends.

    python tracer.py PID
"""

import ctypes
import os
import sys

PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_DETACH = 0x4206, 0x4207, 17
WALL = 0x40000000

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


def ptrace(request, tid):
    if libc.ptrace(request, tid, None, None) != 0:
        raise OSError(ctypes.get_errno(), f"ptrace {request} of {tid}")


tids = [int(tid) for tid in os.listdir(f"/proc/{sys.argv[1]}/task")]
for tid in tids:
    ptrace(PTRACE_SEIZE, tid)
    ptrace(PTRACE_INTERRUPT, tid)
    os.waitpid(tid, WALL)
print("stopped", flush=True)
sys.stdin.read()
for tid in tids:
    ptrace(PTRACE_DETACH, tid)
