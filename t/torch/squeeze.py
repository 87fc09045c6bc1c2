"""The networks of ten.py in memory groups of a half, and a quarter, of what the plain step's process takes.

    squeeze.py DIR [NET[-SHARE[-WAY]]..]     all of it, or some: cnn, cnn-2, cnn-2-plan

DIR/squeeze.csv grows by a row for every cell; one that is there is not run again, so whoever is interrupted goes on.
The file that tensors leave for is in DIR, too.  Every way is a process of its own, which trains a step when it is its
turn, plans 20, others ten: in each group plain, a plan of limit='auto', torch's checkpoint around every block, its
selective one (the results of matrix products and convolutions stay; torch 2.4 and later), and every saved tensor over
64 KiB written to a file and read when it is asked for; beside them runs a plain one without a group.  All but plain
have the heap of millrace_place, which gives holes back under the plan's limit: in glibc's checkpoints hardly make the
process smaller.

Columns: net, way, share (of what plain takes), group_bytes, status (trained, killed, refused or an error), steps, same
(losses of all steps, to the last bit), ratio, low and high (of a step's seconds to the plain step of the same turn:
median and an interval of 95 %; wall time less what was spent waiting for a core; two steps not counted), seconds,
peak_bytes, plan."""
import csv
import math
import os
import subprocess
import sys
import time

TIER, STEPS, SOME = os.path.abspath(sys.argv[1]), 20, 10
FIELDS = 'net way share group_bytes status steps same ratio low high seconds peak_bytes plan'.split()


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


def selective(checkpoint):
    """Its arguments for a checkpoint that keeps what is dear to make."""
    import torch
    keep = [getattr(torch.ops.aten, n).default for n in ('mm', 'addmm', 'bmm', 'convolution')]
    return {'context_fn': lambda: checkpoint.create_selective_checkpoint_contexts(keep)}


def work(name, way):
    """A step for every line of the input."""
    import contextlib
    import torch
    import ten
    from torch.utils import checkpoint
    model, step, blocks, optimiser = ten.make(name)
    around, text = contextlib.nullcontext, ''
    if way != 'plain':
        import millrace_place
        millrace_place.heap.top(millrace_place.Limit('auto').process)
    if way == 'plan':
        plan = millrace_place.Plan(model, step, 'auto', tier=TIER)
        around, text = lambda: plan, f'{len(plan.away)} away {len(plan.again)} twice'
    elif way == 'file':
        around = hooks(torch, {p.data_ptr() for p in model.parameters()})
    elif way != 'plain':
        how = selective(checkpoint) if way == 'selective' else {}
        for b in blocks:
            if hasattr(b, 'memory_efficient'):           # a dense layer is given a list that grows
                b.memory_efficient = True
                continue
            b.forward = lambda *a, f=b.forward, **k: checkpoint.checkpoint(f, *a, use_reentrant=False, **how, **k)
    for k, _ in enumerate(sys.stdin):
        torch.manual_seed(k)
        start = time.perf_counter() - ten.queued()
        optimiser.zero_grad(set_to_none=True)
        with around():
            loss = step()
        loss.backward()
        optimiser.step()
        seconds = time.perf_counter() - ten.queued() - start
        with open('/proc/self/status') as f:
            peak = next(int(line.split()[1]) << 10 for line in f if line.startswith('VmHWM'))
        print(loss.item().hex(), seconds, peak, text, sep=';', flush=True)
        del loss


class Way:
    """One of them, as a process."""

    def __init__(self, name, way, share=None, limit=None):
        self.row, self.seconds, self.losses = {'net': name, 'way': way, 'share': share, 'group_bytes': limit}, [], []
        self.group = limit and f'/sys/fs/cgroup/memory/millrace-squeeze-{os.getpid()}-{way}'
        if limit:
            os.makedirs(self.group, exist_ok=True)
            for file, value in (('swappiness', 0), ('limit_in_bytes', limit)):
                with open(f'{self.group}/memory.{file}', 'w') as f:
                    f.write(str(value))
        self.process = subprocess.Popen(
            [sys.executable, '-W', 'ignore', '-B', __file__, TIER, '--work', name, way], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=self.enter if limit else None)

    def enter(self):
        with open(self.group + '/cgroup.procs', 'w') as f:
            f.write(str(os.getpid()))

    def step(self):
        if self.process is None:
            return
        try:
            self.process.stdin.write('\n')
            self.process.stdin.flush()
            loss, seconds, self.row['peak_bytes'], self.row['plan'] = self.process.stdout.readline().strip().split(';')
        except (BrokenPipeError, ValueError):
            self.end()
        else:
            self.losses.append(loss)
            self.seconds.append(float(seconds))

    def end(self):
        """Says how it ended; the row is whole."""
        if self.process is None:
            return
        try:
            errors = self.process.communicate()[1]
        except BrokenPipeError:
            errors = self.process.stderr.read()
        last = (errors.strip().split('\n') or [''])[-1][:400]
        self.row['status'] = {0: 'trained', -9: 'killed'}.get(
            self.process.wait(), f'refused: {last}' if 'LimitError' in last else last)
        self.process = None
        if self.group:
            os.rmdir(self.group)

    def beside(self, plain):
        r = sorted(a / b for a, b in zip(self.seconds[2:], plain.seconds[2:]))
        n = len(self.losses)
        self.row.update(steps=n, same=int(self.losses == plain.losses[:n]) if n else '')
        if len(r) > 5:
            k = max(k for k in range(len(r) // 2)        # order statistics, binomial
                    if sum(math.comb(len(r), i) for i in range(k + 1)) <= .025 * 2 ** len(r))
            self.row.update(ratio=f'{r[len(r) // 2]:.3f}', low=f'{r[k]:.3f}', high=f'{r[-1 - k]:.3f}',
                            seconds=f'{sorted(self.seconds[2:])[len(r) // 2]:.4f}')
        return self.row


def main(wanted):
    import ten
    import torch.utils.checkpoint as checkpoint
    path, rows = os.path.join(TIER, 'squeeze.csv'), []
    if os.path.exists(path):
        with open(path) as f:
            rows = [row for row in csv.DictReader(f) if row['plan'] is not None]     # one that was cut has less
    with open(path + '.new', 'w') as f:
        again = csv.DictWriter(f, FIELDS, lineterminator='\n')
        again.writeheader()
        again.writerows(rows)
    os.rename(path + '.new', path)
    done = {(row['net'], row['share'], row['way']): int(row['peak_bytes'] or 0) for row in rows}

    def write(row):
        with open(path, 'a') as f:
            csv.DictWriter(f, FIELDS, lineterminator='\n').writerow(row)
    ways = ['plain', 'plan', 'checkpoint', 'file']
    ways += ['selective'] * hasattr(checkpoint, 'create_selective_checkpoint_contexts')
    for name in ten.TEN:
        for share in (2, 4):
            here = [way for way in ways if (name, f'1/{share}', way) not in done and
                    any(f'{name}-{share}-{way}-'.startswith(w + '-') for w in wanted or [name])]
            if not here:
                continue
            if (name, '', 'plain') not in done:
                alone = Way(name, 'plain')
                for _ in range(3):
                    alone.step()
                alone.end()
                done[name, '', 'plain'] = int(alone.row['peak_bytes'])
                write(alone.row)
            most, plain = done[name, '', 'plain'], Way(name, 'plain')
            running = [Way(name, way, f'1/{share}', most // share // 4096 * 4096) for way in here]
            for k in range(STEPS):
                going = [way for way in running if way.process]
                if not going:
                    break
                for way in (plain, *going):
                    way.step()
                for way in going:
                    if way.process is None or k + 1 == (STEPS if way.row['way'] == 'plan' else SOME):
                        way.end()
                        write(way.beside(plain))
            plain.end()


if sys.argv[2:3] == ['--work']:
    work(*sys.argv[3:5])
else:
    main(sys.argv[2:])
