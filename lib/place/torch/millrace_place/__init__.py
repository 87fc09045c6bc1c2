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

limit: a part of what the plain step saves (at most 1), or bytes.  tier: a directory on a real disk.  The step that is
recorded runs like any other, forward and backward; gradients, buffers and the random state are put back afterwards.
A batch of another shape is trained too, but what no longer fits the record is kept in memory.
"""
import os
import re
import shutil
import subprocess
import tempfile

import torch

from . import heap
from .items import identity
from .obey import Mover, Step
from .record import Aside, Record, Result
from .tier import File

FIELDS = 'plain_seconds', 'objective_seconds', 'bound_seconds', 'gap_ratio'
ROOM = 8                                                 # of what is saved, one part for holes: fewer fresh pages
MARGIN = 256 << 20                                       # free memory beside a plain step that it is compared with
__all__ = ['Plan', 'Record', 'File']


class LimitError(RuntimeError):
    """No plan keeps the limit."""


class Plan:
    """Of one model and one shape of batch; the context in which its forward passes run.

    Fields: limit_bytes, saved_bytes (by the plain step), plain_seconds, objective_seconds and bound_seconds (of a step,
    as planned), gap_ratio, resident_bytes (what the process should take), away and again (what leaves, which modules
    run twice), text (the plan as place-offload wrote it); most_bytes and stalled_seconds of the steps so far.  proof:
    what the step was compared with, and kept: what the proof, or a rule, makes the plan keep, and why."""

    def __init__(self, model, step, limit, tier='.', recompute=True, offload=True, keep=None, check=True,
                 keep_modules=()):
        heap.prepare()
        self.model, self.file, self.contexts, self.kept_bytes = model, File(tier), [], 0
        self.rates = self.file.rates()
        self.directory = keep
        self.kept, self.proof, self.keep_modules = [], None, set(keep_modules)
        self.twice, self.changing, self.staying = {}, set(), set()
        record = self._record(step)
        self.saved_bytes = record.saved_bytes()
        self.limit_bytes = int(limit * self.saved_bytes) if limit <= 1 else int(limit)
        self.changing = record.changing
        reference = self._reference(step, record) if check else None
        if reference is not None and reference.differs(record.result):
            record = self._trust(step, reference, record)
        names = list(record.choose_groups()) if recompute else []
        self.kept += [(name, c.why) for name, c in record.calls.items()
                      if c.why and name and not c.why.startswith(('has no arg', 'is kept'))]
        again = self._plan(step, record, names, offload, reference)
        self.plan_of(again)
        self.mover = Mover(self.file, self.limit_bytes, self.resident_bytes, self.order, self.workspace,
                           len(self.bytes))
        names = {name: m for name, m in model.named_modules()}
        self.twice = {names[name]: name for name in self.again}
        if check:
            self._prove(step, reference)

    # ---- making

    def _record(self, step, again=(), staying=None):
        return Record(self.model, self.file, again, self.staying if staying is None else staying,
                      self.keep_modules).run(step)

    def _reference(self, step, record):
        """What the plain step gives, if there is memory for it; else what was recorded, with copies of all."""
        if heap.available() < 1.25 * self.saved_bytes + MARGIN:
            self.proof = 'a step that keeps copies of all it saves'
            return record.result
        self.proof = 'the plain step'
        with Aside(self.model):
            loss = step()
            loss.backward()
            return Result(self.model, loss)

    def _trust(self, step, reference, record):
        """Which storages cannot be sent away?  A record in which they are kept."""
        large = [s.label for s in record.storages if s.at is not None]
        bad = self._bad(large, lambda kept: not reference.differs(self._record(step, staying=set(kept)).result))
        if bad is None:
            names = ', '.join(reference.differs(record.result)[:4])
            raise RuntimeError(f'millrace_place: the step gives something else when it is made again from the same '
                               f'parameters, buffers and random numbers: {names}')
        self.staying = set(bad)
        self.kept += [(f'tensor {k} of {name or "the step"}', 'is changed by something that autograd does not see')
                      for name, k in bad]
        return self._record(step)

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
        with Aside(self.model):
            with self:
                loss = step()
            loss.backward()
            wrong = reference.differs(Result(self.model, loss))
        if wrong:
            raise RuntimeError(f'millrace_place: a step under the plan is not {self.proof}: {", ".join(wrong[:4])}')
        self.proof = f'proved on this step, beside {self.proof}: loss, gradients and buffers are equal to the last bit'

    def _decide(self, record, offload, limit):
        """Runs place-offload; returns the groups that run again."""
        program = os.environ.get('PLACE_OFFLOAD') or shutil.which('place-offload')
        if not program:
            raise RuntimeError('millrace_place: place-offload is not on PATH')
        where = self.directory or tempfile.mkdtemp(prefix='millrace-place-')
        os.makedirs(where, exist_ok=True)
        try:
            graph, profile = os.path.join(where, 'graph.sexp'), os.path.join(where, 'profile.csv')
            record.write(graph, profile, *self.rates)
            command = [program, f'--limit={limit}', f'--profile={profile}', graph]
            if not offload:
                command.insert(1, '--no-offload')
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                raise LimitError(done.stderr.strip())
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
        self.away = {place[shown[i].number] for i in self._sent if shown[i].number in place}
        self.order = [(what, place[which] if what == 'read' else which)
                      for what, which in dict.fromkeys(record.order)]
        self.workspace = {name: record.spans.get(name, [0])[0] for name in self.again}
        self.resident_bytes = record.resident_bytes(self.limit_bytes) + record.saved_bytes() // ROOM
        self.moved_bytes = sum(self.bytes[k] for k in self.away)

    # ---- obeying

    def known(self):
        return {identity(t) for t in [*self.model.parameters(), *self.model.buffers()]}

    def __enter__(self):
        entered = Step(self).contexts()
        for context in entered:
            context.__enter__()
        self.contexts.append(entered)
        return self

    def __exit__(self, *what):
        for context in reversed(self.contexts.pop()):
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
