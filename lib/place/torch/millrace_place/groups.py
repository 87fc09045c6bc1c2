"""Which modules may be run again in the backward pass instead of keeping what they save, and how they are."""
import torch
from torch.utils._pytree import tree_flatten, tree_unflatten


def storage_of(t):
    return t.untyped_storage() if hasattr(t, 'untyped_storage') else t.storage()


def identity(t):
    """Names the storage of a tensor for as long as somebody holds it."""
    return storage_of(t)._cdata


def storage_bytes(t):
    return storage_of(t).nbytes()


def tensors_of(tree):
    return [x for x in tree_flatten(tree)[0] if isinstance(x, torch.Tensor)]


class _Again(torch.autograd.Function):
    """Saves only the inputs; runs the module once more before its backward pass, with the first run's random numbers.

    What a run leaves behind in buffers (batch statistics, counters) happened in the first run; in the second it is
    done to copies.  `around` is entered while the second run and its backward pass need memory."""

    @staticmethod
    def forward(ctx, module, run, around, *tensors):
        ctx.module, ctx.run, ctx.around = module, run, around
        ctx.random = torch.get_rng_state()
        ctx.save_for_backward(*tensors)
        return run(tensors)

    @staticmethod
    def backward(ctx, *gradients):
        inputs = [t.detach().requires_grad_(need) for t, need in zip(ctx.saved_tensors, ctx.needs_input_grad[3:])]
        buffers = [(m, name, b) for m in ctx.module.modules() for name, b in m._buffers.items() if b is not None]
        with ctx.around():
            random = torch.get_rng_state()
            torch.set_rng_state(ctx.random)
            for m, name, b in buffers:
                m._buffers[name] = b.clone()
            try:
                with torch.enable_grad():
                    out = ctx.run(inputs)
            finally:
                for m, name, b in buffers:
                    m._buffers[name] = b
                torch.set_rng_state(random)
            out = (out,) if isinstance(out, torch.Tensor) else out
            pairs = [(o, g) for o, g in zip(out, gradients) if g is not None and o.requires_grad]
            torch.autograd.backward([o for o, _ in pairs], [g for _, g in pairs])
        return (None, None, None, *(t.grad for t in inputs))


def run_again(module, forward, around):
    """The forward function of `module` that saves its inputs only."""
    def forward_again(*args, **kwargs):
        if not torch.is_grad_enabled() or not any(t.requires_grad for t in tensors_of((args, kwargs))):
            return forward(*args, **kwargs)
        leaves, spec = tree_flatten((args, kwargs))
        where = [i for i, x in enumerate(leaves) if isinstance(x, torch.Tensor)]
        given = [leaves[i] for i in where]
        for i in where:                                  # the closure must not keep them
            leaves[i] = None
        result = []

        def run(tensors):
            filled = list(leaves)
            for i, t in zip(where, tensors):
                filled[i] = t
            a, k = tree_unflatten(filled, spec)
            out, out_spec = tree_flatten(forward(*a, **k))
            result[:] = [isinstance(x, torch.Tensor) for x in out], out_spec
            return tuple(x for x in out if isinstance(x, torch.Tensor))

        out = iter(_Again.apply(module, run, around, *given))
        return tree_unflatten([next(out) if is_tensor else None for is_tensor in result[0]], result[1])
    return forward_again


def choose(calls, gain, total):
    """Modules whose second run is worth a choice of its own: none inside another, none with much more than 1/16 of all.

    calls: name -> call (fields may, children); gain: name -> bytes saved only inside and not its inputs."""
    def inside(name):
        found = [g for child in calls[name].children for g in best(child)]
        return found

    def best(name):
        below = inside(name)
        if not calls[name].may or gain[name] == 0:
            return below
        if gain[name] <= total / 16 or sum(gain[g] for g in below) < gain[name] / 2:
            return [name]
        return below
    return best('')
