"""What millrace_place promises, on a small network: the same gradients and buffers to the last bit, the limit kept."""
import subprocess
import sys
import torch
from torch import nn
import millrace_place
from tap import end, ok


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
                                  nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width), nn.Dropout(0.2))

    def forward(self, pair, extra=None):
        x = pair[0]
        return [torch.relu(x + self.body(x)), None]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 16, 3, padding=1)
        self.blocks = nn.ModuleList(Block(16) for _ in range(4))
        self.last = nn.Linear(16, 10)

    def forward(self, x):
        pair = [self.first(x), None]
        for b in self.blocks:
            pair = b(pair, extra=None)
        return self.last(pair[0].mean((2, 3)))


torch.manual_seed(1)
torch.set_num_threads(1)
net = Net()
data = [(torch.randn(8, 3, 40, 40), torch.randint(0, 10, (8,))) for _ in range(2)]
state = {k: v.clone() for k, v in net.state_dict().items()}


def train(around, batches=data):
    """Two steps; all that training changes, as bytes."""
    net.load_state_dict(state)
    torch.manual_seed(5)
    optimiser, out = torch.optim.SGD(net.parameters(), lr=0.1), []
    for x, y in batches:
        optimiser.zero_grad()
        with around():
            loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimiser.step()
        out += [p.grad.numpy().tobytes() for p in net.parameters()]
        del loss
    return out + [v.numpy().tobytes() for v in net.state_dict().values()]


class Nothing:
    def __enter__(self): pass
    def __exit__(self, *_): pass


def plan(limit, **how):
    net.load_state_dict(state)
    torch.manual_seed(9)
    x, y = data[0]
    before = torch.get_rng_state()
    for q in net.parameters():
        q.grad = torch.full_like(q, 3)
    p = millrace_place.Plan(net, lambda: nn.functional.cross_entropy(net(x), y), limit, tier=sys.argv[1], **how)
    same = torch.equal(before, torch.get_rng_state()) and all(torch.all(q.grad == 3) for q in net.parameters())
    same &= all(torch.equal(v, state[k]) for k, v in net.state_dict().items())
    return p, same


plain = train(Nothing)
for limit, how in ((1, {}), (0.5, {}), (0.3, {}), (0.65, {'offload': False}), (0.4, {'recompute': False})):
    p, same = plan(limit, **how)
    name = f'limit {limit} {how or ""}: '
    ok(same, name + 'planning leaves parameters, gradients, buffers and random numbers as they were')
    ok(train(lambda: p) == plain, 
       name + 'gradients, parameters and buffers are those of plain training, to the last bit')
    ok(0 < p.most_bytes <= p.limit_bytes, name + f'saved bytes at most {p.most_bytes}, limit {p.limit_bytes}')
    ok(p.mover.resident == 0, name + 'nothing is left afterwards')
    ok(p.bound_seconds <= p.objective_seconds * (1 + 1e-9), name + 'the bound is not above the plan')
    if limit == 1:
        ok(not p.away and not p.again, name + 'nothing is sent away or run again')
    elif how.get('offload', True):
        ok(len(p.away) + len(p.again) > 0, name + f'{len(p.away)} storages leave, {len(p.again)} modules run again')
    else:
        ok(len(p.again) > 0, name + f'{len(p.again)} modules run again')
    p.forget()

p, _ = plan(0.4, recompute=False, keep='plan')
ok(subprocess.run(['place-check', 'plan/graph.sexp']).returncode == 0, 'the record is a sound graph')
done = subprocess.run(['place-plan', '--formulation=sync', '--ratio=1:1', '--profile=plan/profile.csv',
                       'plan/graph.sexp'], capture_output=True)
ok(done.returncode == 0 and done.stdout.startswith(b'(plan'), 'and place-plan takes it, with its profile')

odd = [(torch.randn(5, 3, 40, 40), torch.randint(0, 10, (5,))), data[0]]
ok(train(lambda: p, odd) == train(Nothing, odd), 'a batch of another size is trained all the same')

net.load_state_dict(state)
x, y = data[0]
with p:
    loss = nn.functional.cross_entropy(net(x), y)
with torch.no_grad():
    net.last.weight.mul_(1)
try:
    loss.backward()
    ok(False, 'a parameter changed in place before the backward pass is noticed')
except RuntimeError as e:
    ok('inplace' in str(e), 'a parameter changed in place before the backward pass is noticed')
del loss
with p:                                                  # a forward pass whose loss is thrown away
    nn.functional.cross_entropy(net(x), y)
ok(train(lambda: p) == plain, 'after a step without a backward pass all goes on')
for q in net.parameters():
    q.grad = None
with p:
    loss = nn.functional.cross_entropy(net(x), y)
loss.backward(retain_graph=True)
one = [q.grad.clone() for q in net.parameters()]
for q in net.parameters():
    q.grad = None
loss.backward()
ok(all(torch.equal(a, q.grad) for a, q in zip(one, net.parameters())), 'backward twice with retain_graph')
try:
    millrace_place.Plan(net, lambda: nn.functional.cross_entropy(net(x), y), 0.5, tier='/dev/shm')
    ok(False, 'a tier in memory is refused')
except ValueError as e:
    ok('tmpfs' in str(e), 'a tier in memory is refused')
try:
    millrace_place.Plan(net, lambda: nn.functional.cross_entropy(net(x), y), 1000, tier=sys.argv[1])
    ok(False, 'an impossible limit is refused')
except RuntimeError as e:
    ok('no plan keeps the limit' in str(e), 'an impossible limit is refused')
end()
