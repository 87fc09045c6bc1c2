"""Every ONNX operator that place-import knows: its gradient by place-run beside PyTorch's, a case or more for each."""
import csv
import io
import os
import subprocess
import sys
from tap import end, ok

sys.path.pop(0)                                          # this folder
import numpy                                             # noqa: E402
import onnx                                              # noqa: E402
import torch                                             # noqa: E402
import torch.nn.functional as F                          # noqa: E402
from onnx import TensorProto, helper, numpy_helper       # noqa: E402

INDEX = numpy.array([2, 0, 2, 1])
COND = torch.arange(24).reshape(2, 3, 4) % 3 == 0


def ints(*v):
    return numpy.array(v, numpy.int64)


# op, shapes of parameters, what follows them (arrays), attributes, the same in torch
CASES = [
    ('Add', [(2, 3, 4), (3, 1)], [], {}, torch.add),
    ('Sub', [(2, 3, 4), (4,)], [], {}, torch.sub),
    ('Mul', [(3, 4), (2, 3, 4)], [], {}, torch.mul),
    ('Div', [(2, 3, 4), (3, 1)], [], {}, torch.div),
    ('Neg', [(2, 5)], [], {}, torch.neg),
    ('Reciprocal', [(2, 5)], [], {}, torch.reciprocal),
    ('Pow', [(2, 5)], [numpy.array(1.7, numpy.float32)], {}, lambda a: a ** 1.7),
    ('Sqrt', [(2, 5)], [], {}, torch.sqrt),
    ('Exp', [(2, 5)], [], {}, torch.exp),
    ('Log', [(2, 5)], [], {}, torch.log),
    ('Erf', [(2, 5)], [], {}, torch.erf),
    ('Tanh', [(2, 5)], [], {}, torch.tanh),
    ('Sigmoid', [(2, 5)], [], {}, torch.sigmoid),
    ('Relu', [(2, 9)], [], {'less': .8}, torch.relu),
    ('Clip', [(2, 9)], [numpy.array(.5, numpy.float32), numpy.array(1., numpy.float32)], {}, lambda a: a.clamp(.5, 1)),
    ('Softmax', [(2, 3, 4)], [], {'axis': -1}, lambda a: a.softmax(2)),
    ('Softmax', [(2, 3, 4)], [], {'axis': 1}, lambda a: a.softmax(1)),
    ('LogSoftmax', [(2, 3, 4)], [], {'axis': 1}, lambda a: a.log_softmax(1)),
    ('LeakyRelu', [(2, 9)], [], {'less': .8, 'alpha': .1}, lambda a: F.leaky_relu(a, .1)),
    ('Elu', [(2, 9)], [], {'less': .8, 'alpha': 1.2}, lambda a: F.elu(a, 1.2)),
    ('Celu', [(2, 9)], [], {'less': .8, 'alpha': .7}, lambda a: F.celu(a, .7)),
    ('Softplus', [(2, 9)], [], {'less': .8}, F.softplus),
    ('Mish', [(2, 9)], [], {'less': .8}, F.mish),
    ('HardSigmoid', [(2, 9)], [], {'less': .8, 'alpha': 1 / 6, 'beta': .5}, F.hardsigmoid),
    ('HardSwish', [(2, 9)], [], {'less': .8}, F.hardswish),
    ('PRelu', [(2, 3, 4), (3, 1)], [], {'less': .8}, lambda a, b: torch.where(a > 0, a, a * b)),
    ('Where', [(2, 3, 4), (3, 1)], [], {'condition': True, 'less': .8}, lambda a, b: torch.where(COND, a, b)),
    ('Expand', [(3, 1)], [ints(2, 3, 4)], {}, lambda a: a.expand(2, 3, 4)),
    ('Einsum', [(2, 3, 4), (4, 2, 5)], [], {'equation': 'abc,cad->bda'},
     lambda a, b: torch.einsum('abc,cad->bda', a, b)),
    ('Einsum', [(2, 3, 4), (5, 3)], [], {'equation': 'abc,db->ad'}, lambda a, b: torch.einsum('abc,db->ad', a, b)),
    ('Einsum', [(2, 3, 4)], [], {'equation': 'abc->ca'}, lambda a: torch.einsum('abc->ca', a)),
    ('DepthToSpace', [(1, 8, 2, 3)], [], {'blocksize': 2, 'mode': 'CRD'}, lambda a: F.pixel_shuffle(a, 2)),
    ('DepthToSpace', [(1, 8, 2, 3)], [], {'blocksize': 2}, lambda a: F.pixel_shuffle(
        a.reshape(1, 4, 2, 2, 3).transpose(1, 2).reshape(1, 8, 2, 3), 2)),
    ('InstanceNormalization', [(2, 3, 4, 5), (3,), (3,)], [], {'epsilon': 1e-3},
     lambda a, s, b: F.instance_norm(a, None, None, s, b, True, 0, 1e-3)),
    ('GroupNormalization', [(2, 6, 4, 5), (6,), (6,)], [], {'epsilon': 1e-3, 'num_groups': 2},
     lambda a, s, b: F.group_norm(a, 2, s, b, 1e-3)),
    ('LayerNormalization', [(2, 6, 4), (6, 4), (6, 4)], [], {'epsilon': 1e-3, 'axis': 1},
     lambda a, s, b: F.layer_norm(a, (6, 4), s, b, 1e-3)),
    ('Conv', [(2, 4, 9), (6, 2, 3), (6,)], [], {'group': 2, 'strides': [2], 'pads': [1, 1]},
     lambda x, w, b: F.conv1d(x, w, b, 2, 1, 1, 2)),
    ('MaxPool', [(2, 3, 9)], [], {'kernel_shape': [3], 'strides': [2], 'pads': [1, 1]},
     lambda x: F.max_pool1d(x, 3, 2, 1)),
    ('MatMul', [(2, 3, 4), (4, 5)], [], {}, torch.matmul),
    ('MatMul', [(2, 2, 3, 4), (2, 2, 4, 3)], [], {}, torch.matmul),
    ('Gemm', [(3, 4), (2, 4), (2,)], [], {'transB': 1, 'alpha': 1., 'beta': 1.}, lambda a, b, c: F.linear(a, b, c)),
    ('Conv', [(2, 4, 6, 5), (6, 2, 3, 3), (6,)], [], {'group': 2, 'strides': [2, 1], 'pads': [1, 1, 1, 1]},
     lambda x, w, b: F.conv2d(x, w, b, (2, 1), 1, 1, 2)),
    ('Conv', [(1, 3, 8, 8), (2, 3, 3, 3)], [], {'dilations': [2, 2]}, lambda x, w: F.conv2d(x, w, None, 1, 0, 2)),
    ('Conv', [(2, 4, 5, 5), (4, 1, 3, 3)], [], {'group': 4}, lambda x, w: F.conv2d(x, w, None, groups=4)),
    ('ConvTranspose', [(2, 4, 3, 3), (4, 3, 2, 2), (3,)], [], {'strides': [2, 2]},
     lambda x, w, b: F.conv_transpose2d(x, w, b, 2)),
    ('MaxPool', [(2, 3, 6, 6)], [], {'kernel_shape': [3, 3], 'strides': [2, 2], 'pads': [1, 1, 1, 1]},
     lambda x: F.max_pool2d(x, 3, 2, 1)),
    ('AveragePool', [(2, 3, 5, 5)], [], {'kernel_shape': [3, 3], 'strides': [2, 2], 'pads': [1, 1, 1, 1],
                                         'count_include_pad': 1}, lambda x: F.avg_pool2d(x, 3, 2, 1)),
    ('AveragePool', [(2, 3, 5, 5)], [], {'kernel_shape': [3, 3], 'strides': [2, 2], 'pads': [1, 1, 1, 1]},
     lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False)),
    ('GlobalAveragePool', [(2, 3, 4, 5)], [], {}, lambda x: F.adaptive_avg_pool2d(x, 1)),
    ('BatchNormalization', [(4, 3, 2, 2), (3,), (3,)], [numpy.zeros(3, numpy.float32), numpy.ones(3, numpy.float32)],
     {'epsilon': 1e-3, 'training_mode': 1}, lambda x, s, b: F.batch_norm(x, None, None, s, b, True, 0, 1e-3)),
    ('Concat', [(2, 2, 3), (2, 4, 3)], [], {'axis': 1}, lambda a, b: torch.cat([a, b], 1)),
    ('Slice', [(2, 6, 2)], [ints(1), ints(5), ints(1)], {}, lambda a: a[:, 1:5]),
    ('Split', [(2, 6)], [ints(4, 2)], {'axis': 1, 'outputs': 2}, lambda a: a.split([4, 2], 1)[0]),
    ('Squeeze', [(2, 1, 3)], [ints(1)], {}, lambda a: a.squeeze(1)),
    ('Unsqueeze', [(2, 3)], [ints(1)], {}, lambda a: a.unsqueeze(1)),
    ('Transpose', [(2, 3, 4)], [], {'perm': [2, 0, 1]}, lambda a: a.permute(2, 0, 1)),
    ('Reshape', [(2, 3, 4)], [ints(4, -1)], {}, lambda a: a.reshape(4, 6)),
    ('Flatten', [(2, 3, 4)], [], {'axis': 1}, lambda a: a.flatten(1)),
    ('Gather', [(3, 4)], [INDEX], {}, lambda a: a[torch.from_numpy(INDEX)]),
    ('Pad', [(2, 3, 2, 2)], [ints(0, 0, 1, 0, 0, 0, 1, 0)], {}, lambda a: F.pad(a, (0, 0, 1, 1))),
    ('Resize', [(1, 2, 2, 3)], [numpy.array([], numpy.float32), numpy.array([1, 1, 2, 2], numpy.float32)],
     {'mode': 'nearest', 'nearest_mode': 'floor', 'coordinate_transformation_mode': 'asymmetric'},
     lambda a: F.interpolate(a, scale_factor=2)),
    ('Upsample', [(1, 2, 2, 3)], [numpy.array([1, 1, 2, 2], numpy.float32)], {'mode': 'nearest'},
     lambda a: F.interpolate(a, scale_factor=2)),
    ('ReduceMean', [(2, 3, 2, 2)], [], {'axes': [1, 3], 'keepdims': 1}, lambda a: a.mean((1, 3), True)),
    ('ReduceSum', [(2, 3, 4)], [ints(1)], {'keepdims': 0}, lambda a: a.sum(1)),
    ('Identity', [(2, 3)], [], {}, lambda a: a),
    ('Cast', [(2, 3)], [], {'to': TensorProto.FLOAT}, lambda a: a),
    # with rate 0: which elements go is drawn here otherwise than in torch; with a rate, finite differences in lib-nd.c
    ('Dropout', [(2, 5)], [numpy.array(0, numpy.float32), numpy.array(True)], {}, lambda a: a),
]
# no gradient of their own: together they make the indices range(shape(table)[0]) + 0 of a table's rows
WITHOUT = ['Constant', 'Shape', 'Range', 'Equal', 'Greater', 'GreaterOrEqual', 'Less', 'LessOrEqual', 'Not']


def network(op, parameters, others, attributes):
    """The operator, then rows of classes, each value with a factor of its own."""
    attributes = {k: v for k, v in attributes.items() if k not in ('less', 'outputs', 'condition')}
    outputs = 2 if op == 'Split' else 3 if op == 'BatchNormalization' else 1
    stored = {f'p{i}_weight': p for i, p in enumerate(parameters)}
    nodes = []
    if op == 'Where':
        stored['cond'] = COND.numpy()
        nodes = [helper.make_node(op, ['cond', 'p0_weight', 'p1_weight'], ['y0'])]
    elif op in WITHOUT:
        stored.update(zero=numpy.array(0, numpy.int64), one=numpy.array(1, numpy.int64))
        nodes = [helper.make_node('Shape', ['p0_weight'], ['shape']),
                 helper.make_node('Constant', [], ['first'], value=numpy_helper.from_array(numpy.array(0))),
                 helper.make_node('Gather', ['shape', 'first'], ['rows']),
                 helper.make_node('Range', ['zero', 'rows', 'one'], ['index']),
                 helper.make_node('Gather', ['p0_weight', 'index'], ['y0'])]
    else:
        names = list(stored)
        for i, value in enumerate(others):
            stored[f'c{i}'] = value
            names.append(f'c{i}')
        nodes = [helper.make_node(op, names, [f'y{i}' for i in range(outputs)], **attributes)]
    return nodes, stored


def derivatives(case, rng):
    op, shapes, others, attributes, function = case
    parameters = [(rng.random(s) + .3 - attributes.get('less', 0)).astype(numpy.float32) for s in shapes]
    tensors = [torch.from_numpy(p.copy()).requires_grad_() for p in parameters]
    y = function(*tensors)
    factors = (rng.random(y.numel()) + .5).astype(numpy.float32).reshape(2, -1)
    F.cross_entropy(y.reshape(2, -1) * torch.from_numpy(factors), torch.tensor([0, 1])).backward()
    nodes, stored = network(op, parameters, others, attributes)
    nodes += [helper.make_node('Reshape', ['y0', 'rows_of'], ['r']), helper.make_node('Mul', ['r', 'factors'], ['out'])]
    stored.update(rows_of=ints(2, -1), factors=factors)
    graph = helper.make_graph(nodes, 'case', [], [helper.make_tensor_value_info('out', TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(v, k) for k, v in stored.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)]), 'case.onnx')
    shell = '''set -e -o pipefail
        place-import case.onnx | place-grad --rate=1 > case.graph
        place-cost --model=disk case.graph > case.csv
        place-plan --formulation=fast --profile=case.csv case.graph > case.plan
        place-run --plan=case.plan --tier=dram --steps=1 --warm=0 --again=0 --values=case.onnx --save=trained.onnx \\
            --value=labels=labels.bin case.graph'''
    done = subprocess.run(['bash', '-c', shell], capture_output=True, text=True)
    if done.returncode:
        print('#', done.stderr.strip())
        return None
    trained = {t.name: numpy_helper.to_array(t) for t in onnx.load('trained.onnx').graph.initializer}
    worst = most = 0
    for i, (p, t) in enumerate(zip(parameters, tensors)):
        got, want = p - trained[f'p{i}_weight'], t.grad.numpy()
        worst, most = max(worst, float(abs(got - want).max())), max(most, float(abs(want).max()))
    return worst, most


if __name__ == '__main__':
    torch.set_num_threads(1)
    numpy.array([0, 1], numpy.int32).tofile('labels.bin')
    listed = subprocess.run(['place-import', '--operators'], capture_output=True, text=True).stdout
    known = [row['op'] for row in csv.DictReader(io.StringIO(listed))]
    cases = CASES + [('Range', [(4, 3)], [], {}, lambda a: a * 1)]
    left = sorted(set(known) - {c[0] for c in cases} - set(WITHOUT))
    ok(len(known) > 40 and not left, f'each of {len(known)} operators has a case {" ".join(left)}')
    rng = numpy.random.default_rng(int(os.environ.get('SEED', '5')))
    for case in cases:
        result = derivatives(case, rng)
        worst, most = result or (numpy.inf, 0)
        ok(worst < 1e-6 + 2e-6 * most and most > 1e-3,
           f'{case[0]}: derivatives up to {most:.2g}, at most {worst:.1e} from torch')
    end()
