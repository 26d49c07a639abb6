"""
training/fr - trains a full-reference regressor: a model's features in, its score out, a frame a row.

    python3 training/fr.py --data DIR/measured.json --teacher KEY --out DIR/NAME.onnx [--before NAME.onnx] [--seed 7]

With --before also the figures of an earlier model of this kind. Data come from training/measure.mjs. The scaler is the first two nodes of the graph, the clip to 0...100 its last.
Trains on the rows of split `train`, stops at the best epoch on `val`, and prints figures for each source of `test`, from
which nothing was learned, and for each kind of damage. Needs python3-torch, python3-onnx and python3-numpy.
"""
import argparse
import json

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import nn
from torch.nn import functional

from figures import by_split, figures, worst


class Regressor(nn.Module):
    """Rows of features, shape [N, K], to scores, shape [N]."""

    def __init__(self, mean, std, width, missing=None):
        """missing: places of chroma and of detail, and the parameter by which the teacher fills in the one by the other."""
        super().__init__()
        self.missing = missing
        if missing:
            self.register_buffer("chroma", functional.one_hot(torch.tensor(missing[0]), len(mean)).float())
        self.register_buffer("mean", mean)
        self.register_buffer("std", std)
        self.layers = nn.Sequential(
            nn.Linear(len(mean), width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1)
        )

    def forward(self, features):
        return self.raw(features).clamp(0.0, 100.0)

    def raw(self, features):
        """Without the clip, whose gradient is zero beyond it."""
        return (self.layers((self.filled(features) - self.mean) / self.std) * 50.0 + 50.0).squeeze(1)

    def filled(self, features):
        """VMAF v1 takes a chroma distortion of exactly 0 for missing: a step, which no perceptron would learn."""
        if not self.missing:
            return features
        place, detail, parameter = self.missing
        present = (features[:, place : place + 1] * 1e30).clamp(0.0, 1.0)
        guess = (1.0 - features[:, detail : detail + 1]) * parameter
        return features + (1.0 - present) * guess * self.chroma


def earlier(path, features):
    """Scores by a model that an earlier run of this script wrote."""
    nodes = onnx.load(path).graph
    weights = {item.name: numpy_helper.to_array(item) for item in nodes.initializer}
    model = Regressor(torch.from_numpy(weights["mean"].copy()), torch.from_numpy(weights["std"].copy()), 48)
    model.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in weights.items()}, strict=True)
    with torch.no_grad():
        return model.eval()(features).numpy().astype(np.float64)


def damages(sources, encodes):
    """What was done to each row: sources in colour are those of which luma was damaged alone."""
    colour = set(sources[np.char.startswith(encodes, "luma-")])
    apart = {"luma": "colour, luma alone", "chroma": "colour, chroma alone"}
    return np.array([
        apart.get(encode.split("-")[0], "colour" if source in colour else "grey")
        for source, encode in zip(sources, encodes)
    ])


def by_damage(predicted, wanted, kinds):
    """Figures and the largest error of each kind of damage."""
    rows = {kind: kinds == kind for kind in sorted(set(kinds))}
    return {
        kind: {**figures(predicted[at], wanted[at]), "worst": worst(predicted[at], wanted[at])}
        for kind, at in rows.items()
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--teacher", default="vmaf", help="key of a model in the data")
    parser.add_argument("--out", required=True)
    parser.add_argument("--before", help="a model of the same teacher, to be beaten")
    parser.add_argument("--missing-chroma", type=float, help="the teacher's chroma_correction_parameter")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--width", type=int, default=48)
    parser.add_argument("--epochs", type=int, default=120)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)

    with open(args.data, encoding="utf-8") as file:
        data = json.load(file)
    teacher = next(model for model in data["models"] if model["key"] == args.teacher)
    places = [4 + data["columns"].index(name) for name in [*teacher["features"], args.teacher]]
    encodes = np.array([row[1] for row in data["rows"]])
    rows = [[row[0], row[2], *(row[k] for k in places)] for row in data["rows"]]
    rows += [["imagined", "train", *values] for values in teacher["imagined"]]
    sources = np.array([row[0] for row in rows])
    splits = np.array([row[1] for row in rows])
    numbers = np.array([row[2:] for row in rows], dtype=np.float64)
    measured = sources != "imagined"
    features = torch.tensor(numbers[:, :-1], dtype=torch.float32)
    scores = torch.tensor(numbers[:, -1], dtype=torch.float32)
    train, val = (torch.tensor(np.flatnonzero(splits == name)) for name in ("train", "val"))

    missing = None
    if args.missing_chroma is not None:
        parts = ("speed_chroma", "adm3")
        missing = [next(i for i, name in enumerate(teacher["features"]) if part in name) for part in parts]
        missing.append(args.missing_chroma)
    of_encodes = torch.tensor(np.flatnonzero((splits == "train") & measured))
    plain = torch.zeros(features.shape[1]), torch.ones(features.shape[1])
    seen = Regressor(*plain, args.width, missing).filled(features[of_encodes])
    model = Regressor(seen.mean(0), seen.std(0), args.width, missing)
    optimiser = torch.optim.Adam(model.parameters(), lr=4e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, args.epochs, eta_min=2e-5)
    best, kept = float("inf"), None
    for epoch in range(args.epochs):
        model.train()
        for batch in train[torch.randperm(len(train))].split(256):
            raw = model.raw(features[batch])
            wanted = scores[batch]
            # Beyond the clip only the side counts.
            beyond = ((wanted >= 100) & (raw > 100)) | ((wanted <= 0) & (raw < 0))
            loss = torch.where(beyond, torch.zeros_like(raw), (raw - wanted) ** 2).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        schedule.step()
        model.eval()
        with torch.no_grad():
            error = float(((model(features[val]) - scores[val]) ** 2).mean().sqrt())
        if error < best:
            best, kept = error, {key: value.clone() for key, value in model.state_dict().items()}
        if epoch % 20 == 19:
            print(f"epoch {epoch + 1}: val RMSE {error:.3f}, best {best:.3f}", flush=True)
    model.load_state_dict(kept)
    model.eval()
    with torch.no_grad():
        predicted = model(features).numpy().astype(np.float64)
    result = by_split(predicted[measured], numbers[measured, -1], splits[measured], sources[measured])
    test = splits[measured] == "test"
    wanted, kinds = numbers[measured, -1][test], damages(sources[measured], encodes)[test]
    result["damage"] = by_damage(predicted[measured][test], wanted, kinds)
    if args.before:
        result["before"] = by_damage(earlier(args.before, features)[measured][test], wanted, kinds)
    print(json.dumps(result, indent=1))
    torch.onnx.export(
        model, features[:2], args.out, input_names=["features"], output_names=["score"], opset_version=13,
        dynamic_axes={"features": {0: "N"}, "score": {0: "N"}},
    )
    with open(args.out.replace(".onnx", ".figures.json"), "w", encoding="utf-8") as file:
        facts = {"corpus": "colour"} if missing else {}
        facts |= {"kind": "fr", "teacher": teacher["source"], "inputs": teacher["inputs"], "seed": args.seed}
        json.dump({**facts, **result}, file, indent=1)


if __name__ == "__main__":
    main()
