"""Real tensors in many memory layouts.

A *variant* of a tensor has its shape (or a shrunk one) and dtype but lies in memory differently. Variants are
deterministic: the same tensor gives the same ones in the same order.
"""

from __future__ import annotations

import torch


def replica(x: torch.Tensor) -> torch.Tensor:
    """A copy with its own storage and the very same sizes, strides and offset, overlap included."""
    storage = x.untyped_storage().clone()
    return torch.empty(0, dtype=x.dtype, device=x.device).set_(storage, x.storage_offset(), x.size(), x.stride())


def reversed_order(x: torch.Tensor) -> torch.Tensor:
    """Dense, with the dimensions in reverse order in memory."""
    order = list(reversed(range(x.dim())))
    return x.permute(order).contiguous().permute(order)


def rotated_order(x: torch.Tensor) -> torch.Tensor:
    """Dense, the first dimension innermost: (B, T, C) as people get it from a (T, C, B) tensor."""
    order = [*range(1, x.dim()), 0]
    inverse = [order.index(i) for i in range(x.dim())]
    return x.permute(order).contiguous().permute(inverse)


def gapped(x: torch.Tensor, dim: int) -> torch.Tensor:
    """Every second element of a tensor twice as long in one dimension."""
    sizes = list(x.shape)
    sizes[dim] = 2 * sizes[dim] + 1
    wide = torch.zeros(sizes, dtype=x.dtype, device=x.device)
    part = wide.narrow(dim, 1, sizes[dim] - 1)
    part = part[(slice(None),) * (dim % x.dim()) + (slice(0, None, 2),)]
    part.copy_(x)
    return part


def expanded(x: torch.Tensor, dim: int) -> torch.Tensor:
    """Stretched from its first element along one dimension (stride 0)."""
    return x.narrow(dim, 0, 1).contiguous().expand(x.shape)


def odd_ones(x: torch.Tensor) -> torch.Tensor:
    """With strides of 17 in the dimensions of size 1, which nothing may depend on."""
    return x.as_strided(x.size(), [17 if n == 1 else s for n, s in zip(x.shape, x.stride(), strict=True)])


def variants(x: torch.Tensor, shrink: bool = True) -> list[tuple[str, torch.Tensor]]:
    """Named variants of a tensor; `shrink` also gives those of another shape (a size of 1, a size of 0)."""
    x = x.detach()
    found: list[tuple[str, torch.Tensor]] = [("contiguous", x.contiguous())]
    rank = x.dim()
    if rank == 0:
        return found
    if x.numel():
        found.append(("gapped last", gapped(x, -1)))
        found.append(("expanded first", expanded(x, 0)))
        if rank >= 2:
            found.append(("reversed", reversed_order(x)))
            found.append(("gapped first", gapped(x, 0)))
            found.append(("expanded last", expanded(x, -1)))
            found.append(("gaps inside, reversed", gapped(reversed_order(x).transpose(0, -1), -1).transpose(0, -1)))
        if rank >= 3:
            found.append(("rotated", rotated_order(x)))
        if rank == 4:
            found.append(("channels_last", x.contiguous(memory_format=torch.channels_last)))
        if rank == 5:
            found.append(("channels_last", x.contiguous(memory_format=torch.channels_last_3d)))
        if 1 in x.shape:
            found.append(("odd strides of size 1", odd_ones(x.contiguous())))
    if shrink:
        for dim in {0, rank - 1, rank // 2}:
            if x.size(dim) > 1:
                found.append((f"size 1 in {dim}", x.contiguous().narrow(dim, 0, 1)))
                found.append((f"size 1 in {dim}, reversed", reversed_order(x).narrow(dim, 0, 1)))
        if x.size(0):
            found.append(("empty", x.narrow(0, 0, 0)))
            found.append(("empty, reversed", reversed_order(x).narrow(rank - 1, 0, 0)))
    return found


def inputs(device: str = "cpu") -> list[tuple[str, torch.Tensor]]:
    """Tensors of ranks 0 to 5 in every layout: what the examples of rows run on."""
    shapes = [(), (6,), (1,), (4, 6), (3, 3), (1, 4), (2, 4, 6), (2, 3, 4, 6), (2, 4, 1, 1), (2, 3, 2, 4, 4)]
    found = []
    for shape in shapes:
        generator = torch.Generator().manual_seed(len(shape))
        x = torch.rand(shape, generator=generator).to(device) + 0.1
        found += [(f"{list(shape)} {name}", variant) for name, variant in variants(x)]
    return found
