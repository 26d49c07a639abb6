"""
scripts/train/calibrate - takes the bias out of a no-reference scorer: its last two constants, a factor and an offset, are
replaced so that its scores follow a line that held-out pictures gave.

    python3 scripts/train/calibrate.py --model DIR/NAME.onnx --line DIR/NAME.line.json

The line comes from `scripts/train/evaluate.mjs --line`. Order is not changed. Needs python3-onnx and python3-numpy.
"""
import argparse
import json

import numpy as np
import onnx
from onnx import numpy_helper


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--line", required=True)
    args = parser.parse_args()
    with open(args.line, encoding="utf-8") as file:
        line = json.load(file)
    model = onnx.load(args.model)
    made = {name: node for node in model.graph.node for name in node.output}
    clip = made["score"]
    add = made[clip.input[0]]
    multiply = made[add.input[0]]
    if [clip.op_type, add.op_type, multiply.op_type] != ["Clip", "Add", "Mul"]:
        raise SystemExit(f"{args.model} does not end as scripts/train/nr writes it: Mul, Add, Clip.")

    def constant(node):
        return made[node.input[1]].attribute[0].t

    factor, offset = (float(numpy_helper.to_array(constant(node))) for node in (multiply, add))
    for node, value in ((multiply, factor * line["gain"]), (add, offset * line["gain"] + line["offset"])):
        constant(node).CopyFrom(numpy_helper.from_array(np.array(value, dtype=np.float32)))
    onnx.checker.check_model(model)
    onnx.save(model, args.model)
    print(f"{factor} * x + {offset} became {factor * line['gain']:.4f} * x + {offset * line['gain'] + line['offset']:.4f}")


if __name__ == "__main__":
    main()
