//===- RoleEvents.h - what roles do with channels, step by step -*- C++ -*-===//

#ifndef LINATTN_LIB_DIALECT_TILE_IR_ROLEEVENTS_H
#define LINATTN_LIB_DIALECT_TILE_IR_ROLEEVENTS_H

#include "linattn/Dialect/Tile/IR/Tile.h"

namespace linattn::tile {

/// One channel operation of a role, at a step that is a number.
struct RoleEvent {
  enum Kind { Acquire, Commit, Wait, Release, Look };
  Kind kind;
  mlir::Operation *op;
  ChannelCreateOp channel;
  int64_t step;
};
using RoleEvents = llvm::SmallVector<RoleEvent>;

/// Runs the control flow of a role for `chunks` chunks in the block of this
/// rank and lists its channel operations. Fails, with a message, where a step
/// or a condition around one depends on anything else.
mlir::FailureOr<RoleEvents> listEvents(RoleOp role, int64_t chunks,
                                       int64_t rank);

/// Whether an operation or one nested in it uses a channel.
bool usesChannels(mlir::Operation *op);

} // namespace linattn::tile

#endif // LINATTN_LIB_DIALECT_TILE_IR_ROLEEVENTS_H
