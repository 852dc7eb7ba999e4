import jax.numpy as jnp


def layer(x, weights):
    h = x @ weights["w"]
    h = h + weights["b"]
    return jnp.where(h > 0, h, 0.1 * h)


def norm(x, axis=-1):
    total = jnp.square(x).sum(axis=axis)
    return x / total[:, None]


def model(x, layers):
    for weights in layers:
        x = layer(x, weights)
    low, high = x.min(), x.max()
    scaled = (x - low) / (high - low)
    parts = [norm(it) for it in (x, scaled)]
    out = parts[0] @ parts[1].T
    return out
