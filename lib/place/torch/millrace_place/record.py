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
import gc
import hashlib
import time

import torch

from . import heap
from .groups import Run, choose, tensors_of, unfit
from .items import LARGE, Item, Peeked, StorageWeakRef, clash, identity, ordinary, rebuild, storage_bytes, storage_of
from .rest import Gradients
from .state import Random, State, marks
from .watch import Watching, hooks, plain

SPARE = 16 << 20                                         # of free memory: what the process takes beside tensors grows
OPERANDS = 8                                             # of a node; more become several nodes


class Call:
    """One run of a module's forward function.  why: it may not run twice."""

    def __init__(self, parent, begin, why):
        self.parent, self.begin, self.end, self.why, self.children, self.inputs = parent, begin, None, why, [], []

    may = property(lambda self: self.why is None)


class Storage(Item):
    """An item with a number; label: the module it is first seen in, and the how-manieth there, which is the same when
    other modules run twice.  stay: it cannot leave.  outside: it lives on after the step.
    lead: the first of the parts of its storage, for which is decided together, as none is free before all are."""
    __slots__ = ('number', 'label', 'packs', 'outside', 'stay', 'at', 'lead', 'together')

    def __init__(self, number, label, t):
        super().__init__(t)
        self.number, self.label, self.packs, self.outside, self.at = number, label, 0, False, None
        self.stay, self.lead, self.together = not self.sendable, self, self.bytes


class Handle:
    """What autograd holds: the tensor or where it is."""
    __slots__ = ('storage', 'tensor', 'version', 'view', '__weakref__')

    def __init__(self, storage, tensor, version, view):
        self.storage, self.tensor, self.version, self.view = storage, tensor, version, view


def digest(t):
    """Of a tensor's values, bit by bit."""
    if t is None:
        return None
    t = t.detach()
    t = (t.to_dense() if t.layout != torch.strided else t).resolve_conj().resolve_neg().contiguous()
    flat = t.view(-1).view(torch.uint8) if t.numel() and t.dim() else t.reshape(1).view(torch.uint8) if t.numel() else t
    return hashlib.blake2b(flat.numpy().data if t.numel() else b'', digest_size=16).hexdigest()


class Result:
    """What a step leaves: its loss, gradients and buffers."""

    def __init__(self, model, loss):
        self.found = {'the loss': digest(loss)}
        self.found.update({name: digest(p.grad) for name, p in model.named_parameters()})
        self.found.update({name: digest(b) for name, b in model.named_buffers()})

    def differs(self, other):
        """Names of what is not the same to the last bit."""
        return [name for name, d in self.found.items() if other.found.get(name, d) != d]


def distributed(model):
    """DistributedDataParallel of the model, of a part of it or around it."""
    own, kind = {id(p) for p in model.parameters()}, torch.nn.parallel.DistributedDataParallel
    if not torch.distributed.is_available() or not torch.distributed.is_initialized():
        return []
    return [d for d in gc.get_objects() if issubclass(type(d), kind) and any(id(p) in own for p in d.parameters())]


class Aside:
    """A step in this context leaves the model, its gradients and the random numbers as they were."""

    def __init__(self, model):
        self.model = model

    def __enter__(self):
        self.random, self.state = Random(), State(self.model, None)
        self.gradients = [(p, p.grad) for p in self.model.parameters()]
        self.buffers = [(b, b.detach().clone()) for b in self.model.buffers()]
        for p, _ in self.gradients:
            p.grad = None
        self.alone = [(d, d.require_backward_grad_sync, d.require_forward_param_sync) for d in distributed(self.model)]
        for d, *_ in self.alone:                         # planning takes more steps in one process than in another
            d.require_backward_grad_sync = d.require_forward_param_sync = False
        return self

    def backward(self, loss):
        """loss.backward(); what the step has beside the model, a head or the input, gets its gradients back, too"""
        mine, seen, todo = {id(p) for p, _ in self.gradients}, set(), [loss.grad_fn]
        while todo:
            f = todo.pop()
            if f is None or f in seen:
                continue
            seen.add(f)
            todo += [g for g, _ in f.next_functions]
            leaf = getattr(f, 'variable', None) if type(f).__name__ == 'AccumulateGrad' else None
            if leaf is not None and id(leaf) not in mine:
                self.gradients.append((leaf, leaf.grad))
                leaf.grad = None
        loss.backward()

    def __exit__(self, *_):
        for p, g in self.gradients:
            p.grad = g
        self.state.__enter__()
        for d, d.require_backward_grad_sync, d.require_forward_param_sync in self.alone:
            pass
        with torch.no_grad():
            for b, was in self.buffers:
                b.copy_(was)
        self.random.put()


class Record:
    """Of one step.  storages: in order of their first pack or entry; events and reads: see _forward and _backward.

    again: modules that run twice in it.  staying: labels of storages that are not to be sent away."""

    def __init__(self, model, file, again=(), staying=(), keep_modules=(), top=None, rests=False):
        self.rests = rests                               # gradients leave as they are made
        self.top, self.room = top, None                  # bytes that the process is to keep to, if; that there are
        self.model, self.file, self.again, self.staying, self.labels = model, file, set(again), staying, {}
        self.storages, self.by_identity = [], {}
        self.events, self.calls, self.stack = [('start', None, 0.)], {}, ['']
        self.calls[''] = Call(None, 0, 'is the model')
        self.paused, self.in_backward = 0., False
        self.nodes, self.reads, self.spans = [], [], {}
        self.order, self.why = [], {}
        self.sizes = []                                  # (reads so far or -1, bytes of the process, module)
        self.peeked, self.inner, self.room_inside = Peeked(), [], 0   # see unpack
        self.known = {identity(t) for t in [*model.parameters(), *model.buffers()]}
        self.changing = {identity(b) for b in model.buffers()}
        self.names = {m: name for name, m in model.named_modules() if name}
        self.keep_modules = set(keep_modules)
        self.large = [(p, p.numel() * p.element_size()) for p in model.parameters() if p.requires_grad]

    # ---- what happens

    def clock(self):
        return time.perf_counter() - self.zero - self.paused

    def event(self, *what):
        self.events.append((*what, self.clock()))

    def storage(self, t):
        """None for parameters and buffers, which live anyway, and for what we know too little of."""
        if not ordinary(t) or identity(t) in self.known:
            return None
        same = self.by_identity.setdefault(identity(t), [])
        for s in same:
            if s.has(t):
                return s
        s, _ = self.peeked.find(t)
        if s is not None:
            return s
        k = self.labels[self.stack[-1]] = self.labels.get(self.stack[-1], -1) + 1
        s = Storage(len(self.storages), (self.stack[-1], k), t)
        s.stay = s.stay or s.label in self.staying
        same.append(s)
        self.storages.append(s)
        return s

    def pack(self, t):
        now = self.clock()
        s = self.storage(t)
        if s is None:
            return Handle(None, t.detach(), t._version, None)
        s.packs += 1
        self.events.append(('pack', s.number, now))
        if s.small() or s.stay:
            return Handle(s, t.detach(), t._version, None)
        start = time.perf_counter()
        address, holder, view = s.content(t)
        if s.at is None:
            s.at = self.file.slot(s.bytes)
            self.file.write(s.at, address, s.bytes)
            self.weigh(-1)
        self.paused += time.perf_counter() - start
        return Handle(s, None, t._version, view)

    def unpack(self, handle):
        s, t = handle.storage, handle.tensor
        inside = not self.in_backward                    # for a gradient of which a gradient is taken
        if s is not None and not inside:
            self.order.append(('read', s.number))
            self.reads.append((s.number, self.clock()))
        if t is None:
            start = time.perf_counter()
            self.weigh(-1 if inside else len(self.reads))
            memory = self.file.read(s.at, s.bytes, self.rests)
            if inside:
                self.peeked.add(memory, s)
                self.inner = [(ref, n) for ref, n in self.inner if not ref.expired()]
                self.inner.append((StorageWeakRef(storage_of(memory)), s.bytes))
                self.room_inside = max(self.room_inside, sum(n for _, n in self.inner))
            t = rebuild(memory, handle.view)
            self.paused += time.perf_counter() - start
        elif t._version != handle.version:
            raise RuntimeError('a tensor that autograd saved was changed by an inplace operation')
        elif inside and s is not None:
            self.peeked.add(t, s, handle)
        return t

    def weigh(self, reads, last=False):
        """How much the process takes with everything large sent away, no holes and all gradients; rests: what is read
        back is not counted here again."""
        if self.top:
            heap.top(self.top)
        if self.room:
            heap.bound(self.room)
        to_come = 0 if self.rests and not last else sum(n for p, n in self.large if p.grad is None)
        known = heap.ours or not self.sizes or heap.resident() > self.sizes[-1][1]
        self.sizes.append((reads, (heap.needed() if known else heap.resident()) + to_come, self.at_work()))

    def at_work(self):
        """The module that is."""
        return (self.storages[self.reads[-1][0]].label[0] if self.reads else self.stack[-1]) or 'the step'

    def resident_bytes(self, limit):
        """The most that a step takes which keeps up to `limit` bytes of what is saved."""
        if not hasattr(self, 'live'):
            last = {number: i for i, (number, _) in enumerate(self.reads)}
            self.live = [0] * (len(self.reads) + 2)
            for number, i in last.items():
                self.live[i + 1] += self.storages[number].bytes
            for i in range(len(self.live) - 2, -1, -1):  # live[i]: read at or after read i
                self.live[i] += self.live[i + 1]
        return max((size + min(limit, self.live[max(reads, 0)]) for reads, size, _ in self.sizes), default=0)

    # ---- modules

    def see(self, module, args, kwargs):
        name = self.names.get(module)
        if name is None or self.in_backward or not torch.is_grad_enabled():
            return plain(module, args, kwargs)
        if name in self.again:
            run = Run(self, name, module, args, kwargs)
            return run.first(args, kwargs)
        if name in self.calls:                           # twice in a step: no group
            self.calls[name].why = 'is called twice in a step'
            return plain(module, args, kwargs)
        start = time.perf_counter()
        given = tensors_of((args, kwargs))
        why = unfit(module, args, kwargs)
        if why is None and not any(t.requires_grad for t in given):
            why = 'has no argument with a gradient'
        if name in self.keep_modules:
            why = 'is kept as told'
        call = self.calls[name] = Call(self.stack[-1], len(self.events), why)
        self.calls[call.parent].children.append(name)
        versions = [t._version for t in given]
        call.inputs = [self.storage(t) for t in given]
        before = marks(module) if why is None else {}
        self.paused += time.perf_counter() - start
        self.event('enter', name)
        self.stack.append(name)
        out = plain(module, args, kwargs)
        self.stack.pop()
        self.event('leave', name)
        call.end = len(self.events)
        start = time.perf_counter()
        if call.may and versions != [t._version for t in given]:
            call.why = 'changes its arguments in place'
        if call.may:
            after = marks(module)
            moved = [key for key in before if key in after and after[key] != before[key]]
            if moved:
                call.why = f'changes an object that it holds ({".".join(filter(None, moved[0]))})'
        self.paused += time.perf_counter() - start
        return out

    def grant(self, name, run):
        self.order.append(('group', name))
        self.spans[name] = [0, self.clock(), None]

    def ran(self, name, run):
        held = {identity(t): storage_bytes(t) for t, _ in run.tensors}
        self.spans[name][0] = sum(held.values())

    def settle(self, name, run):
        self.spans[name][2] = self.clock()

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
            k, name = len(seen), f.name()                # f in its own hooks would keep the model for ever
            f.register_prehook(lambda _, k=k: begun.setdefault(k, self.clock()) and None)
            f.register_hook(lambda *_, k=k, name=name: self.nodes.append((name, begun.get(k, 0.), self.clock())))

    def run(self, step):
        free = heap.available()
        self.room = heap.resident() + free - max(free // 32, SPARE)
        with Aside(self.model) as aside, heap.bounded(self.room):
            heap.needed()                                # what was before is not the step
            self.zero = time.perf_counter()
            with hooks(self.pack, self.unpack), Watching(self.see):
                loss = step()
                self.event('loss', None)
                self.in_backward = True
            self.hook_backward(loss)
            if self.rests:
                Gradients(self.model, self.file)
            self.middle = self.clock()
            aside.backward(loss)
            self.end = self.clock()
            self.weigh(len(self.reads), True)
            self.result = Result(self.model, loss)
            self.changing = {identity(b) for b, was in aside.buffers if not torch.equal(b, was)}
            del loss
        for items in self.by_identity.values():
            bad = clash(items)
            for s in items:
                s.stay = s.stay or bad
            parts = [s for s in items if not s.whole and not s.stay and s.packs]
            for s in parts[1:]:
                s.lead = parts[0]
                parts[0].together += s.bytes
        for s in self.storages:                          # what lives now has an owner elsewhere: the batch, say
            s.outside = not s.alive.expired()
            if s.at is not None:
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
            if c.end is None and c.may:
                c.why = 'does not return'
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
        return [s for s in self.storages if not s.outside and s.lead is s and (s.packs or s.number in entering)]

    def graph(self):
        """(tensors, nodes): tensors (name, bytes); nodes (name, op, in, out, attributes, seconds, workspace)."""
        shown = self.shown()
        number = {s.number: i for i, s in enumerate(shown)}
        number.update((s.number, number[s.lead.number]) for s in self.storages if s.lead.number in number)
        tensors = [(f's{s.number}', max(4, (s.together + 3) // 4 * 4)) for s in shown]
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
                for i in ids:                            # an Enter's operands are many, what stays is said of one
                    if i not in made and shown[i].stay:
                        nodes.append((stack[-1], 'Save', [], [i], {'stay': 1}, 0., 0))
                        made.add(i)
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
                if shown[ids[0]].stay:
                    attributes['stay'] = 1
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
        for i, (_, begin, end) in enumerate(rows):       # a group's second run takes room until its last use
            groups[i] = sum(held for held, since, until in self.spans.values()
                            if since <= end and (until is None or begin < until))
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
        for node in (piece for n in nodes for piece in self._split(n)):
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
