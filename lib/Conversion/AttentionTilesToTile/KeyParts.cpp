//===- KeyParts.cpp - keys of a sequence in parts -------------------------===//

#include "KeyParts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace linattn::attention_to_tile;

Attribute KeyParts::countSlots(Builder b, bool isPacked) const {
  auto number = [&](StringRef name, int64_t value) {
    return b.getNamedAttr(name, b.getI64IntegerAttr(value));
  };
  auto text = [&](StringRef name, StringRef value) {
    return b.getNamedAttr(name, b.getStringAttr(value));
  };
  SmallVector<NamedAttribute> tiles = {text("of", "T"),
                                       number("divide", tokens)};
  SmallVector<NamedAttribute> parts = {text("of", "S"), number("divide", keys)};
  if (isPacked)
    tiles.push_back(text("plus", "N"));
  else
    parts.push_back(text("round", "up"));
  parts.push_back(b.getNamedAttr("plus", b.getDictionaryAttr(tiles)));
  Attribute slots = b.getDictionaryAttr(parts);
  if (isPacked)
    return slots;
  return b.getDictionaryAttr({b.getNamedAttr("of", slots), text("times", "N")});
}

namespace {
/// Arithmetic on indices.
struct Indices {
  OpBuilder &builder;
  Location loc;

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value add(Value a, Value b) {
    return arith::AddIOp::create(builder, loc, a, b);
  }
  Value divide(Value a, Value b) {
    return arith::DivUIOp::create(builder, loc, a, b);
  }
  Value divideUp(Value a, int64_t b) {
    return arith::CeilDivSIOp::create(builder, loc, a, constant(b));
  }
};
} // namespace

Value KeyParts::countSlots(OpBuilder &builder, Location loc, Value time,
                           Value keyTime) const {
  Indices x{builder, loc};
  return x.add(x.divideUp(keyTime, keys), x.divide(time, x.constant(tokens)));
}

Value KeyParts::firstSlot(OpBuilder &builder, Location loc, Value n,
                          Value token, Value key) const {
  Indices x{builder, loc};
  return x.add(x.add(x.divide(key, x.constant(keys)),
                     x.divide(token, x.constant(tokens))),
               n);
}

Value KeyParts::countTiles(OpBuilder &builder, Location loc,
                           Value count) const {
  return Indices{builder, loc}.divideUp(count, tokens);
}

Value KeyParts::countParts(OpBuilder &builder, Location loc, Value tiles,
                           Value keyCount) const {
  Indices x{builder, loc};
  Value one = x.constant(1);
  Value parts = x.divideUp(keyCount, keys);
  Value least = arith::MinSIOp::create(builder, loc, parts, one);
  Value each =
      x.divide(parts, arith::MaxSIOp::create(builder, loc, tiles, one));
  return arith::MaxSIOp::create(builder, loc, each, least);
}
