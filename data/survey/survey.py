"""Where the time of reinforcement learning goes: three simulators of different price, three algorithms, in PyTorch.

    prof-record -o DIR data/survey/survey.py --env=planar --algo=ppo --planar=planar.so --rlscope-directory=DIR

Annotated as for RL-Scope, which is what its api module here stands for.  Simulators: cartpole (equations in Python),
planar (a crawling chain, physics in C), frames (catch a ball: four frames of 210 x 160 drawn, made 84 x 84 by NumPy).
Algorithms, one environment each, usual settings: dqn (an update of 32 a step, every fourth for frames), a2c (32 steps
an update), ppo (256 steps, ten passes in batches of 64; four for frames).  Operations: inference, simulation,
backpropagation.
"""
import argparse
import ctypes
import math

import numpy as np
import rlscope.api as rlscope
import torch
from torch import nn

GAMMA, RATE = 0.99, 3e-4


class CartPole:
    actions, shape = 2, (4,)

    def __init__(self, rng, _):
        self.rng = rng

    def reset(self):
        self.s, self.t = self.rng.uniform(-0.05, 0.05, 4).tolist(), 0
        return np.array(self.s, np.float32)

    def step(self, action):
        x, v, angle, turn = self.s
        sine, cosine = math.sin(angle), math.cos(angle)
        push = ((10 if action else -10) + 0.05 * turn * turn * sine) / 1.1
        spin = (9.8 * sine - cosine * push) / (0.5 * (4 / 3 - 0.1 * cosine * cosine / 1.1))
        speed_up = push - 0.05 * spin * cosine / 1.1
        self.s = [x + 0.02 * v, v + 0.02 * speed_up, angle + 0.02 * turn, turn + 0.02 * spin]
        self.t += 1
        return np.array(self.s, np.float32), 1.0, abs(x) > 2.4 or abs(angle) > 0.2095 or self.t >= 500


class Planar:
    actions, shape = 8, (28,)

    def __init__(self, rng, library):
        self.rng, self.lib = rng, ctypes.CDLL(library)
        self.lib.planar_step.restype = ctypes.c_double
        try:
            from millrace_prof import wrapped
            self.physics = wrapped(self.lib.planar_step, "planar_step", "Simulator")
        except ImportError:                               # nobody records
            self.physics = self.lib.planar_step
        self.bends = (ctypes.c_double * 5 * 8)()
        for a in range(8):
            for j in range(5):
                self.bends[a][j] = math.sin(a * math.pi / 4 + j * 1.3)
        self.s = (ctypes.c_double * 28)()

    def reset(self):
        self.lib.planar_reset(self.s, ctypes.c_double(self.rng.uniform(0, 0.02)))
        self.t = 0
        return np.array(self.s, np.float32)

    def step(self, action):
        moved = self.physics(self.s, self.bends[action])
        self.t += 1
        return np.array(self.s, np.float32), moved, self.t >= 500


class Frames:
    actions, shape = 3, (4, 84, 84)

    def __init__(self, rng, _):
        self.rng = rng
        self.screen = np.zeros((210, 160, 3), np.uint8)
        self.rows, self.columns = np.arange(84) * 210 // 84, np.arange(84) * 160 // 84
        self.stack = np.zeros(self.shape, np.uint8)

    def draw(self):
        self.screen[:] = (30, 30, 60)
        self.screen[200:205, self.paddle:self.paddle + 24] = (200, 72, 72)
        self.screen[self.y:self.y + 4, self.x:self.x + 4] = (236, 236, 236)
        return self.screen.copy()

    def reset(self):
        self.x, self.y, self.paddle, self.aim = int(self.rng.integers(0, 156)), 0, 68, int(self.rng.integers(-2, 3))
        self.stack[:] = 0
        return self.stack.copy()

    def step(self, action):
        two = []
        for frame in range(4):
            self.paddle = min(max(self.paddle + 4 * (action - 1), 0), 136)
            self.x, self.y = min(max(self.x + self.aim, 0), 156), self.y + 2
            two = (two + [self.draw()])[-2:]
        grey = np.maximum(two[0], two[1]).astype(np.float32) @ np.array((0.299, 0.587, 0.114), np.float32)
        self.stack = np.roll(self.stack, -1, axis=0)
        self.stack[3] = grey[self.rows][:, self.columns]
        done = self.y >= 196
        return self.stack.copy(), float(done and self.paddle - 4 <= self.x <= self.paddle + 24), done


def network(shape, outputs):
    if len(shape) == 1:
        return nn.Sequential(nn.Linear(shape[0], 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs))
    return nn.Sequential(nn.Conv2d(4, 32, 8, 4), nn.ReLU(), nn.Conv2d(32, 64, 4, 2), nn.ReLU(), nn.Conv2d(64, 64, 3),
                         nn.ReLU(), nn.Flatten(), nn.Linear(3136, 512), nn.ReLU(), nn.Linear(512, outputs))


def tensor(x):
    x = torch.from_numpy(np.asarray(x))
    return x.float() / 255 if x.dtype == torch.uint8 else x


class Run:
    def __init__(self, a):
        self.a, self.rng = a, np.random.default_rng(a.seed)
        self.env = {"cartpole": CartPole, "planar": Planar, "frames": Frames}[a.env](self.rng, a.planar)
        self.x, self.done = self.env.reset(), 0

    def simulate(self, action):
        with rlscope.prof.operation("simulation"):
            x, reward, end = self.env.step(action)
            self.x = self.env.reset() if end else x
        self.done += 1
        return x, reward, end

    def progress(self):
        rlscope.prof.report_progress(percent_complete=min(1, self.done / self.a.steps), num_timesteps=self.done,
                                     total_timesteps=self.a.steps)

    def minimise(self, net, optimiser, loss):
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        optimiser.step()

    def dqn(self):
        n, size, every = self.env.actions, min(self.a.steps, 10000), 4 if self.a.env == "frames" else 1
        net, target = network(self.env.shape, n), network(self.env.shape, n)
        target.load_state_dict(net.state_dict())
        optimiser = torch.optim.Adam(net.parameters(), RATE)
        now = np.zeros((size,) + self.env.shape, self.x.dtype)
        then, action = np.zeros_like(now), np.zeros(size, np.int64)
        reward, goes_on = np.zeros(size, np.float32), np.zeros(size, np.float32)
        for step in range(self.a.steps):
            x, i = self.x, step % size
            with rlscope.prof.operation("inference"):
                if self.rng.random() < max(0.05, 1 - step / (self.a.steps / 4)):
                    choice = int(self.rng.integers(n))
                else:
                    with torch.no_grad():
                        choice = int(net(tensor(x)[None]).argmax())
            then[i], reward[i], end = self.simulate(choice)
            now[i], action[i], goes_on[i] = x, choice, not end
            if step >= 64 and step % every == 0:
                with rlscope.prof.operation("backpropagation"):
                    pick = self.rng.integers(min(step + 1, size), size=32)
                    with torch.no_grad():
                        goal = tensor(reward[pick]) + GAMMA * tensor(goes_on[pick]) * target(tensor(then[pick])).amax(1)
                    q = net(tensor(now[pick])).gather(1, tensor(action[pick])[:, None])[:, 0]
                    self.minimise(net, optimiser, nn.functional.smooth_l1_loss(q, goal))
                if step % 500 == 0:
                    target.load_state_dict(net.state_dict())
            self.progress()

    def on_policy(self, length, passes, batch, clip):
        actor, critic = network(self.env.shape, self.env.actions), network(self.env.shape, 1)
        both = nn.ModuleList((actor, critic))
        optimiser = torch.optim.Adam(both.parameters(), RATE)
        while self.done < self.a.steps:
            xs, actions, rewards, ends, values, chances = [], [], [], [], [], []
            for _ in range(length):
                with rlscope.prof.operation("inference"), torch.no_grad():
                    x = tensor(self.x)[None]
                    p = torch.distributions.Categorical(logits=actor(x))
                    choice = p.sample()
                    values.append(float(critic(x)))
                    chances.append(float(p.log_prob(choice)))
                xs.append(self.x)
                _, reward, end = self.simulate(int(choice))
                actions.append(int(choice)), rewards.append(reward), ends.append(end)
                self.progress()
            with rlscope.prof.operation("backpropagation"):
                gain, goal, last = 0.0, [0.0] * length, 0.0
                with torch.no_grad():
                    last = float(critic(tensor(self.x)[None]))
                for t in reversed(range(length)):         # generalised advantages, lambda .95
                    goes_on = not ends[t]
                    gain = rewards[t] + GAMMA * last * goes_on - values[t] + GAMMA * 0.95 * goes_on * gain
                    goal[t], last = gain + values[t], values[t]
                x, action = tensor(np.stack(xs)), torch.tensor(actions)
                goal, value, chance = torch.tensor(goal), torch.tensor(values), torch.tensor(chances)
                for _ in range(passes):
                    for pick in torch.randperm(length).split(batch):
                        p = torch.distributions.Categorical(logits=actor(x[pick]))
                        advantage, log_p = goal[pick] - value[pick], p.log_prob(action[pick])
                        if clip:
                            r = (log_p - chance[pick]).exp()
                            log_p, advantage = torch.min(r * advantage, r.clamp(1 - clip, 1 + clip) * advantage), 1
                        error = (critic(x[pick])[:, 0] - goal[pick]).square().mean()
                        loss = error / 2 - (log_p * advantage).mean() - 0.01 * p.entropy().mean()
                        self.minimise(both, optimiser, loss)

    def a2c(self):
        self.on_policy(32, 1, 32, 0)

    def ppo(self):
        self.on_policy(256, 4 if self.a.env == "frames" else 10, 64, 0.2)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--env", choices=("cartpole", "planar", "frames"), required=True)
    parser.add_argument("--algo", choices=("dqn", "a2c", "ppo"), required=True)
    parser.add_argument("--steps", type=int, default=2048)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--planar", help="planar.so, of planar.c")
    rlscope.add_rlscope_arguments(parser)
    a = parser.parse_args()
    rlscope.handle_rlscope_args(parser=parser, args=a, reports_progress=True)
    rlscope.prof.set_metadata({"algo": a.algo, "env": a.env})
    torch.manual_seed(a.seed)
    torch.set_num_threads(1)
    run = Run(a)
    with rlscope.prof.profile(process_name=a.algo + "_" + a.env, phase_name="learn"):
        with rlscope.prof.operation("training_loop"):
            getattr(run, a.algo)()


main()
