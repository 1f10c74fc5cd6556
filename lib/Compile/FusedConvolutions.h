//===- FusedConvolutions.h - convolutions in front of kernels ---*- C++ -*-===//
//
// Which convolutions of a function are computed by the kernel of the recurrence
// that reads them, and which by a launch of their own:
//
//   token-serial   all that can be: blocks that share a head's keys compute
//                  their convolution again, which is nothing beside the states
//                  that they move, and a call saves launches
//   in chunks      none: see docs/Rationale.md for what was measured
//
// A plan may say something else (fuse-conv).
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_LIB_COMPILE_FUSEDCONVOLUTIONS_H
#define LINATTN_LIB_COMPILE_FUSEDCONVOLUTIONS_H

#include "linattn/Compile/Compile.h"
#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

namespace linattn {

/// Chooses, one convolution after another.
class FrontChoice {
public:
  /// `wanted` as the plan says.
  FrontChoice(std::optional<FuseConv> wanted, bool serial)
      : wanted(wanted), serial(serial) {}

  bool take(ShortConvOp conv);
  /// Fails, with an error at a convolution, if the plan asks for fronts and
  /// none can be one.
  mlir::LogicalResult check();
  /// The recurrences turned out to have no chunk form; false if that changes
  /// nothing.
  bool setSerial();

private:
  std::string whyNot(ShortConvOp conv) const;

  std::optional<FuseConv> wanted;
  bool serial;
  bool anyTaken = false, anyPossible = false;
  ShortConvOp refused;
  std::string reason;
};

} // namespace linattn

#endif // LINATTN_LIB_COMPILE_FUSEDCONVOLUTIONS_H
