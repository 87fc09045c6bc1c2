"""The networks of place-net that consist of operators on plain arrays, beside torchvision's (U-Net: written here) with
the same parameters, image and labels: numbers of parameters at full size, losses of some steps of SGD."""
import copy
import csv
import io
import os
import re
import subprocess
import numpy
import torch
import torchvision
from torch import nn
from networks import distance, train
from tap import end, ok


class UNet(nn.Module):
    def __init__(self, classes=2, wide=64, deep=4):
        super().__init__()
        def two(i, o):
            return nn.Sequential(nn.Conv2d(i, o, 3, 1, 1, bias=False), nn.BatchNorm2d(o), nn.ReLU(),
                                 nn.Conv2d(o, o, 3, 1, 1, bias=False), nn.BatchNorm2d(o), nn.ReLU())
        c = [wide << i for i in range(deep + 1)]
        self.down = nn.ModuleList(two(i, o) for i, o in zip([3] + c, c))
        self.up = nn.ModuleList(m for i, o in zip(c[:0:-1], c[-2::-1])
                                for m in (nn.ConvTranspose2d(i, o, 2, 2), two(i, o)))
        self.out = nn.Conv2d(wide, classes, 1)

    def forward(self, x):
        skips = []
        for k, m in enumerate(self.down):
            x = m(nn.functional.max_pool2d(x, 2) if k else x)
            skips.append(x)
        for i in range(0, len(self.up), 2):
            x = self.up[i + 1](torch.cat([skips[-2 - i // 2], self.up[i](x)], 1))
        return self.out(x).permute(0, 2, 3, 1).flatten(0, 2)


def run(name, net, image, batch=2, steps=3, rate=0.02):
    torch.manual_seed(5)
    model = net()
    x = torch.randn(batch, 3, image, image)
    labels = torch.randint(0, 2 if name == 'unet' else 1000, (batch * (image * image if name == 'unet' else 1),))
    graph = subprocess.run(['place-net', name, f'--batch={batch}', f'--image={image}'], check=True, text=True,
                           capture_output=True).stdout.replace('(rate 0.001)', f'(rate {rate})')
    open('net.graph', 'w').write(graph)
    args = [a for a in re.findall(r'\(tensor \d+ (\S+) arg \d+ f32 \([\d ]*\)\)', graph)
            if re.search(r'\.(weight|bias|scale|shift)$', a)]
    values = dict(zip(args, model.parameters())) | {'input': x, 'labels': labels}
    for a, t in values.items():
        t = t.detach().numpy()
        (t.astype(numpy.int32) if t.dtype == numpy.int64 else t).tofile(a)
    shell = f'''set -e -o pipefail
        place-cost --model=disk net.graph > net.csv
        place-plan --formulation=fast --profile=net.csv net.graph > net.plan
        place-check --plan=net.plan --profile=net.csv net.graph
        place-run --plan=net.plan --tier=dram --steps={steps} --warm=0 --again=0 \\
            {' '.join(f'--value={a}={a}' for a in values)} net.graph'''
    done = subprocess.run(['bash', '-c', shell], capture_output=True, text=True)
    for a in values: os.remove(a)
    got = [float(r['loss']) for r in csv.DictReader(io.StringIO(done.stdout))] if done.returncode == 0 else []
    if not got: print('#', done.stderr)
    double = copy.deepcopy(model).double()
    want = train(model, x, labels, 'sgd', rate, steps)
    worst = [distance([a], [b]) for a, b in zip(got, want)] or [9]
    allowed = 1e-5 + 10 * distance(train(double, x.double(), labels, 'sgd', rate, steps), want)   # kinks of rectifiers
    ok(len(args) == len(list(model.parameters())) and len(got) == steps and worst[0] < 1e-5 and max(worst) < allowed and
       abs(want[-1] - want[0]) > 0.05, f'{name}: losses {[round(w, 4) for w in want]}, from torch by '
       + ', '.join(f'{w:.1e}' for w in worst) + f' (allowed {allowed:.1e})')


if __name__ == '__main__':
    torch.set_num_threads(1)
    models = torchvision.models
    run('mobilenetv2', lambda: models.mobilenet_v2(dropout=0.), 64, 4, rate=0.01)
    run('unet', UNet, 32, 1)
    if os.environ.get('MILLRACE_LONG'):                  # 346 MB of parameters
        run('vit', lambda: models.VisionTransformer(32, 16, 12, 12, 768, 3072), 32)
    end()
