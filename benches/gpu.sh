#!/usr/bin/env bash
# gpu.sh PRONY OUT: on a machine with an NVIDIA card, in five minutes at most: what nvidia-smi says, a run of the suite
# gpu as a document, and the same work by PyTorch where it is installed. Everything lands in the folder OUT.
set -u
prony=$(realpath "$1") out=$(realpath -m "$2")
mkdir -p "$out" && cd "$out" || exit 1
export PRONY_STORE=$out/runs.sqlite
nvidia-smi -q >nvidia-smi.txt 2>&1
began=$SECONDS
timeout 120 "$prony" run --suite gpu --label card --output card.json >run.txt 2>&1
echo "suite gpu: exit code $?, $((SECONDS - began)) s" | tee seconds.txt
timeout 60 "$prony" show card.json --format tsv >card.tsv 2>&1 || true
timeout 90 python3 - >pytorch.txt 2>&1 <<'PYTHON'
import torch

GIB, device = 1 << 30, "cuda"


def seconds(work, times=20, warm=5):
    """Median seconds of a piece of work by the events of the device."""
    for _ in range(warm):
        work()
    found = []
    for _ in range(times):
        began, ended = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        began.record()
        work()
        ended.record()
        ended.synchronize()
        found.append(began.elapsed_time(ended) * 1e-3)
    return sorted(found)[len(found) // 2]


x, y = torch.zeros(GIB // 4, device=device), torch.zeros(GIB // 4, device=device)
a, b, c = (torch.rand(GIB // 8, device=device, dtype=torch.float64) for _ in range(3))
print("gpu.copy", 2 * GIB / seconds(lambda: y.copy_(x)), "B/s")
print("gpu.triad", 3 * GIB / seconds(lambda: torch.add(a, b, alpha=3.0, out=c)), "B/s")
print("gpu.read", GIB / seconds(lambda: x.sum()), "B/s")
print("gpu.write", GIB / seconds(lambda: x.fill_(1.0)), "B/s")
host, part = torch.empty(1 << 26, pin_memory=True), torch.empty(1 << 26, device=device)
print("gpu.host_copy to_device", (1 << 28) / seconds(lambda: part.copy_(host, non_blocking=True)), "B/s")
print("gpu.host_copy from_device", (1 << 28) / seconds(lambda: host.copy_(part, non_blocking=True)), "B/s")
del x, y, a, b, c
for name, kind in [("bf16", torch.bfloat16), ("fp16", torch.float16), ("tf32", torch.float32), ("fp64", torch.float64)]:
    torch.backends.cuda.matmul.allow_tf32 = True
    p, q = (torch.randn(8192, 8192, device=device).to(kind) for _ in range(2))
    print("gpu.matrix", name, 2 * 8192**3 / seconds(lambda: p @ q, 8, 2), "operations/s")
PYTHON
cat seconds.txt run.txt pytorch.txt
