"""Time per step against the memory for what autograd saves, a process for every way and steps in turn, as CSV.

    curve.py NET BATCH IMAGE TIER STEPS WAY..

NET: a model of torchvision.models, or gpt (12 blocks, IMAGE tokens).  WAY: plain; a number, per cent of what the plain
step saves, kept by a plan; block, torch.utils.checkpoint around every block, as an expert writes it (densenet: its own
memory_efficient); libc, the plain step with the C library's allocator in place of ours; swap:N, the plain step in a
memory cgroup that lets it have as much as `N` per cent did, with the system's swap.  Columns: net, batch, way,
step (0 is not to be counted), seconds, cpu_seconds (of the thread that trains), queued_seconds (it could have run, and
other work had the core), stalled_seconds, limit_bytes,
saved_bytes, most_bytes (saved ones, at any time), away_bytes, again (modules that run twice), planned_seconds,
bound_seconds, planning_seconds, target_bytes (what the
process should take), peak_bytes (resident, of the process, planning included), loss, gradients (a digest),
threads, kind."""
import csv
import hashlib
import os
import resource
import signal
import subprocess
import sys
import time

from millrace_place import native
from ten import queued

FIELDS = ('net,batch,way,step,seconds,cpu_seconds,queued_seconds,stalled_seconds,limit_bytes,saved_bytes,most_bytes,'
          'away_bytes,again,planned_seconds,bound_seconds,planning_seconds,target_bytes,peak_bytes,loss,gradients,'
          'threads,kind').split(',')
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


class Way:
    """A model of its own that is trained in one way; step() is a row."""

    def __init__(self, net, batch, size, tier, way):
        import torch
        torch.set_num_threads(1)
        self.model, self.loss_of = build(net, batch, size, way)
        self.plan, self.stalled, self.count, start = None, 0., 0, time.perf_counter()
        if way[0].isdigit():
            import millrace_place
            self.plan = millrace_place.Plan(self.model, self.loss_of, float(way) / 100, tier=tier,
                                            keep=os.environ.get('MILLRACE_KEEP'))
        self.planning = time.perf_counter() - start
        self.row = {'net': net, 'batch': batch, 'way': way, 'threads': 1, 'kind': 'real'}

    def step(self):
        import torch
        plan, row = self.plan, dict(self.row, step=self.count)
        self.count += 1
        for p in self.model.parameters():
            p.grad = None
        torch.manual_seed(2)
        start, cpu, waited = time.perf_counter(), time.thread_time(), queued()
        if plan:
            with plan:
                loss = self.loss_of()
        else:
            loss = self.loss_of()
        loss.backward()
        row.update(seconds=f'{time.perf_counter() - start:.4f}', cpu_seconds=f'{time.thread_time() - cpu:.4f}',
                   queued_seconds=f'{queued() - waited:.4f}', loss=repr(loss.item()))
        digest = hashlib.sha256()
        for p in self.model.parameters():
            digest.update(p.grad.numpy().tobytes())
            p.grad = None
        row['gradients'] = digest.hexdigest()[:12]
        if plan:
            row.update(limit_bytes=plan.limit_bytes, saved_bytes=plan.saved_bytes, most_bytes=plan.most_bytes,
                       away_bytes=plan.moved_bytes, again=len(plan.again),
                       planned_seconds=f'{plan.objective_seconds:.4f}', bound_seconds=f'{plan.bound_seconds:.4f}',
                       planning_seconds=f'{self.planning:.2f}',
                       stalled_seconds=f'{plan.stalled_seconds - self.stalled:.4f}', target_bytes=plan.resident_bytes)
            self.stalled = plan.stalled_seconds
        return row


def one(net, batch, size, tier, way):
    """One way in a process of its own, whose peak is the way's: a step for every line of standard input."""
    trained, writer = Way(net, batch, size, tier, way), csv.DictWriter(sys.stdout, FIELDS, lineterminator='\n')
    for _ in sys.stdin:
        row = trained.step()
        row['peak_bytes'] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        writer.writerow(row)
        sys.stdout.flush()


class Child:
    """The process of a way.  limit: bytes of a memory cgroup that it runs in."""

    def __init__(self, arguments, way, limit=None):
        self.way, self.rows = way, []
        self.group = f'{CGROUP}-{os.getpid()}' if limit else None
        if limit:
            os.makedirs(self.group, exist_ok=True)
            with open(self.group + '/memory.limit_in_bytes', 'w') as f:
                f.write(str(limit))
        environment = {**os.environ, 'OMP_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1'}
        if way != 'libc' and 'LD_PRELOAD' not in environment:
            environment.update(LD_PRELOAD=native.path())
        plain = limit or way == 'libc'
        command = [sys.executable, '-B', __file__, '--one', *arguments, 'plain' if plain else way]
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, preexec_fn=self.enter if limit else None)

    def enter(self):
        with open(self.group + '/cgroup.procs', 'w') as f:
            f.write(str(os.getpid()))

    def step(self):
        """Prints the row; False if there is none (a limit that no plan keeps, say)."""
        try:
            self.process.stdin.write('\n')
            self.process.stdin.flush()
        except BrokenPipeError:
            return False
        line = self.process.stdout.readline()
        if line.endswith('\n'):
            row = next(csv.DictReader([line], FIELDS))
            self.rows.append(dict(row, way=self.way))
            csv.DictWriter(sys.stdout, FIELDS, lineterminator='\n').writerow(self.rows[-1])
            sys.stdout.flush()
        return line.endswith('\n')

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        if self.group:
            os.rmdir(self.group)


def main(net, batch, size, tier, steps, *ways):
    print(','.join(FIELDS), flush=True)
    children = {}
    for way in ways:
        limit = int(children[way[5:]].rows[-1]['peak_bytes']) if way.startswith('swap:') else None
        child = Child([net, batch, size, tier], way, limit)
        if child.step():
            children[way] = child
        else:
            print(f'curve.py: {net}: {way} failed', file=sys.stderr)
            child.end()
    if os.environ.get('MILLRACE_HOLD'):                  # until somebody finds a quiet minute and continues it
        os.kill(os.getpid(), signal.SIGSTOP)
    turn = list(children.values())
    for k in range(int(steps)):                          # in a rotated order: what disturbs one disturbs its neighbours
        for child in turn[k % len(turn):] + turn[:k % len(turn)]:
            child.step()
    for child in turn:
        child.end()


if __name__ == '__main__':
    if sys.argv[1:2] == ['--one']:
        one(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5], sys.argv[6])
    elif len(sys.argv) < 7:
        sys.exit(__doc__)
    else:
        main(*sys.argv[1:])
