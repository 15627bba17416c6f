"""Times orjson.loads, or the standard library's json, on one file; prints the median seconds."""

import json
import statistics
import sys
import time

import orjson

library, path, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
load = {"orjson": orjson.loads, "json": json.loads}[library]
body = open(path, "rb").read()
seconds = []
for _ in range(rounds):
    start = time.perf_counter()
    load(body)
    seconds.append(time.perf_counter() - start)
print(json.dumps({"seconds": statistics.median(seconds)}))
