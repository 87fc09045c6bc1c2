"""Learn to balance a pole on a cart, by deep Q-learning in Python and NumPy: the twin of `fit-cartpole --plain`.

    prof-record --out=DIR data/cartpole/cartpole.py --seed=1 > curve.csv      also runs without the recorder

Columns out: episode, steps, updates, phase, return, explore, as fit-cartpole's.  Equations, network (4-128-128-2), replay,
loss, optimiser, trials and the end (100 episodes without exploration return 475 or more on average) are those of the C
program, and so is every hyper-parameter below; the seed's number is the same, the generator behind it is NumPy's.
Operations: act, step, store, sample, train, update.  Phases: learn, trial.  A pass is one update of the network.
"""
import argparse
import math
import sys
import time

import numpy as np

try:
    from millrace_prof import end_pass, operation, phase
except ImportError:                                       # nobody records
    from contextlib import nullcontext as operation

    def phase(name):
        pass

    end_pass = lambda: None

HIDDEN, GAMMA, RATE, CLIP, BATCH, CAPACITY = 128, 0.99, 1e-3, 10, 64, 50000
WARMUP, TARGET, EXPLORE_LAST, EXPLORE_STEPS = 1000, 250, 0.02, 10000
LIMIT, EVERY, FIRST, TRIALS, SOLVED = 500, 10, 10, 100, 475


class CartPole:
    """Barto, Sutton and Anderson (1983), Euler steps of 20 ms; falls at 2.4 m or 12 degrees."""

    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.x, self.v, self.angle, self.turn = self.rng.uniform(-0.05, 0.05, 4).tolist()
        return self.x, self.v, self.angle, self.turn

    def step(self, right):
        sine, cosine = math.sin(self.angle), math.cos(self.angle)
        push = ((10 if right else -10) + 0.05 * self.turn * self.turn * sine) / 1.1
        spin = (9.8 * sine - cosine * push) / (0.5 * (4 / 3 - 0.1 * cosine * cosine / 1.1))
        speed_up = push - 0.05 * spin * cosine / 1.1
        self.x += 0.02 * self.v
        self.v += 0.02 * speed_up
        self.angle += 0.02 * self.turn
        self.turn += 0.02 * spin
        return (self.x, self.v, self.angle, self.turn), abs(self.x) > 2.4 or abs(self.angle) > 12 * math.pi / 180


class Network:
    """Dense, ReLU between layers; all parameters in one vector, w and b are views of it."""

    def __init__(self, widths, rng):
        self.flat = np.zeros(sum((m + 1) * n for m, n in zip(widths, widths[1:])), np.float32)
        self.layers = self.views(self.flat, widths)
        self.widths = widths
        for w, b in self.layers:
            bound = math.sqrt(6 / sum(w.shape))
            w[:] = rng.uniform(-bound, bound, w.shape)

    @staticmethod
    def views(flat, widths):
        views, at = [], 0
        for m, n in zip(widths, widths[1:]):
            views.append((flat[at:at + m * n].reshape(m, n), flat[at + m * n:at + (m + 1) * n]))
            at += (m + 1) * n
        return views

    def forward(self, x):
        self.values = [x]
        for w, b in self.layers[:-1]:
            x = np.matmul(x, w)
            np.add(x, b, out=x)
            np.maximum(x, 0, out=x)
            self.values.append(x)
        w, b = self.layers[-1]
        return np.add(np.matmul(x, w), b)

    def backward(self, d, gradient):
        for l in range(len(self.layers) - 1, -1, -1):
            w, b = gradient[l]
            np.matmul(self.values[l].T, d, out=w)
            np.add.reduce(d, axis=0, out=b)
            if l:
                d = np.multiply(np.matmul(d, self.layers[l][0].T), np.greater(self.values[l], 0))


class Learner:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        widths = (4, HIDDEN, HIDDEN, 2)
        self.online, self.target = Network(widths, self.rng), Network(widths, self.rng)
        self.target.flat[:] = self.online.flat
        self.gradient = np.zeros_like(self.online.flat)
        self.gradient_layers = Network.views(self.gradient, widths)
        self.first, self.second = np.zeros_like(self.gradient), np.zeros_like(self.gradient)
        self.now, self.then = np.zeros((CAPACITY, 4), np.float32), np.zeros((CAPACITY, 4), np.float32)
        self.action = np.zeros(CAPACITY, np.int64)
        self.goes_on = np.zeros(CAPACITY, np.float32)
        self.slices, self.rows = np.arange(BATCH), np.arange(BATCH) * 2
        self.steps = self.updates = self.episodes = 0

    def explore(self):
        return 1 + (EXPLORE_LAST - 1) * min(1, self.steps / EXPLORE_STEPS)

    def best(self, x):
        q = self.online.forward(np.array((x,), np.float32))[0].tolist()
        return int(q[1] > q[0])

    def sample(self):
        """One transition from each of BATCH equal slices of the replay."""
        with operation("sample"):
            n = min(self.steps, CAPACITY)
            pick = np.multiply(np.add(self.slices, self.rng.random(BATCH)), n / BATCH).astype(np.int64)
            return (np.take(self.now, pick, axis=0), np.take(self.then, pick, axis=0), np.take(self.action, pick),
                    np.take(self.goes_on, pick))

    def learn(self):
        now, then, action, goes_on = self.sample()
        with operation("train"):
            goal = np.maximum.reduce(self.target.forward(then), axis=1)
            goal = np.add(np.multiply(np.multiply(goal, goes_on), np.float32(GAMMA)), np.float32(1))
            at = np.add(self.rows, action)
            q = self.online.forward(now)
            error = np.subtract(np.take(q, at), goal)
            d = np.zeros_like(q)
            np.put(d, at, np.multiply(np.minimum(np.maximum(error, -1), 1), np.float32(1 / BATCH)))   # Huber
            self.online.backward(d, self.gradient_layers)
        with operation("update"):
            self.adam()
        self.updates += 1
        if self.updates % TARGET == 0:
            np.copyto(self.target.flat, self.online.flat)
        end_pass()

    def adam(self):
        g, t = self.gradient, self.updates + 1
        norm = math.sqrt(np.dot(g, g))
        if norm > CLIP:
            np.multiply(g, np.float32(CLIP / norm), out=g)
        np.add(np.multiply(self.first, np.float32(0.9)), np.multiply(g, np.float32(0.1)), out=self.first)
        np.add(np.multiply(self.second, np.float32(0.999)), np.multiply(np.multiply(g, g), np.float32(0.001)), out=self.second)
        root = np.add(np.sqrt(np.multiply(self.second, np.float32(1 / (1 - 0.999 ** t)))), np.float32(1e-8))
        step = np.divide(np.multiply(self.first, np.float32(RATE / (1 - 0.9 ** t))), root)
        np.subtract(self.online.flat, step, out=self.online.flat)

    def store(self, x, right, next_x, fell):
        i = self.steps % CAPACITY
        self.now[i], self.then[i] = x, next_x
        self.action[i], self.goes_on[i] = right, not fell

    def episode(self, env):
        x, total, fell = env.reset(), 0, False
        while not fell and total < LIMIT:
            with operation("act"):
                random = self.rng.random() < self.explore()
                right = int(self.rng.integers(2)) if random else self.best(x)
            with operation("step"):
                next_x, fell = env.step(right)
            with operation("store"):
                self.store(x, right, next_x, fell)
            x = next_x
            total += 1
            self.steps += 1
            if self.steps >= WARMUP:
                self.learn()
        self.episodes += 1
        return total

    def greedy(self, env):
        x, total, fell = env.reset(), 0, False
        while not fell and total < LIMIT:
            with operation("act"):
                right = self.best(x)
            with operation("step"):
                x, fell = env.step(right)
            total += 1
        return total

    def trial(self, env):
        phase("trial")
        returns = [self.greedy(env) for _ in range(FIRST)]
        if sum(returns) >= SOLVED * FIRST:
            returns += [self.greedy(env) for _ in range(TRIALS - FIRST)]
        phase("learn")
        return sum(returns) / len(returns)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--steps", type=int, default=200000, help="learn from so many steps at most")
    arguments.add_argument("--time", help="write the seconds from before the first step to after the last there")
    a = arguments.parse_args()
    learner = Learner(a.seed)
    env, trials = CartPole(learner.rng), CartPole(np.random.default_rng(a.seed + 1))
    print("episode,steps,updates,phase,return,explore")
    mean, start = 0, time.perf_counter()
    phase("learn")
    while learner.steps < a.steps and mean < SOLVED:
        total = learner.episode(env)
        print("%d,%d,%d,train,%d,%.6g" % (learner.episodes, learner.steps, learner.updates, total, learner.explore()))
        if learner.updates and learner.episodes % EVERY == 0:
            mean = learner.trial(trials)
            print("%d,%d,%d,greedy,%.6g,0" % (learner.episodes, learner.steps, learner.updates, mean))
    seconds = time.perf_counter() - start
    if a.time:
        with open(a.time, "w") as f:
            f.write("program,seconds,steps,updates,mean_return\npython,%.6f,%d,%d,%.6g\n" %
                    (seconds, learner.steps, learner.updates, mean))
    print("%s after %d episodes, %d steps, %d updates: mean return %g" %
          ("solved" if mean >= SOLVED else "not solved", learner.episodes, learner.steps, learner.updates, mean), file=sys.stderr)


main()
