# What layers.mlir says it was made from: a framework writes such locations.
def score(q, k):
    products = (
        q @ k)
    return products


def dense(x, w):
    h = x @ w
    # A comment has no code.
    return tanh(h)


def model(x, w):
    for _ in range(2):
        x = dense(x, w)
    q = x @ w
    k = q @ x
    s = score(q, k)
    y = s @ w
    y = y @ w
    return y
