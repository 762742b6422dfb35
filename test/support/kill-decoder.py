# SPDX-License-Identifier: Apache-2.0
"""Waits until a decoder thread of the server works on a file, and kills it by SIGSEGV, like a decoder fault.

Usage: kill-decoder.py FOLDER, the folder `crashes` of the server's data folder. Prints the process that it killed.
"""

import ctypes
import glob
import os
import signal
import struct
import sys
import time

NOTE = struct.Struct("<Iii")
NOTE_BYTES = 64
WORKING = 1
SYS_TGKILL = {"x86_64": 234, "aarch64": 131}[os.uname().machine]

libc = ctypes.CDLL(None, use_errno=True)


def working_threads(path):
    """The threads that work on a file, found by their notes."""
    with open(path, "rb") as file:
        notes = file.read()
    found = (NOTE.unpack_from(notes, at) for at in range(NOTE_BYTES, len(notes), NOTE_BYTES))
    return [thread for state, thread, _ in found if state == WORKING]


def is_stopped(process, thread):
    with open(f"/proc/{process}/task/{thread}/stat") as file:
        return file.read().rsplit(")", 1)[1].split()[0] == "T"


def end_at_work(process, thread, path):
    """A thread that keeps running may finish its file before the signal arrives."""
    os.kill(process, signal.SIGSTOP)
    try:
        while not is_stopped(process, thread):
            time.sleep(0.001)
        if thread not in working_threads(path):
            return False
        return libc.syscall(SYS_TGKILL, process, thread, signal.SIGSEGV) == 0
    finally:
        os.kill(process, signal.SIGCONT)


deadline = time.monotonic() + 100
while time.monotonic() < deadline:
    for path in glob.glob(os.path.join(sys.argv[1], "*.notes")):
        process = int(os.path.basename(path).split(".")[0])
        try:
            if any(end_at_work(process, thread, path) for thread in working_threads(path)):
                print(process)
                sys.exit(0)
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended by itself, with its notes
sys.exit("No decoder was at work.")
