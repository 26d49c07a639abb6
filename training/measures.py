"""
training/measures - what the no-reference model looks at, as a graph without anything learned in it: energies of a
picture in bands of frequency, direction and size, over cells of 32x32 pixels, and steps on the grid of 8x8 blocks; and
the statistics of the baseline.
"""
import numpy as np
import torch
from torch import nn
from torch.nn import functional

# Cells are of this many pixels a side; pictures must have at least two a side.
CELL = 32
# What is added to an energy, in squares of 8-bit levels, before its logarithm.
FLOOR = 0.05


def bands():
    """Filters of 8x8 pixels, shape [32, 1, 8, 8]: cosines along rows, columns, diagonals and between, and short ones."""
    cosines = np.stack([np.cos((np.arange(8) + 0.5) * k * np.pi / 8) * (0.125 if k == 0 else 0.25) ** 0.5 for k in range(8)])
    pairs = [(0, 0)]
    for k in range(1, 8):
        pairs += [(0, k), (k, 0), (k, k)]
    pairs += [(1, 2), (2, 1), (2, 5), (5, 2), (1, 7), (7, 1)]
    filters = [np.outer(cosines[v], cosines[u]) for v, u in pairs]
    for small in ([[-1, 1]], [[-1], [1]], [[0, 1, 0], [1, -4, 1], [0, 1, 0]], [[1, -2, 1], [-2, 4, -2], [1, -2, 1]]):
        filters.append(np.zeros((8, 8)))
        filters[-1][3 : 3 + len(small), 3 : 3 + len(small[0])] = small
    # As they are stored: with 16 bits, whose roundings cancel where the cosines do.
    return torch.tensor(np.stack(filters)[:, None]).half().float()


def steps():
    """Differences of neighbours at each of 8 places, along two rows and two columns, shape [32, 1, 9, 9]."""
    filters = torch.zeros(32, 1, 9, 9)
    for line in range(2):
        for k in range(8):
            across, down = filters[16 * line + k, 0], filters[16 * line + 8 + k, 0]
            across[1 + 4 * line, k], across[1 + 4 * line, k + 1] = -1.0, 1.0
            down[k, 1 + 4 * line], down[k + 1, 1 + 4 * line] = -1.0, 1.0
    return filters


class Measures(nn.Module):
    """Luma in 0...1, shape [N, 1, H, W], to cells [N, PLACES, H/32, W/32] and grid steps [N, GRID]."""

    PLACES = 32 * 5
    GRID = 6

    def __init__(self):
        super().__init__()
        self.register_buffer("bands", bands())
        self.register_buffer("steps", steps())
        # Means over the places of a grid that share a part: between blocks of 8, of 4, and within; across, then down.
        part = torch.zeros(6, 32, 1, 1)
        for channel in range(32):
            k, down = channel % 8, channel // 8 % 2
            part[3 * down + (0 if k == 7 else 1 if k == 3 else 2), channel] = 1 / (2 if k in (3, 7) else 12)
        self.register_buffer("part", part)

    def forward(self, luma):
        level = luma * 255.0 - 128.0
        steps = functional.conv2d(level, self.steps, stride=8).abs().mean((2, 3), keepdim=True)
        grid = (functional.conv2d(steps, self.part) + FLOOR).log().flatten(1)
        cells = []
        for size in (4, 2, 1):
            energy = functional.conv2d(level, self.bands, stride=8).square()
            pooled = functional.avg_pool2d(energy, size) if size > 1 else energy
            cells.append((pooled + FLOOR).log())
            if size > 1:
                # How unevenly the energy lies within a cell: what quantisation and denoising leave out.
                cells.append(functional.avg_pool2d((energy + FLOOR).log(), size) - cells[-1])
                level = functional.avg_pool2d(level, 2)
        return torch.cat(cells, 1), grid


def statistics(luma):
    """
    Of luma in 0...1, shape [N, 1, H, W], to [N, 6]: logarithms of gradient energies, Laplacian energy and variance in
    8-bit levels, about -1...1, and how much steeper steps are on the grid of 8x8 blocks.
    """
    level = luma * 255.0
    dx = (level[..., 1:] - level[..., :-1]).abs()
    dy = (level[..., 1:, :] - level[..., :-1, :]).abs()
    inner = level[..., 1:-1, 1:-1]
    across = level[..., 1:-1, 2:] + level[..., 1:-1, :-2] + level[..., 2:, 1:-1] + level[..., :-2, 1:-1]
    laplacian = across - 4.0 * inner

    def mean(values):
        return values.mean((2, 3))

    variance = mean(level * level) - mean(level) * mean(level)
    energies = [mean(dx * dx) + 0.1, mean(dy * dy) + 0.1, mean(laplacian * laplacian) + 0.1, variance + 1.0]
    grids = [mean(dx[..., 7::8]) / (mean(dx) + 0.1), mean(dy[..., 7::8, :]) / (mean(dy) + 0.1)]
    return torch.cat([(torch.cat(energies, 1).log() - 4.0) / 3.0, torch.cat(grids, 1) - 1.0], 1)
