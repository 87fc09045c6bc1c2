"""prof-tasks.py - operations of coroutines and generators; each calls functions of its own, so that t/prof-record.t sees
what was charged to whom."""
import asyncio, math, gc
import millrace_prof as prof
def made(n):
    with prof.operation("made"):
        for i in range(n):
            math.sqrt(i)
            yield i
def through(n):
    with prof.operation("through"):
        yield from made(n)
async def inner():
    with prof.operation("inner"):
        math.exp(1)
        await asyncio.sleep(0)
        math.exp(2)
async def task(f, name):
    with prof.operation(name):
        for i in range(4):
            f(i)
            await inner()
            await asyncio.sleep(0.001)
            f(i)
async def cancelled():
    try:
        with prof.operation("cancelled"):
            math.log(2)
            await asyncio.sleep(9)
    finally:
        math.log1p(2)
async def main():
    late = asyncio.create_task(cancelled())
    await asyncio.gather(task(math.sin, "sin"), task(math.cos, "cos"), task(math.tan, "tan"))
    math.floor(1.5)
    late.cancel()
    try: await late
    except asyncio.CancelledError: pass
with prof.operation("outside"):
    for x in through(5): math.hypot(x, 1)
    g = made(9); next(g); math.hypot(1, 1); g.send(None); math.hypot(1, 1); del g; gc.collect(); math.hypot(2, 2)
    g = made(9); next(g)
    try: g.throw(ValueError)
    except ValueError: math.hypot(3, 3)
    g = made(3); next(g); h = g; math.hypot(1, 1)
for x in g: math.fabs(x)
asyncio.run(main())
math.degrees(1)
