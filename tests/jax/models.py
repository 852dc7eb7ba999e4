"""Models of JAX in which Python does what people write: functions in functions, classes, loops, the
same variable twice, masks, NaN, and what JAX makes of functions for batches and gradients.

Each of `MODELS` is a function that gives the model and its arguments.
"""

import jax
import jax.numpy as jnp
import numpy as np


def numbers(*shape, seed=0):
    drawn = np.random.default_rng(seed + sum(shape)).normal(size=shape)
    return jnp.asarray(drawn.astype(np.float32))


def relu_layer(x, w, b):
    h = x @ w + b
    return jnp.maximum(h, 0.0)


def mlp():
    def model(x, layers, last):
        for w, b in layers:
            x = relu_layer(x, w, b)
        logits = x @ last
        shifted = logits - logits.max(axis=-1, keepdims=True)
        exponentials = jnp.exp(shifted)
        total = exponentials.sum(axis=-1, keepdims=True)
        return exponentials / total

    layers = [(numbers(16, 16, seed=it), numbers(16, seed=it)) for it in range(3)]
    return model, (numbers(4, 16), layers, numbers(16, 10))


class Attention:
    def __init__(self, size, seed):
        self.query = numbers(size, size, seed=seed)
        self.key = numbers(size, size, seed=seed + 1)
        self.value = numbers(size, size, seed=seed + 2)

    def scores(self, q, k):
        products = q @ k.T
        scaled = products / jnp.sqrt(jnp.float32(q.shape[-1]))
        return scaled

    def __call__(self, x, mask):
        q = x @ self.query
        k = x @ self.key
        v = x @ self.value
        scores = self.scores(q, k)
        masked = jnp.where(mask, scores, -jnp.inf)
        weights = jax.nn.softmax(masked, axis=-1)
        mixed = weights @ v
        return mixed


def transformer():
    attention = Attention(16, 3)

    def normalize(x):
        mean = x.mean(axis=-1, keepdims=True)
        centred = x - mean
        variance = (centred * centred).mean(axis=-1, keepdims=True)
        return centred * jax.lax.rsqrt(variance + 1e-5)

    def model(x, mask, up, down):
        normal = normalize(x)
        attended = attention(normal, mask)
        residual = x + attended
        second = normalize(residual)
        hidden = jax.nn.gelu(second @ up)
        out = hidden @ down
        result = residual + out
        return result

    mask = jnp.tril(jnp.ones((8, 8), dtype=bool))
    return model, (numbers(8, 16), mask, numbers(16, 32), numbers(32, 16))


def convolutions():
    def convolve(x, kernel):
        axes = ("NHWC", "HWIO", "NHWC")
        y = jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=axes)
        return y

    def model(x, one, two, dense):
        first = convolve(x, one)
        active = jnp.clip(first, 0.0, 6.0)
        second = convolve(active, two)
        summed = x + second
        pooled = summed.mean(axis=(1, 2))
        logits = pooled @ dense
        return logits, summed

    return model, (numbers(1, 8, 8, 4), numbers(3, 3, 4, 4), numbers(3, 3, 4, 4, seed=1), numbers(4, 5))


def same_names():
    def twice(x, w):
        y = x @ w
        y = y + 1.0
        y = y @ w
        return y

    def both(x, w):
        a = x @ w
        b = a @ w
        return a, b

    def model(x, w):
        a, b = both(x, w)
        c = twice(a, w) + 1.0
        d = (b @ w).T
        e = [row @ w for row in (c, b)]
        f = e[0] @ e[1].T, c
        y = twice(f[0] @ x, w)
        z = y @ d
        return z

    return model, (numbers(8, 8), numbers(8, 8, seed=1))


def special_values():
    def model(x, limits):
        infinite = x / jnp.zeros_like(x)
        undefined = infinite - infinite
        chosen = jnp.where(jnp.isnan(undefined), x, undefined)
        low, high = limits
        clamped = jnp.clip(chosen, low, high)
        product = clamped @ clamped.T
        largest = jnp.argmax(product, axis=-1)
        order = jnp.sort(product, axis=-1)
        return largest, order, product

    return model, (numbers(6, 6), (jnp.float32(-0.5), jnp.float32(0.5)))


def transformed():
    def energy(x, w):
        h = jnp.tanh(x @ w)
        e = (h * h).sum()
        return e

    def row(v, w):
        projected = v @ w
        return projected * 2.0

    def model(x, w):
        slope = jax.grad(energy)(x, w)
        rows = jax.vmap(row, in_axes=(0, None), out_axes=1)(x, w)
        inner = jax.jit(relu_layer)(x, w, w[0])
        joined = slope @ rows
        result = joined @ inner
        return result

    return model, (numbers(6, 6), numbers(6, 6, seed=1))


def loops():
    def step(carry, w):
        h = jnp.tanh(carry @ w)
        return h, h.sum()

    def model(x, ws):
        last, sums = jax.lax.scan(step, x, ws)
        squared = last @ last.T

        def body(state):
            count, value = state
            half = value * 0.5
            return count + 1, half

        count, halved = jax.lax.while_loop(lambda it: it[0] < 3, body, (0, squared))
        chosen = jax.lax.cond(sums[0] > 0, lambda: halved @ x, lambda: x)
        out = chosen @ ws[0]
        return out

    return model, (numbers(6, 6), numbers(3, 6, 6, seed=1))


def reused():
    @jax.jit
    def layer(x, w):
        h = x @ w
        r = jax.nn.relu(h)
        return r

    def model(x, w1, w2):
        a = layer(x, w1)
        b = layer(a, w1)
        c = layer(b, w2)
        return c

    return model, (numbers(4, 6), numbers(6, 6, seed=1), numbers(6, 3, seed=2))


def again():
    @jax.checkpoint
    def block(x, w):
        h = x @ w
        g = jax.nn.gelu(h)
        return g

    def loss(x, w):
        a = block(x, w)
        b = block(a, w)
        mean = (b * b).mean()
        return mean

    def model(x, w):
        slope = jax.grad(loss, argnums=1)(x, w)
        better = w - 0.1 * slope
        return better

    return model, (numbers(4, 6), numbers(6, 6, seed=1))


def recurrent():
    def step(state, x, p):
        h, c = state
        gates = x @ p["wx"] + h @ p["wh"] + p["b"]
        i, f, g, o = jnp.split(gates, 4, axis=-1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    def model(p, xs):
        h0 = jnp.zeros((2, 8))
        c0 = jnp.ones((2, 8))
        (h, c), hs = jax.lax.scan(lambda s, x: step(s, x, p), (h0, c0), xs)
        out = hs.mean(axis=0) + h * c
        return out

    weights = dict(wx=numbers(4, 32), wh=numbers(8, 32, seed=1) * 0.3, b=numbers(32, seed=2))
    return model, (weights, numbers(5, 2, 4, seed=3))


def stacked():
    def block(x, p):
        q = x @ p["q"]
        k = x @ p["k"]
        s = jax.nn.softmax(q @ k.T / 2.0, axis=-1)
        a = s @ x
        y = x + a
        m = y.mean(axis=-1, keepdims=True)
        n = (y - m) / jnp.sqrt(((y - m) ** 2).mean(axis=-1, keepdims=True) + 1e-5)
        return n, None

    def model(x, p):
        y, _ = jax.lax.scan(block, x, p)
        return y

    return model, (numbers(6, 8), dict(q=numbers(3, 8, 8, seed=1), k=numbers(3, 8, 8, seed=2)))


def nested():
    def inner(c, w):
        a = jnp.tanh(c * w)
        return a, a.sum()

    def outer(c, w):
        last, sums = jax.lax.scan(inner, c, w)
        mixed = last + sums.mean()
        return mixed, mixed.max()

    def model(x, ws):
        y, tops = jax.lax.scan(outer, x, ws)
        z = y * tops.sum()
        return z

    return model, (numbers(6), numbers(3, 4, 6, seed=1))


MODELS = [
    mlp,
    transformer,
    convolutions,
    same_names,
    special_values,
    transformed,
    loops,
    reused,
    again,
    recurrent,
    stacked,
    nested,
]
