#!/usr/bin/env python3
"""Lists what the Swift tasks of a process wait for, each with its chain of awaiting functions (Linux, x86-64 and arm64).

    Tools/Scripts/async_tasks.py PID

A suspended task has no thread, so that no debugger shows it. This script finds the tasks in the memory of the process
by their metadata, and follows their contexts: a context begins with its parent and the function that resumes it.
Tasks that have ended and are still referenced are listed as well. Without rights to read the memory it says so.
"""

import bisect
import collections
import pathlib
import re
import struct
import subprocess
import sys

# AsyncTask in swift/ABI/Task.h: the function to resume with, and its context.
RESUME, CONTEXT = 56, 64
LONGEST = 60


class Process:
    def __init__(self, pid):
        self.memory = open(f"/proc/{pid}/mem", "rb", buffering=0)
        self.maps = []
        for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
            match = re.match(r"([0-9a-f]+)-([0-9a-f]+) (\S+) ([0-9a-f]+) \S+ \d+\s*(.*)", line)
            start, end, rights, offset, path = match.groups()
            self.maps.append((int(start, 16), int(end, 16), rights, int(offset, 16), path))

    def read(self, address, size):
        try:
            self.memory.seek(address)
            return self.memory.read(size)
        except (OSError, ValueError, OverflowError):
            return b""

    def word(self, address):
        data = self.read(address, 8)
        return struct.unpack("<Q", data)[0] if len(data) == 8 else None

    def base(self, path):
        return min(start - offset for start, _, _, offset, name in self.maps if name == path)

    def writable(self):
        """The parts of memory that hold objects."""
        for start, end, rights, _, path in self.maps:
            if rights.startswith("rw") and (not path or path == "[heap]"):
                yield start, self.read(start, end - start)


def symbols(path, base):
    found = {}
    for line in subprocess.run(["nm", path], capture_output=True, text=True, check=False).stdout.splitlines():
        parts = line.split()
        if len(parts) == 3:
            found[int(parts[0], 16) + base] = parts[2]
    return found


def main():
    pid = sys.argv[1]
    process = Process(pid)
    program = str(pathlib.Path(f"/proc/{pid}/exe").readlink())
    paths = {name for *_, name in process.maps}
    libraries = [path for path in paths if path.endswith("/libswift_Concurrency.so")]
    # The metadata is a symbol of the concurrency library, which a static program contains.
    names, metadata = {}, None
    for path in [program, *libraries]:
        found = symbols(path, process.base(path))
        names |= found
        for address, name in found.items():
            if name == "_ZN5swift19taskHeapMetadataPtrE":
                metadata = process.word(address)
    if not metadata:
        sys.exit("The process has no Swift tasks, or its memory cannot be read.")
    addresses = sorted(names)

    def symbol(address):
        place = bisect.bisect_right(addresses, address or 0) - 1
        return names[addresses[place]] if place >= 0 and address - addresses[place] < 0x4000 else None

    pattern, chains = struct.pack("<Q", metadata), collections.Counter()
    for start, data in process.writable():
        place = data.find(pattern)
        while place >= 0:
            if place % 8 == 0:
                task = start + place
                chain, context = [symbol(process.word(task + RESUME))], process.word(task + CONTEXT)
                while context and chain[-1] and len(chain) < LONGEST:
                    chain.append(symbol(process.word(context + 8)))
                    context = process.word(context)
                chain = tuple(name for name in chain if name)
                # Two functions at least: less is not a task that waits.
                if len(chain) > 1:
                    chains[chain] += 1
            place = data.find(pattern, place + 1)

    mangled = sorted({name for chain in chains for name in chain})
    plain = subprocess.run(["swift", "demangle", "--simplified"], input="\n".join(mangled), capture_output=True,
                           text=True, check=True).stdout.splitlines()
    plain = dict(zip(mangled, plain))
    for chain, count in sorted(chains.items(), key=lambda item: (item[1], -len(item[0]))):
        print(f"\n{count} task{'' if count == 1 else 's'} in")
        shown = [plain[name] for name in chain if not re.match(r"partial apply|thunk for", plain[name])]
        print(*(f"    {name[:200]}" for name in dict.fromkeys(shown)), sep="\n")


if __name__ == "__main__":
    main()
