#!/usr/bin/env python3
"""prof-ranks.py SEED RANKS [PART FACTOR] - events of a data-parallel training, simulated: each rank prepares (Python) and
launches its kernels, all ranks meet in an all-reduce, each waits for its GPU.  PART prepare0, forward1 and so on takes
1/FACTOR of its time; times are even, so that a factor of 2 is exact.  The simulation knows what waits for what; whoever
reads the rows has to find out."""
import random
import sys

seed, ranks = int(sys.argv[1]), int(sys.argv[2])
part, factor = (sys.argv[3], int(sys.argv[4])) if len(sys.argv) > 3 else ("", 1)
rng = random.Random(seed)
LAUNCH, REDUCE, WAKE, CALL = 4000, 30000, 2000, 6000
rows = []
now = [rng.randrange(0, 1000) * 2 for _ in range(ranks)]
begin = list(now)
free = [0] * ranks
link = [0] * ranks


def lasts(name, ns):
    return ns // factor if name == part else ns


def row(rank, tid, kind, cat, start, end, name, which=""):
    rows.append((f"rank{rank}.1", tid, kind, cat, start, end, name, which))


def launch(rank, name, start_of=None):
    link[rank] += 1
    row(rank, "1", "cat", "CUDA", now[rank], now[rank] + CALL, "cudaLaunchKernel", f"r{rank}.{link[rank]}")
    ready = max(now[rank] + LAUNCH, free[rank])
    now[rank] += CALL
    return ready, f"r{rank}.{link[rank]}"


for step in range(6):
    came, links = [], []
    for r in range(ranks):
        ns = lasts(f"prepare{r}", rng.randrange(5, 60) * 2000)
        row(r, "1", "cat", "Python", now[r], now[r] + ns, f"prepare{r}")
        now[r] += ns
        ready, which = launch(r, "forward")
        ns = lasts(f"forward{r}", rng.randrange(5, 90) * 2000)
        row(r, "s7", "gpu", "GPU", ready, ready + ns, f"forward{r}", which)
        free[r] = ready + ns
        ready, which = launch(r, "reduce")
        came.append(ready)
        links.append(which)
    met = max(came)
    for r in range(ranks):
        row(r, "s7", "gpu", "Communication", came[r], met + REDUCE, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", links[r])
        free[r] = met + REDUCE
        row(r, "1", "cat", "CUDA", now[r], max(now[r] + WAKE, free[r] + WAKE), "cudaDeviceSynchronize")
        now[r] = max(now[r] + WAKE, free[r] + WAKE)
print("proc,tid,kind,cat,start_ns,end_ns,name,link,flag")
for r in sorted(rows, key=lambda r: r[4]):
    print(",".join(map(str, r)) + ",")
