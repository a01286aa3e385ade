"""Programs of any size: what the cost of linting is drawn over."""

from __future__ import annotations

BLOCK = """
class Attention{n}(nn.Module):
    def __init__(self, width=768, heads=12):
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x, mask=None):
        batch, tokens, width = x.shape
        q, k, v = self.qkv(x).view(batch, tokens, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        weights = q @ k.transpose(-2, -1) * (width // self.heads) ** -0.5
        if mask is not None:
            weights = weights.masked_fill(mask == 0, float("-inf"))
        mixed = torch.softmax(weights, dim=-1) @ v
        return self.out(mixed.transpose(1, 2).view(batch, tokens, width))
"""

PLAIN = '''
def smallest{n}(values, least=0):
    """Code beside which a linter for tensors has nothing to look for."""
    found = [value for value in values if value > least]
    return min(found, default=None)
'''

HEAD = "import torch\nfrom torch import nn\n"
STEPS = (
    "x = x.transpose(1, 2)",
    "x = x.contiguous().view(batch, -1, width)",
    "x = torch.relu(x + {n})",
    "if batch > {n}:\n        x = x[:, 1:]",
    "x = torch.cat([x, x.flip(1)], dim=1)",
    "x = x.reshape(batch, -1, width)",
)


def many_functions(count: int) -> str:
    """A file of `count` functions: in every three, the two of a module that works on tensors."""
    blocks = "".join(BLOCK.format(n=n) + PLAIN.format(n=n) for n in range(count // 3))
    return f"{HEAD}\n{blocks}"


def long_function(count: int) -> str:
    """A file of one function of `count` statements."""
    steps = "".join(f"    {STEPS[n % len(STEPS)].format(n=n)}\n" for n in range(count))
    return f"{HEAD}\n\ndef forward(x: torch.Tensor, batch: int, width: int):\n{steps}    return x\n"
