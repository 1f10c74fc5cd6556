//===- FusedConvolutions.h - convolutions in front of kernels ---*- C++ -*-===//
//
// Which convolutions of a function are computed by the kernel of the recurrence
// that reads them, and which by a launch of their own:
//
//   token-serial   all that can be, if the calls are told to be a few tokens of
//                  few heads: a call saves the launches. Where many heads wait
//                  for each other, the convolution before each of them takes
//                  longer than the launches did
//   in chunks      none
//
// A plan may say something else (fuse-conv); docs/Rationale.md has the figures.
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
  FrontChoice(std::optional<FuseConv> wanted, bool serial, CallSizes sizes)
      : wanted(wanted), serial(serial), sizes(sizes) {}

  bool take(ShortConvOp conv);
  /// Fails, with an error at a convolution, if the plan asks for fronts and
  /// none can be one.
  mlir::LogicalResult check();
  /// Whether the plan asks for fronts, and there was no convolution at all.
  bool asksForNone() const {
    return wanted && *wanted != FuseConv::None && !anyTaken && !refused;
  }
  /// The recurrences turned out to have no chunk form; false if that changes
  /// nothing.
  bool setSerial();

private:
  std::string whyNot(ShortConvOp conv) const;
  /// Whether the sizes told say that launches are what a call takes.
  bool isFew(ShortConvOp conv) const;

  std::optional<FuseConv> wanted;
  bool serial;
  CallSizes sizes;
  bool anyTaken = false, anyFew = false;
  ShortConvOp refused;
  std::string reason;
};

} // namespace linattn

#endif // LINATTN_LIB_COMPILE_FUSEDCONVOLUTIONS_H
