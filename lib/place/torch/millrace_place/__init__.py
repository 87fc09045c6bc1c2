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
from .groups import identity, run_again
from .obey import Mover, Step
from .record import Record
from .tier import File

FIELDS = 'plain_seconds', 'objective_seconds', 'bound_seconds', 'gap_ratio'
ROOM = 8                                                 # of what is saved, one part for holes: fewer fresh pages
__all__ = ['Plan', 'Record', 'File']


class _Nothing:
    def __enter__(self):
        pass

    def __exit__(self, *_):
        pass


class Plan:
    """Of one model and one shape of batch; the context in which its forward passes run.

    Fields: limit_bytes, saved_bytes (by the plain step), plain_seconds, objective_seconds and bound_seconds (of a step,
    as planned), gap_ratio, resident_bytes (what the process should take), away and again (what leaves, which modules
    run twice), text (the plan as place-offload wrote it); most_bytes and stalled_seconds of the steps so far."""

    def __init__(self, model, step, limit, tier='.', recompute=True, offload=True, keep=None):
        heap.prepare()
        self.model, self.file, self.now, self.hooks = model, File(tier), None, None
        self.rates = self.file.rates()
        self.wrapped = []
        self.directory = keep
        record = Record(model, self.file).run(step)
        self.saved_bytes = record.saved_bytes()
        self.limit_bytes = int(limit * self.saved_bytes) if limit <= 1 else int(limit)
        names = list(record.choose_groups()) if recompute else []
        for tighter in (1, .9, .8, .7):                  # a second run may need more than the first record says
            record.groups = names
            again = self._decide(record, offload, int(tighter * self.limit_bytes))
            self.again = [names[k] for k in again]
            if not self.again:
                break
            try:
                record = self._second(step, offload)
                break
            except RuntimeError:
                self.forget()
                if tighter == .7:
                    raise
        self.plan_of(record)
        self.mover = Mover(self.file, self.limit_bytes, self.resident_bytes, self.order, self.workspace,
                           len(self.bytes))
        self.around = lambda name: self.now.around(name) if self.now else _Nothing()

    # ---- making

    def _second(self, step, offload):
        """The step as it runs now, once more: what it saves is not what it saved."""
        self._wrap()
        record = Record(self.model, self.file, self.again)
        self.around = record.around
        record.run(step)
        record.groups = []
        promised = {field: getattr(self, field) for field in FIELDS}
        self._decide(record, offload, self.limit_bytes)
        self.__dict__.update(promised)
        return record

    def _wrap(self):
        for name, m in self.model.named_modules():
            if name in self.again:
                had = m.__dict__.get('forward')
                m.forward = run_again(m, m.forward, lambda name=name: self.around(name))
                self.wrapped.append((m, had))

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
        self.away = {place[shown[i].number] for i in self._sent if shown[i].number in place}
        self.order = [(what, place[which] if what == 'read' else which)
                      for what, which in dict.fromkeys(record.order)]
        self.workspace = dict(record.spans)
        self.resident_bytes = record.resident_bytes(self.limit_bytes) + record.saved_bytes() // ROOM
        self.moved_bytes = sum(self.bytes[k] for k in self.away)

    # ---- obeying

    def known(self):
        return {identity(t) for t in [*self.model.parameters(), *self.model.buffers()]}

    def __enter__(self):
        self.now = Step(self)
        self.hooks = torch.autograd.graph.saved_tensors_hooks(self.now.pack, self.now.unpack)
        self.hooks.__enter__()
        return self

    def __exit__(self, *what):
        self.hooks.__exit__(*what)
        self.hooks = None

    @property
    def most_bytes(self):
        return self.mover.most

    @property
    def stalled_seconds(self):
        return self.mover.stalled

    def forget(self):
        """The model as it was: no module runs twice any more."""
        for m, had in self.wrapped:
            if had is None:
                m.__dict__.pop('forward', None)
            else:
                m.forward = had
        self.wrapped = []
        self.again = []
