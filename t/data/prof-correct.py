#!/usr/bin/env python3
"""prof-correct.py SEED FOLDER - a problem for prof-correct and its answer, from its help and the formulas alone.

Writes cal.sexp, cells.csv, hooks.csv, runs.csv, bare.csv, pairs.csv; want.csv (a row a cell: total_ns, removed_ns,
clipped_ns, error_ns) and totals.csv (removed_ns, clipped_ns, low, high of the calibration alone; low, high with repeats;
low, high of the ratio; the last again by rounds).  Student's quantiles by integration of the density."""
import math, os, random, sys
seed, folder = int(sys.argv[1]), sys.argv[2]
r = random.Random(seed)
os.makedirs(folder, exist_ok=True)


def put(name, text):
    with open(os.path.join(folder, name), 'w') as f: f.write(text)


def quantile(p, freedom):
    """of Student's t, or of the normal where freedom is 0"""
    if freedom:
        c = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - .5 * math.log(freedom * math.pi)
        density = lambda x: math.exp(c - (freedom + 1) / 2 * math.log1p(x * x / freedom))
    else: density = lambda x: math.exp(-x * x / 2) / math.sqrt(2 * math.pi)

    def above_middle(x, n=400):
        h = x / n
        return h / 3 * sum(density(i * h) * (1 if i in (0, n) else 4 if i % 2 else 2) for i in range(n + 1))
    low, high = 0.0, 1.0
    while above_middle(high) < p - .5: high *= 2
    for _ in range(60):
        mid = (low + high) / 2
        low, high = (mid, high) if above_middle(mid) < p - .5 else (low, mid)
    return low


def half(parts):
    """of 95 %: (error, freedom) of independent parts, after Welch and Satterthwaite"""
    variance = sum(e * e for e, _ in parts)
    below = sum(e ** 4 / f for e, f in parts if f > 0)
    return math.sqrt(variance) * quantile(.975, variance ** 2 / below if below else 0)


few = seed % 4 == 0                              # calibrated once: the normal's quantile
hooks = ['wrap', 'op', 'tick'][:r.randint(1, 3)] + (['any'] if r.random() < .5 else [])
cost, text = {}, ''
for h in hooks:
    mean, std, n = round(r.uniform(1, 9), 2), round(r.uniform(0, .8), 3), 1 if few else r.choice([1, 2, 5, 12])
    inside = round(r.uniform(0, mean * 1.1), 2) if r.random() < .7 else None
    cost[h] = (mean, min(mean, mean / 2 if inside is None else inside), std / math.sqrt(n - 1) if n > 1 else std, n - 1)
    text += f' (cost (hook {h}) (mean_ns {mean}) (std_ns {std}) (n {n})' + ('' if inside is None else f' (inside_ns {inside})') + ')'
put('cal.sexp', f'(calibration (host h){text})\n')
cells = []
for proc in ('p', 'q'):
    for op in ('a', 'b'):
        for cats in r.sample(['C', 'Python', 'GPU+Python', 'GPU', '', 'CUDA+Python'], r.randint(1, 5)):
            cells.append([proc, r.choice(['', 'train']), op, cats, r.choice([r.randint(1, 60), r.randint(500, 900)])])
put('cells.csv', 'proc,phase,op,cats,total_ns,lo_ns,hi_ns,runs\n' + ''.join(','.join(map(str, c)) + ',0,9,1\n' for c in cells))
rows = []
for c in cells + [['gone', '', 'a', 'Python', 0]]:
    for h in ['wrap', 'op', 'tick', 'none']:
        if r.random() < .7: rows.append((c, h, r.randint(0, 9), r.randint(0, 9)))
put('hooks.csv', 'proc,phase,op,cats,hook,before,begun\n' + ''.join(f'{c[0]},{c[1]},{c[2]},{c[3]},{h},{b},{g}\n' for c, h, b, g in rows))

gpu = lambda cats: 'GPU' in cats.split('+')
left, share = [float(c[4]) for c in cells], [{} for _ in cells]
for c, h, before, begun in rows:
    name = h if h in cost else 'any'
    if name not in cost or c not in cells or gpu(c[3]): continue
    i, (mean, inside, _, _) = cells.index(c), cost[name]
    taken = inside * begun + (mean - inside) * before
    left[i] -= taken
    share[i][name] = share[i].get(name, 0) + taken / mean
clipped = [0.0] * len(cells)
for i, c in enumerate(cells):
    if left[i] >= 0: continue
    debt, left[i] = -left[i], 0.0
    while debt > 0:
        room = [k for k, d in enumerate(cells) if left[k] > 0 and d[3] and not gpu(d[3]) and d[:3] == c[:3]]
        if not room: break
        best = max(room, key=lambda k: left[k])
        take = min(debt, left[best])
        left[best] -= take
        debt -= take
    clipped[i] = debt
near = lambda x: math.floor(x + .5)
error = [math.sqrt(sum((n * cost[h][2]) ** 2 for h, n in s.items())) for s in share]
put('want.csv', 'total_ns,removed_ns,clipped_ns,error_ns\n' + ''.join(
    f'{near(l)},{c[4] - near(l)},{near(x)},{e:.12g}\n' for l, c, x, e in zip(left, cells, clipped, error)))

raw, kept = sum(c[4] for c in cells), sum(near(l) for l in left)
taken = raw - kept
calls = {h: sum(s.get(h, 0) for s in share) for h in cost}
hook_parts = [(calls[h] * cost[h][2], cost[h][3]) for h in cost]
n = r.choice([3, 6])
runs, bare = ([r.randint(raw, raw + 40) for _ in range(n)] for _ in 'ab')
pairs = [(r.choice([0, 10, 20]), u, u + r.randint(50, 90)) for u in (r.randint(100, 200) for _ in range(n))]
put('runs.csv', 'total_ns\n' + ''.join(f'{x}\n' for x in runs))
put('bare.csv', 'total_ns\n' + ''.join(f'{x}\n' for x in bare))
put('pairs.csv', 'hook,calls,uninstrumented_ns,instrumented_ns\n' + ''.join(f'wrap,{a},{b},{c}\n' for a, b, c in pairs))
average = lambda v: sum(v) / len(v)
deviation = lambda v: math.sqrt(sum((x - average(v)) ** 2 for x in v) / (len(v) - 1))
part = lambda v: (deviation(v) / math.sqrt(len(v)), len(v) - 1)
alone, repeated = half(hook_parts), half(hook_parts + [part(runs)])
against = half(hook_parts + [part(runs), part(bare)])
by_round = [(c - b) / a if a else 0 for a, b, c in pairs]
scale = taken / average(by_round) if taken > 0 and average(by_round) > 0 else 0
rounds = half([part([a - b - c * scale for a, b, c in zip(runs, bare, by_round)])])
true, corrected = average(bare), average(runs) - taken
put('totals.csv', 'what,low,high\n' + ''.join(f'{w},{a:.9g},{b:.9g}\n' for w, a, b in [
    ('alone', kept - alone, kept + alone), ('repeated', corrected - repeated, corrected + repeated),
    ('against', (corrected - against) / true, (corrected + against) / true),
    ('rounds', (corrected - rounds) / true, (corrected + rounds) / true)]))
