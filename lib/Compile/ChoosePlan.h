//===- ChoosePlan.h - what plans are chosen by ------------------*- C++ -*-===//

#ifndef LINATTN_LIB_COMPILE_CHOOSEPLAN_H
#define LINATTN_LIB_COMPILE_CHOOSEPLAN_H

#include "linattn/Compile/CostModel.h"

#include "mlir/IR/BuiltinOps.h"

namespace linattn {

/// A recurrence that is to be planned, and what is known of it.
struct PlanProblem {
  /// The plans without a model, from fast to small.
  llvm::ArrayRef<llvm::StringLiteral> usual;
  /// An option that all of them begin with, if any.
  std::string chunk;
  /// Nothing where there is no chunk form.
  std::optional<ChunkWork> work;
  CallSizes sizes;
  CostDevice device;

  bool knowsSizes() const { return sizes.sequences || sizes.tokens; }
};

/// Where a plan is given (`isPlanned`), chunks have as many tokens as the
/// options say.
PlanProblem findPlanProblem(mlir::ModuleOp isolated,
                            const KernelOptions &options,
                            bool isPlanned = false);

/// A plan as --plan has it.
std::string joinPlan(std::initializer_list<llvm::StringRef> parts);

/// A plan, and what it leaves open as another one has it.
std::string completePlan(llvm::StringRef plan, llvm::StringRef other);

/// The plans that are tried for a function, in this order; the first that fits
/// the device is taken. A plan that is given for a recurrence stands alone.
std::vector<std::string> listPlans(mlir::ModuleOp isolated,
                                   const KernelOptions &options);

/// Fails, with the reasons as diagnostics, if there is no kernel on tiles.
mlir::LogicalResult checkTiles(mlir::ModuleOp isolated,
                               const KernelOptions &options);

} // namespace linattn

#endif // LINATTN_LIB_COMPILE_CHOOSEPLAN_H
