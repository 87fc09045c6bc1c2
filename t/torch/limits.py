"""Memory is that of the process: what a limit means, who keeps it, and what is said where it cannot be kept.

    limits.py TIER          the test
    limits.py TIER LIMIT    trains a transformer (LIMIT plain: without a plan) and prints what it took"""
import gc
import json
import os
import pickle
import re
import subprocess
import sys
import threading
import warnings
import weakref
import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
TIER, MIB = sys.argv[1], 1 << 20


class Words(nn.Module):
    def __init__(self, layers=6, width=128, words=1000):
        super().__init__()
        self.e, self.o = nn.Embedding(words, width), nn.Linear(width, words)
        self.t = nn.TransformerEncoder(nn.TransformerEncoderLayer(width, 4, 4 * width, 0.1, batch_first=True), layers)

    def forward(self, x):
        return self.o(self.t(self.e(x))).flatten(0, 1)


def batch(n, length):
    x = torch.randint(0, 1000, (n, length), generator=torch.Generator().manual_seed(1))
    return x, x.roll(-1, 1).flatten()


def peak(of='VmHWM'):
    with open('/proc/self/status') as f:
        return next(int(line.split()[1]) << 10 for line in f if line.startswith(of))


def train(limit):
    """As a user writes it."""
    torch.manual_seed(1)
    model, (x, y), plan = Words(), batch(16, 192), None
    optimiser = torch.optim.Adam(model.parameters())

    def step():
        return F.cross_entropy(model(x), y)
    if limit != 'plain':
        import millrace_place
        plan = millrace_place.Plan(model, step, limit if limit[-1].isalpha() else float(limit), tier=TIER)
        if limit[0] == '.':
            with open('/proc/self/clear_refs', 'w') as f:
                f.write('5')                             # a share says nothing of planning
    for k in range(3):
        optimiser.zero_grad()
        torch.manual_seed(k)
        if plan:
            with plan:
                loss = step()
        else:
            loss = step()
        loss.backward()
        optimiser.step()
    print(json.dumps({'loss': loss.item(), 'peak': peak(), 'resident': plan.resident_bytes if plan else 0,
                      'proof': plan.proof if plan else ''}))


def child(limit, group=None, gone=False):
    """The row of a process of its own, or its exit status."""
    def enter():
        if group:
            with open(group + '/cgroup.procs', 'w') as f:
                f.write(str(os.getpid()))
    done = subprocess.run([sys.executable, '-W', 'ignore', '-B', __file__, TIER, limit], capture_output=True, text=True,
                          preexec_fn=enter)
    if done.returncode == 1 and gone and 'works on it at once' not in done.stderr:
        print('# ' + done.stderr[-2000:].replace('\n', '\n# '))
        return None
    if done.returncode and not gone:
        print('# ' + done.stderr.strip().replace('\n', '\n# '))
    return json.loads(done.stdout) if not done.returncode else done.returncode


if len(sys.argv) > 2:
    train(sys.argv[2])
    sys.exit()

import millrace_place
from tap import end, ok

plain = child('plain')
for limit in ('.5', '.25', '.15'):
    row = child(limit)
    ok(row['loss'] == plain['loss'], f'limit {limit}: the loss after three steps of Adam is the plain one')
    ok(row['peak'] <= plain['peak'] and row['peak'] <= 1.15 * row['resident'],
       f'limit {limit}: the process takes {row["peak"] // MIB} MiB, {row["resident"] // MIB} said, '
       f'{plain["peak"] // MIB} plain')
for limit in (600, 450):
    row = child(f'{limit}M')
    ok(row['loss'] == plain['loss'] and row['peak'] <= 1.02 * limit * MIB,
       f'limit {limit}M: {row["peak"] // MIB} MiB, planning included')


def room(mib):
    with open(group + '/memory.limit_in_bytes', 'w') as f:
        f.write(str(mib * MIB))


group = f'/sys/fs/cgroup/memory/millrace-test-{os.getpid()}'
try:
    os.mkdir(group)
    room(450)
except OSError as e:
    ok(True, f'a memory group of 450 MiB # SKIP {e.strerror}')
else:
    ok(child('plain', group, True) == -9, 'in a memory group of 450 MiB the plain step is killed')
    row = child('auto', group)
    ok(isinstance(row, dict) and row['loss'] == plain['loss'], "and limit='auto' trains")
    room(peak('RssAnon') // MIB + 45)
    ok(child('auto', group, True) == 1, 'where a layer at work does not fit, it is refused by name before the system kills it')
    os.rmdir(group)

torch.manual_seed(1)
model, (x, y) = Words(3), batch(8, 96)


def step():
    return F.cross_entropy(model(x), y)


def plan(limit, **how):
    return millrace_place.Plan(model, step, limit, tier=TIER, **how)


p = plan('least')
ok(0 < p.limit_bytes < p.saved_bytes / 2 and p.most_bytes <= p.limit_bytes,
   f'the least: {p.limit_bytes} of {p.saved_bytes}')
ok(plan('50%').limit_bytes == plan(.5).limit_bytes == p.saved_bytes // 2, "'50%' is a half of what is saved")
for bad in ('much', '8 apples', 0, -1, '0'):
    try:
        plan(bad)
        ok(False, f'limit {bad!r} is refused')
    except ValueError as e:
        ok('limit' in str(e), f'limit {bad!r} is refused')
try:
    plan(100 * MIB)
    ok(False, 'a process of 100 MiB is refused')
except millrace_place.LimitError as e:
    ok(e.least_bytes > 100 * MIB and e.names and 'limit=' in str(e),
       f'a process of 100 MiB is refused: {e.least_bytes} would do')
try:
    plan(.01)
    ok(False, 'a hundredth is refused')
except millrace_place.LimitError as e:
    ok(e.least_bytes > .01 * p.saved_bytes and all(e.names[0]), 'a hundredth is refused, with names')

p = plan(.3)
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter('always')
    for n, length in ((8, 96), (8, 97), (8, 64), (12, 128), (8, 96)):
        x, y = batch(n, length)
        model.zero_grad()
        torch.manual_seed(3)
        step().backward()
        want = [q.grad.clone() for q in model.parameters()]
        model.zero_grad()
        torch.manual_seed(3)
        with p:
            loss = step()
        held = p.mover.resident
        loss.backward()
        ok(all(torch.equal(a, q.grad) for a, q in zip(want, model.parameters())) and held <= p.limit_bytes,
           f'batch {n} of {length}: plain gradients; {held} bytes held, limit {p.limit_bytes}')
ok(p.unmatched_bytes > 0 and sum('largest batch' in str(w.message) for w in said) == 1,
   'other shapes are counted, and said once')
ok(p.most_bytes <= p.limit_bytes or any('more than the limit' in str(w.message) for w in said), 'over the limit: said')

x, y = batch(8, 96)
p = plan(.4)
with warnings.catch_warnings():
    warnings.simplefilter('ignore')
    with p:
        a = step()
    with p:
        b = step()
    held = p.mover.resident
    a.backward()
    b.backward()
ok(held <= p.limit_bytes, f'two forwards in flight hold {held} bytes, limit {p.limit_bytes}')
for how in ({'recompute': False}, {'offload': False}):
    p, model, found = plan(.6, **how), model.eval(), {}
    torch.manual_seed(1)
    data = [batch(8, 96) for _ in range(4)]
    want = torch.autograd.grad(F.cross_entropy(model(x), y), list(model.parameters()))

    def work(k):
        with p:
            loss = F.cross_entropy(model(x), y)
        found[k] = torch.autograd.grad(loss, list(model.parameters()))
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        threads = [threading.Thread(target=work, args=(k,), daemon=True) for k in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join(60)
    ok(len(found) == 4 and all(torch.equal(a, b) for f in found.values() for a, b in zip(f, want)),
       f'four threads with one plan {how}: plain gradients')
    model.train()


def penalty():
    z = model.e(x).detach().requires_grad_()
    out = model.o(z * model.t(z).mean()).pow(2).mean()
    g, = torch.autograd.grad(out, z, create_graph=True)
    return out + (g.flatten(1).norm(dim=1) - 1).pow(2).mean()


model.eval().zero_grad(set_to_none=True)
penalty().backward()
want = [q.grad.clone() for q in model.parameters() if q.grad is not None]
model.zero_grad(set_to_none=True)
p = millrace_place.Plan(model, penalty, .7, tier=TIER)
with p:
    loss = penalty()
loss.backward()
found = [q.grad for q in model.parameters() if q.grad is not None]
ok(all(torch.equal(a, b) for a, b in zip(want, found)), 'a gradient penalty')
model.zero_grad(set_to_none=True)
p = millrace_place.Plan(model, lambda: model.o(model.e(x) * model.t(model.e(x)).mean()).pow(2).mean(), .7, tier=TIER)
with p:
    loss = penalty()
loss.backward()
found = [q.grad for q in model.parameters() if q.grad is not None]
ok(all(torch.equal(a, b) for a, b in zip(want, found)), 'one under the plan of a step without it')
tower = nn.Sequential(*(m for _ in range(8) for m in (nn.Linear(256, 256), nn.Softplus())), nn.Linear(256, 1))
given = torch.randn(256, 256)


def critic():
    z = given.clone().requires_grad_()
    out = tower(z).sum()
    g, = torch.autograd.grad(out, z, create_graph=True)
    return out + (g.norm(dim=1) - 1).pow(2).mean()


critic().backward()
want = [q.grad.clone() for q in tower.parameters()]
p = millrace_place.Plan(tower, critic, .65, tier=TIER)
for k in range(2):
    tower.zero_grad()
    with p:
        loss = critic()
    loss.backward()
    ok(all(torch.equal(a, q.grad) for a, q in zip(want, tower.parameters())) and p.away and p.mover.resident == 0
       and p.most_bytes <= p.limit_bytes and not p.unmatched_bytes,
       f'a gradient of a gradient keeps the limit, step {k}: {p.most_bytes} of {p.limit_bytes} bytes')
try:
    millrace_place.Plan(tower, critic, .2, tier=TIER)
    ok(False, 'or is refused')
except millrace_place.LimitError as e:
    ok(p.limit_bytes > e.least_bytes > .2 * p.saved_bytes, 'or is refused, with the least that would do')
    millrace_place.Plan(tower, critic, 1.02 * e.least_bytes / p.saved_bytes, tier=TIER)
    ok(True, 'which does')
for kind, how in ((torch.optim.Adam, {}), (torch.optim.SGD, {'momentum': .9})):
    found = []
    for rests in (False, True):
        torch.manual_seed(2)
        small = nn.Sequential(*(m for _ in range(4) for m in (nn.Linear(256, 256), nn.Tanh())))
        optimiser, seen = kind(small.parameters(), .01, **how), set()
        p = millrace_place.Plan(small, lambda: small(given).pow(2).mean(), .6, tier=TIER)
        p.rests = rests                                  # as where a limit of the process cannot be kept without
        small[0].weight.register_hook(lambda _: seen.add(small[6].weight.grad is None))
        for k in range(4):
            optimiser.zero_grad(set_to_none=True)
            with p:
                loss = small(given).pow(2).mean()
            seen.add(type(optimiser.state).__name__)
            loss.backward()
            if rests and k == 3:
                p.without = 7 << 30
                try:
                    p.__enter__()
                    seen.add('a forward pass beside gradients')
                except millrace_place.LimitError as e:
                    seen.add(re.findall("limit='(.*?)'", str(e))[0])
            if k == 2:
                optimiser.load_state_dict(pickle.loads(pickle.dumps(optimiser.state_dict())))
            optimiser.step()
        found.append([loss, *small.parameters()])
    ok(seen == {True, 'Away', '7.0G'} and all(torch.equal(a, b) for a, b in zip(*found)),
       f'{kind.__name__}: its state and gradients leave while a layer is at work, and are there for who asks')
head, taught = nn.Linear(4, 1), nn.Linear(4, 1)
taught.weight.grad = had = torch.ones(1, 4)
millrace_place.Plan(model, lambda: penalty() + head(taught(torch.ones(4)).expand(4)).sum(), .7, tier=TIER)
ok(head.weight.grad is None and taught.weight.grad is had, 'a plan leaves the gradients of what is beside the model')


def forgotten():
    small = Words(2)
    p = millrace_place.Plan(small, lambda: F.cross_entropy(small(x), y), .5, tier=TIER)
    with p:
        loss = F.cross_entropy(small(x), y)
    loss.backward()
    return weakref.ref(small)


small = forgotten()
gc.collect()
ok(small() is None, 'a model and a plan that nobody has any more are freed')
end()
