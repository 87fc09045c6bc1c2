"""Ten networks of the kinds that people train, chosen before any was measured under a plan: the usual depths, ten
classes; batches (multiples of four) with which the process of the plain step, 250 MB of it PyTorch's own, takes about
1.4 GB; TORCH_TIMES=4 in the environment: four times these.  Convolutions are trained by SGD with momentum, the others
by Adam.

TEN: name -> batch -> (model, step, blocks).

    ten.py NAME BATCH       what the plain process takes, in bytes"""
import os
import sys
import torch
from torch import nn
import zoo

BATCH = {'cnn': 12, 'resnet18': 104, 'densenet121': 36, 'unet': 16, 'vgg11': 200, 'lstm': 300, 'tcn': 80,
         'transformer': 32, 'vit_tiny': 28, 'mixer': 132}


def cnn(n):
    m = zoo.cnn(zoo.residual, 18)
    return (*zoo.classes(m, zoo.images(n, side=96)), list(m[1]))


def vision(name, side, kinds):
    def make(n):
        import torchvision
        m = getattr(torchvision.models, name)(weights=None, num_classes=10)
        return (*zoo.classes(m, zoo.images(n, side=side)), [b for b in m.modules() if type(b).__name__ in kinds])
    return make


def vgg11(n):
    """Its features, and one layer behind them."""
    import torchvision.models.vgg as vgg
    f = list(vgg.make_layers(vgg.cfgs['A']))
    at = [-1] + [k for k, m in enumerate(f) if isinstance(m, nn.MaxPool2d)]
    stages = [nn.Sequential(*f[a + 1:b + 1]) for a, b in zip(at, at[1:])]
    m = nn.Sequential(*stages, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))
    return (*zoo.classes(m, zoo.images(n, side=64)), stages)


def unet(n):
    import nets
    m = nets.UNet(2, 32)
    x, y = zoo.images(n, side=128), torch.randint(0, 2, (n * 128 * 128,))
    blocks = [b for b in (*m.down, *m.up) if isinstance(b, nn.Sequential)]
    return m, lambda: nn.functional.cross_entropy(m(x), y), blocks


def lstm(n):
    m = zoo.module(lambda m, x: m.o(m.r(m.e(x))[0]), e=nn.Embedding(500, 256), o=nn.Linear(256, 500),
                   r=nn.LSTM(256, 256, 2, batch_first=True, dropout=.1))
    return (*zoo.words(m, shape=(n, 128)), [m.r])


def tcn(n):
    def level(k):
        return zoo.module(lambda m, x: torch.relu(x + m.f(x)), f=nn.Sequential(*(f for _ in range(2) for f in (
            nn.utils.weight_norm(nn.Conv1d(32, 32, 3, padding=2 ** k, dilation=2 ** k)), nn.ReLU(), nn.Dropout(.1)))))
    m = nn.Sequential(*(level(k) for k in range(8)))
    return (*zoo.squares(m, torch.randn(n, 32, 1024)), list(m))


def transformer(n):
    m = zoo.module(lambda m, x: m.o(m.t(m.e(x))), e=nn.Embedding(500, 128), t=zoo.encoder(12, 128),
                   o=nn.Linear(128, 500))
    return (*zoo.words(m, shape=(n, 128)), list(m.t.layers))


def vit(n):
    import torchvision
    m = torchvision.models.VisionTransformer(96, 8, 12, 3, 192, 768, num_classes=10)
    return (*zoo.classes(m, zoo.images(n, side=96)), list(m.encoder.layers))


def mixer(n):
    def block():
        return zoo.module(lambda m, x: (lambda y: y + m.b(m.p(y)))(
            x + m.a(m.n(x).transpose(1, 2).contiguous()).transpose(1, 2).contiguous()),
                          n=nn.LayerNorm(128), p=nn.LayerNorm(128), a=zoo.mlp(64, 256, 64, act=nn.GELU),
                          b=zoo.mlp(128, 512, 128, act=nn.GELU))
    m = nn.Sequential(nn.Conv2d(3, 128, 8, 8), nn.Flatten(2), zoo.module(lambda m, x: x.transpose(1, 2).contiguous()),
                      zoo.tower(block, 8), nn.LayerNorm(128), zoo.module(lambda m, x: x.mean(1)), nn.Linear(128, 10))
    return (*zoo.classes(m, zoo.images(n, side=64)), list(m[3]))


TEN = {'cnn': cnn, 'resnet18': vision('resnet18', 112, ('BasicBlock',)),
       'densenet121': vision('densenet121', 96, ('_DenseLayer', '_Transition')), 'unet': unet,
       'vgg11': vgg11, 'lstm': lstm, 'tcn': tcn, 'transformer': transformer,
       'vit_tiny': vit, 'mixer': mixer}


def queued():
    """Seconds that this thread could have run and others had the core, by the kernel's account; 0 where it has none."""
    try:
        with open('/proc/thread-self/schedstat') as f:
            return int(f.read().split()[1]) * 1e-9
    except OSError:
        return 0.


def make(name, batch=None):
    """(model, step, blocks, optimiser)"""
    torch.set_num_threads(1)
    torch.manual_seed(1)
    model, step, blocks = TEN[name](batch or BATCH[name] * int(os.environ.get('TORCH_TIMES', 1)))
    if list(TEN).index(name) < 5:
        return model, step, blocks, torch.optim.SGD(model.parameters(), 1e-3, momentum=.9)
    return model, step, blocks, torch.optim.Adam(model.parameters(), 1e-4)


if __name__ == '__main__':
    _, step, _, optimiser = make(sys.argv[1], int(sys.argv[2]))
    for _ in range(3):
        optimiser.zero_grad()
        step().backward()
        optimiser.step()
    with open('/proc/self/status') as f:
        print(next(int(line.split()[1]) << 10 for line in f if line.startswith('VmHWM')))
