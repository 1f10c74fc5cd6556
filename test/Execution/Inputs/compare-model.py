"""The rounding model in the report of one run is the error of the other."""

import json
import sys

ours, model = (json.load(open(path))["verify"] for path in sys.argv[1:3])
assert len(ours) == len(model) == 2
for a, b in zip(ours, model):
    assert a["rounding_model"]["relative_rms"] == b["relative_rms"], (a, b)
    assert a["rounding_model"]["worst"] == b["worst"]["relative_rms"], (a, b)
    assert 0 < b["relative_rms"] < 1e-2
