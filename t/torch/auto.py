"""A script, and trainers of others, that train under a plan without a changed line."""
import os
import re
import subprocess
import sys
import types
import torch
from torch import nn
import torch.nn.functional as F
from tap import end, ok

TIER = os.path.abspath(sys.argv[1])
SCRIPT = '''
import sys, torch, net
torch.set_num_threads(1)
model, optimiser = net.make()
x = torch.randn(256, 128)
for k in range(5):
    optimiser.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x), x.argmax(1)) + net.beside(x).mean()
    loss.backward()
    optimiser.step()
    print(repr(loss.item()))
model.eval()
with torch.no_grad():
    print(model(x).sum().item(), sys.argv[1:], __name__)
sys.exit(3)
'''
NET = '''
import torch
from torch import nn
class Out(dict):
    pass
def make():
    torch.manual_seed(1)
    global beside
    beside = nn.Linear(128, 8)
    model = nn.Sequential(*(nn.Sequential(nn.Linear(128, 512), nn.Tanh(), nn.Linear(512, 128), nn.Dropout(.1))
                            for _ in range(12)))
    return model, torch.optim.Adam([*model.parameters(), *beside.parameters()])
'''
os.makedirs('script', exist_ok=True)
for name, text in (('train.py', SCRIPT), ('net.py', NET)):
    with open('script/' + name, 'w') as f:
        f.write(text)


def run(*before):
    done = subprocess.run([sys.executable, '-W', 'ignore', '-B', *before, 'a', '--b=1'], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def heap(*lines):
    return subprocess.run([sys.executable, '-W', 'ignore', '-c', '\n'.join([*lines, 'print(heap.ours)'])],
                          capture_output=True, text=True).stdout


first, after = 'import torch', 'from millrace_place import heap'
ok(heap(after) == heap(first, after) != '', 'our heap, or none of ours, whichever is imported first')
plain = run('script/train.py')
ok(plain[0] == 3 and len(plain[1].split('\n')) == 7, 'the script by itself')
for option in ('--limit=40%', '--limit=500M', '--limit=least'):
    status, out, said = run('-m', 'millrace_place', 'script/train.py', option, f'--tier={TIER}')
    ok((status, out) == plain[:2], f'{option}: the same losses, arguments and exit status')
    ok('proved on this step' in said and '4 steps; the process took' in said and 'not as in' not in said
       and 'exceeded' not in said, f'{option}: what it cost is said')
    if 'proved' not in said:
        print('# ' + said.replace('\n', '\n# '))
status, out, said = run('-m', 'millrace_place', '--limit=20M', f'--tier={TIER}', 'script/train.py')
ok(status == 1 and 'limit=' in said and 'Traceback' not in said,
   'a limit that cannot be kept ends it, with one that can be')
for _ in range(2):                                       # what PyTorch takes is not the same twice
    if status != 3:
        option = '--limit=' + re.findall("limit='(.*?)'", said)[-1]
        status, out, said = run('-m', 'millrace_place', 'script/train.py', option, f'--tier={TIER}')
ok((status, out) == plain[:2] and ('exceeded' not in said or heap(after) != 'True\n'), f'{option}, as was said, will do')
status, out, said = run('-m', 'millrace_place', '--limit=some', 'script/train.py')
ok(status == 2 and 'some' in said and not out, 'a limit that is none is refused before anything runs')

import millrace_place


class TrainerCallback:
    pass


for name, what in (('transformers', {'TrainerCallback': TrainerCallback}), ('lightning', {}),
                   ('lightning.pytorch', {'Callback': TrainerCallback})):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__dict__.update(what)
torch.set_num_threads(1)


class Output(dict):
    """As models return them whose loss is inside."""
    __getattr__ = dict.__getitem__


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(*(nn.Sequential(nn.Linear(128, 512), nn.Tanh(), nn.Linear(512, 128))
                                      for _ in range(8)))

    def forward(self, x, labels=None):
        y = self.layers(x)
        return Output(loss=F.mse_loss(y, labels), logits=y)


def train(begin=lambda: None, finish=lambda: None, half=False):
    torch.manual_seed(1)
    model, x = Model(), torch.randn(256, 128)
    optimiser, losses = torch.optim.SGD(model.parameters(), .1), []
    begin()
    for _ in range(4):
        optimiser.zero_grad()
        with torch.autocast('cpu', torch.bfloat16, half):
            loss = model(x, labels=x.flip(0)).loss
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    finish()
    return losses


want, sys.stderr = train(), open('said', 'w')
face = millrace_place.hugging_face(limit='40%', tier=TIER)
ok(train(lambda: face.on_train_begin(None, None, None, model=None),
         lambda: face.on_train_end(None, None, None)) == want, "a callback of Hugging Face's Trainer: the same losses")
bolt = millrace_place.lightning(limit='40%', tier=TIER)
ok(train(lambda: bolt.on_train_start(None, None), lambda: bolt.on_train_end(None, None)) == want,
   "a callback of Lightning's: the same losses")
want = train(half=True)
have = train(lambda: face.on_train_begin(None, None, None), half=True)
ok(have == want and face.around.auto.plan.unmatched_bytes == 0,
   'with torch.autocast around the model only: the step of the plan is in half precision, too')
face.on_train_end(None, None, None)
sys.stderr.close()
sys.stderr = sys.__stderr__
with open('said') as f:
    said = f.read()
ok(said.count('proved on this step') == 3 and said.count('3 steps') == 3, 'and all had a plan')
ok(torch.nn.Module.__call__.__module__.startswith('torch') and torch.autograd.backward.__module__.startswith('torch'),
   'PyTorch is as it was')

RANK = '''
import sys, torch, torch.distributed as dist, millrace_place
rank, tier = int(sys.argv[1]), sys.argv[2]
dist.init_process_group('gloo', init_method='file://' + sys.argv[3], rank=rank, world_size=2)
torch.set_num_threads(1)
torch.manual_seed(1)
net = torch.nn.Sequential(*(m for _ in range(4) for m in (torch.nn.Linear(128, 128), torch.nn.Tanh())))
model, x = torch.nn.parallel.DistributedDataParallel(net), torch.randn(2, 512, 128)[rank]
found = []
for plan in (None, lambda: millrace_place.Plan(model, lambda: model(x).pow(2).mean(), .5, tier=tier)):
    p = plan and [plan() for _ in range(1 + rank)][0]    # one of them takes more steps to plan
    model.zero_grad(set_to_none=True)
    if p:
        with p:
            loss = model(x).pow(2).mean()
    else:
        loss = model(x).pow(2).mean()
    loss.backward()
    found.append([q.grad.clone() for q in net.parameters()])
assert p.away and all(torch.equal(a, b) for a, b in zip(*found))
dist.barrier()
'''
if not torch.distributed.is_available():
    ok(True, 'two processes of DistributedDataParallel # SKIP this PyTorch has none')
else:
    two = [subprocess.Popen([sys.executable, '-W', 'ignore', '-c', RANK, str(k), TIER, os.path.abspath('meet')])
           for k in range(2)]
    ok([p.wait() for p in two] == [0, 0], 'two processes of DistributedDataParallel, one of which plans for longer')

if not hasattr(torch, 'compile'):
    ok(True, 'torch.compile # SKIP this PyTorch has none')
else:
    parts = [nn.Sequential(*(m for _ in range(4) for m in (nn.Linear(128, 128), nn.Tanh()))) for _ in range(2)]
    both, x = nn.Sequential(parts[0], torch.compile(parts[1], backend='aot_eager')), torch.randn(512, 128)
    both(x).pow(2).mean().backward()
    want = [p.grad.clone() for p in both.parameters()]
    plan = millrace_place.Plan(both, lambda: both(x).pow(2).mean(), .8, tier=TIER)
    both.zero_grad()
    with plan:
        loss = both(x).pow(2).mean()
    loss.backward()
    ok(plan.away and all(torch.equal(a, p.grad) for a, p in zip(want, both.parameters())), 'beside compiled modules')
    try:
        millrace_place.Plan(both, lambda: both(x).pow(2).mean(), .3, tier=TIER)
        ok(False, 'what compiled code needs at once is refused below that')
    except millrace_place.LimitError as e:
        ok(True, 'what compiled code needs at once is refused below that')

top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
there = subprocess.run([sys.executable, '-c', 'import pip, setuptools, wheel'], capture_output=True).returncode == 0
if not there:
    ok(True, 'the wheel # SKIP no pip, setuptools and wheel')
else:
    subprocess.run(['cp', '-r', top + '/python', 'build'], check=True)
    environment = {**os.environ, 'MILLRACE_TOP': top}
    done = subprocess.run([sys.executable, '-m', 'pip', 'install', '-q', '--no-build-isolation', '--no-deps',
                           '--target=there', './build'], capture_output=True, text=True, env=environment)
    clean = {k: v for k, v in os.environ.items() if k not in ('PYTHONPATH', 'MILLRACE_MOVER')}
    done = subprocess.run([sys.executable, '-c', "import sys; sys.path.insert(0, 'there'); import millrace_place as m; "
                           'print(m.native.path(), m.heap.ours)'], capture_output=True, text=True, env=clean)
    ok('there/millrace_place/mover.so True' in done.stdout,
       'pip install ./python: found without PYTHONPATH, all built in')
    print('# ' + (done.stdout + done.stderr).replace('\n', '\n# '))
end()
