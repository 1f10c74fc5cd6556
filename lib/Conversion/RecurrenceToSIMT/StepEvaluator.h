//===- StepEvaluator.h - values of a token's step, by element ---*- C++ -*-===//
//
// A step is written on vectors; a thread needs single elements of them. This
// evaluates `value[at]` on demand, from loads of the token's elements upwards,
// and remembers what it has.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_CONVERSION_RECURRENCETOSIMT_STEPEVALUATOR_H
#define LINATTN_CONVERSION_RECURRENCETOSIMT_STEPEVALUATOR_H

#include "FrontConv.h"
#include "SharedMemory.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/MapVector.h"
#include <functional>
#include <map>

namespace linattn::simt {

class TokensAhead;

/// One coordinate of an element: a number, or an i32 that differs by thread.
/// It always lies inside the vector.
struct Coord {
  mlir::Value value;
  int64_t number = 0;

  Coord(int64_t number) : number(number) {}
  Coord(mlir::Value value) : value(value) {}
  bool isNumber() const { return !value; }
  bool operator==(const Coord &other) const {
    return value == other.value && number == other.number;
  }
};

class StepEvaluator {
public:
  StepEvaluator(KernelFrame &frame, SharedMemory &shared,
                const llvm::DenseSet<mlir::Value> &dependent)
      : frame(frame), shared(shared), dependent(dependent) {}

  /// Whose turn this evaluates: what was computed ahead of it.
  void setTurn(TokensAhead &values) { ahead = &values; }
  /// This computes ahead, in each warp for a token of its own. Tokens are
  /// loaded before `place` where what says where is known there; null: in
  /// place.
  void setAhead(mlir::Operation *place) {
    isAhead = true;
    loads = place;
  }

  /// Refuses, with an error at the operation, what evaluate does not know.
  static llvm::LogicalResult check(mlir::Block &step);

  /// Where the arguments of the step lie.
  void bind(mlir::BlockArgument argument, GlobalTensor tensor) {
    tensors[argument] = std::move(tensor);
  }
  /// A token argument that a convolution makes; `front` outlives this.
  void bind(mlir::BlockArgument argument, const FrontConv &front) {
    fronts.push_back({argument, &front});
  }
  /// Convolves the token, each channel of the head once, into shared memory.
  /// Before anything else of a token.
  void publishFronts();
  /// This thread's elements of a read, the same in all lanes.
  void bindRead(ReadOp op, llvm::ArrayRef<mlir::Value> elements) {
    reads[op].assign(elements.begin(), elements.end());
  }

  mlir::Value evaluate(mlir::Value value, llvm::ArrayRef<Coord> at);
  mlir::Value scalar(mlir::Value value) { return evaluate(value, {}); }
  /// The same in f32, without the way through a narrower type where shared
  /// memory has it in f32.
  mlir::Value elementF32(mlir::Value value, llvm::ArrayRef<Coord> at);
  /// This thread's column `part` of a vector of `size` elements; threads beyond
  /// it stand at the last.
  Coord columnOf(int64_t size, unsigned part);
  mlir::Value atColumn(mlir::Value vector, unsigned part);
  mlir::Value atColumnF32(mlir::Value vector, unsigned part);
  /// The thread's number in its warp, and the element at `first` + that of a
  /// vector, or the last.
  mlir::Value warpLane();
  Coord laneElement(int64_t first, int64_t size);

  /// Puts a vector that no state is needed for into shared memory, to be read
  /// after the next barrier: itself, or e^ of it.
  void publish(mlir::Value vector, bool exponential);
  /// This thread's rows of a vector over K, in f32; null for rows that no lane
  /// has. State-dependent vectors are published first, with a barrier.
  llvm::ArrayRef<mlir::Value> rows(mlir::Value vector, bool exponential);

  /// Rows are loaded again where they are next asked for.
  void forgetRows() { rowsOf.clear(); }

  /// Carries the elements of the next token through the loop. Returns the new
  /// loop.
  mlir::Operation *finish();

private:
  using Key = llvm::SmallVector<intptr_t, 6>;
  static Key keyOf(mlir::Value value, llvm::ArrayRef<Coord> at);

  mlir::Value compute(mlir::Value value, llvm::ArrayRef<Coord> at);
  // Arguments of the step.
  mlir::Value loadArgument(mlir::BlockArgument arg, llvm::ArrayRef<Coord> at);
  /// Stands for a value that the loop will carry.
  mlir::Value emitPlaceholder(mlir::Type type);
  mlir::Value prefetch(mlir::Type type, mlir::Value base, mlir::Value stride,
                       std::function<mlir::Value(mlir::Value)> load);
  // Arguments that a convolution makes (FrontConv.cpp).
  /// Channel `local` (i32) of the head.
  mlir::Value convolved(mlir::BlockArgument arg, const FrontConv &front,
                        mlir::Value local);
  mlir::Value convolvedElement(mlir::BlockArgument arg,
                               llvm::ArrayRef<Coord> at);
  llvm::SmallVector<mlir::Value> carriedInputs(const FrontConv &front,
                                               mlir::Value channel);
  // Values of operations.
  mlir::Value constant(mlir::Operation *op, llvm::ArrayRef<Coord> at);
  mlir::Value elementwise(mlir::Operation *op, unsigned result,
                          llvm::ArrayRef<Coord> at);
  mlir::Value readElement(ReadOp op, llvm::ArrayRef<Coord> at);
  mlir::Value reduce(mlir::vector::ReductionOp op);
  mlir::Value reduceInWarp(mlir::vector::ReductionOp op);
  mlir::Value reduceInBlock(mlir::vector::ReductionOp op);
  mlir::Value combineLanes(mlir::vector::ReductionOp op, mlir::Value part);
  // Operations that only say where an element comes from (ShapeOps.cpp).
  mlir::Value reshaped(mlir::Value value, llvm::ArrayRef<Coord> at);
  mlir::Value inserted(mlir::vector::InsertOp op, llvm::ArrayRef<Coord> at);
  mlir::Value insertedSlice(mlir::vector::InsertStridedSliceOp op,
                            llvm::ArrayRef<Coord> at);
  mlir::Value shuffled(mlir::vector::ShuffleOp op, llvm::ArrayRef<Coord> at);
  mlir::Value fromElements(mlir::vector::FromElementsOp op,
                           llvm::ArrayRef<Coord> at);

  // Arithmetic on coordinates.
  Coord toCoord(mlir::OpFoldResult position);
  Coord add(Coord a, int64_t number);
  Coord mul(Coord a, int64_t number);
  Coord div(Coord a, int64_t number);
  Coord rem(Coord a, int64_t number);
  Coord sum(Coord a, Coord b);
  Coord clamp(Coord a, int64_t size);
  Coord linearize(llvm::ArrayRef<Coord> at, llvm::ArrayRef<int64_t> shape);
  llvm::SmallVector<Coord> delinearize(Coord at, llvm::ArrayRef<int64_t> shape);
  mlir::Value toValue(Coord coord);
  /// Whether low <= a < high; null: always, and `never` is set if never.
  mlir::Value isWithin(Coord a, int64_t low, int64_t high, bool &never);
  /// Element `at` of numbers in global memory.
  mlir::Value lookUp(mlir::DenseElementsAttr numbers, Coord at);

  // Exchange through shared memory.
  int64_t publishColumns(mlir::Value vector, bool exponential, int64_t padded);
  Coord threadElement(int64_t piece, int64_t size);
  mlir::Value toShared(mlir::Value element, bool exponential);
  mlir::Value compensatedExp(mlir::Value gate);
  int64_t paddedSize(mlir::Value vector);

  KernelFrame &frame;
  SharedMemory &shared;
  const llvm::DenseSet<mlir::Value> &dependent;
  TokensAhead *ahead = nullptr;
  bool isAhead = false;
  mlir::Operation *loads = nullptr;
  mlir::Value lane;

  llvm::DenseMap<mlir::Value, GlobalTensor> tensors;
  llvm::SmallVector<std::pair<mlir::BlockArgument, const FrontConv *>> fronts;
  llvm::DenseMap<mlir::Value, int64_t> frontSlots;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value, 4>> reads;
  std::map<Key, mlir::Value> known;
  std::map<std::pair<int64_t, int64_t>, mlir::Value> threadElements;
  llvm::DenseMap<std::pair<int64_t, unsigned>, mlir::Value> clampedColumns;
  llvm::DenseMap<std::pair<mlir::Value, int>, int64_t> slots;
  std::map<std::pair<intptr_t, int>, llvm::SmallVector<mlir::Value>> rowsOf;

  /// An element that the previous token's turn loads: from a cursor's place,
  /// which goes from token to token and is the same in all threads.
  struct Prefetch {
    mlir::Value placeholder;
    mlir::Value first;
    std::function<mlir::Value(mlir::Value place)> load;
  };
  struct Cursor {
    mlir::Value placeholder;
    mlir::Value first;
    llvm::SmallVector<Prefetch, 4> loads;
  };
  llvm::MapVector<std::pair<mlir::Value, mlir::Value>, Cursor> cursors;
  /// A value that a token's turn hands on to the next.
  struct HandedOn {
    mlir::Value placeholder;
    mlir::Value first;
    mlir::Value next;
  };
  llvm::SmallVector<HandedOn> handedOn;
  /// Addresses in arguments, without the token's offset.
  std::map<Key, mlir::Value> bases;
};

} // namespace linattn::simt

#endif // LINATTN_CONVERSION_RECURRENCETOSIMT_STEPEVALUATOR_H
