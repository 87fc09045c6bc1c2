"""Time per step against the memory for what autograd saves, one process for every way, as CSV on standard output.

    python3 -m millrace_place.curve NET BATCH IMAGE TIER STEPS WAY..

NET: a model of torchvision.models, or gpt (12 blocks, IMAGE tokens).  WAY: plain; a number, per cent of what the plain
step saves, kept by a plan; block, torch.utils.checkpoint around every block, as an expert writes it (densenet: its own
memory_efficient); swap:N, the plain step in a memory cgroup that lets it have as much as `N` per cent did, with the
system's swap.  Columns: net, batch, way, step (0 is not to be counted), seconds, cpu_seconds (of the thread that
trains), stalled_seconds, limit_bytes,
saved_bytes, most_bytes (saved ones, at any time), away_bytes, again (modules that run twice), planned_seconds,
bound_seconds, planning_seconds, peak_bytes (resident, of the process, planning included), loss, gradients (a digest),
threads, kind."""
import csv
import hashlib
import os
import resource
import subprocess
import sys
import time

FIELDS = ('net,batch,way,step,seconds,cpu_seconds,stalled_seconds,limit_bytes,saved_bytes,most_bytes,away_bytes,again,'
          'planned_seconds,bound_seconds,planning_seconds,peak_bytes,loss,gradients,threads,kind').split(',')
# else freed tensors stay in the heap, and fresh ones cost a fault for every 4 KiB; for every way alike
TUNABLES = 'glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=1048576:glibc.malloc.trim_threshold=1048576'
CGROUP = '/sys/fs/cgroup/memory/millrace-place'


def gpt(tokens):
    import torch
    from torch import nn

    class Block(nn.Module):
        def __init__(self, width, heads):
            super().__init__()
            self.heads = heads
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
            self.drop = nn.Dropout(0.1)
            self.register_buffer('mask', torch.full((tokens, tokens), float('-inf')).triu(1))

        def forward(self, x):
            b, t, c = x.shape
            q, k, v = (y.view(b, t, self.heads, -1).transpose(1, 2) for y in self.qkv(self.norm1(x)).split(c, 2))
            a = (q @ k.transpose(2, 3) / (c // self.heads) ** 0.5 + self.mask[:t, :t]).softmax(3)
            x = x + self.out((self.drop(a) @ v).transpose(1, 2).reshape(b, t, c))
            return x + self.mlp(self.norm2(x))

    class GPT(nn.Module):
        def __init__(self, width=384, heads=6, layers=12, words=2048):
            super().__init__()
            self.words, self.places = nn.Embedding(words, width), nn.Embedding(tokens, width)
            self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

        def forward(self, x):
            y = self.words(x) + self.places(torch.arange(x.shape[1]))
            return self.head(self.norm(self.blocks(y))).flatten(0, 1)
    return GPT()


def build(net, batch, size, way):
    import torch
    torch.manual_seed(1)
    if net == 'gpt':
        model = gpt(size)
        x = torch.randint(0, 2048, (batch, size))
        y = x.roll(-1, 1).flatten()
    else:
        import torchvision
        extra = {'memory_efficient': True} if way == 'block' and 'dense' in net else {}
        if net.startswith('vit') and size != 224:
            extra['image_size'] = size
        model = getattr(torchvision.models, net)(weights=None, **extra)
        x, y = torch.randn(batch, 3, size, size), torch.randint(0, 1000, (batch,))
    if way == 'block':
        from torch.utils.checkpoint import checkpoint
        for m in model.modules():
            if type(m).__name__ in ('Bottleneck', 'BasicBlock', 'EncoderBlock', 'Block'):
                m.forward = lambda *a, f=m.forward: checkpoint(f, *a, use_reentrant=True)
    return model, lambda: torch.nn.functional.cross_entropy(model(x), y)


def one(net, batch, size, tier, steps, way):
    import torch
    torch.set_num_threads(1)
    model, step = build(net, batch, size, way)
    plan, seconds = None, time.perf_counter()
    if way[0].isdigit():
        import millrace_place
        plan = millrace_place.Plan(model, step, float(way) / 100, tier=tier, keep=os.environ.get('MILLRACE_KEEP'))
    planning = time.perf_counter() - seconds
    writer = csv.DictWriter(sys.stdout, FIELDS, lineterminator='\n')
    stalled = 0.
    for k in range(steps + 1):
        for p in model.parameters():
            p.grad = None
        torch.manual_seed(2)
        start, cpu = time.perf_counter(), time.thread_time()
        if plan:
            with plan:
                loss = step()
        else:
            loss = step()
        loss.backward()
        row = {'net': net, 'batch': batch, 'way': way, 'step': k, 'seconds': f'{time.perf_counter() - start:.4f}',
               'loss': repr(loss.item()), 'threads': 1, 'kind': 'real',
               'cpu_seconds': f'{time.thread_time() - cpu:.4f}',
               'peak_bytes': resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}
        digest = hashlib.sha256()
        for p in model.parameters():
            digest.update(p.grad.numpy().tobytes())
        row['gradients'] = digest.hexdigest()[:12]
        if plan:
            row.update(limit_bytes=plan.limit_bytes, saved_bytes=plan.saved_bytes, most_bytes=plan.most_bytes,
                       away_bytes=plan.moved_bytes, again=len(plan.again),
                       planned_seconds=f'{plan.objective_seconds:.4f}',
                       bound_seconds=f'{plan.bound_seconds:.4f}', planning_seconds=f'{planning:.2f}',
                       stalled_seconds=f'{plan.stalled_seconds - stalled:.4f}')
            stalled = plan.stalled_seconds
        writer.writerow(row)
        sys.stdout.flush()
        del loss


def swapped(command, environment, limit):
    """Runs the command in a memory cgroup of `limit` bytes."""
    os.makedirs(CGROUP, exist_ok=True)
    with open(CGROUP + '/memory.limit_in_bytes', 'w') as f:
        f.write(str(limit))

    def enter():
        with open(CGROUP + '/cgroup.procs', 'w') as f:
            f.write(str(os.getpid()))
    try:
        return subprocess.run(command, env=environment, preexec_fn=enter, stdout=subprocess.PIPE, text=True).stdout
    finally:
        os.rmdir(CGROUP)


def main(net, batch, size, tier, steps, *ways):
    environment = {**os.environ, 'GLIBC_TUNABLES': TUNABLES, 'OMP_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1'}
    peaks = {}
    print(','.join(FIELDS), flush=True)
    for way in ways:
        command = [sys.executable, '-m', 'millrace_place.curve', '--one', net, batch, size, tier, steps]
        if way.startswith('swap:'):
            text = swapped([*command, 'plain'], environment, peaks[way[5:]])
            text = text.replace(',plain,', f',{way},')
        else:
            done = subprocess.run([*command, way], env=environment, stdout=subprocess.PIPE, text=True)
            text = done.stdout
            if done.returncode:                          # a limit that no plan keeps, say: no rows of it
                print(f'millrace_place.curve: {net}: {way} failed', file=sys.stderr)
        print(text, end='', flush=True)
        for row in csv.DictReader(text.splitlines(), FIELDS):
            peaks[way] = int(row['peak_bytes'])


if __name__ == '__main__':
    if sys.argv[1:2] == ['--one']:
        one(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5], int(sys.argv[6]), sys.argv[7])
    elif len(sys.argv) < 7:
        sys.exit(__doc__)
    else:
        main(*sys.argv[1:])
