"""Compiled kernels as linattn-compile describes them (NAME.json): which arrays a
kernel takes, the shapes of its results, its parameters and its grid. Knows no
device; arrays are anything with `shape` and strides in elements."""

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Array:
    """An array on some device."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str


class Kernel:
    """The description in a file NAME.json."""

    def __init__(self, path):
        self.path = Path(path)
        self.description = json.loads(self.path.read_text())
        (self.launch,) = self.description["launches"]
        self.name = self.launch["kernel"]
        self.arguments = self.description["arguments"]
        self.results = self.description["results"]

    def code(self):
        """The cubin, or the PTX if it was not assembled."""
        name = self.description.get("cubin", self.description["ptx"])
        return (self.path.parent / name).read_bytes()

    def check(self, arrays):
        """Raises ValueError if an array does not fit its description."""
        for item in (*self.arguments, *self.own_results()):
            name = item["name"]
            if name not in arrays:
                if item["role"] == "unused":
                    continue
                raise ValueError(f"no array '{name}'")
            array = arrays[name]
            if array.dtype != item["dtype"]:
                raise ValueError(f"'{name}' is {item['dtype']}, got {array.dtype}")
            if len(array.shape) != len(item["shape"]):
                raise ValueError(
                    f"'{name}' has {len(item['shape'])} dimensions, got {array.shape}"
                )
            for i, (want, rule) in enumerate(zip(item["shape"], item["strides"])):
                if isinstance(want, int) and array.shape[i] != want:
                    raise ValueError(
                        f"dimension {i} of '{name}' is {want}, got {array.shape[i]}"
                    )
                if rule != "free" and array.strides[i] != rule and array.shape[i] > 1:
                    raise ValueError(
                        f"stride {i} of '{name}' is {rule}, got {array.strides[i]}"
                    )

    def own_results(self):
        """Results that are not an argument updated in place."""
        return [r for r in self.results if "in_place" not in r]

    def size(self, name, arrays):
        """T, N, or another named dimension of the arguments."""
        place = self.description["sizes"].get(name)
        if place:
            shape = arrays[place["tensor"]].shape
            return shape[place["dimension"]] + place.get("plus", 0)
        for item in self.arguments:
            if name in item["shape"]:
                return arrays[item["name"]].shape[item["shape"].index(name)]
        raise ValueError(f"no argument has the size '{name}'")

    def evaluate(self, dim, arrays):
        """A number, a name, or {of, times, divide, round, plus}."""
        if isinstance(dim, int):
            return dim
        if isinstance(dim, str):
            return self.size(dim, arrays)
        size = self.evaluate(dim["of"], arrays) * self.evaluate(dim.get("times", 1), arrays)
        if "divide" in dim:
            up = dim["divide"] - 1 if dim["round"] == "up" else 0
            size = (size + up) // dim["divide"]
        return size + self.evaluate(dim.get("plus", 0), arrays)

    def result_shapes(self, arrays):
        """Name, dtype and shape of each result that needs memory of its own."""
        return [
            (r["name"], r["dtype"], tuple(self.evaluate(d, arrays) for d in r["shape"]))
            for r in self.own_results()
        ]

    def parameters(self, arrays):
        """The kernel's parameters in order, 64 bits each."""
        self.check(arrays)
        values = []
        for item in self.launch["parameters"]:
            if item["kind"] == "pointer":
                values.append(arrays[item["tensor"]].address)
            elif item["kind"] == "stride":
                values.append(arrays[item["tensor"]].strides[item["dimension"]])
            else:
                values.append(self.size(item["size"], arrays))
        return values

    def grid(self, arrays):
        (blocks,) = (self.evaluate(size, arrays) for size in self.launch["grid"])
        if blocks >= 2**31:
            raise ValueError(f"a grid has fewer than 2^31 blocks, got {blocks}")
        return blocks

    def block(self):
        return self.launch["block"][0]
