// Verified once, and then printed as text that does not parse.
func.func @f(%q: tensor<?x?x1x4xf32>) {
  "linattn.recurrence"(%q) <{operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>}> ({
  ^step(%qt: vector<4xf32>):
    "linattn.yield"() : () -> ()
  }) : (tensor<?x?x1x4xf32>) -> ()
  return
}
