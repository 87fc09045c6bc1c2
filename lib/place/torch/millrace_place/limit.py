"""How much memory: words of a limit, what else takes memory, and the error when there is no plan."""
import gc
import re

import torch

from . import heap

_UNITS = {'': 1, 'K': 1 << 10, 'M': 1 << 20, 'G': 1 << 30, 'T': 1 << 40}
STATES = {'Adam': 2, 'AdamW': 2, 'NAdam': 2, 'RAdam': 2, 'Adamax': 2, 'Adagrad': 1, 'Adadelta': 2, 'ASGD': 1,
          'SparseAdam': 2}                               # tensors as large as the parameter


class LimitError(RuntimeError):
    """No plan keeps the limit.  least_bytes: with which there is one, in the words that were asked in (saved tensors
    or the process); names: what takes most of it and cannot leave, as (name, bytes, why)."""

    def __init__(self, message, least_bytes=None, names=()):
        if names:
            message += '; what cannot leave: ' + ', '.join(f'{n} ({spelled(b)}, {why})' for n, b, why in names)
        super().__init__('millrace_place: ' + message)
        self.least_bytes, self.names = least_bytes, list(names)


class Limit:
    """Either share of what a plain step saves, or bytes of the process, or the least."""

    def __init__(self, word):
        self.share = self.process = self.last = None
        self.least = word == 'least'
        if self.least:
            return
        if word == 'auto':
            self.process = int(.9 * (heap.resident() + heap.available()))
            self.last = heap.resident() + int(.9 * heap.available())     # before it is refused
            return
        if isinstance(word, str):
            m = re.fullmatch(r'\s*([0-9]*\.?[0-9]+)\s*(%|[KMGT]?)(?:i?B)?\s*', word, re.I)
            if not m:
                raise ValueError(f"limit {word!r} is neither bytes (8G), nor a share (25%), nor 'auto', nor 'least'")
            number, unit = float(m[1]), m[2].upper()
            word = number / 100 if unit == '%' else number * _UNITS[unit]
        if not word > 0:
            raise ValueError(f'limit {word!r} is not above 0')
        if word <= 1:
            self.share = float(word)
        else:
            self.process = int(word)


def optimizers_of(model):
    """Those that train parameters of the model."""
    own = {id(p) for p in model.parameters()}
    return [o for o in gc.get_objects() if issubclass(type(o), torch.optim.Optimizer)    # a dead proxy has no class
            and any(id(p) in own for g in o.param_groups for p in g['params'])]


def state_to_come(optimizers):
    """Bytes that optimizers will take with their first step."""
    total = 0
    for o in optimizers:
        for group in o.param_groups:
            kind = type(o).__name__
            copies = (STATES.get(kind) or (1 if group.get('momentum') else 0) +
                      (1 + bool(group.get('centered')) if kind == 'RMSprop' else 0)) + bool(group.get('amsgrad'))
            total += sum(copies * p.numel() * p.element_size() for p in group['params']
                         if p.requires_grad and not getattr(o.state, 'inside', o.state).get(p))
    return total


def gradients_to_come(model):
    return sum(p.numel() * p.element_size() for p in model.parameters() if p.requires_grad and p.grad is None)


def spelled(n):
    for unit in 'GMK':
        if n >= _UNITS[unit]:
            return f'{n / _UNITS[unit]:.1f}{unit}'
    return str(int(n))
