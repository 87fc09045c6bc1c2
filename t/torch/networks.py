"""Networks exported by torch, trained by torch and by place-run: the losses of 20 steps."""
import copy
import csv
import io
import os
import subprocess
import sys
import numpy
import torch
import torch.nn.functional as F
from torch import nn
from tap import end, ok


class Res(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm = nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8)
        self.a, self.b = nn.Conv2d(8, 8, 3, 1, 1, bias=False), nn.Conv2d(8, 8, 3, 1, 1)
        self.n1, self.n2 = nn.BatchNorm2d(8), nn.BatchNorm2d(8)
        self.fc = nn.Linear(8, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm(self.first(x))), 3, 2, 1)
        x = F.relu(x + self.n2(self.b(F.relu(self.n1(self.a(x))))))
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))


class Mobile(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Sequential(nn.Conv2d(3, 12, 3, 2, 1), nn.BatchNorm2d(12), nn.ReLU6())
        self.b = nn.Sequential(nn.Conv2d(12, 12, 3, 1, 1, groups=12), nn.BatchNorm2d(12), nn.ReLU6(),
                               nn.Conv2d(12, 16, 1), nn.SiLU())
        self.c = nn.Sequential(nn.Conv2d(16, 16, 5, 2, 4, dilation=2, groups=4), nn.Tanh(), nn.AvgPool2d(3, 2, 1))
        self.fc = nn.Linear(16 * 4, 10)

    def forward(self, x):
        return self.fc(self.c(self.b(self.a(x))).flatten(1))


class Dense(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, 1, 1)
        self.layers = nn.ModuleList(nn.Sequential(nn.BatchNorm2d(8 + 4 * i), nn.ReLU(), nn.Conv2d(8 + 4 * i, 4, 3, 1, 1))
                                    for i in range(10))
        self.fc = nn.Linear(48, 10)

    def forward(self, x):
        features = [self.first(x)]
        for layer in self.layers:
            features.append(layer(torch.cat(features, 1)))
        return self.fc(torch.cat(features, 1).mean((2, 3)))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Conv2d(3, 8, 3, 1, 1), nn.Conv2d(8, 12, 3, 1, 1), nn.Conv2d(12, 12, 3, 1, 1)
        self.up, self.d = nn.ConvTranspose2d(12, 8, 2, 2), nn.Conv2d(16, 8, 3, 1, 1)
        self.e, self.out = nn.Conv2d(20, 8, 3, 1, 1), nn.Conv2d(8, 5, 1)

    def forward(self, x):
        a = F.relu(self.a(x))
        b = F.relu(self.b(F.max_pool2d(a, 2)))
        c = F.relu(self.c(b))
        d = F.relu(self.d(torch.cat([self.up(c), a], 1)))
        e = F.relu(self.e(torch.cat([F.interpolate(c, scale_factor=2), d], 1)))
        return self.out(e).permute(0, 2, 3, 1).reshape(-1, 5)


class GPT(nn.Module):
    class Block(nn.Module):
        def __init__(self, width, heads, tokens):
            super().__init__()
            self.heads = heads
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
            self.register_buffer('mask', torch.full((tokens, tokens), -1e9).triu(1))

        def forward(self, x):
            b, t, c = x.shape
            q, k, v = (y.reshape(b, t, self.heads, c // self.heads).transpose(1, 2) for y in
                       self.qkv(self.norm1(x)).split(c, 2))
            a = (q @ k.transpose(2, 3) / (c // self.heads) ** 0.5 + self.mask[:t, :t]).softmax(3)
            x = x + self.out((a @ v).transpose(1, 2).reshape(b, t, c))
            return x + self.mlp(self.norm2(x))

    def __init__(self, width=32, heads=4, layers=2, words=50, tokens=16):
        super().__init__()
        self.words, self.places_weight = nn.Embedding(words, width), nn.Parameter(torch.randn(tokens, width) * .1)
        self.blocks = nn.Sequential(*(self.Block(width, heads, tokens) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words)

    def forward(self, x):
        return self.head(self.norm(self.blocks(self.words(x) + self.places_weight))).flatten(0, 1)


class BERT(nn.Module):
    """As BERT: token, place and segment embeddings, normalisation after each half of a block, pooled first token."""
    class Block(nn.Module):
        def __init__(self, width, heads, drop):
            super().__init__()
            self.heads = heads
            self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
            self.norm1, self.norm2 = nn.LayerNorm(width, 1e-12), nn.LayerNorm(width, 1e-12)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
            self.drop = nn.Dropout(drop) if drop else nn.Identity()

        def forward(self, x, mask):
            b, t, c = x.shape
            q, k, v = (f(x).reshape(b, t, self.heads, -1).transpose(1, 2) for f in (self.query, self.key, self.value))
            a = self.drop((q @ k.transpose(2, 3) / (c // self.heads) ** 0.5 + mask).softmax(3))
            x = self.norm1(x + self.drop(self.out((a @ v).transpose(1, 2).reshape(b, t, c))))
            return self.norm2(x + self.drop(self.down(F.gelu(self.up(x)))))

    def __init__(self, width=32, heads=4, layers=2, words=60, tokens=12, drop=0.):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.places_weight = nn.Parameter(torch.randn(tokens, width) * .02)
        self.segment_weight = nn.Parameter(torch.randn(width) * .02)
        self.norm = nn.LayerNorm(width, 1e-12)
        self.blocks = nn.ModuleList(self.Block(width, heads, drop) for _ in range(layers))
        self.pool, self.head = nn.Linear(width, width), nn.Linear(width, 10)
        mask = torch.zeros(1, 1, 1, tokens)
        mask[..., tokens - 2:] = -1e4                    # the last two are padding
        self.register_buffer('mask', mask)

    def forward(self, x):
        x = self.norm(self.words(x) + self.places_weight + self.segment_weight)
        for block in self.blocks:
            x = block(x, self.mask)
        return self.head(torch.tanh(self.pool(x[:, 0])))


class Every(nn.Module):
    """What the others leave out."""
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(48, 16), nn.Linear(16, 10, bias=False)
        self.scale = nn.Parameter(torch.rand(16) + .5)
        self.shift = nn.Parameter(torch.rand(16))

    def forward(self, x):
        x = self.a(x.flatten(1))
        y = torch.exp(-x * x) * self.scale - self.shift / torch.sqrt(x * x + 1)
        z = torch.log(torch.sigmoid(y) + 1) ** 2 - y.mean(1, keepdim=True)
        u, v = z.split(8, 1)
        return self.b(torch.cat([v.tanh(), 2 - u, ], 1)) * 3 / 2


def train(model, x, labels, optimiser, rate, steps):
    o = (torch.optim.Adam if optimiser == 'adam' else torch.optim.SGD)(model.parameters(), lr=rate)
    losses = []
    for _ in range(steps):
        o.zero_grad()
        loss = F.cross_entropy(model(x), labels)
        losses.append(loss.item())
        loss.backward()
        o.step()
    return losses


def distance(got, want):
    return max(abs(a - b) / max(1, abs(b)) for a, b in zip(got, want))


def run(name, net, x, labels, optimiser='sgd', rate=0.05, steps=20, deep=False):
    """deep: a network whose losses differ between torch's floats and doubles as well, a kink of a relu here or there."""
    torch.manual_seed(3)
    model = net()
    model.train()
    torch.onnx.export(model, x, name + '.onnx', training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False,
                      input_names=['input'], opset_version=13)
    def words(file, t):
        (t.numpy().astype(numpy.int32) if t.dtype == torch.int64 else t.numpy()).tofile(file)
    words('x.bin', x)
    words('y.bin', labels)
    shell = f'''set -e -o pipefail
        place-import --from=onnx {name}.onnx > {name}.forward
        place-grad --optimiser={optimiser} --rate={rate} {name}.forward > {name}.graph
        place-check {name}.graph
        place-cost --model=disk {name}.graph > {name}.csv
        place-plan --formulation=fast --profile={name}.csv {name}.graph > {name}.plan
        place-run --plan={name}.plan --tier=dram --steps={steps} --warm=0 --again=0 --values={name}.onnx \\
            --value=input=x.bin --value=labels=y.bin {name}.graph'''
    done = subprocess.run(['bash', '-c', shell], capture_output=True, text=True)
    if done.returncode:
        print('#', done.stderr, done.stdout)
        ok(False, f'{name}: imported, differentiated, planned, run')
        return
    got = [float(r['loss']) for r in csv.DictReader(io.StringIO(done.stdout))]
    double = copy.deepcopy(model).double() if deep else None
    want, allowed = train(model, x, labels, optimiser, rate, steps), 1e-4
    if deep:
        allowed += 10 * distance(train(double, x.double(), labels, optimiser, rate, steps), want)
    worst, early = distance(got, want), distance(got[:1 if deep else 3], want)
    ok(len(got) == steps and worst < allowed and early < 1e-5 and want[-1] < want[0], f'{name}, {optimiser}: '
       f'{steps} losses from {want[0]:.4f} to {want[-1]:.4f}, at most {worst:.1e} from torch (allowed {allowed:.1e})')


def quarter(name, model, x, labels, steps, tier):
    """A transformer with dropout in a quarter of the memory of its intermediates: the same losses, to the last bit."""
    model.train()
    torch.onnx.export(model, x, 'quarter.onnx', training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False,
                      input_names=['input'], opset_version=13)
    x.numpy().astype(numpy.int32).tofile('x.bin')
    labels.numpy().astype(numpy.int32).tofile('y.bin')
    shell = f'''set -e -o pipefail
        place-import --from=onnx quarter.onnx | place-grad --optimiser=adam --rate=0.003 > quarter.graph
        place-profile --tier=file:{tier} -o quarter.csv quarter.graph
        for plan in fast-100 sync-25; do
            place-plan --formulation=${{plan%-*}} --limit=${{plan#*-}}% --profile=quarter.csv quarter.graph > $plan.plan
            place-run --plan=$plan.plan --tier=file:{tier} --steps={steps} --warm=0 --again=0 \\
                --values=quarter.onnx --value=input=x.bin \\
                --value=labels=y.bin quarter.graph > $plan.csv
        done'''
    done = subprocess.run(['bash', '-c', shell], capture_output=True, text=True)
    if done.returncode:
        print('#', done.stderr)
        ok(False, 'a transformer in a quarter of its memory')
        return
    rows = [list(csv.DictReader(open(f))) for f in ('fast-100.csv', 'sync-25.csv')]
    fast, slow = ([r['loss'] for r in rs] for rs in rows)
    moved, used = int(rows[1][-1]['written_bytes']), [int(rs[-1]['fast_bytes']) for rs in rows]
    seconds = [sorted(float(r['seconds']) for r in rs)[steps // 2] for rs in rows]
    ok(fast == slow and len(fast) == steps and float(fast[-1]) < float(fast[0]),
       f'{name}: {steps} losses from {fast[0]} to {fast[-1]} are equal to the last bit')
    ok(moved > 0 and used[1] <= 0.26 * used[0], f'with {used[1]} instead of {used[0]} bytes, {moved} written in a step')
    print(f'# median step {seconds[0]:.4f} s with all in memory, {seconds[1]:.4f} s in a quarter')


if __name__ == '__main__':
    torch.set_num_threads(1)
    torch.manual_seed(2)
    image = torch.randn(4, 3, 32, 32)
    label = torch.randint(0, 10, (4,))
    run('res', Res, image, label)
    run('mobile', Mobile, image[:, :, :16, :16].contiguous(), label)
    run('dense', Dense, image[:, :, :12, :12].contiguous(), label)
    run('unet', UNet, image[:2, :, :16, :16].contiguous(), torch.randint(0, 5, (2 * 16 * 16,)))
    tokens = torch.randint(0, 50, (3, 16))
    run('gpt', GPT, tokens, tokens.roll(-1, 1).flatten(), 'adam', 0.003)
    run('every', Every, image[:, :, :4, :4].contiguous(), label)
    run('bert', BERT, torch.randint(0, 60, (4, 12)), label, 'adam', 0.003)
    tier = sys.argv[1] if len(sys.argv) > 1 else '.'
    torch.manual_seed(4)
    tokens = torch.randint(0, 200, (8, 32))
    quarter('gpt', nn.Sequential(GPT(64, 4, 2, 200, 32), nn.Dropout(0.1)), tokens, tokens.roll(-1, 1).flatten(), 6, tier)
    if os.environ.get('MILLRACE_LONG'):                  # minutes: see docs/place-onnx.md
        import torchvision
        photo, kind = torch.randn(8, 3, 64, 64), torch.randint(0, 1000, (8,))
        models = torchvision.models                      # dropout draws other numbers in torch
        for name, net in (('resnet18', models.resnet18), ('densenet121', models.densenet121),
                          ('mobilenet_v2', lambda: models.mobilenet_v2(dropout=0.))):
            run(name, net, photo, kind, rate=1e-4, deep=True)
        tokens = torch.randint(0, 1000, (8, 64))
        quarter('bert, 12 blocks', BERT(192, 12, 12, 1000, 64, 0.1), tokens, label.repeat(2), 50, tier)
        quarter('gpt, 4 blocks', nn.Sequential(GPT(128, 4, 4, 1000, 64), nn.Dropout(0.1)), tokens,
                tokens.roll(-1, 1).flatten(), 50, tier)
    end()
