# SPDX-License-Identifier: Apache-2.0
"""Waits until a decoder thread of the server works on a file, and ends it by SIGSEGV, as a decoder's fault would.

Usage: kill-decoder.py FOLDER, the folder `crashes` of the server's data folder. Prints the process that it ended.
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
deadline = time.monotonic() + 100
while time.monotonic() < deadline:
    for path in glob.glob(os.path.join(sys.argv[1], "*.notes")):
        process = int(os.path.basename(path).split(".")[0])
        with open(path, "rb") as file:
            notes = file.read()
        for at in range(NOTE_BYTES, len(notes), NOTE_BYTES):
            state, thread, _ = NOTE.unpack_from(notes, at)
            if state != WORKING:
                continue
            if libc.syscall(SYS_TGKILL, process, thread, signal.SIGSEGV) == 0:
                print(process)
                sys.exit(0)
sys.exit("No decoder was at work.")
