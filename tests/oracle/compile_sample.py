#!/usr/bin/env python3
"""Compiles a dataset's launched kernels, in an order that makes any part of them a fair sample.

usage: compile_sample.py DIGEST ROWS.jsonl --store ADDRESS --compiler ADDRESS [--toolchain NAME]... [--target NAME]...
                         [--callers N] [--max-seconds N] [--seconds N] [--kernels N] [--backwards] [--without SOURCE]...
                         [--again OTHER.jsonl]
       compile_sample.py --table ROWS.jsonl
       compile_sample.py --compare ROWS.jsonl OTHER.jsonl

DIGEST: the dataset's, from its report.json. The store has the dataset's blobs: `kernelmill-store --data DATA/store` serves those of
`kernelmill crawl --data DATA`. All toolchains compile each distinct self-contained kernel (module and name) of the job's sources,
except holdouts, for all targets, in the order of a hash of its text. Each kernel's line is in ROWS at once; kernels that ROWS has
already are left out, and so are those of the sources --without. --seconds: begins no kernel after that time. --backwards: the
last first. --again: only kernels with a result in OTHER that is not ok. --compare: the kernels whose results differ between two
such files, hashes of all forms included. Needs protoc, grpcio and protobuf 4.25."""

import argparse
import collections
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
MESSAGE_BYTES = 16 << 20
LIMIT_SECONDS = 6 * 3600  # for one call: each kernel has limits of its own


# ---------------------------------------------------------------- the dataset's kernels

def generated():
    """The classes of our messages, made anew of proto/."""
    folder = tempfile.mkdtemp(prefix="compile-sample-")
    files = [path for place in ("kernelmill", "build", "google") for path in (ROOT / "proto" / place).rglob("*.proto")]
    subprocess.run(["protoc", f"-I{ROOT / 'proto'}", f"--python_out={folder}", *map(str, files)], check=True)
    sys.path.insert(0, folder)
    from build.bazel.remote.execution.v2 import remote_execution_pb2
    from kernelmill.v1 import compile_pb2, dataset_pb2, job_pb2, kernel_pb2, stages_pb2
    return argparse.Namespace(reapi=remote_execution_pb2, compile=compile_pb2, dataset=dataset_pb2, job=job_pb2,
                              kernel=kernel_pb2, stages=stages_pb2)


class Store:
    def __init__(self, address, pb):
        import grpc
        self.pb = pb
        channel = grpc.insecure_channel(address, options=[("grpc.max_receive_message_length", -1)])
        self.read = channel.unary_stream("/google.bytestream.ByteStream/Read",
                                         request_serializer=_read_request,
                                         response_deserializer=_read_data)

    def get(self, digest, message):
        name = f"blobs/{digest.hash}/{digest.size_bytes}"
        return message.FromString(b"".join(self.read(name)))


def _read_request(name):
    from google.bytestream import bytestream_pb2
    return bytestream_pb2.ReadRequest(resource_name=name).SerializeToString()


def _read_data(data):
    from google.bytestream import bytestream_pb2
    return bytestream_pb2.ReadResponse.FromString(data).data


def is_compiled(kernel, pb):
    """As services/compiler/core/compile_kernels.h has it."""
    k = pb.kernel
    return (kernel.dsl in (k.DSL_TRITON, k.DSL_GLUON) and kernel.form not in (k.KERNEL_FORM_FILE, k.KERNEL_FORM_TEMPLATE)
            and kernel.role != k.KERNEL_ROLE_DEVICE and not kernel.parse_error and kernel.self_contained and kernel.module)


def key_of(kernel):
    return hashlib.sha256(kernel.name + b"\0" + kernel.module).hexdigest()


def distinct_kernels(store, digest, without, pb):
    """[(key, source's name, kernel)], sorted by key."""
    text, size = digest.split("/")
    manifest = store.get(pb.reapi.Digest(hash=text, size_bytes=int(size)), pb.dataset.DatasetManifest)
    found, counts = {}, collections.Counter()
    for source in manifest.sources:
        name = getattr(source.source, source.source.WhichOneof("origin"))  # a manifest has the name there
        if source.source.role == pb.job.SOURCE_ROLE_HOLDOUT or name in without:
            continue
        counts["sources"] += 1
        for shard in source.kernels:
            for kernel in store.get(shard, pb.kernel.KernelShard).kernels:
                if kernel.dsl in (pb.kernel.DSL_TRITON, pb.kernel.DSL_GLUON) and kernel.role != pb.kernel.KERNEL_ROLE_DEVICE:
                    counts["launched"] += 1
                if is_compiled(kernel, pb):
                    counts["stand alone"] += 1
                    found.setdefault(key_of(kernel), (name, kernel))
    counts["distinct"] = len(found)
    print(dict(counts), file=sys.stderr, flush=True)
    return [(key, *found[key]) for key in sorted(found)]


# ---------------------------------------------------------------- compiling

def compile_all(options, pb):
    import grpc
    from google.protobuf import json_format
    kernels = distinct_kernels(Store(options.store, pb), options.digest, options.without, pb)
    kernels = kernels[:options.kernels] if options.kernels else kernels
    done = {row["key"] for row in read(options.rows)} if options.rows.exists() else set()
    waiting = [one for one in kernels if one[0] not in done]
    if options.again:
        failed = {row["key"] for row in read(options.again) if set(statuses(row).values()) != {"ok"}}
        waiting = [one for one in waiting if one[0] in failed]
    if options.backwards:
        waiting.reverse()
    channel = grpc.insecure_channel(options.compiler, options=[("grpc.max_receive_message_length", MESSAGE_BYTES)])
    call = channel.unary_unary("/kernelmill.v1.Compiler/Compile",
                               request_serializer=pb.stages.CompileRequest.SerializeToString,
                               response_deserializer=pb.stages.CompileResponse.FromString)
    policy = pb.job.CompilePolicy(toolchains=options.toolchain, targets=options.target, max_seconds=options.max_seconds)
    rows, lock, begin = open(options.rows, "a", encoding="utf-8"), threading.Lock(), time.monotonic()
    queue = collections.deque(waiting)

    def work():
        while not options.seconds or time.monotonic() - begin < options.seconds:
            with lock:
                if not queue:
                    return
                key, source, kernel = queue.popleft()
            start = time.monotonic()
            reply = call(pb.stages.CompileRequest(kernels=pb.kernel.KernelShard(kernels=[kernel]), compile=policy),
                         timeout=LIMIT_SECONDS)
            compiled = json_format.MessageToDict(reply.compiled.kernels[0], preserving_proto_field_name=True)
            row = {"key": key, "source": source, "path": kernel.path.decode(errors="replace"),
                   "name": kernel.name.decode(errors="replace"), "seconds": round(time.monotonic() - start, 2), "compiled": compiled}
            with lock:
                rows.write(json.dumps(row, sort_keys=True) + "\n")
                rows.flush()

    threads = [threading.Thread(target=work) for _ in range(options.callers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{len(waiting) - len(queue)} of {len(waiting)} in {time.monotonic() - begin:.0f} s", file=sys.stderr)


# ---------------------------------------------------------------- what came of it

def read(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def statuses(row):
    return {(one["toolchain"], one["target"]): one["status"].removeprefix("COMPILE_STATUS_").lower()
            for one in row["compiled"].get("results", [])}


def best(found):
    return next((status for status in ("ok", "error", "unknown") if status in found), "none")


def print_table(path):
    rows = read(path)
    by_place = collections.defaultdict(collections.Counter)
    for row in rows:
        found = statuses(row)
        for place, status in found.items():
            by_place[" ".join(place)][status] += 1
        for target in {target for _, target in found}:
            by_place[f"at least one {target}"][best([status for place, status in found.items() if place[1] == target])] += 1
        by_place["at least one, any target"][best(found.values())] += 1
    print(f"{len(rows)} kernels")
    for place, counts in sorted(by_place.items()):
        total = sum(counts.values())
        print(f"{place:30}{total:6}" + "".join(f"  {status} {counts[status]:5} {100 * counts[status] / total:5.1f} %"
                                               for status in ("ok", "error", "unknown")))


def compare(one, other):
    first, second = ({row["key"]: row for row in read(path)} for path in (one, other))
    both = sorted(first.keys() & second.keys())
    forms = different = 0
    for key in both:
        a, b = first[key]["compiled"], second[key]["compiled"]
        forms += sum(len(result.get("forms", [])) for result in a.get("results", []))
        if a != b:
            different += 1
            print(first[key]["source"], first[key]["path"], first[key]["name"], key)
            for x, y in zip(a.get("results", []), b.get("results", [])):
                if x != y:
                    print("   ", x["toolchain"], x["target"], json.dumps({k: (x.get(k), y.get(k)) for k in {*x, *y} if x.get(k) != y.get(k)}))
            for part in ("imports", "signatures", "not_attempted"):
                if a.get(part) != b.get(part):
                    print("    other", part)
    print(f"{len(both)} kernels in both, {forms} forms; {different} kernels differ")
    return 1 if different else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("digest", nargs="?")
    parser.add_argument("rows", nargs="?", type=pathlib.Path)
    parser.add_argument("--store")
    parser.add_argument("--compiler")
    parser.add_argument("--toolchain", action="append", default=[])
    parser.add_argument("--target", action="append", default=[])
    parser.add_argument("--callers", type=int, default=1)
    parser.add_argument("--max-seconds", type=int, default=180)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--kernels", type=int, default=0)
    parser.add_argument("--backwards", action="store_true")
    parser.add_argument("--again", type=pathlib.Path)
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--compare", nargs=2, type=pathlib.Path)
    options = parser.parse_args()
    if options.table:
        return print_table(options.table)
    if options.compare:
        return compare(*options.compare)
    if not (options.digest and re.fullmatch(r"[0-9a-f]{64}/\d+", options.digest) and options.rows and options.store and options.compiler):
        parser.error("DIGEST, ROWS, --store and --compiler, or --table, or --compare")
    return compile_all(options, generated())


if __name__ == "__main__":
    sys.exit(main())
