"""Small networks of the kinds that people train.  ZOO: name -> a function without arguments that gives (model, step)."""
import dataclasses
import math
import random
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

ZOO = {}


def kind(make):
    ZOO[make.__name__] = make
    return make


def squares(model, *given):
    return model, lambda: model(*given).pow(2).mean()


def images(n=8, c=3, side=32):
    return torch.randn(n, c, side, side)


def classes(model, x, n=10):
    y = torch.randint(0, n, (x.shape[0],))
    return model, lambda: F.cross_entropy(model(x), y)


def words(model, n=500, shape=(8, 64)):
    x = torch.randint(0, n, shape)
    return model, lambda: F.cross_entropy(model(x).flatten(0, 1), x.roll(-1, 1).flatten())


def module(forward, **parts):
    """A module of parts with a function for its forward pass."""
    class Module(nn.Module):
        def __init__(self):
            super().__init__()
            for name, part in parts.items():
                setattr(self, name, part)

        def forward(self, *args):
            return forward(self, *args)
    return Module()


def mlp(*sizes, act=nn.Tanh):
    return nn.Sequential(*(m for a, b in zip(sizes, sizes[1:]) for m in (nn.Linear(a, b), act())))


def tower(block, n=4):
    return nn.Sequential(*(block() for _ in range(n)))


def residual(c=16, norm=nn.BatchNorm2d, extra=nn.Identity):
    return module(lambda m, x: F.relu(x + m.body(m.extra(x))), extra=extra(), body=nn.Sequential(
        nn.Conv2d(c, c, 3, padding=1), norm(c), nn.ReLU(inplace=True), nn.Conv2d(c, c, 3, padding=1), norm(c)))


def cnn(block, n=4, c=16):
    return nn.Sequential(nn.Conv2d(3, c, 3, padding=1), tower(block, n), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(c, 10))


# ---- torchvision's own

def vision(name, side=64, **how):
    def make():
        import torchvision
        model = getattr(torchvision.models, name)(weights=None, num_classes=10, **how)
        x, y = images(2, side=side), torch.randint(0, 10, (2,))

        def step():
            out = model(x)
            out = [out] if isinstance(out, torch.Tensor) else [o for o in out if o is not None]
            return sum(F.cross_entropy(o, y) for o in out)
        return model, step
    ZOO[name] = make


for name in ('resnet18', 'mobilenet_v3_small', 'shufflenet_v2_x0_5', 'squeezenet1_1', 'mnasnet0_5', 'regnet_y_400mf',
             'efficientnet_b0', 'densenet121', 'vgg11_bn', 'swin_t'):
    vision(name)
vision('googlenet', 96, init_weights=False)


def segmentation(name):
    def make():
        import torchvision
        model = getattr(torchvision.models.segmentation, name)(weights=None, weights_backbone=None, num_classes=5)
        x, y = images(2, side=64), torch.randint(0, 5, (2, 64, 64))
        return model, lambda: F.cross_entropy(model(x)['out'], y)
    ZOO[name] = make


segmentation('lraspp_mobilenet_v3_large')
segmentation('deeplabv3_mobilenet_v3_large')


@kind
def vit():
    import torchvision
    return classes(torchvision.models.VisionTransformer(32, 8, 4, 4, 64, 128, num_classes=10), images(16))


# ---- sequences

def recurrent(cell, **how):
    def make():
        return words(module(lambda m, x: m.o(m.r(m.e(x))[0]), e=nn.Embedding(500, 64), o=nn.Linear(
            64 * (1 + how.get('bidirectional', 0)) if 'proj_size' not in how else how['proj_size'], 500),
            r=getattr(nn, cell)(64, 64, batch_first=True, **how)), shape=(32, 32))
    ZOO['_'.join([cell, *how])] = make


recurrent('LSTM')
recurrent('GRU')
recurrent('RNN')
recurrent('LSTM', num_layers=2, dropout=.2)
recurrent('GRU', bidirectional=True)
recurrent('LSTM', proj_size=32)


def cells(cell):
    def make():
        def forward(m, x):
            h, out = None, []
            for t in range(x.shape[1]):
                h = m.c(x[:, t], h)
                out.append(h[0] if isinstance(h, tuple) else h)
            return torch.stack(out, 1)
        return squares(module(forward, c=getattr(nn, cell)(128, 128)), torch.randn(128, 8, 128))
    ZOO[cell] = make


cells('LSTMCell')
cells('GRUCell')


@kind
def packed():
    lengths = torch.tensor([32, 30, 20, 11] * 8)

    def forward(m, x):
        p = nn.utils.rnn.pack_padded_sequence(m.i(x), lengths, batch_first=True, enforce_sorted=False)
        return nn.utils.rnn.pad_packed_sequence(m.r(p)[0], batch_first=True)[0]
    return squares(module(forward, i=nn.Linear(64, 64), r=nn.LSTM(64, 64, batch_first=True)), torch.randn(32, 32, 64))


def encoder(n=3, d=64, **how):
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(d, 4, 4 * d, 0.1, batch_first=True, **how), n)


@kind
def transformer():
    def forward(m, x):
        return m.t(m.e(x), torch.full((64, 64), float('-inf')).triu(1)) @ m.e.weight.t()
    return words(module(forward, e=nn.Embedding(500, 64), t=encoder(norm_first=True)))


@kind
def padding_mask():
    pad = torch.zeros(16, 64, dtype=torch.bool)
    pad[:, 50:] = True
    return squares(module(lambda m, x: m.t(x, src_key_padding_mask=pad), t=encoder()), torch.randn(16, 64, 64))


@kind
def encoder_decoder():
    m = nn.Transformer(64, 4, 2, 2, 256, batch_first=True)
    return squares(m, torch.randn(16, 48, 64), torch.randn(16, 32, 64))


@kind
def mixer():
    def block():
        return module(lambda m, x: (lambda y: y + m.b(m.p(y)))(x + m.a(m.n(x).transpose(1, 2).contiguous()).transpose(1, 2)),
                      n=nn.LayerNorm(64), p=nn.LayerNorm(64), a=mlp(64, 128, 64),
                      b=mlp(64, 256, 64, act=nn.GELU))
    return squares(tower(block), torch.randn(32, 64, 64))


@kind
def tcn():
    wn = nn.utils.weight_norm
    return squares(nn.Sequential(*(nn.Sequential(wn(nn.Conv1d(32, 32, 3, padding=2 ** k, dilation=2 ** k)), nn.ReLU(),
                                                 nn.Dropout(.1)) for k in range(4))), torch.randn(16, 32, 256))


@kind
def wavenet():
    def block():
        return module(lambda m, x: x + m.o(F.glu(m.c(x), 1)), c=nn.Conv1d(32, 64, 3, padding=1), o=nn.Conv1d(32, 32, 1))
    return squares(tower(block), torch.randn(16, 32, 256))


@kind
def unsafe_gate():
    def block():
        def forward(m, x):
            a, b = m.w(x).unsafe_chunk(2, -1)
            return a.sigmoid_() * b.tanh_()
        return module(forward, w=nn.Linear(256, 512))
    return squares(tower(block, 3), torch.randn(256, 256))


@kind
def ctc():
    m, x = nn.GRU(32, 32, batch_first=True), torch.randn(32, 64, 32)
    y, n, k = torch.randint(1, 32, (32, 10)), torch.full((32,), 64), torch.full((32,), 10)
    return m, lambda: F.ctc_loss(m(x)[0].log_softmax(-1).transpose(0, 1), y, n, k)


# ---- pictures

@kind
def batch_norm():
    return classes(cnn(residual), images())


@kind
def group_norm():
    return classes(cnn(lambda: residual(norm=lambda c: nn.GroupNorm(4, c))), images())


@kind
def channels_last():
    return classes(cnn(residual).to(memory_format=torch.channels_last), images().to(memory_format=torch.channels_last))


@kind
def squeeze():
    def block():
        return module(lambda m, x: F.hardswish(x * m.g(x)), g=nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(16, 4, 1), nn.ReLU(inplace=True), nn.Conv2d(4, 16, 1), nn.Hardsigmoid(inplace=True)))
    return classes(cnn(block), images())


@kind
def unet():
    def two(a, b):
        return nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(inplace=True),
                             nn.Conv2d(b, b, 3, padding=1), nn.ReLU(inplace=True))

    def forward(m, x):
        a = m.a(x)
        b = m.b(F.max_pool2d(a, 2))
        c = m.c(F.max_pool2d(b, 2))
        b = m.d(torch.cat([m.u(c), b], 1))
        return m.o(m.f(torch.cat([m.v(b), a], 1)))
    return squares(module(forward, a=two(3, 16), b=two(16, 32), c=two(32, 64), u=nn.ConvTranspose2d(64, 32, 2, 2),
                          d=two(64, 32), v=nn.ConvTranspose2d(32, 16, 2, 2), f=two(32, 16), o=nn.Conv2d(16, 2, 1)), images(4))


@kind
def diffusion():
    """A U-Net of blocks that are told the time, with attention in the middle, on noise."""
    def block(a, b):
        def forward(m, x, t):
            h = m.c(F.silu(m.n(x))) + m.t(t)[:, :, None, None]
            return m.s(x) + m.d(F.dropout(F.silu(m.k(h)), .1, m.training))
        return module(forward, n=nn.GroupNorm(4, a), c=nn.Conv2d(a, b, 3, padding=1), t=nn.Linear(64, b), k=nn.GroupNorm(4, b),
                      d=nn.Conv2d(b, b, 3, padding=1), s=nn.Conv2d(a, b, 1))

    def forward(m, x, t):
        f = torch.exp(-math.log(1e4) * torch.arange(32) / 32) * t[:, None]
        t = m.t(torch.cat([f.sin(), f.cos()], 1))
        a = m.a(m.i(x), t)
        b = m.b(F.avg_pool2d(a, 2), t)
        q = b.flatten(2).transpose(1, 2)
        b = b + m.q(q, q, q, need_weights=False)[0].transpose(1, 2).view_as(b)
        b = m.c(b, t)
        return m.o(m.d(torch.cat([F.interpolate(b, scale_factor=2), a], 1), t))
    m = module(forward, t=mlp(64, 64, 64, act=nn.SiLU), i=nn.Conv2d(3, 16, 3, padding=1), a=block(16, 16), b=block(16, 32),
               q=nn.MultiheadAttention(32, 4, batch_first=True), c=block(32, 32), d=block(48, 16), o=nn.Conv2d(16, 3, 3, padding=1))
    x = images(4)

    def step():
        t, e = torch.rand(4) * 1000, torch.randn_like(x)
        return F.mse_loss(m(x + e, t), e)
    return m, step


@kind
def super_resolution():
    return squares(nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.PReLU(), tower(residual, 2), nn.Conv2d(16, 12, 3, padding=1),
                                 nn.PixelShuffle(2), nn.InstanceNorm2d(3, affine=True), nn.Upsample(scale_factor=2)), images(4))


# ---- losses beside, state, sharing

@kind
def vae():
    def forward(m, x):
        mu, s = m.e(x).chunk(2, -1)
        m.kl = (mu.pow(2) + s.exp() - s - 1).mean()
        return m.d(mu + torch.randn_like(mu) * (s / 2).exp())
    m, x = module(forward, e=mlp(256, 512, 128), d=mlp(64, 512, 256)), torch.randn(256, 256)
    return m, lambda: F.mse_loss(m(x), x) + m.kl


@kind
def variational_layers():
    def layer():
        def forward(m, x):
            mu = m.w(x)
            m.kl = mu.pow(2).mean()
            return x + torch.tanh(mu + torch.randn_like(mu)) * torch.sigmoid(mu)
        return module(forward, w=nn.Linear(128, 128))
    m, x = tower(layer), torch.randn(32, 32, 128)
    return m, lambda: m(x).pow(2).mean() + sum(k.kl for k in m)


@kind
def vq_vae():
    """A code book that moves by running means, straight-through."""
    def quantise(m, x):
        k = torch.cdist(x, m.book).argmin(-1)
        if m.training:
            with torch.no_grad():
                one = F.one_hot(k.flatten(), 32).float()
                m.count.mul_(.9).add_(one.sum(0), alpha=.1)
                m.total.mul_(.9).add_(one.t() @ x.flatten(0, 1), alpha=.1)
                m.book.copy_(m.total / (m.count[:, None] + 1e-3))
        q = m.book[k]
        m.commit = F.mse_loss(x, q.detach())
        return x + (q - x).detach()
    q = module(quantise)
    for name, shape in (('book', (32, 64)), ('total', (32, 64)), ('count', (32,))):
        q.register_buffer(name, torch.randn(shape).abs())
    m, x = nn.Sequential(mlp(64, 256, 64), q, mlp(64, 256, 64)), torch.randn(16, 32, 64)
    return m, lambda: F.mse_loss(m(x), x) + q.commit


@kind
def mixture_of_experts():
    def layer():
        def forward(m, x):
            p = m.g(x).softmax(-1)
            m.aux = (p.mean((0, 1)) ** 2).sum() * 4
            top, which = p.topk(2, -1)
            out = torch.zeros_like(x)
            for k, e in enumerate(m.e):
                w = (top * (which == k)).sum(-1)
                i = w.nonzero(as_tuple=True)
                out[i] += w[i][:, None] * e(x[i])
            return x + out
        return module(forward, g=nn.Linear(64, 4), e=nn.ModuleList(mlp(64, 256, 64, act=nn.GELU) for _ in range(4)))
    m, x = tower(layer, 3), torch.randn(16, 64, 64)
    return m, lambda: m(x).pow(2).mean() + sum(k.aux for k in m)


def normed(norm):
    return classes(cnn(lambda: module(lambda m, x: F.relu(x + m.b(F.relu(m.a(x)))), a=norm(nn.Conv2d(16, 16, 3, padding=1)),
                                      b=norm(nn.Conv2d(16, 16, 3, padding=1)))), images())


@kind
def spectral_norm():
    return normed(nn.utils.spectral_norm)


@kind
def spectral_norm_parametrized():
    return normed(nn.utils.parametrizations.spectral_norm)


@kind
def weight_norm():
    return normed(nn.utils.weight_norm)


@kind
def orthogonal():
    return squares(tower(lambda: nn.Sequential(nn.utils.parametrizations.orthogonal(nn.Linear(128, 128)), nn.Tanh())),
                   torch.randn(512, 128))


@kind
def pruned():
    from torch.nn.utils import prune
    return classes(cnn(lambda: nn.Sequential(prune.l1_unstructured(nn.Conv2d(16, 16, 3, padding=1), 'weight', .5), nn.ReLU())),
                   images())


def kept(forward, buffer=None, **parts):
    def make():
        m = module(forward, **parts)
        if buffer is not None:
            m.register_buffer('run', buffer.clone())
        return m
    return classes(cnn(lambda: residual(extra=make)), images())


@kind
def running_mean():
    def forward(m, x):
        with torch.no_grad():
            m.run.mul_(.9).add_(.1 * x.abs().mean())
        return x / m.run
    return kept(forward, torch.ones(()))


@kind
def counter():
    def forward(m, x):
        m.n = getattr(m, 'n', 0) + 1
        return x * (1 + 1 / m.n)
    return kept(forward)


@kind
def a_list():
    def forward(m, x):
        m.seen.append(len(m.seen))
        return x * (1 + 1 / len(m.seen))
    m, step = kept(forward)
    for k in m.modules():
        if hasattr(k, 'extra'):
            k.extra.seen = []
    return m, step


@kind
def layer_drop():
    return classes(cnn(lambda: module(lambda m, x: x if random.random() < .3 else m.f(x), f=residual())), images())


@kind
def stochastic_depth():
    return classes(cnn(lambda: module(lambda m, x: x + m.f(x) * (torch.rand(x.shape[0], 1, 1, 1) > .3), f=residual())), images())


@kind
def siamese():
    m, a, b = cnn(residual), images(), images()
    return m, lambda: F.cosine_embedding_loss(m(a), m(b), torch.ones(8))


@kind
def attention_of_self():
    def block():
        return module(lambda m, q, k, v: torch.relu(m.w(q)) * torch.sigmoid(m.w(k)) + torch.tanh(m.w(v)), w=nn.Linear(128, 128))

    def forward(m, x):
        for b in m.b:
            x = x + b(x, x, x)
        return x
    return squares(module(forward, b=nn.ModuleList(block() for _ in range(4))), torch.randn(32, 32, 128))


@kind
def hooks_for_features():
    m, found = cnn(residual), []
    for b in m[1]:
        b.body[0].register_forward_hook(lambda m, i, o: found.append(o))
    x, y = images(), torch.randint(0, 10, (8,))

    def step():
        found.clear()
        loss = F.cross_entropy(m(x), y)
        return loss + sum(f.pow(2).mean() for f in found)
    return m, step


@kind
def data_class():
    @dataclasses.dataclass
    class Out:
        hidden: torch.Tensor
        extra: torch.Tensor
    blocks = nn.ModuleList(module(lambda m, x: (lambda y: Out(y, y.mean()))(m.f(x)), f=residual(3)) for _ in range(4))
    x = images()

    def step():
        h, e = x, 0
        for b in blocks:
            out = b(h)
            h, e = out.hidden, e + out.extra
        return h.pow(2).mean() + e
    return blocks, step


# ---- ways of autograd

@kind
def lazy_conjugates():
    m = module(lambda m, x: (lambda a: ((a.conj() * m.v).conj()).abs() + a.conj().imag)(x * m.w))
    m.w, m.v = (nn.Parameter(torch.randn(64, 128, dtype=torch.cfloat)) for _ in range(2))
    return squares(m, torch.randn(8, 64, 128, dtype=torch.cfloat))


@kind
def fourier_operator():
    def layer():
        def forward(m, x):
            f = torch.fft.rfft2(x)
            f = torch.einsum('bchw,dchw->bdhw', f.conj(), m.w).conj()
            return F.gelu(m.c(x) + torch.fft.irfft2(f, s=x.shape[-2:]))
        m = module(forward, c=nn.Conv2d(8, 8, 1))
        m.w = nn.Parameter(torch.randn(8, 8, 64, 33, dtype=torch.cfloat) * .01)
        return m
    return squares(nn.Sequential(nn.Conv2d(3, 8, 1), tower(layer, 3), nn.Conv2d(8, 1, 1)), images(4, side=64))


@kind
def graph_network():
    a, b = torch.randint(0, 1000, (2, 8000))

    def layer():
        def forward(m, x):
            w = F.leaky_relu(m.a(torch.cat([x[a], x[b]], 1)), .2)
            w = (w - w.max()).exp()
            total = torch.zeros(1000, 1).index_add(0, b, w)
            return F.elu(torch.zeros_like(x).index_add(0, b, w / (total[b] + 1e-9) * m.w(x)[a]))
        return module(forward, a=nn.Linear(128, 1), w=nn.Linear(64, 64))
    return squares(tower(layer, 3), torch.randn(1000, 64))


@kind
def flow():
    """Coupling layers, whose log determinant is returned beside."""
    def layer():
        return module(lambda m, p: (lambda a, b, s: (torch.cat([b * s.tanh().exp() + m.t(a), a], 1), p[1] + s.tanh().sum(1)))(
            *p[0].chunk(2, 1), m.s(p[0].chunk(2, 1)[0])), s=mlp(64, 256, 64), t=mlp(64, 256, 64))
    m, x = tower(layer), torch.randn(256, 128)

    def step():
        z, d = m((x, torch.zeros(256)))
        return (z.pow(2).sum(1) / 2 - d).mean()
    return m, step


@kind
def gradient_penalty():
    m, x0 = mlp(128, 256, 256, 1, act=nn.Softplus), torch.randn(256, 128)

    def step():
        x = x0.clone().requires_grad_()
        out = m(x).sum()
        g, = torch.autograd.grad(out, x, create_graph=True)
        return out + (g.norm(dim=1) - 1).pow(2).mean()
    return m, step


@kind
def custom_function():
    class Swish(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x.sigmoid()

        @staticmethod
        def backward(ctx, g):
            x, = ctx.saved_tensors
            s = x.sigmoid()
            return g * (s + x * s * (1 - s))
    return classes(cnn(lambda: residual(extra=lambda: module(lambda m, x: Swish.apply(x)))), images())


def checkpointed(reentrant):
    def make():
        m = cnn(residual)
        m[1].forward = lambda x: [x := checkpoint(b, x, use_reentrant=reentrant) if k % 2 else b(x)
                                  for k, b in enumerate(m[1])][-1]
        return classes(m, images())
    ZOO[f'checkpoint_reentrant_{reentrant}'] = make


checkpointed(True)
checkpointed(False)


@kind
def in_place():
    def block():
        def forward(m, x):
            y = m.c(x).clone()
            y.mul_(.5).add_(x)
            y[:, 3] = 0
            z = torch.empty_like(y).copy_(F.leaky_relu_(y, .1))
            z[:, :2].zero_()
            return z + x
        return module(forward, c=nn.Conv2d(16, 16, 3, padding=1))
    return classes(cnn(block), images())


@kind
def views():
    def forward(m, x):
        e = m.w.expand(8, 256, 256)
        y = torch.where(x > 0, x * e, x).transpose(1, 2)[:, ::2].flip(1).unfold(1, 3, 2)
        v, _ = y.flatten(2).sort(-1)
        return m.l(v[..., :256]).cumsum(1).logsumexp(1) + x.index_select(1, torch.arange(0, 256, 3)).amax(1)
    m = module(forward, l=nn.Linear(256, 256))
    m.w = nn.Parameter(torch.randn(1, 256, 1))
    return squares(nn.Sequential(nn.Linear(256, 256), m), torch.randn(8, 256, 256))


@kind
def straight_through():
    return squares(tower(lambda: module(lambda m, x: (lambda y: y + (y.round() - y).detach())(m.w(x).tanh()), w=nn.Linear(128, 128))),
                   torch.randn(512, 128))


@kind
def gumbel():
    return squares(tower(lambda: module(lambda m, x: x + F.gumbel_softmax(m.w(x), hard=True) @ m.w.weight, w=nn.Linear(128, 128))),
                   torch.randn(512, 128))


@kind
def behind_autograd():
    """Changes what was saved where autograd does not see it."""
    def forward(m, x):
        y = m.w(x).exp()
        y.data.mul_(.5)
        return y.tanh()
    return squares(tower(lambda: nn.Sequential(module(forward, w=nn.Linear(128, 128)), mlp(128, 512, 128))), torch.randn(256, 128))


@kind
def attribute_read():
    def block():
        return module(lambda m, x: x + m.o(torch.tanh(m.q(x) @ m.context[0].transpose(1, 2) / 11) @ m.context[0]),
                      q=nn.Linear(128, 128), o=nn.Linear(128, 128))

    def forward(m, x):
        h = m.e(x)
        for b in m.b:
            b.context = [h]
        return m.b(x)
    return squares(module(forward, e=nn.Linear(128, 128), b=tower(block)), torch.randn(16, 64, 128))


@kind
def sparse_embedding():
    return squares(nn.Sequential(nn.Embedding(2000, 64, sparse=True), mlp(64, 256, 256, 1, act=nn.GELU)),
                   torch.randint(0, 2000, (16, 64)))


@kind
def bag():
    return squares(nn.Sequential(nn.EmbeddingBag(2000, 64), mlp(64, 512, 512, 1)), torch.randint(0, 2000, (512, 8)))


@kind
def frozen():
    m = cnn(residual)
    m[0].requires_grad_(False)
    m[1][:2].requires_grad_(False)
    return classes(m, images())


@kind
def scripted():
    m = cnn(residual)
    m[1] = torch.jit.script(tower(lambda: nn.Sequential(nn.Conv2d(16, 16, 3, padding=1), nn.ReLU())))
    return classes(m, images())


@kind
def autocast():
    m, x, y = cnn(residual), images(), torch.randint(0, 10, (8,))

    def step():
        with torch.autocast('cpu', dtype=torch.bfloat16):
            return F.cross_entropy(m(x).float(), y)
    return m, step


@kind
def accumulate():
    m, a, b = cnn(residual), images(), images()
    return m, lambda: m(a).pow(2).mean() + m(b).pow(2).mean()


@kind
def unrolled():
    """One layer, many times, as in a solver of equations."""
    m, x = mlp(128, 256, 128), torch.randn(256, 128)

    def step():
        h = x
        for _ in range(5):
            h = h + .1 * m(h)
        return h.pow(2).mean()
    return m, step
