//===- Emitter.h - a kernel while it is translated --------------*- C++ -*-===//
//
// What the translation of every operation needs: what became of the values so
// far, short names for scalar arithmetic, and where lanes stand.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_CONVERSION_TILETONVVM_EMITTER_H
#define LINATTN_CONVERSION_TILETONVVM_EMITTER_H

#include "linattn/Dialect/Tile/IR/Layouts.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include <map>

namespace linattn::tilenvvm {

/// What one lane holds of a fragment: a scalar per element in the order of
/// tile::getLaneElement; of a 16-bit matrix in `acc` a vector of two
/// neighbouring columns, which is a register of an mma's operand a.
using Registers = llvm::SmallVector<mlir::Value>;

/// Whether a register holds two elements.
bool isPacked(mlir::RankedTensorType type);
mlir::Type getRegisterType(mlir::RankedTensorType type);
int64_t getNumRegisters(mlir::RankedTensorType type);

/// A number that differs by lane and warp: the sum of
/// ((lane or warp) / div mod mod) * scale.
struct LaneSum {
  struct Term {
    bool ofWarp;
    int64_t div, mod, scale;
  };
  llvm::SmallVector<Term, 3> terms;

  static LaneSum ofLane(int64_t div, int64_t mod, int64_t scale);
  static LaneSum ofWarp(int64_t mod, int64_t scale, int64_t div = 1);
  static LaneSum of(tile::LaneTerm term);
  LaneSum operator*(int64_t factor) const;
  LaneSum operator+(const LaneSum &other) const;
  int64_t at(int64_t lane, int64_t warp) const;
  /// The bits that are set for some lane or warp; scales are powers of two.
  int64_t bits() const;
  std::vector<int64_t> key() const;
};

/// A tile of shared memory, or a view of one: element (0, 0) is at row and
/// column of the storage, which begins `offset` (+ `dynamic`, an i32) bytes
/// into the arena.
struct SmemTile {
  tile::SmemType type;
  int64_t offset = 0;
  mlir::Value dynamic;
  int64_t row = 0, column = 0;
};

/// A tensor in global memory; strides in elements, as i64.
struct GlobalArray {
  mlir::Value pointer;
  llvm::SmallVector<mlir::Value> strides;
  mlir::MemRefType type;
};

class Emitter {
public:
  Emitter(mlir::OpBuilder &builder, mlir::Location loc, int64_t warps,
          int64_t capability)
      : builder(builder), loc(loc), warps(warps), capability(capability) {}

  /// Emits where lanes stand, at the builder's place. What is the same in the
  /// whole kernel is emitted there from now on.
  void begin(llvm::StringRef arena);
  /// The same from the thread's number anew: what is used only behind a loop,
  /// or once in it, must not take registers elsewhere.
  void beginAgain();
  /// Whether registers are short, so that what a step uses once is made there.
  bool isShortOfRegisters = false;
  /// Erases the marks of places.
  void finish();

  mlir::OpBuilder &builder;
  mlir::Location loc;
  int64_t warps;
  /// 80 for sm_80, 90 for sm_90a.
  int64_t capability;

  // What became of the values so far.
  mlir::IRMapping scalars;
  llvm::DenseMap<mlir::Value, Registers> fragments;
  llvm::DenseMap<mlir::Value, SmemTile> tiles;
  /// Offset of a channel in the arena.
  llvm::DenseMap<mlir::Value, int64_t> channels;
  llvm::DenseMap<mlir::Value, GlobalArray> arrays;

  /// The arena in shared memory.
  mlir::Value arena;

  // Constants.
  mlir::Value i1(bool value);
  mlir::Value i32(int64_t value);
  mlir::Value i64(int64_t value);
  mlir::Value f32(double value);
  mlir::Value constant(mlir::TypedAttr value);

  // Integers of one type.
  mlir::Value addI(mlir::Value a, mlir::Value b);
  mlir::Value subI(mlir::Value a, mlir::Value b);
  mlir::Value mulI(mlir::Value a, mlir::Value b);
  mlir::Value divI(mlir::Value a, int64_t by);
  mlir::Value remI(mlir::Value a, int64_t by);
  mlir::Value andI(mlir::Value a, mlir::Value b);
  mlir::Value xorI(mlir::Value a, mlir::Value b);
  mlir::Value shrI(mlir::Value a, int64_t bits);
  mlir::Value isLess(mlir::Value a, mlir::Value b);
  mlir::Value isEqual(mlir::Value a, mlir::Value b);
  mlir::Value toI32(mlir::Value value);
  mlir::Value toI64(mlir::Value value);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);

  // Floats, rounded to nearest and never reassociated.
  mlir::Value addF(mlir::Value a, mlir::Value b);
  mlir::Value subF(mlir::Value a, mlir::Value b);
  mlir::Value mulF(mlir::Value a, mlir::Value b);

  mlir::Value bitcast(mlir::Value value, mlir::Type type);
  /// A vector of two, as registers of 16-bit elements are.
  mlir::Value pack(mlir::Value low, mlir::Value high);
  mlir::Value vectorOf(mlir::ValueRange elements);
  mlir::Value extract(mlir::Value vector, int64_t number);
  /// Two f32 rounded to one register of 16-bit elements.
  mlir::Value roundPair(mlir::Value low, mlir::Value high, mlir::Type element);

  /// The two elements of a register of 16-bit floats as f32.
  std::pair<mlir::Value, mlir::Value> widenPair(mlir::Value pair);

  /// `bytes` on from a pointer.
  mlir::Value advance(mlir::Value pointer, mlir::Value bytes);
  mlir::Value advance(mlir::Value pointer, int64_t bytes);
  /// A pointer to shared memory with other bits.
  mlir::Value exclusiveOr(mlir::Value pointer, int64_t bits);
  mlir::Value load(mlir::Type type, mlir::Value pointer, int64_t alignment);
  void store(mlir::Value value, mlir::Value pointer, int64_t alignment);

  /// Runs `then` under a condition; null means always.
  void when(mlir::Value condition, llvm::function_ref<void()> then);
  /// The values of `then` under a condition, else zeros.
  Registers orZero(mlir::Value condition, mlir::TypeRange types,
                   llvm::function_ref<Registers()> then);
  /// Both conditions; null means true.
  mlir::Value both(mlir::Value a, mlir::Value b);

  /// A lane sum as i32, computed once for the kernel.
  mlir::Value evaluate(const LaneSum &sum);
  /// Whether this lane and warp speak for the elements of a fragment that
  /// several hold; null: all do.
  mlir::Value isWriter(mlir::RankedTensorType type);

  /// A pointer to element (row + rows, column + columns) of a tile; `row` and
  /// `column` are constants beside what depends on the lane.
  mlir::Value pointerTo(const SmemTile &tile, const LaneSum &rows,
                        const LaneSum &columns, int64_t row, int64_t column);
  /// The offset in its storage of the byte `column` of `row`; any i32.
  mlir::Value storageOffset(tile::SmemType type, mlir::Value row,
                            mlir::Value byte);
  /// The beginning of a tile's storage.
  mlir::Value pointerTo(const SmemTile &tile);

  /// One scalar per element of a fragment, and back.
  Registers unpack(mlir::ValueRange registers);
  Registers packAs(mlir::RankedTensorType type, mlir::ValueRange elements);

  /// Runs `build` where invariant code stands.
  mlir::Value hoisted(llvm::function_ref<mlir::Value()> build);

  /// What is emitted once, and where.
  struct Invariants {
    mlir::Operation *end = nullptr;
    // The thread in its block, and where it stands; i32.
    mlir::Value thread, lane, warp;
    std::map<std::vector<int64_t>, mlir::Value> sums, offsets, writers;
    std::map<std::pair<void *, void *>, mlir::Value> pointers;
  };
  Invariants invariants;

  mlir::Value getThread() const { return invariants.thread; }
  mlir::Value getLane() const { return invariants.lane; }
  mlir::Value getWarp() const { return invariants.warp; }

private:
  void mark();
  void emitPosition(mlir::Value thread);

  llvm::SmallVector<mlir::Operation *> marks;
};

} // namespace linattn::tilenvvm

#endif // LINATTN_CONVERSION_TILETONVVM_EMITTER_H
