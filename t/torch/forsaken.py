"""Plans that are left in ways that nobody plans: a fork, the collector, the end of the program in the middle of a pass.
Run with freed memory spoiled (MALLOC_PERTURB_), so that what is used after it was freed shows."""
import gc
import os
import sys
import torch
from torch import nn
import millrace_place

torch.manual_seed(1)
torch.set_num_threads(1)
net = nn.Sequential(*(nn.Sequential(nn.Conv2d(8, 8, 3, padding=1), nn.ReLU()) for _ in range(6)))
x = torch.randn(16, 8, 64, 64)


def loss_of():
    return net(x).square().mean()


def plan():
    return millrace_place.Plan(net, loss_of, 0.3, tier=sys.argv[1], recompute=False)


def step(p):
    with p:
        loss = loss_of()
    loss.backward()


gc.disable()
p, q = plan(), plan()
with p:
    loss = loss_of()
child = os.fork()                                        # as the workers of a DataLoader are made
if child == 0:
    del loss, q                                          # nobody copies here: nothing of this may wait
    gc.collect()
    try:
        step(p)
        os._exit(2)
    except RuntimeError as e:
        if 'moves nothing any more' not in str(e):
            os._exit(3)
    sys.exit(0)
status = os.waitpid(child, 0)[1]
print(f'{"not " if status else ""}ok 1 - a forked process can let go of plans, is told that they move nothing, and ends')
loss.backward()
step(q)
print('ok 2 - which changes nothing for the one that made them', flush=True)
with q:
    loss = loss_of()                                     # whose backward pass never comes
del loss, p, q                                           # plans and their last steps are circles
gc.collect()
print('ok 3 - the collector takes plans, steps and what they saved in any order', flush=True)


def end(*_):
    print('ok 4 - a program may end in the middle of a pass\n1..4', flush=True)
    sys.exit(0)


p = plan()
net[4].register_forward_hook(end)
with p:
    loss_of()
