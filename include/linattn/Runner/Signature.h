//===- Signature.h - what a function takes and gives ------------*- C++ -*-===//
//
// Part of linattn. The arguments and results of a function as linattn-run sees
// them: names, names of dynamic dimensions, how to draw an argument, and which
// sequence and head a row of a result belongs to.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_RUNNER_SIGNATURE_H
#define LINATTN_RUNNER_SIGNATURE_H

#include "linattn/Runner/Buffer.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

namespace linattn {
namespace runner {

/// How an argument is drawn; see Samples.h.
enum class SampleKind {
  LogGate,
  LinearGate,
  Rate,
  Rate2,
  UnitKey,
  Value,
  Weight,
  ALog,
  Raw,
  RawGate,
  State,
  Seqlens,
  Slots,
  /// Integers of unknown meaning: not drawn.
  Index,
};

llvm::StringRef nameOf(SampleKind kind);

/// A static size, or the value of a named size plus a constant (seqlens have
/// N + 1 elements). A static one may have a name too, for messages.
struct Dimension {
  int64_t size = mlir::ShapedType::kDynamic;
  std::string name;
  int64_t plus = 0;

  bool isStatic() const { return !mlir::ShapedType::isDynamic(size); }
};

/// The arguments that say which rows belong to which sequence; -1 is none.
struct Sequences {
  int seqlens = -1;
  int slots = -1;
  /// What a slot holds for "no sequence".
  int64_t padding = -1;
};

enum class Layout {
  Tokens,          ///< [B, T, ..]
  PackedTokens,    ///< [T, ..]
  States,          ///< [N, ..]
  Pool,            ///< [P, ..]
  PackedSnapshots, ///< [T / C + N, ..]
  Other,
};

/// What the leading dimensions of an array count.
struct RowLayout {
  Layout layout = Layout::Other;
  Sequences sequences;
  /// Tokens between two rows of packed snapshots.
  int64_t every = 1;
};

struct Argument {
  unsigned index = 0;
  std::string name;
  DType type = DType::F32;
  llvm::SmallVector<Dimension, 5> dims;
  SampleKind sample = SampleKind::Value;
  RowLayout rows;
  /// Of seqlens and slots: an argument whose rows they count; -1 if those are
  /// computed inside.
  int counted = -1;
  /// Of slots: what they hold for "no sequence".
  int64_t padding = -1;
  /// A pool of states, which the function updates in place.
  bool inPlace = false;

  /// Leading dimensions that count sequences and tokens: the rest is a channel.
  unsigned getNumTokenDims() const {
    return rows.layout == Layout::Tokens         ? 2
           : rows.layout == Layout::PackedTokens ? 1
                                                 : 0;
  }
};

struct Result {
  DType type = DType::F32;
  unsigned rank = 0;
  RowLayout rows;
  /// The dimension that counts heads, or -1.
  int headDim = -1;
  /// The argument that holds the pool before the run, or -1.
  int pool = -1;
  /// The result is the argument `pool`.
  bool inPlace = false;
  /// What an operation of the dialect returned, so that rows without a token
  /// are as they were. Operations after it may compute on them.
  bool direct = false;
};

struct Signature {
  std::string function;
  llvm::SmallVector<Argument, 8> arguments;
  llvm::SmallVector<Result, 2> results;
  /// Names that mean the same size, in the order "other -> first".
  llvm::StringMap<std::string> aliases;
  /// 16-bit values are computed inside, not only loaded and returned.
  bool computesIn16Bit = false;
  /// The chunk form of some operation rounds operands of products to 16 bits,
  /// if nothing else is forced.
  bool productsRound = false;

  const Argument *find(llvm::StringRef name) const;
  llvm::StringRef canonicalName(llvm::StringRef dimension) const;
};

llvm::Expected<Signature> analyzeSignature(mlir::func::FuncOp function);

/// How an argument without `linattn.sample` is drawn, from its uses.
SampleKind inferSampleKind(mlir::BlockArgument argument);

/// The function that `name` names, or the only public one with a body.
llvm::Expected<mlir::func::FuncOp> selectFunction(mlir::ModuleOp module,
                                                  llvm::StringRef name);

} // namespace runner
} // namespace linattn

#endif // LINATTN_RUNNER_SIGNATURE_H
