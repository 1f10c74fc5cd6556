//===- Stages.h - a function of several kernels -----------------*- C++ -*-===//
//
// A function whose recurrences, attentions and short convolutions feed each
// other is compiled one after another, each as a function of its own, and
// becomes one artifact: launches in order, and scratch buffers for what only
// later ones read. Convolutions may be computed by the kernel that reads them.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_LIB_COMPILE_STAGES_H
#define LINATTN_LIB_COMPILE_STAGES_H

#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/JSON.h"

namespace linattn {

/// One operation between arguments and results. A tensor of a stage is an
/// argument of the whole function or a result of an earlier stage, maybe in
/// another shape.
struct Stage {
  std::string name;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// By name of an argument: the tensor it stands for, and its type here.
  llvm::StringMap<std::pair<mlir::Value, mlir::RankedTensorType>> arguments;
  llvm::SmallVector<mlir::Value> results;
};

struct Stages {
  /// The whole function, whose values the stages refer to.
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  llvm::SmallVector<Stage> stages;
};

/// Cuts a function of several such operations; no stages if it has at most one.
/// A convolution that `isInFront` says so of is part of the stage that reads it
/// (linattn/Conversion/Fronts.h). Fails, with an error at the operation, for
/// what no launch can do.
mlir::FailureOr<Stages>
cutIntoStages(mlir::ModuleOp isolated, llvm::StringRef function,
              llvm::function_ref<bool(ShortConvOp)> isInFront);

/// The description of the whole from those of its stages (docs/Artifacts.md).
/// Sizes of one name are one size.
llvm::Expected<llvm::json::Object>
joinDescriptions(const Stages &stages,
                 llvm::ArrayRef<llvm::json::Object> descriptions);

} // namespace linattn

#endif // LINATTN_LIB_COMPILE_STAGES_H
