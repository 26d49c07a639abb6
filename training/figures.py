"""training/figures - how well predictions agree with what was wanted."""
import numpy as np


def ranks(values):
    """Ranks from 1; equal values share the mean of theirs."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(count) - (count - 1) / 2)[place]


def correlation(a, b):
    """Pearson's; None where one of them does not vary."""
    if len(a) < 2 or np.std(a) == 0 or np.std(b) == 0:
        return None
    return float(np.corrcoef(a, b)[0, 1])


def figures(predicted, wanted):
    """PLCC, SROCC and RMSE, rounded to what is worth saying."""
    plcc, srocc = correlation(predicted, wanted), correlation(ranks(predicted), ranks(wanted))
    return {
        "n": len(wanted),
        "plcc": plcc and round(plcc, 5),
        "srocc": srocc and round(srocc, 5),
        "rmse": round(float(np.sqrt(np.mean((predicted - wanted) ** 2))), 4),
    }


def worst(predicted, wanted):
    """The largest difference of a frame."""
    return round(float(np.abs(predicted - wanted).max()), 2)


def by_source(predicted, wanted, sources):
    """Figures of each source."""
    return {source: figures(predicted[sources == source], wanted[sources == source]) for source in sorted(set(sources))}


def by_split(predicted, wanted, splits, sources):
    """Figures of each split, and of each source of `test`."""
    result = {"split": {}}
    for split in ("train", "val", "test"):
        rows = splits == split
        if rows.any():
            result["split"][split] = figures(predicted[rows], wanted[rows])
    rows = splits == "test"
    result["test"] = by_source(predicted[rows], wanted[rows], sources[rows])
    return result
