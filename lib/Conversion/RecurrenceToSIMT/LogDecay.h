//===- LogDecay.h - the factor of a scalar log decay ------------*- C++ -*-===//

#ifndef LINATTN_CONVERSION_RECURRENCETOSIMT_LOGDECAY_H
#define LINATTN_CONVERSION_RECURRENCETOSIMT_LOGDECAY_H

#include "../Common/KernelCode.h"

namespace linattn::simt {

/// e^g in f32 and what rounding took from it, such that the product over many
/// tokens does not drift: what is lost goes to the next factor. A gate that is
/// the same for every token would otherwise err the same way each time, 1e-5
/// after a thousand. Only factors in [1/2, 1] last long enough to need it.
struct LogDecay {
  mlir::Value factor;
  /// e^g - factor.
  mlir::Value rest;
  /// Whether e^g is in [1/2, 1].
  mlir::Value lasting;
  /// e^g where it is not, and factor and rest mean nothing; null: they are e^g
  /// and 0 there.
  mlir::Value otherwise;
};

/// Everything that is known of a token's gate alone.
LogDecay emitLogDecay(KernelCode &code, mlir::Value gate);

/// The same without `otherwise`.
LogDecay emitJoined(KernelCode &code, const LogDecay &decay);

/// The factor with what those before it have lost, and `carry` for the next.
mlir::Value emitCompensated(KernelCode &code, const LogDecay &decay,
                            mlir::Value &carry);

} // namespace linattn::simt

#endif // LINATTN_CONVERSION_RECURRENCETOSIMT_LOGDECAY_H
