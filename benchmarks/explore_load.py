"""Load test of the `bilex explore` server: many clients translate random words as fast as they are answered.

    python benchmarks/explore_load.py RUN [--requests 5000] [--clients 32] [-n 10] [--json]
    python benchmarks/explore_load.py RUN --make-russian 200000
    python benchmarks/explore_load.py RUN --make-random 200000 --dim 300
    python benchmarks/explore_load.py RUN --review 500 [--corpus FILE]

Starts the server on the run, waits until its lexicon is ready (with `--no-wait` only until it can translate), warms it
up, and prints request times, errors, requests per second and, on Linux, processor time and resident memory of the
server before and after. The server caches 10 translations per word, so with `-n` above 10 every request is a search.
`--review` plays what the keys of one reviewer ask for, one after the other: decide, undo, filter, sort, search, turn
the page, accept 1,000 entries at once, and, with `--corpus`, look at examples. Half of the lexicon is accepted first.
`--make-russian` first writes a run: Russian vectors against other Russian vectors (`ru`, `ru-news`) with this many
words, aligned by Procrustes. `--make-random` does the same with random vectors.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from bilex import EmbeddingTable


def main() -> None:
    """Run the load test, and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--requests", type=int, default=5000)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("-n", type=int, default=10)
    parser.add_argument("--path", default="translate", choices=["translate", "explain", "map", "complete"])
    parser.add_argument("--review", type=int, metavar="ENTRIES")
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--no-wait", action="store_true")
    parser.add_argument("--make-russian", type=int, metavar="WORDS")
    parser.add_argument("--make-random", type=int, metavar="WORDS")
    parser.add_argument("--dim", type=int, default=300)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    if args.make_russian:
        make_russian(args.run, args.make_russian)
    elif args.make_random:
        make_random(args.run, args.make_random, args.dim)
    command = [sys.executable, "-m", "bilex", "explore", args.run, "--port", "0", "--no-open", "--json"]
    command += ["--corrections", Path(tempfile.mkdtemp()) / "corrections.sqlite"] if args.review else []
    command += ["--source-corpus", args.corpus, "--target-corpus", args.corpus] if args.corpus else []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            url = json.loads(server.stdout.readline())["url"]
            started = time.perf_counter()
            wait_until_ready(url, lexicon=not args.no_wait)
            measured = review(url, server.pid, args) if args.review else measure(url, server.pid, args)
            report = {"prepared in (s)": round(time.perf_counter() - started, 1)} | measured
        finally:
            server.terminate()
    print(json.dumps(report) if args.json else "\n".join(f"{name:30}{value}" for name, value in report.items()))


def measure(url: str, pid: int, args: argparse.Namespace) -> dict[str, object]:
    """Warm up the server, then send all requests."""
    words = EmbeddingTable.read(args.run / "source.safetensors").words
    chosen = random.Random(0).choices(words, k=args.requests)
    asyncio.run(load(url, paths(args.path, chosen[: args.clients * 4], args.n), args.clients))
    before, busy = resident(pid), processor_seconds(pid)
    started = time.perf_counter()
    times, errors = asyncio.run(load(url, paths(args.path, chosen, args.n), args.clients))
    seconds, busy = time.perf_counter() - started, processor_seconds(pid) - busy
    times.sort()
    return {
        "words": len(words),
        "request": f"{args.path}, n={args.n}",
        "requests": args.requests,
        "clients": args.clients,
        **{f"p{share} (ms)": round(1000 * percentile(times, share / 100), 1) for share in (50, 95, 99)},
        "slowest (ms)": round(1000 * times[-1], 1),
        "errors": errors,
        "requests per second": round(args.requests / seconds, 1),
        "processor time of each (ms)": round(1000 * busy / args.requests, 2),
        "resident before (MB)": before,
        "resident after (MB)": resident(pid),
    }


def review(url: str, pid: int, args: argparse.Namespace) -> dict[str, object]:
    """Play a review, and measure each kind of request: median, 95th percentile, mean processor time of the server."""
    words, rng = EmbeddingTable.read(args.run / "source.safetensors").words, random.Random(0)
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname, place.port)
    token = ask(connection, "GET", "/").decode().split('name="bilex-token" content="')[1].split('"')[0]
    times: dict[str, list[float]] = {}
    busy: dict[str, float] = {}

    def timed(kind: str, path: str, body: dict[str, object] | None = None) -> dict[str, Any]:
        started, spent = time.perf_counter(), processor_seconds(pid)
        answer = json.loads(ask(connection, "GET" if body is None else "POST", path, token, body))
        times.setdefault(kind, []).append(time.perf_counter() - started)
        busy[kind] = busy.get(kind, 0.0) + processor_seconds(pid) - spent
        return answer

    def accept(min_rank: int, max_rank: int) -> int:
        """Accept the open entries between two ranks at once."""
        filters = f"min_rank={min_rank}&max_rank={max_rank}"
        total = timed("count", f"/api/lexicon?status=open&limit=1&{filters}")["total"]
        if total:
            timed(f"accept {total:,}", f"/api/accept-all?{filters}", {"count": total})
        return total

    timed("first page", "/api/home")
    timed("first list", "/api/lexicon?hide=nonwords")
    accepted = accept(len(words) // 2, len(words))
    for number, word in enumerate(rng.sample(words[: len(words) // 2], args.review)):
        entry = timed("list", f"/api/lexicon?status=open&hide=nonwords&after={number + 1}")["entries"][0]
        timed("decide", "/api/review", {"source": word, "targets": [entry["target"]]})
        timed("choose several", "/api/review", {"source": word, "targets": [c["word"] for c in entry["candidates"]]})
        if number % 5 == 0:
            timed("undo", "/api/undo", {})
            timed("search", f"/api/lexicon?text={quote(word[:3], safe='')}&hide=nonwords,given")
            order = rng.choice(["score", "margin", "word", "doubts", "useful"])
            timed("sort", f"/api/lexicon?order={order}&ascending={rng.choice(['true', 'false'])}&status=open")
        if args.corpus:
            candidates = "&".join(f"candidate={quote(c['word'], safe='')}" for c in entry["candidates"])
            timed("examples", f"/api/examples?side=source&word={quote(word, safe='')}&{candidates}")
    accept(1, 2000)
    shown = {
        kind: (percentile(sorted(kept), 0.5), percentile(sorted(kept), 0.95), busy[kind] / len(kept))
        for kind, kept in times.items()
    }
    figures = {f"{kind} (ms)": [round(1000 * value, 1) for value in three] for kind, three in shown.items()}
    return {"words": len(words), "accepted at the start": accepted, "entries": args.review, **figures}


def ask(
    connection: http.client.HTTPConnection,
    method: str,
    path: str,
    token: str = "",
    body: dict[str, object] | None = None,
) -> bytes:
    """Send a request as the page does; the answer."""
    headers = {"x-bilex-token": token, "content-type": "application/json"}
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    answer = connection.getresponse()
    content = answer.read()
    if answer.status != 200:
        sys.exit(f"{path}: {content.decode()}")
    return content


def percentile(times: list[float], share: float) -> float:
    """The percentile of the request times for a share between 0 and 1."""
    return times[min(len(times) - 1, int(share * len(times)))]


def paths(path: str, words: list[str], n: int) -> list[str]:
    """The paths to request."""
    name = "text" if path == "complete" else "word"
    return [f"/api/{path}?{name}={quote(word, safe='')}&side=source&n={n}" for word in words]


async def load(url: str, asked: list[str], clients: int) -> tuple[list[float], int]:
    """Send all requests from several clients: the times, and the number of answers other than 200."""
    place, waiting = urlsplit(url), asked[::-1]
    times: list[float] = []
    errors = 0

    async def client() -> None:
        nonlocal errors
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        while waiting:
            path = waiting.pop()
            started = time.perf_counter()
            writer.write(f"GET {path} HTTP/1.1\r\nHost: {place.netloc}\r\n\r\n".encode())
            errors += await status(reader) != 200
            times.append(time.perf_counter() - started)
        writer.close()
        await writer.wait_closed()

    await asyncio.gather(*(client() for _ in range(clients)))
    return times, errors


async def status(reader: asyncio.StreamReader) -> int:
    """Read one answer, and return its status."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    await reader.readexactly(int(head.split("content-length:")[1].split("\r\n")[0]))
    return int(head.split()[1])


def wait_until_ready(url: str, *, lexicon: bool) -> None:
    """Wait until the server can translate, or until its whole lexicon is ready."""
    while True:
        with urllib.request.urlopen(f"{url}api/status") as answer:
            told = json.load(answer)
        if told["preparation"]["error"]:
            sys.exit(told["preparation"]["error"])
        if told["ready"]["lexicon"] if lexicon else told["ready"]["translations"]["source"]:
            return
        print(f"\r{told['preparation']['step']}: {told['preparation']['share']:.1%}", end="\r", file=sys.stderr)
        time.sleep(1)


def resident(pid: int) -> float | None:
    """Resident memory of a process, in megabytes."""
    path = Path(f"/proc/{pid}/status")
    if not path.exists():
        return None
    return round(int(path.read_text().split("VmRSS:")[1].split()[0]) / 1024, 1)


def processor_seconds(pid: int) -> float:
    """Processor time of a process over all cores, or 0 if the system does not tell. Hardly depends on other load."""
    path = Path(f"/proc/{pid}/stat")
    if not path.exists():
        return 0.0
    user, system = path.read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def make_russian(folder: Path, words: int) -> None:
    """Write a run with real words."""
    from bilex import align
    from open_directions import load_russian_pair

    world = load_russian_pair(words)
    align(world.source, world.target, world.train, method="procrustes", vectors_only=True).save(folder)


def make_random(folder: Path, words: int, dim: int) -> None:
    """Write a run with random vectors: the target table is a rotation of the source table, with noise."""
    import numpy as np

    from bilex import Lexicon, align

    rng = np.random.default_rng(0)
    x = rng.standard_normal((words, dim), dtype=np.float32)
    turned = x @ np.linalg.qr(rng.standard_normal((dim, dim)))[0].astype(np.float32)
    z = turned + 0.5 * rng.standard_normal((words, dim), dtype=np.float32)
    source = EmbeddingTable([f"s{i}" for i in range(words)], x)
    target = EmbeddingTable([f"t{i}" for i in range(words)], z)
    align(
        source, target, Lexicon.from_pairs((f"s{i}", f"t{i}") for i in range(min(5000, words))), method="procrustes"
    ).save(folder)


if __name__ == "__main__":
    main()
