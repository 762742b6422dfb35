# SPDX-License-Identifier: Apache-2.0
"""Runs a command on its own terminal and forwards the output; ends with the command's exit code.

    python3 on-terminal.py COMMAND ARGUMENTS...

Lines on standard input: `stop` and `go` are Ctrl-S and Ctrl-Q, `interrupt` is Ctrl-C.
"""

import os
import pty
import select
import signal
import sys
import termios

KEYS = {b"stop": termios.TCOOFF, b"go": termios.TCOON}

terminal, own_end = pty.openpty()
child = os.fork()
if child == 0:
    os.close(terminal)
    # Opening it makes it the new session's terminal.
    os.setsid()
    os.close(os.open(os.ttyname(own_end), os.O_RDWR))
    for standard in range(3):
        os.dup2(own_end, standard)
    os.execvp(sys.argv[1], sys.argv[1:])
os.write(1, b"pid %d\n" % child)
sources = [0, terminal]
while True:
    ready, _, _ = select.select(sources, [], [], 0.1)
    if terminal in ready:
        try:
            os.write(1, os.read(terminal, 65536))
        except OSError:
            sources.remove(terminal)
    if 0 in ready:
        keys = os.read(0, 4096)
        if keys == b"":
            sources.remove(0)
        for key in keys.split():
            if key in KEYS:
                termios.tcflow(own_end, KEYS[key])
            elif key == b"interrupt":
                os.kill(child, signal.SIGINT)
    ended, status = os.waitpid(child, os.WNOHANG)
    if ended:
        sys.exit(os.waitstatus_to_exitcode(status))
