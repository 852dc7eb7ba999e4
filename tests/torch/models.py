"""Models of PyTorch, as people write them. Each function gives a module and its arguments."""

import torch
import torch.nn.functional as F
from torch import nn


def numbers(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator)


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(16, 32)
        self.second = nn.Linear(32, 8)

    def forward(self, x):
        h = self.first(x)
        a = F.gelu(h)
        logits = self.second(a)
        p = torch.softmax(logits, dim=-1)
        return p


def gate(x):
    s = torch.sigmoid(x)
    return x * s


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q = nn.Linear(width, width)
        self.k = nn.Linear(width, width)
        self.v = nn.Linear(width, width)
        self.out = nn.Linear(width, width)

    def forward(self, x, mask):
        batch, length, width = x.shape
        shape = (batch, length, self.heads, width // self.heads)
        q = self.q(x).view(shape).transpose(1, 2)
        k = self.k(x).view(shape).transpose(1, 2)
        v = self.v(x).view(shape).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) / (width // self.heads) ** 0.5
        masked = scores.masked_fill(mask, float("-inf"))
        p = torch.softmax(masked, dim=-1)
        mixed = (p @ v).transpose(1, 2).reshape(batch, length, width)
        return self.out(mixed)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)

    def forward(self, x, mask):
        n = self.norm(x)
        a = self.attention(n, mask)
        x1 = x + a
        h = gate(self.up(x1))
        d = self.down(h)
        return x1 + d


class Transformer(nn.Module):
    def __init__(self, layers=2, width=32, heads=2):
        super().__init__()
        self.embed = nn.Embedding(50, width)
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(layers)])
        self.head = nn.Linear(width, 50)

    def forward(self, tokens):
        length = tokens.shape[1]
        x = self.embed(tokens)
        mask = torch.ones(length, length, dtype=torch.bool).triu(1)
        for block in self.blocks:
            x = block(x, mask)
        logits = self.head(x)
        return logits


class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 8, 3, padding=1, bias=False)
        self.classes = nn.Linear(8, 5)

    def forward(self, image):
        c = self.conv1(image)
        b = self.norm(c)
        r = F.relu(b)
        m = F.max_pool2d(r, 2)
        d = self.conv2(m)
        s = m + d
        pooled = s.mean(dim=(2, 3))
        y = self.classes(pooled)
        return y


class SameNames(nn.Module):
    """One helper called twice, one name bound again."""

    def forward(self, x, y):
        a = gate(x)
        b = gate(y)
        z = a @ b
        z = torch.tanh(z)
        t = z * 2
        t += 1
        return t, a - b.T


class SpecialValues(nn.Module):
    def forward(self, x):
        guarded = torch.nan_to_num(x, nan=0.0, posinf=100.0, neginf=-100.0)
        clamped = torch.clamp(guarded, -5.0, 5.0)
        row = torch.where(x.isinf(), torch.zeros_like(x), clamped)
        logs = torch.log1p(row.abs())
        total = logs @ torch.ones(8, 3)
        return {"logs": logs, "total": total}


class Quantities(nn.Module):
    """Integers, shapes, several results, parts of tensors."""

    def forward(self, table, index):
        rows = table[index]
        best, where = rows.max(dim=1)
        order = torch.argsort(best)
        picked = torch.gather(best, 0, order)
        first, second = picked.chunk(2)
        joined = torch.cat([second, first])
        counts = (rows > 0).sum(dim=1)
        return joined, where, counts


def mlp():
    return Mlp(), (numbers(4, 16),)


def transformer():
    return Transformer(), (torch.randint(0, 50, (2, 6), generator=torch.Generator().manual_seed(1)),)


def convolutions():
    return Convolutions(), (numbers(1, 3, 8, 8),)


def same_names():
    return SameNames(), (numbers(4, 8), numbers(8, 4, seed=1))


def special_values():
    x = numbers(4, 8)
    x[0, 0], x[1, 1], x[2, 2], x[3, 3] = float("nan"), float("inf"), float("-inf"), 60.0
    return SpecialValues(), (x,)


def quantities():
    return Quantities(), (numbers(10, 6), torch.tensor([3, 1, 4, 1, 5, 9, 2, 6]))


class InPlace(torch.nn.Module):
    """Tensors that change: the same object is another tensor afterwards."""

    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(6, 6)

    def scaled(self, y):
        y *= 2.0
        return y

    def forward(self, x):
        y = x + 1.0
        view = y[1:]
        kept = y * 3.0
        y += 10.0
        last = self.inner(view)
        z = torch.zeros_like(y)
        z[0] = y[0]
        z[:, 1] += 5.0
        z.clamp_(min=-1.0, max=8.0)
        out = self.scaled(z) @ y.T
        torch.relu_(out)
        for step in range(3):
            y = torch.cat([y[1:], y[:1]])
            y.sub_(step)
        copied = out.clone()
        out = copied + y.sum() + last.sum() + kept.sum()
        return out, None, 3, copied


def in_place():
    return InPlace(), (numbers(6, 6),)


class Attended(nn.Module):
    """Attention as one operation, with a causal mask and with one that is added."""

    def __init__(self, width, heads, is_causal):
        super().__init__()
        self.heads, self.is_causal = heads, is_causal
        self.norm = nn.LayerNorm(width)
        self.joined = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        n = self.norm(x)
        q, k, v = self.joined(n).chunk(3, dim=-1)
        shape = (batch, length, self.heads, width // self.heads)
        q, k, v = (it.view(shape).transpose(1, 2) for it in (q, k, v))
        if self.is_causal:
            mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            near = torch.arange(length)[None, :] - torch.arange(length)[:, None]
            mask = torch.where(near.abs() <= 2, torch.tensor(0.0), torch.tensor(-1e9))
            # The compiler takes masks of all dimensions alone.
            whole = mask.expand(batch, self.heads, length, length)
            mixed = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=whole)
        flat = mixed.transpose(1, 2).reshape(batch, length, width)
        y = x + self.out(flat)
        return y


class Recurrent(nn.Module):
    """A cell that is called in a loop; its first operation reads a weight."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 8)
        self.cell = nn.GRUCell(8, 16)

    def forward(self, tokens):
        e = self.embed(tokens)
        h = torch.zeros(2, 16)
        for step in range(4):
            h = self.cell(e[:, step], h)
        last = h.tanh()
        return last


class Resized(nn.Module):
    """Norms of groups and of each image, sizes that change, a mean over all places."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.groups = nn.GroupNorm(2, 8)
        self.each = nn.InstanceNorm2d(8)
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        wide = nn.functional.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)
        c = self.first(wide)
        g = nn.functional.silu(self.groups(c))
        i = self.each(g)
        small = nn.functional.max_pool2d(i, 2)
        pooled = nn.functional.adaptive_avg_pool2d(small, 1)
        p = pooled.flatten(1)
        y = self.head(p)
        return torch.log_softmax(y, dim=-1)


def attended():
    return nn.Sequential(Attended(32, 2, True), Attended(32, 2, False)), (numbers(2, 6, 32),)


def recurrent():
    tokens = torch.randint(0, 20, (2, 4), generator=torch.Generator().manual_seed(1))
    return Recurrent(), (tokens,)


def resized():
    return Resized(), (numbers(1, 3, 8, 8),)


MODELS = [
    mlp,
    transformer,
    convolutions,
    same_names,
    special_values,
    quantities,
    in_place,
    attended,
    recurrent,
    resized,
]
