"""Ten deep networks, and three whose first layers are most of them, that train 20 steps in a memory group of a half, and
of a quarter, of what plain takes, as CSV.

    squeeze.py TIER [NAME..]

A process for each way: plain without a group; plain and a plan of limit='auto' in each group; beside them a checkpoint
around every block, and every saved tensor over 64 KiB written to a file and read when it is asked for, without a group.
Columns: net, way, group_bytes, status (killed, or trained), steps, cpu_seconds (of a step, the thread that trains),
peak_bytes (of the process), loss (of the third step), same (as plain's), plan."""
import csv
import os
import subprocess
import sys
import time
import zoo

TIER = os.path.abspath(sys.argv[1])
FIELDS = 'net way group_bytes status steps cpu_seconds peak_bytes loss same plan'.split()


def nets():
    import torch
    from torch import nn
    block = zoo.residual

    def words(width, layers, shape, **how):
        def forward(m, x):
            return m.o(m.t(m.e(x)))
        m = zoo.module(forward, e=nn.Embedding(500, width), t=zoo.encoder(layers, width, **how), o=nn.Linear(width, 500))
        return (*zoo.words(m, shape=shape), list(m.t.layers))

    def tower(make, n, x):
        m = zoo.tower(make, n)
        return (*zoo.squares(m, x), list(m))

    def pictures(make, n, side, count=5):
        m = zoo.cnn(make, count)
        return (*zoo.classes(m, zoo.images(n, side=side)), list(m[1]))

    def vision(name, n, side):
        import torchvision
        m = getattr(torchvision.models, name)(weights=None, num_classes=10)
        blocks = [b for b in m.modules() if type(b).__name__ in ('BasicBlock', 'InvertedResidual', '_DenseLayer')]
        return (*zoo.classes(m, zoo.images(n, side=side)), blocks)

    def gate():
        return zoo.module(lambda m, x: x + m.o(nn.functional.glu(m.c(x), 1)), c=nn.Conv1d(32, 64, 3, padding=1),
                          o=nn.Conv1d(32, 32, 1))

    def filtered():
        return nn.Sequential(nn.Conv1d(32, 32, 3, padding=1), nn.ReLU(), nn.Dropout(.1))

    def kept():
        def forward(m, x):
            mu = m.w(x)
            m.kl = mu.pow(2).mean()
            return x + torch.tanh(mu + torch.randn_like(mu)) * torch.sigmoid(mu)
        return zoo.module(forward, w=nn.Linear(64, 64))

    def mixer():
        return zoo.module(lambda m, x: x + m.a(m.n(x)) + m.b(x), n=nn.LayerNorm(64), a=zoo.mlp(64, 128, 64),
                          b=zoo.mlp(64, 128, 64))

    def vit():
        import torchvision
        m = torchvision.models.VisionTransformer(96, 8, 26, 4, 128, 384, num_classes=10)
        return (*zoo.classes(m, zoo.images(20, side=96)), list(m.encoder.layers))
    return {'cnn': lambda: pictures(block, 16, 96, 18), 'group norm': lambda: pictures(
        lambda: zoo.residual(norm=lambda c: nn.GroupNorm(4, c)), 16, 96, 18),
        'transformer': lambda: words(96, 14, (10, 256)), 'pre-norm': lambda: words(64, 14, (14, 256), norm_first=True),
        'wavenet': lambda: tower(gate, 28, torch.randn(24, 32, 2048)), 'mlp': lambda: tower(
            lambda: zoo.mlp(128, 512, 128), 36, torch.randn(8192, 128)),
        'mixer': lambda: tower(mixer, 20, torch.randn(288, 64, 64)), 'variational': lambda: tower(
            kept, 26, torch.randn(400, 64, 64)),
        'tcn': lambda: tower(filtered, 36, torch.randn(24, 32, 2048)), 'vit': vit,
        'densenet121': lambda: vision('densenet121', 20, 96), 'resnet18': lambda: vision('resnet18', 32, 112), 'mobilenet_v2': lambda: vision('mobilenet_v2', 24, 96)}


def hooks(torch, known):
    """What a person writes who wants a file."""
    import tempfile
    file, end = tempfile.TemporaryFile(dir=TIER), [0]

    def pack(t):
        if t.data_ptr() in known or t.numel() * t.element_size() < 65536 or not t.is_contiguous():
            return t.detach()
        a, at = t.detach().numpy(), end[0]
        file.seek(at)
        file.write(a.data)
        end[0] += a.nbytes
        return at, t.dtype, t.shape, a.nbytes

    def unpack(h):
        if isinstance(h, torch.Tensor):
            return h
        at, dtype, shape, n = h
        memory = bytearray(n)
        file.seek(at)
        file.readinto(memory)
        return torch.frombuffer(memory, dtype=dtype).view(shape)
    return lambda: (end.__setitem__(0, 0), torch.autograd.graph.saved_tensors_hooks(pack, unpack))[1]


def one(name, way, steps):
    import contextlib
    import torch
    import millrace_place
    from torch.utils.checkpoint import checkpoint
    torch.set_num_threads(1)
    torch.manual_seed(1)
    model, step, blocks = nets()[name]()
    around, plan, cpu, losses = contextlib.nullcontext, None, [], []
    if way == 'plan':
        plan = millrace_place.Plan(model, step, 'auto', tier=TIER)
        around = lambda: plan
    elif way == 'file':
        around = hooks(torch, {p.data_ptr() for p in model.parameters()})
    elif way == 'checkpoint':
        for b in blocks:
            b.forward = lambda *a, f=b.forward, **k: checkpoint(f, *a, use_reentrant=False, **k)
    optimiser = torch.optim.SGD(model.parameters(), 1e-3)
    for k in range(steps):
        optimiser.zero_grad()
        torch.manual_seed(k)
        start = time.thread_time()
        with around():
            loss = step()
        loss.backward()
        cpu.append(time.thread_time() - start)
        losses.append(repr(loss.item()))
        optimiser.step()
        del loss
    with open('/proc/self/status') as f:
        peak = next(int(line.split()[1]) << 10 for line in f if line.startswith('VmHWM'))
    text = f'{len(plan.away)} away, {len(plan.again)} twice' if plan else ''
    print(steps, f'{sorted(cpu[1:])[len(cpu) // 2 - 1]:.4f}', peak, losses[2], text, sep=';')


def process(name, way, steps, limit):
    group = f'/sys/fs/cgroup/memory/millrace-squeeze-{os.getpid()}'

    def enter():
        with open(group + '/cgroup.procs', 'w') as f:
            f.write(str(os.getpid()))
    if limit:
        os.mkdir(group)
        with open(group + '/memory.limit_in_bytes', 'w') as f:
            f.write(str(limit))
    done = subprocess.run([sys.executable, '-W', 'ignore', '-B', __file__, TIER, '--one', name, way, str(steps)],
                          capture_output=True, text=True, preexec_fn=enter if limit else None)
    if limit:
        os.rmdir(group)
    row = {'net': name, 'way': way, 'group_bytes': limit or '', 'status': {0: 'trained', -9: 'killed'}.get(
        done.returncode, (done.stderr.strip().split('\n') or [''])[-1][:200])}
    if not done.returncode:
        row.update(zip(('steps', 'cpu_seconds', 'peak_bytes', 'loss', 'plan'), done.stdout.strip().split(';')))
    return row


def main(names):
    writer = csv.DictWriter(sys.stdout, FIELDS, lineterminator='\n')
    writer.writeheader()
    for name in names or nets():
        plain = None
        for way, steps, share in (('plain', 4, 0), ('plain', 4, 2), ('plan', 20, 2), ('plain', 4, 4), ('plan', 20, 4),
                                  ('checkpoint', 4, 0), ('file', 4, 0)):
            limit = int(plain['peak_bytes']) // share // 4096 * 4096 if share else None
            row = process(name, way, steps, limit)
            plain = plain or row
            row['same'] = int(row['loss'] == plain['loss']) if 'loss' in row else ''
            writer.writerow(row)
            sys.stdout.flush()


if sys.argv[2:3] == ['--one']:
    one(*sys.argv[3:5], int(sys.argv[5]))
else:
    main(sys.argv[2:])
