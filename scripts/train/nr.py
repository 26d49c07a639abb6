"""
scripts/train/nr - trains a no-reference scorer: the luma of a distorted frame in, the VMAF it would get out.

    python3 scripts/train/nr.py --data DIR/measured --teacher vmaf --out model/tiny/NAME.onnx [--seed 7] [--epochs 30]

Data (DIR/measured.json, DIR/measured.gray) come from `scripts/train/measure.mjs --pictures`. Trains on crops of the pictures of
split `train`, keeps the best epoch on `val`, and prints figures for each source of `test`, from which nothing was
learned, beside those of a baseline: the same kind of head on statistics of blur and blockiness. Needs python3-torch, python3-onnx
and python3-numpy.
"""
import argparse
import json

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn
from torch.nn import functional

from figures import by_source


# Sources of the corpus that are real clips.
REAL = ["seeking", "seeking-late", "blue-sky", "anchor", "src01-576", "corridor", "dark-scene"]


class Scorer(nn.Module):
    """Luma in 0...1, shape [N, 1, H, W] with H and W from 64, to scores 0...100, shape [N]."""

    def __init__(self):
        super().__init__()
        # The first kernel spans two blocks of 8x8 codecs; its stride keeps their grid in phase.
        layers = []
        for before, after, size, stride in ((1, 16, 8, 4), (16, 24, 3, 2), (24, 48, 3, 2), (48, 80, 3, 2)):
            layers += [nn.Conv2d(before, after, size, stride, padding=(size - stride + 1) // 2, bias=False)]
            layers += [nn.BatchNorm2d(after), nn.ReLU()]
        self.early = nn.Sequential(*layers[:3])
        self.late = nn.Sequential(*layers[3:])
        self.head = nn.Sequential(nn.Dropout(0.2), nn.Linear(192 + STATISTICS, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, luma):
        return self.raw(luma).clamp(0.0, 100.0)

    def raw(self, luma):
        """Without the clip."""
        fine = self.early((luma - 0.45) * 4.0)
        maps = self.late(fine)
        # Energies differ by orders of magnitude between scenes: their logarithms are what the head compares.
        pooled = [fine.mean((2, 3)), (fine * fine).mean((2, 3)), maps.mean((2, 3)), (maps * maps).mean((2, 3))]
        logs = (torch.cat(pooled, 1) + 1e-3).log()
        return (self.head(torch.cat([logs, statistics(luma)], 1)) * 30.0 + 60.0).squeeze(1)


STATISTICS = 6


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


class Baseline(nn.Module):
    """The statistics alone, shape [N, 6], to scores."""

    def __init__(self, mean, std):
        super().__init__()
        self.mean, self.std = mean, std
        self.head = nn.Sequential(nn.Linear(6, 48), nn.ReLU(), nn.Linear(48, 1))

    def raw(self, statistics):
        return (self.head((statistics - self.mean) / self.std) * 30.0 + 60.0).squeeze(1)


def luma_of(picture):
    """A picture of bytes as the model takes it."""
    return torch.from_numpy(np.array(picture)).float()[None, None] / 255


def crop(picture, size, rng):
    """A square of the picture in 0...1, on its 8x8 grid, perhaps mirrored, a little darker or brighter, flatter or not."""
    height, width = picture.shape
    y = 8 * int(rng.integers(0, (height - size) // 8 + 1))
    x = 8 * int(rng.integers(0, (width - size) // 8 + 1))
    part = picture[y : y + size, x : x + size].astype(np.float32) / 255
    if rng.random() < 0.5:
        part = part[:, ::-1]
    if rng.random() < 0.5:
        part = part[::-1]
    return part * rng.uniform(0.8, 1.2) + rng.uniform(-0.1, 0.1)


def fit(model, batches, validate, epochs, rate):
    """Trains, and leaves the model as it was after its best epoch."""
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=2e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, epochs=epochs, steps_per_epoch=1)
    best, kept = float("inf"), None
    for epoch in range(epochs):
        model.train()
        for inputs, wanted in batches():
            loss = functional.smooth_l1_loss(model.raw(inputs), wanted, beta=4.0)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        schedule.step()
        model.eval()
        error = validate()
        if error < best:
            best, kept = error, {key: value.clone() for key, value in model.state_dict().items()}
        print(f"epoch {epoch + 1}: val RMSE {error:.2f}, best {best:.2f}", flush=True)
    model.load_state_dict(kept)
    model.eval()


def store_halves(path):
    """Stores large weights with 16 bits, which the graph widens again: half the file, scores the same to a few hundredths."""
    model = onnx.load(path)
    for weight in list(model.graph.initializer):
        values = numpy_helper.to_array(weight)
        if values.dtype != np.float32 or values.size < 256:
            continue
        model.graph.initializer.remove(weight)
        model.graph.initializer.append(numpy_helper.from_array(values.astype(np.float16), f"{weight.name}_half"))
        widen = helper.make_node("Cast", [f"{weight.name}_half"], [weight.name], to=TensorProto.FLOAT)
        model.graph.node.insert(0, widen)
    onnx.save(model, path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--teacher", default="vmaf", help="key of a model in the data")
    parser.add_argument("--out", required=True)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--crop", type=int, default=256)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    torch.set_num_threads(2)
    rng = np.random.default_rng(args.seed)

    with open(f"{args.data}.json", encoding="utf-8") as file:
        data = json.load(file)
    listed = data["pictures"]
    memory = np.memmap(f"{args.data}.gray", dtype=np.uint8, mode="r")
    pictures = [
        memory[p["offset"] : p["offset"] + p["width"] * p["height"]].reshape(p["height"], p["width"]) for p in listed
    ]
    scores = np.array([p[args.teacher] for p in listed])
    splits = np.array([p["split"] for p in listed])
    sources = np.array([p["source"] for p in listed])
    train, val = np.flatnonzero(splits == "train"), np.flatnonzero(splits == "val")

    # Real clips are few and what matters: each counts three times.
    often = np.concatenate([train, *[train[np.isin(sources[train], REAL)]] * 2])

    def whole(model, index):
        with torch.no_grad():
            return float(model(luma_of(pictures[index])))

    model = Scorer()

    def batches():
        for part in np.array_split(rng.permutation(often), max(1, len(often) // 32)):
            parts = np.stack([crop(pictures[i], args.crop, rng) for i in part])
            yield torch.from_numpy(parts)[:, None], torch.tensor(scores[part], dtype=torch.float32)

    def validate():
        return float(np.sqrt(np.mean([(whole(model, i) - scores[i]) ** 2 for i in val[::3]])))

    fit(model, batches, validate, args.epochs, 4e-3)
    predicted = np.array([whole(model, i) for i in range(len(pictures))])

    with torch.no_grad():
        facts = torch.cat([statistics(luma_of(picture)) for picture in pictures])
    baseline = Baseline(facts[train].mean(0), facts[train].std(0))
    wanted = torch.tensor(scores, dtype=torch.float32)

    def rows():
        for part in np.array_split(rng.permutation(train), max(1, len(train) // 128)):
            yield facts[part], wanted[part]

    def baseline_error():
        with torch.no_grad():
            return float(((baseline.raw(facts[val]).clamp(0, 100) - wanted[val]) ** 2).mean().sqrt())

    fit(baseline, rows, baseline_error, 60, 6e-3)
    with torch.no_grad():
        simple = baseline.raw(facts).clamp(0, 100).numpy().astype(np.float64)

    result = {
        "kind": "nr",
        "teacher": next(model["source"] for model in data["models"] if model["key"] == args.teacher),
        "seed": args.seed,
        "model": by_source(predicted, scores, splits, sources),
        "baseline": by_source(simple, scores, splits, sources),
    }
    print(json.dumps(result, indent=1))
    torch.onnx.export(
        model, torch.zeros(1, 1, 360, 640), args.out, input_names=["luma"], output_names=["score"], opset_version=13,
        dynamic_axes={"luma": {0: "N", 2: "H", 3: "W"}, "score": {0: "N"}},
    )
    store_halves(args.out)
    with open(args.out.replace(".onnx", ".figures.json"), "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)


if __name__ == "__main__":
    main()
