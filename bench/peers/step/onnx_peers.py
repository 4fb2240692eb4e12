"""One step as an ONNX graph with its state going in and out, run by ONNX Runtime on one thread with everything bound.

The graph is written by hand, so that no exporter stands between: row vector times matrix, and the state read by multiply and
sum, which ONNX Runtime does fastest; the norms in the pattern that it fuses into one operator."""
import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

OPSET = 20


class Graph:
    def __init__(self):
        self.nodes, self.constants, self.count = [], [], 0

    def name(self, hint):
        self.count += 1
        return f"{hint}_{self.count}"

    def constant(self, value, dtype=np.float32):
        name = self.name("c")
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value, dtype=dtype), name))
        return name

    def op(self, kind, *inputs, outputs=1, into=None, **attributes):
        names = [into] if into else [self.name(kind.lower()) for _ in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, **attributes))
        return names[0] if outputs == 1 else names

    def rms(self, h, weight, eps):
        square = self.op("Pow", h, self.constant(2.0))
        mean = self.op("ReduceMean", square, self.constant([-1], np.int64), keepdims=1)
        root = self.op("Sqrt", self.op("Add", mean, self.constant(eps)))
        return self.op("Mul", self.op("Div", h, root), self.constant(weight))

    def silu(self, v):
        return self.op("Mul", v, self.op("Sigmoid", v))

    def reshape(self, v, *shape):
        return self.op("Reshape", v, self.constant(shape, np.int64))

    def split(self, v, sizes, axis):
        return self.op("Split", v, self.constant(sizes, np.int64), outputs=len(sizes), axis=axis)

    def bytes(self, inputs, outputs):
        value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        graph = helper.make_graph(self.nodes, "step", [value(*i) for i in inputs], [value(*o) for o in outputs], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
        onnx.checker.check_model(model)
        return model.SerializeToString()


def layer(g, m, w, i, h):
    past, S = f"past{i}", f"state{i}"
    projected = g.op("MatMul", g.rms(h, w.norm, m.eps), g.constant(w.in_proj.T))
    z, now, dt = g.split(projected, (m.inner, m.channels, m.H), 1)
    window = g.op("Concat", past, g.reshape(now, m.channels, 1), axis=1)
    g.op("Slice", window, g.constant([1], np.int64), g.constant([m.W], np.int64), g.constant([1], np.int64), into=past + "_out")
    taps = g.op("Mul", window, g.constant(w.conv))
    v = g.silu(g.op("Add", g.op("ReduceSum", taps, g.constant([1], np.int64), keepdims=0), g.constant(w.conv_bias)))
    u, b, c = g.split(v, (m.inner, m.N, m.N), 0)
    u = g.reshape(u, m.H, m.P, 1)
    dt = g.op("Softplus", g.op("Add", dt, g.constant(w.dt_bias)))
    if m.limits_steps():
        dt = g.op("Clip", dt, g.constant(m.dt_low), g.constant(m.dt_high))
    decay = g.reshape(g.op("Exp", g.op("Mul", dt, g.constant(w.A))), m.H, 1, 1)
    drive = g.op("Mul", g.op("Mul", g.reshape(dt, m.H, 1, 1), u), b)
    g.op("Add", g.op("Mul", decay, S), drive, into=S + "_out")
    y = g.op("ReduceSum", g.op("Mul", S + "_out", c), g.constant([2], np.int64), keepdims=1)
    y = g.op("Add", y, g.op("Mul", g.constant(w.D.reshape(m.H, 1, 1)), u))
    q = g.op("Mul", g.reshape(y, 1, m.inner), g.silu(z))
    return g.op("Add", h, g.op("MatMul", g.rms(q, w.gate_norm, m.eps), g.constant(w.out_proj.T)))


def step_graph(m):
    g = Graph()
    h = g.op("Add", g.op("MatMul", "x", g.constant(m.in_w.T)), g.constant(m.in_b))
    for i, w in enumerate(m.layers):
        h = layer(g, m, w, i, h)
    out = g.op("MatMul", g.rms(h, m.norm_f, m.eps), g.constant(m.head_w.T))
    g.op("Add", out, g.constant(m.head_b), into="y")
    names = [name for i in range(m.L) for name in (f"past{i}", f"state{i}")]
    states = list(zip(names, m.state_shapes()))
    return g.bytes([("x", (1, m.F)), *states], [("y", (1, m.K)), *((n + "_out", s) for n, s in states)]), states, (1, m.F), (1, m.K)


class Lstm:
    """The size of STAC-ML's LSTM_A: 100 features, two layers of 100 units, one output; 160,901 weights, at random."""
    units, layers = 100, 2

    def __init__(self):
        draw = np.random.default_rng(3)
        n = self.units
        uniform = lambda *shape: draw.uniform(-0.1, 0.1, shape).astype(np.float32)
        self.weights = [(uniform(4 * n, n), uniform(4 * n, n), uniform(4 * n)) for _ in range(self.layers)]
        self.out_w, self.out_b = uniform(1, n), uniform(1)
        self.parameters = sum(a.size for layer in self.weights for a in layer) + n + 1

    def graph(self):
        g, n = Graph(), self.units
        x = g.reshape("x", 1, 1, n)
        for i, (W, R, bias) in enumerate(self.weights):
            both = np.concatenate([bias, np.zeros_like(bias)])
            outputs = [g.name("lstm"), f"h{i}_out", f"c{i}_out"]
            g.nodes.append(helper.make_node(
                "LSTM", [x, *(g.constant(a[None]) for a in (W, R, both)), "", f"h{i}", f"c{i}"], outputs, hidden_size=n))
            x = outputs[1]
        flat = g.reshape(x, 1, n)
        g.op("Gemm", flat, g.constant(self.out_w.T), g.constant(self.out_b), into="y")
        states = [(name, (1, 1, n)) for i in range(self.layers) for name in (f"h{i}", f"c{i}")]
        return g.bytes([("x", (1, n)), *states], [("y", (1, 1)), *((k + "_out", s) for k, s in states)]), states, (1, n), (1, 1)

    def numpy(self):
        """float64, as ONNX defines it: gates in the order input, output, forget, cell."""
        n = self.units
        h, c = [np.zeros(n) for _ in self.weights], [np.zeros(n) for _ in self.weights]
        sigmoid = lambda v: 1 / (1 + np.exp(-v))

        def step(x):
            for i, (W, R, bias) in enumerate(self.weights):
                gate_i, gate_o, gate_f, cell = np.split(W.astype(float) @ x + R.astype(float) @ h[i] + bias, 4)
                c[i] = sigmoid(gate_f) * c[i] + sigmoid(gate_i) * np.tanh(cell)
                x = h[i] = sigmoid(gate_o) * np.tanh(c[i])
            return self.out_w @ x + self.out_b
        return step


class OrtStep:
    """State in two sets of buffers, bound once each way: a step copies its input in, runs, and views its answer."""

    def __init__(self, graph, states, x_shape, y_shape):
        options = ort.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.log_severity_level = 3
        self.session = ort.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        value = lambda shape: ort.OrtValue.ortvalue_from_numpy(np.zeros(shape, np.float32))
        self.x, self.y = value(x_shape), value(y_shape)
        self.buffers = [[value(shape) for _, shape in states] for _ in (0, 1)]
        self.bindings, self.turn = [], 0
        for k in (0, 1):
            binding = self.session.io_binding()
            binding.bind_ortvalue_input("x", self.x)
            binding.bind_ortvalue_output("y", self.y)
            for (name, _), old, new in zip(states, self.buffers[k], self.buffers[1 - k]):
                binding.bind_ortvalue_input(name, old)
                binding.bind_ortvalue_output(name + "_out", new)
            self.bindings.append(binding)

    def __call__(self, x):
        self.x.update_inplace(x)
        self.session.run_with_iobinding(self.bindings[self.turn])
        self.turn ^= 1
        return self.y.numpy()
