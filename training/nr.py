"""
training/nr - trains a no-reference scorer: the luma of a distorted frame in, the VMAF it would get out.

    python3 training/nr.py --data DIR/measured… --out NAME.onnx [--teacher vmaf] [--seed 7] [--cross]

Data (DIR/measured.json, DIR/measured.gray) come from `training/measure.mjs --pictures`, of training/corpus and of
training/films. Pictures of the splits `train` and `val` alone are looked at, one or two an encode. With --cross it
trains nothing to keep, but says what figures sources get that were left out: kinds of scenes as a whole. Writes the
model and, beside it as NAME.baseline.onnx, what it must beat: a head of the same kind on six statistics of blur and
blockiness. Figures come from training/evaluate.mjs. Needs python3-torch, python3-onnx and python3-numpy.
"""
import argparse
import json
import os

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

from figures import by_source, figures
from measures import Measures, statistics

# Pictures of an encode that are looked at, and stretches of cells of each besides the whole.
PICTURES, STRETCHES = 2, 4
FOLDS = 4


def summary(cells):
    """Mean and deviation of each measure over cells, shape [N, places, H, W] to [N, 2 * places]."""
    mean = cells.mean((2, 3))
    spread = ((cells * cells).mean((2, 3)) - mean * mean).clamp(min=0.0)
    return torch.cat([mean, (spread + 1e-4).sqrt()], 1)


def look(path, teacher):
    """What there is to learn from: facts [n, 1 + STRETCHES, F] and [n, 1, 6], scores, sources. Kept beside the data."""
    kept = f"{path}.facts.npz"
    if os.path.exists(kept) and os.path.getmtime(kept) > os.path.getmtime(f"{path}.json"):
        return dict(np.load(kept))
    with open(f"{path}.json", encoding="utf-8") as file:
        listed = json.load(file)["pictures"]
    memory = np.memmap(f"{path}.gray", dtype=np.uint8, mode="r")
    encodes = {}
    for picture in listed:
        if picture["split"] in ("train", "val"):
            encodes.setdefault((picture["source"], picture["encode"]), []).append(picture)
    rng = np.random.default_rng(1)
    chosen = [encode[i] for encode in encodes.values() for i in rng.permutation(len(encode))[:PICTURES]]
    measures = Measures()
    facts, simple = [], []
    for picture in chosen:
        size = picture["height"], picture["width"]
        luma = np.array(memory[picture["offset"] : picture["offset"] + size[0] * size[1]]).reshape(1, 1, *size)
        with torch.no_grad():
            luma = torch.from_numpy(luma).float() / 255
            cells, grid = measures(luma)
            simple.append(statistics(luma).numpy())
            # Stretches of cells, row after row, are like other pictures of the same quality.
            line = cells.flatten(2)[..., None]
            parts = [line]
            for _ in range(STRETCHES):
                long = max(6, int(line.shape[2] * rng.uniform(0.3, 0.8)))
                start = int(rng.integers(0, max(1, line.shape[2] - long + 1)))
                parts.append(line[:, :, start : start + long])
            facts.append(torch.cat([torch.cat([summary(part), grid], 1) for part in parts]).numpy())
    found = {
        "facts": np.stack(facts),
        "simple": np.stack(simple),
        "scores": np.array([picture[teacher] for picture in chosen], dtype=np.float32),
        "sources": np.array([picture["source"] for picture in chosen]),
    }
    np.savez(kept, **found)
    return found


class Head(nn.Module):
    """Facts, shape [N, F], to scores, shape [N]: the mean of several perceptrons."""

    def __init__(self, mean, deviation, hidden, drop, count):
        super().__init__()
        self.register_buffer("mean", mean)
        self.register_buffer("scale", 1.0 / deviation)
        width = len(mean)
        self.members = nn.ModuleList(
            nn.Sequential(
                nn.Dropout(drop), nn.Linear(width, hidden), nn.ReLU(), nn.Dropout(drop), nn.Linear(hidden, 1)
            )
            for _ in range(count)
        )

    def scaled(self, facts):
        """Nothing is further out than five deviations."""
        return ((facts - self.mean) * self.scale).clamp(-5.0, 5.0)

    def forward(self, facts):
        scaled = self.scaled(facts)
        return sum(member(scaled) for member in self.members).squeeze(1) / len(self.members) * 20.0 + 75.0


def fit(data, rows, name, seed, hidden, drop, count, decay, rate, epochs):
    """Trains the members of a head, each on its own."""
    facts, scores, sources = data[name][rows], torch.from_numpy(data["scores"][rows]), data["sources"][rows]
    whole = torch.from_numpy(facts[:, 0])
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    head = Head(whole.mean(0), whole.std(0) + 1e-3, hidden, drop, count)
    inputs = head.scaled(torch.from_numpy(facts))
    # Sources with many pictures count more, but not as much as they have more.
    _, source, pictures = np.unique(sources, return_inverse=True, return_counts=True)
    weight = torch.from_numpy(pictures[source] ** -0.5).float()
    weight /= weight.mean()
    batch = 128
    for member in head.members:
        optimiser = torch.optim.AdamW(member.parameters(), lr=rate, weight_decay=decay)
        steps = epochs * (len(scores) // batch)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, total_steps=steps)
        for _ in range(epochs):
            order = rng.permutation(len(scores))
            for part in np.split(order, range(batch, len(order), batch))[: len(scores) // batch]:
                stretch = rng.integers(0, inputs.shape[1], len(part))
                error = member(inputs[part, stretch]).squeeze(1) - (scores[part] - 75.0) / 20.0
                loss = (weight[part] * error * error).mean()
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
                schedule.step()
    return head.eval()


MODEL = {"name": "facts", "hidden": 64, "drop": 0.3, "count": 3, "decay": 0.1, "rate": 3e-3, "epochs": 40}
BASELINE = {"name": "simple", "hidden": 48, "drop": 0.0, "count": 1, "decay": 2e-3, "rate": 6e-3, "epochs": 60}


class Scorer(nn.Module):
    """Luma in 0...1, shape [N, 1, H, W] with H and W from 64, to scores 0...100, shape [N]."""

    def __init__(self, head, simple):
        super().__init__()
        self.head = head
        self.measures = None if simple else Measures()

    def forward(self, luma):
        if self.measures is None:
            return self.head(statistics(luma)).clamp(0.0, 100.0)
        cells, grid = self.measures(luma)
        return self.head(torch.cat([summary(cells), grid], 1)).clamp(0.0, 100.0)


def store_halves(path):
    """Stores large weights with 16 bits, which the graph widens again: half the file."""
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


def export(model, path):
    axes = {"luma": {0: "N", 2: "H", 3: "W"}, "score": {0: "N"}}
    torch.onnx.export(
        model, torch.zeros(1, 1, 360, 640), path, input_names=["luma"], output_names=["score"], opset_version=13,
        dynamic_axes=axes,
    )
    store_halves(path)


def kind(source):
    """What is left out together: scenes of a kind, or takes of a clip."""
    return source.rsplit("-", 1)[0]


def cross(data, seed, options):
    """Predictions for each picture by a head that saw nothing of its kind."""
    kinds = sorted({kind(source) for source in data["sources"]})
    folds = np.array([kinds.index(kind(source)) % FOLDS for source in data["sources"]])
    predicted = np.zeros(len(folds))
    for fold in range(FOLDS):
        out = folds == fold
        head = fit(data, np.flatnonzero(~out), seed=seed, **options)
        with torch.no_grad():
            predicted[out] = head(torch.from_numpy(data[options["name"]][out, 0])).clamp(0, 100).numpy()
    return predicted


def say_cross(data, seed, options):
    predicted = cross(data, seed, options)
    wanted = data["scores"].astype(np.float64)
    each = by_source(predicted, wanted, data["sources"]).values()
    means = {key: round(float(np.mean([row[key] or 0 for row in each])), 3) for key in ("plcc", "srocc", "rmse")}
    print(json.dumps({**options, "pooled": figures(predicted, wanted), "mean of sources": means}), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True, nargs="+")
    parser.add_argument("--teacher", default="vmaf", help="key of a model in the data")
    parser.add_argument("--out", required=True)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--cross", action="store_true", help="only cross-validate")
    args = parser.parse_args()
    torch.set_num_threads(1)
    parts = [look(path, args.teacher) for path in args.data]
    data = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
    print(f"{len(data['scores'])} pictures of {len(set(data['sources']))} sources", flush=True)
    if args.cross:
        for options in (BASELINE, MODEL):
            say_cross(data, args.seed, options)
        return
    every = np.arange(len(data["scores"]))
    export(Scorer(fit(data, every, seed=args.seed, **MODEL), False).eval(), args.out)
    simple = Scorer(fit(data, every, seed=args.seed, **BASELINE), True).eval()
    export(simple, args.out.replace(".onnx", ".baseline.onnx"))


if __name__ == "__main__":
    main()
