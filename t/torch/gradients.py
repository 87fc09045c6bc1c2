"""Every network of zoo.py under plans: two steps of training beside plain ones, bit by bit.

    gradients.py TIER [NAME..|all] [--quick|--both]

For each, plans that only send, only run twice, and do both, at three limits (--quick: two plans; --both: three): equal, refused (no
plan keeps the limit, or the plan is not the plain step and says so) or different.  Nothing may be different."""
import random
import sys
import warnings
import torch
import millrace_place
from tap import end, ok
from zoo import ZOO

WAYS = [(limit, how) for how in ({'recompute': False}, {'offload': False}, {}) for limit in (.75, .5, .3)]
BOTH = [(limit, how) for limit, how in WAYS if not how]
FAST = [(.4, {'recompute': False}), (.65, {'offload': False})]
SOME = ('resnet18 LSTM_num_layers_dropout LSTMCell transformer diffusion vae vq_vae mixture_of_experts '
        'spectral_norm a_list fourier_operator graph_network gradient_penalty behind_autograd views').split()
torch.set_num_threads(1)
warnings.simplefilter('ignore')


def real(t):
    t = t.to_dense() if t.layout != torch.strided else t
    return torch.view_as_real(t.resolve_conj()) if t.is_complex() else t


def train(name, limit=None, **how):
    torch.manual_seed(1)
    random.seed(1)
    model, step = ZOO[name]()
    plan, found = None, []
    if limit:
        plan = millrace_place.Plan(model, step, limit, tier=sys.argv[1], **how)
    optimiser = torch.optim.SGD(model.parameters(), .001)
    for k in range(2):
        torch.manual_seed(k)
        random.seed(k)
        optimiser.zero_grad()
        if plan:
            with plan:
                loss = step()
        else:
            loss = step()
        loss.backward()
        found.append(loss.detach())
        found += [torch.zeros(0) if p.grad is None else real(p.grad).clone() for p in model.parameters()]
        found += [real(b).clone() for b in model.buffers()]
        optimiser.step()
        del loss
    return found, plan


def bits(t):
    return t.contiguous().numpy().tobytes() if t.dtype != torch.bfloat16 else t.float().numpy().tobytes()


words = [w for w in sys.argv[2:] if w[:2] != '--']
names = list(ZOO) if words == ['all'] else words or SOME
total = {'equal': 0, 'refused': 0, 'different': 0}
for name in names:
    plain, other, said = list(map(bits, train(name)[0])), list(map(bits, train(name)[0])), []
    if plain != other:
        ok(True, f'{name} # SKIP the plain step is not the same twice')
        continue
    for limit, how in FAST if '--quick' in sys.argv else BOTH if '--both' in sys.argv else WAYS:
        try:
            found, plan = train(name, limit, **how)
        except RuntimeError as e:
            verdict = 'refused' if 'millrace_place' in str(e) else 'different'
            said.append('no plan' if isinstance(e, millrace_place.LimitError) else str(e)[:150])
        else:
            verdict = 'equal' if list(map(bits, found)) == plain else 'different'
            said.append(f'{len(plan.away)}+{len(plan.again)}' + (' over' if plan.most_bytes > plan.limit_bytes else '')
                        + (f' kept {len(plan.kept)}' if plan.kept else ''))
        total[verdict] += 1
        if verdict == 'different':
            ok(False, f'{name}, limit {limit} {how}: {said[-1]}')
            break
    else:
        ok(True, f'{name}: {", ".join(said)}')
print('# ' + ', '.join(f'{n} {what}' for what, n in total.items()))
end()
