"""Networks that keep, share, change or copy what autograd saves: under a plan each gives the plain step's gradients."""
import copy
import io
import random
import sys
import torch
from torch import nn
import millrace_place
from tap import end, ok

torch.set_num_threads(1)
TIER = sys.argv[1]


class Cells(nn.Module):
    """Gates are pieces of one storage, each with a version of its own, and changed in place."""
    def __init__(self, cell):
        super().__init__()
        self.cell = cell

    def forward(self, x):
        h, out = None, []
        for t in range(x.shape[1]):
            h = self.cell(x[:, t], h)
            out.append(h[0] if isinstance(h, tuple) else h)
        return torch.stack(out, 1)


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Linear(256, 512)

    def forward(self, x):
        a, b = self.w(x).unsafe_chunk(2, -1)
        return a.sigmoid_() * b.tanh_()


class First(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x)[0]


class Conj(nn.Module):
    def __init__(self):
        super().__init__()
        self.w, self.v = (nn.Parameter(torch.randn(128, 128, dtype=torch.cfloat)) for _ in range(2))

    def forward(self, x):
        a = x * self.w
        b = (a.conj() * self.v).conj()
        return b.abs() + b.imag * a.conj().imag


class Block(nn.Module):
    """What a layer does to itself comes from `extra`."""
    def __init__(self, extra):
        super().__init__()
        self.a, self.b, self.extra = nn.Linear(128, 256), nn.Linear(256, 128), extra

    def forward(self, x):
        return x + self.b(torch.tanh(self.a(self.extra(x))) * torch.sigmoid(self.a(x)))


class Mean(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer('run', torch.ones(()))

    def forward(self, x):
        with torch.no_grad():
            self.run.mul_(0.9).add_(0.1 * x.abs().mean())
        return x / self.run


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1
        return x * (1 + 1 / self.n)


class Draw(nn.Module):
    def forward(self, x):
        return x * random.random()


class Kept(nn.Module):
    """Leaves a tensor with a gradient on itself, for a loss beside."""
    def __init__(self):
        super().__init__()
        self.w = nn.Linear(128, 128)

    def forward(self, x):
        mu = self.w(x)
        self.aux = (mu.pow(2) + mu.exp() - mu).mean()
        return x + torch.tanh(mu + torch.randn_like(mu)) * torch.sigmoid(mu)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.w, self.same = nn.Linear(128, 128), []

    def forward(self, q, k, v):
        if not (q is k and k is v):
            self.same.append('lost')
        return torch.relu(self.w(q)) * torch.sigmoid(self.w(k)) + torch.tanh(self.w(v))


class Self(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Attention() for _ in range(4))

    def forward(self, x):
        for a in self.layers:
            x = x + a(x, x, x)
        return x


class Reader(nn.Module):
    """Reads the encoder's output from an attribute."""
    def __init__(self):
        super().__init__()
        self.q, self.o, self.context = nn.Linear(128, 128), nn.Linear(128, 128), [None]

    def forward(self, x):
        return x + self.o(torch.tanh(self.q(x) @ self.context[0].transpose(1, 2) / 11).relu() @ self.context[0])


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode, self.layers = nn.Linear(128, 128), nn.ModuleList(Reader() for _ in range(4))

    def forward(self, x):
        h = self.encode(x)
        for layer in self.layers:
            layer.context[0] = h
        for layer in self.layers:
            x = layer(x)
        return x


def blocks(extra):
    return nn.Sequential(*(Block(extra()) for _ in range(4)))


CASES = {
    'LSTM': (lambda: First(nn.LSTM(128, 128, batch_first=True)), (128, 8, 128)),
    'LSTMCell': (lambda: Cells(nn.LSTMCell(128, 128)), (128, 8, 128)),
    'GRUCell': (lambda: Cells(nn.GRUCell(128, 128)), (128, 8, 128)),
    'unsafe_chunk': (lambda: nn.Sequential(Gate(), Gate(), Gate()), (256, 256)),
    'lazy conjugates': (Conj, (4, 128, 128)),
    'batch norm and dropout': (lambda: blocks(lambda: nn.Sequential(nn.Dropout(.1), nn.BatchNorm1d(64))),
                               (16, 64, 128)),
    'a running mean': (lambda: blocks(Mean), (16, 64, 128)),
    'a counter': (lambda: blocks(Counter), (16, 64, 128)),
    "Python's random numbers": (lambda: blocks(Draw), (16, 64, 128)),
    'a loss left on the module': (lambda: nn.Sequential(*(Kept() for _ in range(4))), (16, 64, 128)),
    'one tensor as three arguments': (Self, (16, 64, 128)),
    'an attribute read': (Decoder, (16, 128, 128)),
    'spectral_norm': (lambda: nn.Sequential(*(nn.Sequential(
        nn.utils.spectral_norm(nn.Linear(128, 256)), nn.Tanh(), nn.Linear(256, 128)) for _ in range(4))),
                      (16, 64, 128)),
}


def real(x):
    return torch.view_as_real(x) if x.is_complex() else x


def same(a, b):
    return all(torch.equal(real(x), real(y)) for x, y in zip(a, b))


def train(make, shape, limit=None, **how):
    """Two steps: losses, gradients and buffers, and the plan."""
    torch.manual_seed(1)
    random.seed(1)
    model, kind = make(), torch.cfloat if make is Conj else torch.float
    x, plan, found = torch.randn(shape, dtype=kind), None, []

    def step():
        return model(x).pow(2).mean() + sum(m.aux for m in model.modules() if hasattr(m, 'aux'))
    if limit:
        try:
            plan = millrace_place.Plan(model, step, limit, tier=TIER, **how)
        except RuntimeError as e:
            return None, str(e)
    optimiser = torch.optim.SGD(model.parameters(), .01)
    for k in range(2):
        optimiser.zero_grad()
        torch.manual_seed(k)
        random.seed(k)
        if plan:
            with plan:
                loss = step()
        else:
            loss = step()
        loss.backward()
        found += [loss.detach(), *(p.grad.clone() for p in model.parameters()), *(b.clone() for b in model.buffers())]
        optimiser.step()
    found += [torch.tensor(float(getattr(m, 'n', 0) + len(getattr(m, 'same', [])))) for m in model.modules()]
    return found, plan


for name, (make, shape) in CASES.items():
    plain, _ = train(make, shape)
    for limit, how in ((.8, {'recompute': False}), (.5, {'recompute': False}), (.7, {'offload': False})):
        found, plan = train(make, shape, limit, **how)
        if found is None:
            ok('no plan keeps the limit' in plan or 'twice' in plan, f'{name}, limit {limit} {how}: refused')
        else:
            ok(same(plain, found), f'{name}, limit {limit}, {len(plan.away)} away, {len(plan.again)} twice: loss, '
               'gradients, buffers and counters are the plain ones')

torch.manual_seed(1)
model, x = blocks(nn.Identity), torch.randn(16, 64, 128)
plan = millrace_place.Plan(model, lambda: model(x).pow(2).mean(), .7, tier=TIER, offload=False)
ok(plan.again, f'{len(plan.again)} modules run twice')
other = copy.deepcopy(model)
with torch.no_grad():
    for p in other.parameters():
        p.zero_()
with plan:
    ok(torch.equal(other(x), x), 'a copy of the model computes with its own parameters')
file = io.BytesIO()
torch.save(model, file)
file.seek(0)
ok(torch.equal(torch.load(file, weights_only=False)(x), model(x)), 'the model is saved and loaded whole')
for _ in range(2):
    with plan:
        loss = model(x).pow(2).mean()
    loss.backward(retain_graph=True)
    loss.backward()
    del loss
ok(plan.mover.resident == 0 and plan.most_bytes < 2 * plan.limit_bytes,
   'backward twice: the account of bytes does not wrap')


class Behind(nn.Module):
    """Changes what was saved where autograd does not see it."""
    def forward(self, x):
        y = x.exp()
        y.data.mul_(.5)
        return y


model = nn.Sequential(*(nn.Sequential(nn.Linear(128, 512), nn.Tanh(), nn.Linear(512, 128), Behind())
                        for _ in range(3)))
x = torch.randn(256, 128)
model(x).mean().backward()
plain = [p.grad.clone() for p in model.parameters()]
plan = millrace_place.Plan(model, lambda: model(x).mean(), .6, tier=TIER)
model.zero_grad()
with plan:
    loss = model(x).mean()
loss.backward()
ok(same(plain, [p.grad for p in model.parameters()]), 'what is changed behind autograd is kept: gradients of the plain step')
ok(any('autograd does not see' in why for _, why in plan.kept) and 'proved on this step' in plan.proof,
   'and the plan says so')

feats = []
model = blocks(nn.Identity)
for m in model:
    m.a.register_forward_hook(lambda m, i, o: feats.append(o))
plan = millrace_place.Plan(model, lambda: model(torch.randn(16, 64, 128)).pow(2).mean(), .6, tier=TIER)
ok(not plan.again and any('hook' in why for _, why in plan.kept),
   'a module with hooks inside is kept, and said')
count = [0]


def restless():
    count[0] += 1
    return model(torch.ones(16, 64, 128)).pow(2).mean() * count[0]


for free in (millrace_place.heap.available, lambda: 128 << 20):
    millrace_place.heap.available = free                 # with and without memory for a plain step
    try:
        millrace_place.Plan(model, restless, .6, tier=TIER)
        ok(False, 'a step that is another every time is refused')
    except RuntimeError as e:
        ok('made again' in str(e) and '0.a.weight' in str(e),
           'a step that is another every time is refused, with names')
end()
