"""home.py - every kernel of a shared library by loop-emit, called on NumPy arrays: home.py k.h libk.so [NAME ..]

What is right is NumPy's own, in doubles: einsum, windows by strides, exp.  Columns out as of the C caller.
"""
import ctypes
import re
import sys
import numpy as np

HALF = np.float16
random = np.random.default_rng(1)


def bf16(x):
    return (np.ascontiguousarray(x, np.float32).view(np.uint32) >> 16).astype(np.uint16)


def exact(x, kind):
    return (x.astype(np.uint32) << 16).view(np.float32).astype(float) if kind == 'bf16' else x.astype(float)


def array(shape, kind):
    if kind == 'u8':
        return random.integers(0, 256, shape, np.uint8)
    if kind == 's8':
        return random.integers(-128, 128, shape, np.int8)
    x = random.standard_normal(shape)
    if kind in ('f16', 'bf16'):
        x = np.round(x * 8) / 8
    return bf16(x) if kind == 'bf16' else x.astype({'f16': HALF, 'f64': float}.get(kind, np.float32))


def tree(text):
    out, stack = [], []
    for word in re.findall(r'[()]|[^\s()]+', text):
        if word == '(':
            stack.append([])
        elif word == ')':
            done = stack.pop()
            (stack[-1] if stack else out).append(done)
        else:
            stack[-1].append(int(word) if word.isdigit() else word)
    return out[0]


def extent(x, size):
    if not isinstance(x, list):
        return size[x] - 1
    return x[1] * extent(x[2], size) if x[0] == '*' else sum(extent(y, size) for y in x[1:])


def windows(a, dims):
    """a view with one axis for each variable, of a tensor whose dimensions may be sums of variables"""
    names, shape, strides = [], [], []

    def walk(x, step):
        if not isinstance(x, list):
            names.append(x)
            strides.append(step)
        elif x[0] == '*':
            walk(x[2], step * x[1])
        else:
            for y in x[1:]:
                walk(y, step)
    for x, step in zip(dims, a.strides):
        walk(x, step)
    return names, strides


class Problem:
    def __init__(self, text):
        t = tree(text)
        self.kind, self.size = t[0], {}
        z = [x for x in t[1:] if not isinstance(x, list)]
        more = {x[0]: x[1:] for x in t[1:] if isinstance(x, list)}
        self.then = more.get('then', [])
        self.type = more.get('type', ['f32'])[0]
        self.mid, self.scale, self.causal, self.op = more.get('mid', []), 1, self.kind == 'attn_causal', '*'
        self.along = 'n'
        self.pad = None
        if self.kind == 'nest':
            self.size = {v: n for v, n in more['sizes']}
            self.dims = {k: more[k] for k in 'ABCV' if k in more}
            self.pad = [(x[1:-1] * 2)[:2] if x[0] == 'pad' else [0, 0] for x in self.dims['A']]
            self.dims['A'] = [x[-1] if x[0] == 'pad' else x for x in self.dims['A']]
            self.over()
        elif self.kind in ('conv', 'conv_nhwc'):
            n, c, h, w, m, p, q, s = z
            zeros = more.get('pad', [0])
            zeros = zeros * 4 if len(zeros) == 1 else [zeros[0]] * 2 + [zeros[1]] * 2 if len(zeros) == 2 else zeros
            tall, wide = h + sum(zeros[:2]), w + sum(zeros[2:])
            self.size = dict(n=n, c=c, m=m, p=p, q=q, y=(tall - p) // s + 1, x=(wide - q) // s + 1)
            rows, cols = ['+', ['*', s, 'y'], 'p'], ['+', ['*', s, 'x'], 'q']
            nhwc = self.kind == 'conv_nhwc'
            self.dims = {'A': ['n', rows, cols, 'c'] if nhwc else ['n', 'c', rows, cols],
                         'B': list('pqcm') if nhwc else list('mcpq'), 'C': list('nyxm') if nhwc else list('nmyx')}
            self.shape_a, self.along = (n, h, w, c) if nhwc else (n, c, h, w), 'm'
            rows, cols = zeros[:2], zeros[2:]
            self.pad = [[0, 0], rows, cols, [0, 0]] if nhwc else [[0, 0], [0, 0], rows, cols]
        elif self.kind.startswith('attn'):
            self.size = dict(zip('hqkd', z), e=z[3])
            self.dims = {'A': list('hqd'), 'B': list('hkd'), 'V': list('hke'), 'C': list('hqe')}
            self.mid, self.scale = ['softmax'], z[3] ** .5
        else:
            letters, dims = {'point': ('ij', 'ij ij ij'), 'reduce': ('ij', 'ij i'), 'transp': ('ij', 'ij ji'),
                             'bmm': ('bmnk', 'bmk bkn bmn'), 'mm_nt': ('mnk', 'mk nk mn'), 'mm_tn': ('mnk', 'km kn mn'),
                             'mm_tt': ('mnk', 'km nk mn')}.get(self.kind, ('mnk', 'mk kn mn'))
            self.size, dims = dict(zip(letters, z)), dims.split()
            self.dims = dict(zip('ABC' if len(dims) == 3 else 'AC', map(list, dims)))
            self.op = '+' if self.kind == 'point' else '*'
        self.types = [self.type] * 3
        self.q4, self.zeros = z[3] if self.kind.startswith('mm_q4') else 0, self.kind == 'mm_q4z'
        if self.kind == 'mm_bf16':
            self.types = ['bf16', 'bf16', 'f32']
        if self.kind in ('mm_u8s8', 'mm_s8s8'):
            self.types = [self.kind[3:5], 's8', 'f32']
        self.result = 'f64' if self.type == 'f64' else 's32' if self.types[1] == 's8' and not self.then else 'f32'
        if self.then and self.then[-1] in ('f16', 'bf16'):
            self.result = self.then[-1]

    def over(self):
        for x in self.mid:
            if isinstance(x, list):
                self.scale = x[1]

    def shape(self, t):
        if t == 'A' and hasattr(self, 'shape_a'):
            return self.shape_a
        zeros = self.pad if t == 'A' and self.pad else [[0]] * len(self.dims[t])
        return tuple(extent(x, self.size) + 1 - sum(z) for x, z in zip(self.dims[t], zeros))

    def sum(self, tensors, out):
        """einsum over views; variables are given letters of their own"""
        args = []
        for t, a in tensors:
            names, strides = windows(a, self.dims[t])
            shape = [self.size[v] for v in names]
            args += [np.lib.stride_tricks.as_strided(a, shape, strides), [self.number(v) for v in names]]
        return np.einsum(*args, [self.number(v) for v in out])

    def number(self, v):
        return list(self.size).index(v)

    def right(self, a, b, v, bias, residual):
        a = np.pad(a, self.pad) if self.pad else a
        if self.op == '+':
            c = a + b
        elif 'V' not in self.dims:
            c = self.sum([('A', a)] + ([('B', b)] if b is not None else []), self.dims['C'])
        else:
            c = self.two(a, b, v)
        return self.follow(c, bias, residual)

    def two(self, a, b, v):
        read = {x for t in 'AB' for x in self.dims[t]}
        names = [x for x in self.size if x in read and (x in self.dims['C'] or x in self.dims['V'])]
        key = [x for x in names if x in self.dims['B'] and x in self.dims['V'] and x not in self.dims['C']][0]
        s = self.sum([('A', a), ('B', b)], names) / self.scale
        s = gelu(s) if 'gelu' in self.mid else np.maximum(s, 0) if 'relu' in self.mid else s
        if 'softmax' in self.mid:
            at = names.index(key)
            if self.causal:
                rows, cols = self.size['q'], self.size['k']
                s = np.where(np.arange(cols) <= np.arange(rows)[:, None] + cols - rows, s, -np.inf)
            s = np.exp(s - s.max(at, keepdims=True))
            s /= s.sum(at, keepdims=True)
        self.dims['S'] = names
        return self.sum([('S', np.ascontiguousarray(s)), ('V', v)], self.dims['C'])

    def follow(self, c, bias, residual):
        axis = self.dims['C'].index(self.along) if self.then else 0
        column = [-1 if i == axis else 1 for i in range(c.ndim)]
        n = c.shape[axis]
        for word in self.then:
            if isinstance(word, list):
                c = c / word[1]
            elif word == 'bias':
                c = c + bias[:n].reshape(column)
            elif word == 'scale':                        # the last of the vectors
                at = 3 if 'layernorm' in self.then else 2 if 'rmsnorm' in self.then else 1
                c = c * bias[at * n:(at + 1) * n].reshape(column)
            elif word == 'residual':
                c = c + residual
            elif word == 'relu':
                c = np.maximum(c, 0)
            elif word == 'gelu':
                c = gelu(c)
            elif word in ('layernorm', 'rmsnorm'):
                c = c - c.mean(-1, keepdims=True) if word == 'layernorm' else c
                c = c / np.sqrt((c * c).mean(-1, keepdims=True) + 1e-5) * bias[n:2 * n]
                c = c + bias[2 * n:3 * n] if word == 'layernorm' else c
        return c


def gelu(x):
    from math import erf
    return x * (1 + np.vectorize(erf)(x / 2 ** .5)) / 2


def at(x):
    return None if x is None else x.ctypes.data_as(ctypes.c_void_p)


def words(k, n, group, zeros):
    """weights of 4 bits, as they are packed, and what they are"""
    w = np.random.default_rng(1).integers(0, 2 ** 32, (k // 8, n)).astype(np.uint32)
    scale, zero = array((k // group, n), 'f32'), array((k // group, n), 'f32')
    bits = (w[:, None] >> (np.arange(8, dtype=np.uint32) * 4)[:, None] & 15).reshape(k, n).astype(float)
    to = (bits - (np.repeat(zero, group, 0) if zeros else 8)) * np.repeat(scale, group, 0)
    return np.concatenate([w.view(np.float32), scale] + [zero] * zeros), to


def main(header, library, names):
    with open(header) as f:
        text = f.read()
    lib = ctypes.CDLL(library)
    print('name,isa,error,ld_error,part_error,test,right')
    wrong = 0
    for problem, name in re.findall(r'/\* (\(.*\)): c is .*\*/\n(?:int|void) (\w+)\(', text):
        if names and name not in names:
            continue
        p = Problem(problem)
        a = array(p.shape('A'), p.types[0])
        b = array(p.shape('B'), p.types[1]) if 'B' in p.dims else None
        v = array(p.shape('V'), p.types[2]) if 'V' in p.dims else None
        c = array(p.shape('C'), {'s32': 'f32'}.get(p.result, p.result))
        more = 'f64' if p.type == 'f64' else 'f32'
        bias = array(4 * p.size[p.along], more) if p.then else None
        residual = array(p.shape('C'), more) if p.then else None
        weights = None if b is None else exact(b, p.types[1])
        if p.q4:
            b, weights = words(p.size['k'], p.size['n'], p.q4, p.zeros)
        want = p.right(exact(a, p.types[0]), weights,
                       None if v is None else exact(v, p.types[2]), bias, residual)
        if name + '_pack(' in text:
            packed = np.zeros(int(re.search(name + r'_packed = (\d+)', text)[1]), b.dtype)
            getattr(lib, name + '_pack')(at(packed), at(b))
            b = packed
        getattr(lib, name)(at(c), at(a), at(b), *((at(v),) if v is not None else (at(bias), at(residual))))
        test, isa = getattr(lib, name + '_test')(), getattr(lib, name + '_isa')()
        got = exact(c.view(np.int32) if p.result == 's32' else c, p.result)
        share = {'f64': 1e-12, 'bf16': 1 / 128, 'f16': 1 / 1000}.get(p.result, 5e-5)
        # weights of V are rounded to bf16 by the unit for that
        more = np.abs(exact(v, 'bf16')).max() / 256 if v is not None and p.types[2] == 'bf16' and isa & 36 else 0
        error = float((np.abs(got - want) / (share * (1 + np.abs(want)) + more)).max())
        right = error <= 1 and not test
        wrong += not right
        print(f'{name},{isa},{error:.3g},,,{test},{int(right)}')
    return wrong > 0


sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
