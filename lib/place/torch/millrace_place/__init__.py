"""millrace_place - train a PyTorch model in less memory, by a plan made from one recorded step.

    import millrace_place
    plan = millrace_place.Plan(model, lambda: loss_of(model(x), y), limit=0.25, tier='/var/tmp')
    for x, y in batches:
        with plan:
            loss = loss_of(model(x), y)
        loss.backward()

The plan says of every tensor that autograd saves whether it is kept, sent to a file and brought back in time, or made
again by running some modules twice; place-offload(1) decides, so that what is saved never takes more than the limit,
and says how far from the best such plan it is at most.  Gradients are those of the plain step, to the last bit.

Before it is used, a step that obeys it is compared with a plain one: loss, gradients and buffers, bit by bit (check).
What differs is found and kept (kept says what and why), else the plan is refused.

limit: a part of what the plain step saves (at most 1, '25%'), or what the whole process may take (bytes, '8G', 'auto':
nine tenths of what its memory group or the system can give), or 'least'.  LimitError says what would do.
tier: a directory on a real disk.  The step that is recorded runs like any other, forward and backward; gradients,
buffers and the random state are put back afterwards.  A batch of another shape is trained too.
"""
import os
import re
import shutil
import subprocess
import tempfile
import threading
import warnings

from . import heap
from .callbacks import hugging_face, lightning
from .items import LARGE, identity, storage_bytes
from .limit import Limit, LimitError, gradients_to_come, optimizers_of, spelled, state_to_come
from .obey import Mover, Step
from .record import Aside, Record, Result
from .rest import resting, send
from .tier import File

FIELDS = 'plain_seconds', 'objective_seconds', 'bound_seconds', 'gap_ratio'
ROOM = 8                                                 # of what is saved, one part for holes: fewer fresh pages
MARGIN = 256 << 20                                       # free memory beside a plain step that it is compared with
__all__ = ['Plan', 'LimitError', 'Record', 'File', 'hugging_face', 'lightning']


class Plan:
    """Of one model and a largest batch; the context in which its forward passes run.

    Fields: limit_bytes (for what is saved), saved_bytes (by the plain step), plain_seconds, objective_seconds and
    bound_seconds (of a step, as planned), gap_ratio, resident_bytes (what the whole process should take, with gradients
    and the optimisers' state), away and again (what leaves, which modules run twice), text (the plan as place-offload
    wrote it); most_bytes and stalled_seconds of the steps so far; unmatched_bytes of tensors that were not as recorded.
    proof: what the step was compared with, and kept: what the proof, or a rule, makes the plan keep, and why."""

    def __init__(self, model, step, limit, tier='.', recompute=True, offload=True, keep=None, check=True,
                 keep_modules=(), optimizer=None, extra_bytes=0):
        heap.prepare()
        self.wanted, self.model, self.file, self.directory = Limit(limit), model, File(tier), keep
        self.here, self.kept_bytes, self.unmatched_bytes, self.warned = threading.local(), 0, 0, set()
        self.proof, self.keep_modules, self.mover, self.gradients = None, set(keep_modules), None, None
        self.optimizers = optimizers_of(model) if optimizer is None else [optimizer]
        self.extra_bytes, self.without = extra_bytes, 0  # of the process, saved outside of the step; see _rest
        self.rates = self.file.rates((self.wanted.process or 1 << 60) - heap.resident())
        for self.rests in (False, True):                 # what optimisers keep leaves while a step runs
            if self.rests and self.wanted.last:
                self.wanted.process = self.wanted.last
            try:
                return self._make(step, recompute, offload, check)
            except LimitError as e:
                if self.rests or not self.wanted.process or not self.optimizers:
                    raise
                self.without = e.least_bytes or 0

    # ---- making

    def _make(self, step, recompute, offload, check):
        self.kept, self.twice, self.changing, self.staying = [], {}, set(), set()
        self._rest()
        heap.tidy()
        heap.top(self.wanted.process)
        record = self._record(step)
        self.saved_bytes, self.changing = record.saved_bytes(), record.changing
        reference = self._reference(step, record) if check else None
        if reference is not None and reference.differs(record.result):
            record = self._trust(step, reference, record)
        self.inner = bool(record.peeked.of)              # a gradient of a gradient: modules run once
        names = list(record.choose_groups()) if recompute and not self.inner else []
        self.kept += [(name, c.why) for name, c in record.calls.items()
                      if c.why and name and not c.why.startswith(('has no arg', 'is kept'))]
        self.limit_bytes = self._limit(record, names, offload)
        while True:
            try:
                second = self._plan(step, record, names, offload, reference)
                break
            except LimitError as e:
                if not self.wanted.least or self.limit_bytes >= self.saved_bytes:
                    raise
                self.limit_bytes = max(int(1.03 * self.limit_bytes), min(e.saved or 0, self.saved_bytes))
        self.plan_of(second)
        heap.tidy()
        self.mover = Mover(self.file, self.limit_bytes, heap.cap(self.resident_bytes), self.order, self.workspace,
                           len(self.bytes))
        modules = dict(self.model.named_modules())
        self.twice = {modules[name]: name for name in self.again}
        if check:
            self._prove(step, reference)

    def _record(self, step, again=(), staying=None):
        record = Record(self.model, self.file, again, self.staying if staying is None else staying, self.keep_modules,
                        self.wanted.process, self.rests)
        try:
            return record.run(step)
        except MemoryError as e:
            if not (e.args and isinstance(e.args[0], int)):
                raise
            least = e.args[0]
            raise LimitError('there is no memory for a plan: with all that can leave sent away, the process takes '
                             f'{spelled(least)} at least', least, self._fixed(least, record.at_work())) from e

    def _fixed(self, taken, module):
        """What cannot leave where the process takes most, as LimitError.names."""
        beside, own = heap.beside(), sum(map(storage_bytes, self._lasting()))
        return [('PyTorch itself', beside, 'beside tensors'), ('parameters and buffers', own, 'in use'),
                (module, taken - beside - own, 'works on it at once')]

    def _reference(self, step, record):
        """What the plain step gives, if there is memory for it; else what was recorded, with copies of all."""
        room = 1.25 * self.saved_bytes + gradients_to_come(self.model) + MARGIN
        if heap.available() < room or (self.wanted.process and heap.resident() + room > self.wanted.process):
            self.proof = 'a step that keeps copies of all it saves'
            return record.result
        self.proof = 'the plain step'
        with Aside(self.model) as aside:
            loss = step()
            aside.backward(loss)
            return Result(self.model, loss)

    def _trust(self, step, reference, record):
        """Which storages cannot be sent away?  A record in which they are kept."""
        large = [s.label for s in record.storages if s.at is not None]
        bad = self._bad(large, lambda kept: not reference.differs(self._record(step, staying=set(kept)).result))
        if bad is None:
            raise self._changing(reference.differs(record.result))
        self.staying = set(bad)
        self.kept += [(f'tensor {k} of {name or "the step"}', 'is changed by something that autograd does not see')
                      for name, k in bad]
        return self._record(step)

    @staticmethod
    def _changing(names):
        return RuntimeError('millrace_place: the step gives something else when it is made again from the same '
                            f'parameters, buffers and random numbers: {", ".join(names[:4])}')

    @staticmethod
    def _bad(all_, good):
        """The least prefix-wise set that makes good(set) true; None if not even all do."""
        if not good(all_):
            return None
        bad, rest = [], list(all_)
        while rest and not good(bad):
            low, high = 0, len(rest)                     # the first one without which it is not good
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (low, middle) if good(bad + rest[:middle]) else (middle, high)
            bad.append(rest[high - 1])
            rest = rest[:high - 1]
        return bad

    def _plan(self, step, record, names, offload, reference):
        """Decides; the record of the step as it runs then."""
        while True:
            second = self._fitting(step, record, names, offload)
            wrong = reference.differs(second.result) if reference is not None and self.again else []
            if not wrong:
                return second
            again = list(self.again)
            bad = self._bad(again, lambda kept: not reference.differs(
                self._record(step, [n for n in again if n not in kept]).result))
            if not bad:
                raise RuntimeError(f'millrace_place: the step is not the plain one: {", ".join(wrong[:4])}')
            self.kept += [(name, f'gives something else in its second run ({wrong[0]})') for name in bad]
            names = [name for name in names if name not in bad]

    def _limit(self, record, names, offload):
        """Bytes for what is saved."""
        if self.wanted.share:
            return int(self.wanted.share * self.saved_bytes)
        if self.wanted.least:
            try:
                record.groups, self.limit_bytes = names, 1
                self._decide(record, offload, 1)
                return 1
            except LimitError as e:
                return e.saved
        self.outside_bytes = self._resident(record, 0)
        low, high = 0, self.saved_bytes
        while low < high:                                # the largest that fits
            middle = (low + high + 1) // 2
            low, high = ((middle, high) if self._resident(record, middle) <= self.wanted.process
                         else (low, middle - 1))
        return low

    def _resident(self, record, limit):
        """What the process takes, holes and the optimisers' state too, in a step that keeps that much saved."""
        holes = self.wanted.process // 32 if self.wanted.process else self.saved_bytes // ROOM
        to_come, step = state_to_come(self.optimizers), record.resident_bytes(limit)
        step = max(step, record.sizes[-1][1] + to_come + resting(self.optimizers)) if self.rests else step + to_come
        return self.extra_bytes + holes + step

    def _rest(self):
        if self.gradients:                               # of a backward pass that broke off
            self.gradients.end()
        if self.rests:
            send(self.optimizers, self.file)
            if self.mover and any(p.grad is not None for p in self.model.parameters()):
                raise LimitError('the limit leaves no room for gradients while the model runs forward: zero_grad(set_to_'
                                 f'none=True) before, or, where they are added up, limit={spelled(self.without)!r}')

    def _no_plan(self, record, message, beside):
        """The error, in the words of the limit that was asked for."""
        found = re.search(r'least found takes (\d+)', message)
        least = int(found[1]) + beside if found else None
        names = sorted((('.'.join(map(str, filter(None, s.label))), s.bytes,
                         'its changes cannot be told' if s.stay else 'too small to be sent') for s in record.shown()
                        if s.stay or s.small()), key=lambda row: -row[1])[:4]
        text = f'no plan keeps the limit of {self.limit_bytes} bytes for what is saved; the least is {least}'
        if least is not None and self.wanted.process:
            _, most, module = max(record.sizes, key=lambda row: row[1])
            process = int(1.05 * (self._resident(record, least) - self.wanted.process // 32))
            names = self._fixed(most, module) + names[:2]
            asked = spelled(self.wanted.process)
            text = (f'no plan keeps the limit of {asked} for the process: parameters, gradients, the optimiser '
                    f'and a layer at work take {spelled(self.outside_bytes)}, and the least for what is saved is '
                    f'{spelled(least)}: limit={spelled(process)!r} or more')
        e = LimitError(text, process if least is not None and self.wanted.process else least, names)
        e.saved = least
        return e

    def _fitting(self, step, record, names, offload):
        for tighter in (1, .9, .8, .7):                  # a second run may need more than the first record says
            record.groups = names
            again = self._decide(record, offload, int(tighter * self.limit_bytes))
            self.again = [names[k] for k in again]
            if not self.again:
                return record
            try:
                return self._second(step, offload)
            except LimitError:
                if tighter == .7:
                    raise

    def _second(self, step, offload):
        """The step as it runs now, once more: what it saves is not what it saved."""
        record = self._record(step, self.again)
        record.groups = []
        promised = {field: getattr(self, field) for field in FIELDS}
        self._decide(record, offload, self.limit_bytes)
        self.__dict__.update(promised)
        return record

    def _prove(self, step, reference):
        """A step that obeys, beside the reference."""
        with Aside(self.model) as aside:
            with self:
                loss = step()
            aside.backward(loss)
            wrong = reference.differs(Result(self.model, loss))
        most = self.mover.most
        if most > 1.1 * self.limit_bytes + LARGE and not wrong:
            raise LimitError(f'a step under the plan holds {most} bytes of saved tensors at once, as '
                             f'compiled code does, and the limit is {self.limit_bytes}', most)
        self._look()
        if wrong:
            if reference.differs(self._record(step).result):
                raise self._changing(wrong)
            raise RuntimeError(f'millrace_place: a step under the plan is not {self.proof}: {", ".join(wrong[:4])}')
        self.proof = f'proved on this step, beside {self.proof}: loss, gradients and buffers are equal to the last bit'

    def _decide(self, record, offload, limit):
        """Runs place-offload; returns the groups that run again."""
        beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'place-offload')
        program = (os.environ.get('PLACE_OFFLOAD') or (beside if os.path.exists(beside) else None)
                   or shutil.which('place-offload'))
        if not program:
            raise RuntimeError('millrace_place: place-offload is not on PATH')
        where = self.directory or tempfile.mkdtemp(prefix='millrace-place-')
        os.makedirs(where, exist_ok=True)
        try:
            graph, profile = os.path.join(where, 'graph.sexp'), os.path.join(where, 'profile.csv')
            record.write(graph, profile, *self.rates)
            command = [program, f'--limit={max(1, limit - record.room_inside)}', f'--profile={profile}', graph]
            if not offload:
                command.insert(1, '--no-offload')
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                if 'no plan keeps' in done.stderr:
                    raise self._no_plan(record, done.stderr, record.room_inside)
                raise RuntimeError(done.stderr.strip())
            self.text = done.stdout
            if self.directory:
                with open(os.path.join(where, 'plan.sexp'), 'w') as out:
                    out.write(self.text)
        finally:
            if not self.directory:
                shutil.rmtree(where)
        for field in FIELDS:
            setattr(self, field, float(re.search(rf'\({field} ([^)]*)\)', self.text)[1]))
        self._sent = {int(i) for i in re.findall(r'\(tensor (\d+) away\)', self.text)}
        return [int(i) for i in re.findall(r'\(group (\d+) again\)', self.text)]

    def plan_of(self, record):
        """What a step needs to know, by the order in which storages are saved for the first time."""
        order = list(dict.fromkeys(which for what, which, _ in record.events if what == 'pack'))
        place = {number: k for k, number in enumerate(order)}
        shown = record.shown()
        self.bytes = [record.storages[number].bytes for number in order]
        self.outside = [record.storages[number].outside for number in order]
        sent = {shown[i].number for i in self._sent}
        self.away = {place[s.number] for s in record.storages if s.lead.number in sent and s.number in place}
        self.stay = {place[s.number] for s in record.storages if s.stay and s.number in place}
        self.largest = max(self.bytes, default=0)
        self.order = [(what, place[which] if what == 'read' else which)
                      for what, which in dict.fromkeys(record.order)]
        self.workspace = {name: record.spans.get(name, [0])[0] for name in self.again}
        self.resident_bytes = self._resident(record, self.limit_bytes)
        if self.wanted.process:
            self.resident_bytes = min(self.resident_bytes, self.wanted.process)
        self.moved_bytes = sum(self.bytes[k] for k in self.away)

    # ---- obeying

    def _lasting(self):
        return [*self.model.parameters(), *self.model.buffers()]

    def known(self):
        return set(map(identity, self._lasting()))

    def as_recorded(self, number, saved):
        """Is the n-th tensor that a step saves what it was?  Counted and said, once, if not."""
        if number < len(self.bytes) and self.bytes[number] == saved.bytes:
            return True
        self.unmatched_bytes += saved.bytes
        self._warn('shape', 'a step saves other tensors than the one that was recorded (another shape of batch, other '
                   'modules): what goes over the limit is sent away as it comes; make the plan with the largest batch')
        return False

    def _warn(self, kind, text):
        if kind not in self.warned:
            self.warned.add(kind)
            warnings.warn('millrace_place: ' + text, stacklevel=4)

    def _look(self):
        if self.mover.most > self.limit_bytes:
            more = self.mover.most - self.limit_bytes
            self._warn('limit', f'saved tensors took {self.mover.most} bytes, {more} more '
                       'than the limit: steps are not as recorded, or tensors too small or unsure to be sent')

    def __enter__(self):
        self._look()
        self._rest()
        if self.wanted.process:
            heap.top(self.resident_bytes)                # what lies beside the heap grows
        entered = Step(self).contexts()
        for context in entered:
            context.__enter__()
        if not hasattr(self.here, 'contexts'):
            self.here.contexts = []
        self.here.contexts.append(entered)
        return self

    def __exit__(self, *what):
        for context in reversed(self.here.contexts.pop()):
            context.__exit__(*what)

    @property
    def most_bytes(self):
        return self.mover.most

    @property
    def stalled_seconds(self):
        return self.mover.stalled

    def forget(self):
        """No module runs twice any more."""
        self.twice, self.again = {}, []
