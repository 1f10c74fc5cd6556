//===- KernelSignature.h - parameters of a kernel ---------------*- C++ -*-===//
//
// Which tensors of a function become parameters of its kernel, in which order,
// and the description of all of it that a launcher needs.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_CONVERSION_COMMON_KERNELSIGNATURE_H
#define LINATTN_CONVERSION_COMMON_KERNELSIGNATURE_H

#include "SequenceOp.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace linattn {

/// A tensor that the kernel takes: a pointer, and a stride for each dimension
/// but a contiguous inner one.
struct TensorParameter {
  std::string name;
  mlir::RankedTensorType type;
  bool contiguousInner;
  bool written;

  unsigned numStrides() const { return type.getRank() - contiguousInner; }
  /// As an argument: strides of the caller, but a contiguous inner dimension.
  mlir::MemRefType getMemRefType() const;
};

/// What an argument has that no other names and nobody writes.
mlir::DictionaryAttr readOnlyAttrs(mlir::Builder &builder);

/// A launch of a kernel: its grid is a size as docs/Artifacts.md has them.
struct KernelLaunch {
  std::string kernel;
  mlir::Attribute grid;
  int64_t threads;
};

/// A scratch buffer between launches.
struct Workspace {
  std::string name;
  mlir::MemRefType type;
  /// What its dynamic first dimension is.
  mlir::Attribute rows;
};

/// How the kernels of a function are launched, beside their parameters.
struct KernelDescription {
  /// For people: a name, and what was chosen.
  mlir::DictionaryAttr plan;
  llvm::SmallVector<KernelLaunch> launches;
  llvm::SmallVector<Workspace> workspace;
  /// Bytes that the address and the free strides of a parameter are multiples
  /// of, where that is more than an element.
  llvm::DenseMap<unsigned, int64_t> alignments;
};

/// A function that is one recurrence, its chunk form, one attention or one
/// short convolution between its arguments and its results. In front of a
/// recurrence short convolutions may stand (Fronts.h), which its kernel
/// computes: their operands are parameters, and the windows that remain
/// results.
class KernelSignature {
public:
  /// Refuses, with an error at the operation, functions of another form.
  static mlir::FailureOr<KernelSignature> get(mlir::func::FuncOp func);

  SequenceOp getOp() const { return op; }
  llvm::ArrayRef<TensorParameter> getTensors() const { return tensors; }
  /// The parameter that holds an operand; none for a constant state.
  std::optional<unsigned> getOperand(mlir::Value operand) const {
    auto it = operands.find(operand);
    return it == operands.end() ? std::nullopt : std::optional(it->second);
  }
  /// What a state without a parameter begins with.
  mlir::FloatAttr getConstant(mlir::Value operand) const {
    return constants.lookup(operand);
  }
  /// Where a result of the recurrence goes: nowhere, or to some parameters.
  llvm::ArrayRef<unsigned> getResult(unsigned number) const {
    return results[number];
  }

  /// The convolutions in front, in the order of the function.
  llvm::ArrayRef<ShortConvOp> getFronts() const { return fronts; }
  /// Where the window that remains of one goes.
  llvm::ArrayRef<unsigned> getFinalWindow(ShortConvOp front) const;

  /// The description of the kernel: the plan, arguments, results, and its
  /// launch (docs/Artifacts.md).
  mlir::DictionaryAttr describe(const KernelDescription &description) const;

private:
  mlir::LogicalResult findOperations();
  mlir::LogicalResult addOperands();
  mlir::LogicalResult addResults();
  /// What the operation and the convolutions in front read.
  llvm::SmallVector<mlir::Value> getInputs() const;
  bool isToken(mlir::Value argument) const;
  bool isWindow(mlir::Value argument) const;
  bool isInnerContiguous(mlir::Value argument) const;
  /// The argument whose leading dimensions are those of all tokens.
  mlir::Value getLeadingToken() const;
  mlir::ArrayAttr describeWindowShape(ShortConvOp front) const;
  mlir::Attribute describeDim(mlir::Value argument, int64_t dim) const;
  mlir::ArrayAttr describeShape(mlir::Value argument) const;
  mlir::ArrayAttr describeResultShape(unsigned number) const;
  mlir::ArrayAttr describeStrides(mlir::RankedTensorType type,
                                  bool contiguousInner) const;
  llvm::StringRef roleOf(mlir::Value argument) const;
  std::string nameOf(mlir::BlockArgument argument) const;

  // Handles: their constness says nothing about what they point to.
  mutable mlir::func::FuncOp func;
  SequenceOp op;
  llvm::SmallVector<TensorParameter> tensors;
  llvm::DenseMap<mlir::Value, unsigned> operands;
  llvm::DenseMap<mlir::Value, mlir::FloatAttr> constants;
  llvm::SmallVector<llvm::SmallVector<unsigned, 1>> results;
  llvm::SmallVector<ShortConvOp> fronts;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<unsigned, 1>> windows;
};

/// Lowers each function that has a body to its kernels, and marks the module as
/// one that holds kernels.
mlir::LogicalResult lowerToKernels(
    mlir::ModuleOp module,
    llvm::function_ref<mlir::LogicalResult(mlir::func::FuncOp)> lower);

} // namespace linattn

#endif // LINATTN_CONVERSION_COMMON_KERNELSIGNATURE_H
