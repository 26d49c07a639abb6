"""
scripts/train/nr - trains a no-reference scorer: the luma of a distorted frame in, the VMAF it would get out.

    python3 scripts/train/nr.py --data DIR/measured --teacher vmaf --out model/tiny/NAME.onnx [--seed 7] [--epochs 30]

Data (DIR/measured.json, DIR/measured.gray) come from `scripts/train/measure.mjs --pictures`. Trains on crops of the pictures of
split `train`, keeps the best epoch on `val`, and prints figures for each source of `test`, from which nothing was
learned, beside those of a baseline: the same kind of head on statistics of blur and blockiness. Needs python3-torch and
python3-numpy.
"""
import argparse
import json

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from figures import by_source


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
        self.head = nn.Sequential(nn.Dropout(0.1), nn.Linear(192, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, luma):
        return self.raw(luma).clamp(0.0, 100.0)

    def raw(self, luma):
        """Without the clip."""
        fine = self.early((luma - 0.45) * 4.0)
        maps = self.late(fine)
        # Energies differ by orders of magnitude between scenes: their logarithms are what the head compares.
        pooled = [fine.mean((2, 3)), (fine * fine).mean((2, 3)), maps.mean((2, 3)), (maps * maps).mean((2, 3))]
        return (self.head((torch.cat(pooled, 1) + 1e-3).log()) * 30.0 + 60.0).squeeze(1)


class Baseline(nn.Module):
    """Blur and blockiness statistics, shape [N, 6], to scores."""

    def __init__(self, mean, std):
        super().__init__()
        self.mean, self.std = mean, std
        self.head = nn.Sequential(nn.Linear(6, 48), nn.ReLU(), nn.Linear(48, 1))

    def raw(self, statistics):
        return (self.head((statistics - self.mean) / self.std) * 30.0 + 60.0).squeeze(1)


def statistics(luma):
    """Logarithms of gradient energies, Laplacian energy and variance, and how much steeper steps are on the 8x8 grid."""
    picture = luma.astype(np.float32)
    dx, dy = np.abs(np.diff(picture, axis=1)), np.abs(np.diff(picture, axis=0))
    laplacian = picture[1:-1, 2:] + picture[1:-1, :-2] + picture[2:, 1:-1] + picture[:-2, 1:-1] - 4 * picture[1:-1, 1:-1]
    def grid(steps):
        return steps[7::8].mean() / (steps.mean() + 0.1)
    return np.array(
        [
            np.log((dx**2).mean() + 0.1), np.log((dy**2).mean() + 0.1), np.log((laplacian**2).mean() + 0.1),
            np.log(picture.var() + 1), grid(dx.T), grid(dy),
        ],
        dtype=np.float32,
    )


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

    def whole(model, index):
        luma = torch.from_numpy(np.ascontiguousarray(pictures[index])).float()[None, None] / 255
        with torch.no_grad():
            return float(model(luma))

    model = Scorer()

    def batches():
        for part in np.array_split(rng.permutation(train), max(1, len(train) // 32)):
            parts = np.stack([crop(pictures[i], args.crop, rng) for i in part])
            yield torch.from_numpy(parts)[:, None], torch.tensor(scores[part], dtype=torch.float32)

    def validate():
        return float(np.sqrt(np.mean([(whole(model, i) - scores[i]) ** 2 for i in val[::3]])))

    fit(model, batches, validate, args.epochs, 4e-3)
    predicted = np.array([whole(model, i) for i in range(len(pictures))])

    facts = torch.from_numpy(np.stack([statistics(picture) for picture in pictures]))
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
    with open(args.out.replace(".onnx", ".figures.json"), "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)


if __name__ == "__main__":
    main()
