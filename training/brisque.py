"""
training/brisque - what a published idea gets on the same pictures: a ridge regression on natural scene statistics
(A. Mittal, A. K. Moorthy, A. C. Bovik, "No-reference image quality assessment in the spatial domain", IEEE TIP 2012), and
a constant.

    python3 training/brisque.py --learn DIR/measured… --data DIR/measured… --figures DIR/NAME.figures.json

Data as training/nr reads them. Learns from the splits `train` and `val` of the first, its penalty by leaving out kinds
of scenes, and adds the figures of `test` and `unseen` of the others to those that training/evaluate wrote. Needs python3-torch and
python3-numpy.
"""
import argparse
import json
import math

import numpy as np
import torch
from torch.nn import functional

from figures import by_source, figures

# Shapes of generalised Gaussians that are told apart.
SHAPES = np.arange(0.2, 10.0, 0.005)
GAMMAS = [np.array([math.gamma(k / shape) for shape in SHAPES]) for k in (1, 2, 3)]
RATIOS = GAMMAS[1] ** 2 / (GAMMAS[0] * GAMMAS[2])


def shape_of(ratio):
    """Shape of the generalised Gaussian with this square of the mean modulus over the mean square."""
    return SHAPES[np.abs(RATIOS - ratio).argmin()]


def symmetric(values):
    """Shape and variance."""
    square = np.mean(values * values) + 1e-9
    return [shape_of(np.mean(np.abs(values)) ** 2 / square), square]


def asymmetric(values):
    """Shape, mean, and the variances left and right of zero."""
    left = np.sqrt(np.mean(values[values < 0] ** 2)) if (values < 0).any() else 0.0
    right = np.sqrt(np.mean(values[values > 0] ** 2)) if (values > 0).any() else 0.0
    left, right = left + 1e-6, right + 1e-6
    skew = left / right
    ratio = np.mean(np.abs(values)) ** 2 / (np.mean(values * values) + 1e-9)
    shape = shape_of(ratio * (skew**3 + 1) * (skew + 1) / (skew**2 + 1) ** 2)
    gammas = [math.gamma(k / shape) for k in (1, 2, 3)]
    mean = (right - left) * gammas[1] / math.sqrt(gammas[0] * gammas[2])
    return [shape, mean, left * left, right * right]


def facts(luma):
    """36 statistics of 8-bit luma, shape [H, W]: of normalised samples and of products of neighbours, at two sizes."""
    window = torch.exp(-0.5 * ((torch.arange(7) - 3.0) / (7 / 6)) ** 2)
    window = (window / window.sum())[None, None]
    level = torch.from_numpy(luma).float()[None, None]

    def blur(plane):
        padded = functional.pad(plane, (3, 3, 3, 3), mode="replicate")
        return functional.conv2d(functional.conv2d(padded, window[..., None]), window[..., None, :])

    found = []
    for size in (1, 2):
        mean = blur(level)
        spread = (blur(level * level) - mean * mean).clamp(min=0.0).sqrt()
        normal = ((level - mean) / (spread + 1.0))[0, 0].numpy().astype(np.float64)
        found += symmetric(normal)
        for down, across in ((0, 1), (1, 0), (1, 1), (1, -1)):
            found += asymmetric(normal * np.roll(normal, (down, across), (0, 1)))
        if size == 1:
            level = functional.avg_pool2d(level, 2)
    return found


def load(paths, teacher, wanted):
    """Statistics, scores, splits and sources of the pictures of some splits, one of each encode of a scene."""
    rows, scores, splits, sources = [], [], [], []
    for path in paths:
        with open(f"{path}.json", encoding="utf-8") as file:
            pictures = json.load(file)["pictures"]
        memory = np.memmap(f"{path}.gray", dtype=np.uint8, mode="r")
        first = {(picture["source"], picture["encode"]): picture for picture in reversed(pictures)}
        for picture in first.values():
            if picture["split"] not in wanted:
                continue
            size = picture["height"], picture["width"]
            luma = np.array(memory[picture["offset"] : picture["offset"] + size[0] * size[1]]).reshape(size)
            rows.append(facts(luma))
            scores.append(picture[teacher])
            splits.append(picture["split"])
            sources.append(picture["source"])
    return np.array(rows), np.array(scores), np.array(splits), np.array(sources)


class Ridge:
    """Linear in standardised statistics; the mean is not held down."""

    def __init__(self, rows, scores, penalty):
        self.mean, self.std, self.level = rows.mean(0), rows.std(0) + 1e-9, scores.mean()
        x = self.scaled(rows)
        self.weights = np.linalg.solve(x.T @ x + penalty * np.eye(x.shape[1]), x.T @ (scores - self.level))

    def scaled(self, rows):
        return ((rows - self.mean) / self.std).clip(-5.0, 5.0)

    def __call__(self, rows):
        return (self.level + self.scaled(rows) @ self.weights).clip(0.0, 100.0)


def penalty_of(rows, scores, kinds):
    """The penalty that errs least on kinds of scenes that were left out."""
    folds = np.unique(kinds, return_inverse=True)[1] % 4

    def error(penalty):
        parts = [(folds != fold, folds == fold) for fold in range(4)]
        return sum(((Ridge(rows[a], scores[a], penalty)(rows[b]) - scores[b]) ** 2).sum() for a, b in parts)

    return min((1.0, 10.0, 100.0, 1000.0), key=error)


def of_sets(predicted, scores, splits, sources):
    """Figures as those of the model stand: of each set together and of each of its sources."""
    result = {}
    for name in ("test", "unseen"):
        at = splits == name
        if at.any():
            each = by_source(predicted[at], scores[at], sources[at])
            result[name] = {"pooled": figures(predicted[at], scores[at]), "sources": each}
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--learn", required=True, nargs="+")
    parser.add_argument("--data", required=True, nargs="+")
    parser.add_argument("--figures", required=True)
    parser.add_argument("--teacher", default="vmaf", help="key of a model in the data")
    args = parser.parse_args()
    torch.set_num_threads(1)
    rows, scores, _, sources = load(args.learn, args.teacher, ("train", "val"))
    kinds = np.array([source.rsplit("-", 1)[0] for source in sources])
    penalty = penalty_of(rows, scores, kinds)
    model = Ridge(rows, scores, penalty)
    level = round(float(scores.mean()), 2)
    with open(args.figures, encoding="utf-8") as file:
        result = json.load(file)
    learned = {"pictures": len(scores), "sources": len(set(sources)), "penalty": penalty}
    rows, scores, splits, sources = load(args.data, args.teacher, ("test", "unseen"))
    result["brisque"] = {**learned, **of_sets(model(rows), scores, splits, sources)}
    constant = of_sets(np.full(len(scores), level), scores, splits, sources)
    result["constant"] = {"value": level, **{name: part["pooled"] for name, part in constant.items()}}
    with open(args.figures, "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
    for name in ("brisque", "constant"):
        for part in ("test", "unseen"):
            print(name, part, result[name].get(part, {}).get("pooled", result[name].get(part)))


if __name__ == "__main__":
    main()
