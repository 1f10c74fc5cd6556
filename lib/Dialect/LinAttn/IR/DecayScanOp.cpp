//===- DecayScanOp.cpp - products of decays over a chunk ------------------===//

#include "TileBuilder.h"

#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

using namespace mlir;
using namespace linattn;

LogicalResult DecayScanOp::verify() {
  auto gate = cast<RankedTensorType>(getGate().getType());
  Type element = gate.getElementType();
  if (!gate.hasStaticShape() || gate.getRank() < 1 || gate.getRank() > 2 ||
      !(element.isF32() || element.isF64()) || gate.getNumElements() == 0)
    return emitOpError() << "(decay_scan_c1) the gate is [C nd] or [C nd, K], "
                            "static, f32 or f64, got "
                         << gate;
  int64_t decays = getDecays();
  if (decays < 1 || gate.getDimSize(0) % decays != 0)
    return emitOpError()
           << "(decay_scan_c2) decays is positive and divides the rows, "
           << gate.getDimSize(0) << ", got " << decays;
  bool whole = getSpan() == DecaySpan::StartToEnd;
  std::optional<ArrayRef<int64_t>> positions = getPositions();
  if (whole == (positions && !positions->empty()))
    return emitOpError() << "(decay_scan_c3) there are positions "
                            "unless the span is start_to_end";
  for (int64_t position : positions.value_or(ArrayRef<int64_t>()))
    if (position < 0 || position > decays)
      return emitOpError() << "(decay_scan_c3) positions lie in [0, " << decays
                           << "], got " << position;
  SmallVector<int64_t> shape;
  if (!whole)
    shape.push_back(getChunk() * positions->size());
  if (gate.getRank() == 2)
    shape.push_back(gate.getDimSize(1));
  auto want = RankedTensorType::get(shape, element);
  if (getResult().getType() != want || getInit().getType() != want)
    return emitOpError() << "(decay_scan_c4) outs and the result are " << want
                         << ", got " << getInit().getType() << " and "
                         << getResult().getType();
  return success();
}

/// Runs over the tokens, adding gates; an event takes the sum that stands when
/// the run comes to its position. From the start for sums up to an event, from
/// the end for sums behind it: no difference of sums is ever taken.
FailureOr<SmallVector<Value>> DecayScanOp::decomposeOperation(OpBuilder &b) {
  TileBuilder tile{b, getLoc()};
  Location loc = getLoc();
  auto gateType = cast<RankedTensorType>(getGate().getType());
  Type element = gateType.getElementType();
  int64_t chunk = getChunk(), decays = getDecays();
  bool isVector = isVectorDecay();
  bool reverse = getSpan() == DecaySpan::EventToEnd;
  Type sumType = element;
  if (isVector)
    sumType = VectorType::get({gateType.getDimSize(1)}, element);
  SmallVector<int64_t> positions(getPositions().value_or(ArrayRef<int64_t>()));
  int64_t events = positions.size();
  Value zero = tile.index(0);

  auto gateAt = [&](Value t, int64_t j) -> Value {
    Value row = arith::AddIOp::create(
        b, loc, arith::MulIOp::create(b, loc, t, tile.index(decays)),
        tile.index(j));
    if (isVector)
      return tile.readRow(getGate(), row, zero, gateType.getDimSize(1));
    return tensor::ExtractOp::create(b, loc, getGate(), row);
  };
  auto store = [&](Value sum, Value out, Value t, int64_t e) -> Value {
    Value factor = math::ExpOp::create(b, loc, sum);
    Value row = arith::AddIOp::create(
        b, loc, arith::MulIOp::create(b, loc, t, tile.index(events)),
        tile.index(e));
    if (isVector)
      return tile.writeRow(factor, out, row, zero);
    return tensor::InsertOp::create(b, loc, factor, out, row);
  };

  SmallVector<Value> carried = {tile.constant(sumType, 0), getInit()};
  SmallVector<Value> results = tile.loop(
      chunk, carried, reverse, [&](Value t, ValueRange args) {
        Value sum = args[0], out = args[1];
        for (int64_t step = 0; step <= decays; ++step) {
          int64_t position = reverse ? decays - step : step;
          for (int64_t e = 0; e < events; ++e)
            if (positions[e] == position)
              out = store(sum, out, t, e);
          if (step < decays)
            sum = arith::AddFOp::create(
                b, loc, sum, gateAt(t, reverse ? position - 1 : position));
        }
        return SmallVector<Value>{sum, out};
      });
  if (getSpan() != DecaySpan::StartToEnd)
    return SmallVector<Value>{results[1]};
  Value total = math::ExpOp::create(b, loc, results[0]);
  if (isVector)
    total = vector::TransferWriteOp::create(b, loc, total, getInit(), zero,
                                            ArrayRef<bool>{true})
                .getResult();
  else
    total = tensor::InsertOp::create(b, loc, total, getInit(), ValueRange{});
  return SmallVector<Value>{total};
}
