#!/usr/bin/env python3
"""place-random.py SEED FOLDER - a small graph g.sexp with a profile p.csv of made-up times, staging and interference.

Prints a limit in bytes between what has to be fast and all of it."""
import itertools, os, random, sys
r, folder = random.Random(int(sys.argv[1])), sys.argv[2]
os.makedirs(folder, exist_ok=True)
UNIT = 65536
nodes, tensors = r.randint(4, 9), r.randint(3, 6)
size = [UNIT * r.randint(1, 4) for _ in range(tensors)]
made = [r.randrange(nodes - 1) for _ in range(tensors)]
uses = [sorted({k for k in range(m + 1, nodes) if r.random() < .4} or {r.randint(m + 1, nodes - 1)}) for m in made]
lines = ['(graph (name random) (batch 1)'] + [f'  (tensor {t} t{t} inter {size[t]} f32 ({size[t] // 4}))' for t in range(tensors)]
lines.append(f'  (tensor {tensors} a arg 4 f32 (1))')
extra, body, rows = tensors, [], ['key,op,shapes,in_tiers,out_tiers,mode,staging_bytes,time_seconds,runs,method,kind']
staging_most = 0
for k in range(nodes):
    reads, writes = [tensors] + [t for t in range(tensors) if k in uses[t]], [t for t in range(tensors) if made[t] == k]
    if not writes:
        extra += 1
        lines.append(f'  (tensor {extra} d{k} arg 4 f32 (1))')
        writes = [extra]
    count = lambda t: size[t] // 4 if t < tensors else 1
    shapes = ';'.join(str(count(t)) for t in reads) + '>' + ';'.join(str(count(t)) for t in writes)
    body.append(f'  (node {k} n{k} Op{k} (in {" ".join(map(str, reads))}) (out {" ".join(map(str, writes))}) (attr (piece {k})) '
                f'(flops 0) (bytes {4 * sum(count(t) for t in reads + writes)}))')
    movable, base = [t for t in reads + writes if t < tensors], r.randint(1, 20)
    slower = {t: r.randint(0, 25) for t in movable}
    for letters in itertools.product('DP', repeat=len(movable)):
        tier = dict(zip(movable, letters))
        seconds = base + sum(slower[t] for t in movable if tier[t] == 'P') - (.9 * base if 'P' in letters and r.random() < .1 else 0)
        staging = UNIT * r.choice([0, 0, 1, 2]) if 'P' in letters else 0
        tiers = lambda ts: ''.join(tier.get(t, 'D') for t in ts)
        rows.append(f'Op{k} {shapes} piece={k},Op{k},{shapes},{tiers(reads)},{tiers(writes)},{"streamed" if staging else "direct"},'
                    f'{staging},{seconds},1,model,simulated')
for letters in ('P,D', 'D,P'):
    rate = r.choice([2, 8, 30])
    rows += [f'Move {n},Move,{n},{letters},direct,0,{rate * n / UNIT},1,model,simulated' for n in (UNIT, 1 << 30)]
if r.random() < .7: rows.append(f'Interference,Interference,1,P,D,direct,0,{r.choice([.1, .3, .6])},1,model,simulated')
with open(f'{folder}/g.sexp', 'w') as f: f.write('\n'.join(lines + body) + ')\n')
with open(f'{folder}/p.csv', 'w') as f: f.write('\n'.join(rows) + '\n')
alive = [sum(size[t] for t in range(tensors) if made[t] <= k <= uses[t][-1]) for k in range(nodes)]
print(r.randint(1, max(1, max(alive) // UNIT)) * UNIT)
