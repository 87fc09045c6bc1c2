"""One training step, written down: what autograd saves, when it is made and used, and how long every piece takes.

The step is run with everything large sent to the tier at once and brought back when it is asked for, so that a step can
be recorded that would not fit otherwise; the clock stands still meanwhile.  Parameters' gradients, buffers and the
random state are what they were afterwards.

The record is a graph and a profile in the forms of place-check(1) and place-plan(1):
 - a tensor for every storage that is saved, or is an input of a group of modules that may be run again;
 - forward, a node for every save (attribute group: the group of modules it happens in), Enter and Leave of groups
   (attribute enter); backward (attribute backward), a node for every node of autograd, which reads what it unpacks;
   workspace: bytes that a group's second run saves once more;
 - times with all operands in fast memory; other places do not exist for PyTorch's kernels and cost a thousand seconds.
"""
import time
import torch
from torch.multiprocessing.reductions import StorageWeakRef

from . import heap
from .groups import choose, identity, storage_bytes, storage_of, tensors_of

LARGE = 65536                                            # as the pin of millrace's planner: smaller ones always stay
OPERANDS = 8                                             # of a node; more become several nodes


class Call:
    """One run of a module's forward function."""

    def __init__(self, parent, begin):
        self.parent, self.begin, self.end, self.may, self.children, self.inputs = parent, begin, None, True, [], []


class Storage:
    def __init__(self, number, t):
        self.number, self.bytes = number, storage_bytes(t)
        self.alive = StorageWeakRef(storage_of(t))
        self.packs, self.outside = 0, False


class Record:
    """Of one step.  storages: in order of their first pack or entry; events and reads: see _forward and _backward."""

    def __init__(self, model, file, again=()):
        self.model, self.file, self.again = model, file, set(again)
        self.storages, self.by_identity = [], {}
        self.events, self.calls, self.stack = [('start', None, 0.)], {}, ['']
        self.calls[''] = Call(None, 0)
        self.paused, self.in_backward, self.current = 0., False, None
        self.nodes, self.reads, self.spans = [], [], {}
        self.order, self.inner = [], None
        self.sizes = []                                  # (reads so far or -1, bytes of the process)
        self.known = {identity(t) for t in [*model.parameters(), *model.buffers()]}

    # ---- what happens

    def clock(self):
        return time.perf_counter() - self.zero - self.paused

    def event(self, *what):
        self.events.append((*what, self.clock()))

    def storage(self, t):
        """None for parameters and buffers, which live anyway."""
        key = identity(t)
        if key in self.known or t.device.type != 'cpu' or t.layout != torch.strided:
            return None
        s = self.by_identity.get(key)
        if s is None:
            s = self.by_identity[key] = Storage(len(self.storages), t)
            self.storages.append(s)
        return s

    def pack(self, t):
        if self.inner is not None:                       # a second run: transient
            if identity(t) not in self.known:
                self.inner[identity(t)] = storage_bytes(t)
            return None, t.detach()
        now = self.clock()
        s = self.storage(t)
        kept = t.detach()
        if s is not None:
            s.packs += 1
            self.events.append(('pack', s.number, now))
            if s.bytes >= LARGE:
                start = time.perf_counter()
                if s.packs == 1:
                    s.at = self.file.slot(s.bytes)
                    self.file.write(s.at, t.data_ptr() - t.storage_offset() * t.element_size(), s.bytes)
                    self.weigh(-1)
                kept = t.dtype, t.size(), t.stride(), t.storage_offset()
                self.paused += time.perf_counter() - start
        return s, kept

    def unpack(self, handle):
        s, kept = handle
        if s is None:
            return kept
        self.order.append(('read', s.number))
        self.reads.append((s.number, self.clock()))
        if not isinstance(kept, torch.Tensor):
            start = time.perf_counter()
            dtype, size, stride, offset = kept
            self.weigh(len(self.reads))
            kept = self.file.read(s.at, s.bytes).view(dtype).as_strided(size, stride, offset)
            self.paused += time.perf_counter() - start
        return kept

    def weigh(self, reads):
        """How much the process takes with everything large sent away and no holes."""
        if heap.ours or not self.sizes or heap.resident() > self.sizes[-1][1]:
            self.sizes.append((reads, heap.needed()))
        else:
            self.sizes.append((reads, heap.resident()))

    def resident_bytes(self, limit):
        """The most that a step takes which keeps up to `limit` bytes of what is saved."""
        last = {}
        for i, (number, _) in enumerate(self.reads):
            last[number] = i
        live = [0] * (len(self.reads) + 2)
        for number, i in last.items():
            live[i + 1] += self.storages[number].bytes
        for i in range(len(live) - 2, -1, -1):           # live[i]: read at or after read i
            live[i] += live[i + 1]
        return max((size + min(limit, live[0] if reads < 0 else live[reads]) for reads, size in self.sizes), default=0)

    # ---- modules

    def watch(self, name, module):
        forward, self_ = module.forward, self

        def watched(*args, **kwargs):
            if self_.in_backward:
                return forward(*args, **kwargs)
            call = self_.calls.get(name)
            given = tensors_of((args, kwargs))
            if call is not None:                         # twice in a step: no group
                call.may = False
                return forward(*args, **kwargs)
            call = self_.calls[name] = Call(self_.stack[-1], len(self_.events))
            self_.calls[call.parent].children.append(name)
            versions = [t._version for t in given]
            call.inputs = [self_.storage(t) for t in given]
            call.may = any(t.requires_grad for t in given) and name not in self_.again
            self_.event('enter', name)
            self_.stack.append(name)
            out = forward(*args, **kwargs)
            self_.stack.pop()
            self_.event('leave', name)
            call.end = len(self_.events)
            call.may &= versions == [t._version for t in given] and len(tensors_of(out)) > 0
            return out
        before = module.__dict__.get('forward')
        module.forward = watched
        return lambda: module.__dict__.pop('forward') if before is None else setattr(module, 'forward', before)

    def around(self, name):
        """Entered by the second run of a group."""
        record = self

        class Around:
            def __enter__(self):
                record.order.append(('group', name))
                record.inner = {}
                self.hooks = torch.autograd.graph.saved_tensors_hooks(record.pack, lambda h: h[1])
                self.hooks.__enter__()

            def __exit__(self, *_):
                self.hooks.__exit__(*_)
                record.spans[name] = sum(n for n in record.inner.values())
                record.inner = None
        return Around()

    # ---- the step

    def hook_backward(self, loss):
        begun, seen, todo = {}, set(), [loss.grad_fn]
        while todo:
            f = todo.pop()
            if f is None or f in seen:
                continue
            seen.add(f)
            todo += [g for g, _ in f.next_functions]
            if type(f).__name__ == 'AccumulateGrad':
                continue
            f.register_prehook(lambda _, f=f: begun.setdefault(f, self.clock()) and None)
            f.register_hook(lambda *_, f=f: self.nodes.append((f.name(), begun.get(f, 0.), self.clock())))

    def run(self, step):
        model, random = self.model, torch.get_rng_state()
        gradients = [(p, p.grad) for p in model.parameters()]
        buffers = [(b, b.clone()) for b in model.buffers()]
        for p, _ in gradients:
            p.grad = None
        undo = [self.watch(name, m) for name, m in model.named_modules() if name]
        self.zero = time.perf_counter()
        try:
            with torch.autograd.graph.saved_tensors_hooks(self.pack, self.unpack):
                loss = step()
            self.event('loss', None)
            self.in_backward = True
            self.hook_backward(loss)
            self.middle = self.clock()
            loss.backward()
            self.end = self.clock()
        finally:
            for back in reversed(undo):
                back()
            for p, g in gradients:
                p.grad = g
            with torch.no_grad():
                for b, was in buffers:
                    b.copy_(was)
            torch.set_rng_state(random)
        del loss
        for s in self.storages:                          # what lives now has an owner elsewhere: the batch, say
            s.outside = not s.alive.expired()
            if hasattr(s, 'at'):
                self.file.give_back(s.at, s.bytes)
        self.by_identity.clear()
        return self

    # ---- what follows

    def choose_groups(self):
        """Sets group_of (pack event -> group or None) and groups: name -> (number, input storages)."""
        first, last = {}, {}
        for i, (what, number, _) in enumerate(self.events):
            if what == 'pack':
                first.setdefault(number, i)
                last[number] = i
        gain = {}
        for name, c in self.calls.items():
            if c.end is None:
                c.may = False
            own = {s.number for s in c.inputs if s}
            gain[name] = 0 if not c.may else sum(s.bytes for s in self.storages if s.number in first and not s.outside
                                                 and c.begin <= first[s.number] and last[s.number] < c.end
                                                 and s.number not in own)
        self.groups = choose(self.calls, gain, max(1, self.saved_bytes()))
        return self.groups

    def saved_bytes(self):
        return sum(s.bytes for s in self.storages if s.packs and not s.outside)

    def shown(self):
        entering = {s.number for g in self.groups for s in self.calls[g].inputs if s}
        return [s for s in self.storages if not s.outside and (s.packs or s.number in entering)]

    def graph(self):
        """(tensors, nodes): tensors (name, bytes); nodes (name, op, in, out, attributes, seconds, workspace)."""
        shown = self.shown()
        number = {s.number: i for i, s in enumerate(shown)}
        tensors = [(f's{s.number}', max(4, (s.bytes + 3) // 4 * 4)) for s in shown]
        group = {name: k for k, name in enumerate(self.groups)}
        nodes, made, inside, before, stack = [], set(), None, 0., []
        for what, which, at in self.events:
            ins, outs, attributes, op, name = [], [], {}, what, 'step'
            if what == 'enter':
                stack.append(which)
                if which not in group:
                    continue
                inside = group[which]
                attributes, op, name = {'enter': inside}, 'Enter', which
                ids = dict.fromkeys(number[s.number] for s in self.calls[which].inputs if s and not s.outside)
            elif what == 'leave':
                stack.pop()
                if which not in group:
                    continue
                attributes, op, name, ids, inside = {'group': inside}, 'Leave', which, [], None
            elif what == 'pack':
                if which not in number:
                    continue
                attributes = {} if inside is None else {'group': inside}
                op, name, ids = 'Save', stack[-1] if stack else 'step', [number[which]]
            else:
                op, ids = {'start': 'Start', 'loss': 'Loss'}[what], []
            for i in ids:
                (ins if i in made else outs).append(i)
                made.add(i)
            nodes.append((name, op, ins, outs, attributes, at - before, 0))
            before = at
        self._backward(nodes, number, made)
        return tensors, nodes

    def _backward(self, nodes, number, made):
        rows = sorted(self.nodes, key=lambda r: r[1])
        reads, groups = [[] for _ in rows], [0] * len(rows)
        k = 0
        for s, at in self.reads:
            while k + 1 < len(rows) and rows[k + 1][1] <= at:
                k += 1
            if s in number and number[s] in made and number[s] not in reads[k]:
                reads[k].append(number[s])
        spans = list(self.spans.values())
        again = [i for i, r in enumerate(rows) if r[0].startswith('_Again')]
        for i, w in zip(again, spans):
            groups[i] = w
        before = self.middle
        for i, (name, begin, end) in enumerate(rows):
            nodes.append((name, 'Backward', reads[i], [], {'backward': 1}, max(end - before, 0.), groups[i]))
            before = max(end, before)

    def write(self, graph_path, profile_path, read_rate, write_rate, name='torch'):
        """As graph.sexp and profile.csv."""
        tensors, nodes = self.graph()
        lines = [f'(graph (name {name}) (batch 1)']
        dummy = len(tensors)
        lines += [f'  (tensor {i} {n} inter {b} f32 ({b // 4}))' for i, (n, b) in enumerate(tensors)]
        lines += [f'  (tensor {dummy} input arg 4 f32 (1))']
        table = ['key,op,shapes,in_tiers,out_tiers,mode,staging_bytes,time_seconds,runs,method,kind']
        body, extra, size = [], dummy, [b for _, b in tensors]
        for pieces in ([self._split(n) for n in nodes]):
            for node in pieces:
                extra = self._node(node, len(body), size, dummy, extra, lines, body, table)
        text = '\n'.join(lines + body) + ')\n'
        for n in (1 << 16, 1 << 30):
            table += [f'Move {n},Move,{n},P,D,direct,0,{n / read_rate:.9g},1,torch,real',
                      f'Move {n},Move,{n},D,P,direct,0,{n / write_rate:.9g},1,torch,real']
        with open(graph_path, 'w') as out:
            out.write(text)
        with open(profile_path, 'w') as out:
            out.write('\n'.join(table) + '\n')

    @staticmethod
    def _split(node):
        name, op, ins, outs, attributes, seconds, workspace = node
        chunks = [(ins[i:i + OPERANDS], []) for i in range(0, len(ins), OPERANDS)] + [
            ([], outs[i:i + OPERANDS]) for i in range(0, len(outs), OPERANDS)] or [([], [])]
        if len(ins) + len(outs) <= OPERANDS:
            chunks = [(ins, outs)]
        return [(name, op, a, b, attributes, seconds if k == len(chunks) - 1 else 0.,
                 workspace if k == len(chunks) - 1 else 0) for k, (a, b) in enumerate(chunks)]

    @staticmethod
    def _node(node, index, size, dummy, extra, lines, body, table):
        name, op, ins, outs, attributes, seconds, workspace = node
        tail = []
        if not outs:
            extra += 1
            lines.append(f'  (tensor {extra} d{index} inter 4 f32 (1))')
            tail = [extra]
        operands = [dummy, *ins, *outs, *tail]
        inputs = 1 + len(ins)
        count = [size[i] // 4 if i < dummy else 1 for i in operands]
        shapes = ';'.join(map(str, count[:inputs])) + '>' + ';'.join(map(str, count[inputs:]))
        pairs = [('piece', index), *attributes.items()]
        body.append('  (node {} {} {} (in {}) (out {}) (attr {}) (flops 0) (bytes {}){})'.format(
            index, name or 'model', op, ' '.join(map(str, operands[:inputs])), ' '.join(map(str, operands[inputs:])),
            ' '.join(f'({k} {v})' for k, v in pairs), 4 * sum(count), f' (workspace {workspace})' if workspace else ''))
        key = f'{op} {shapes} ' + ';'.join(f'{k}={v}' for k, v in pairs)
        movable = [k for k, i in enumerate(operands) if i < dummy and size[i] >= LARGE]
        for k in [None, *movable]:
            tiers = ''.join('P' if j == k else 'D' for j in range(len(operands)))
            table.append(f'{key},{op},{shapes},{tiers[:inputs]},{tiers[inputs:]},'
                         f'{"direct" if k is None else "staged"},0,'
                         f'{max(seconds, 1e-9) + (0 if k is None else 1000):.9g},1,torch,real')
        return extra
