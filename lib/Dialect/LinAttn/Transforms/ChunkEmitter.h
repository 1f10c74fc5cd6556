//===- ChunkEmitter.h - the algebra of one chunk ----------------*- C++ -*-===//

#ifndef LINATTN_DIALECT_LINATTN_TRANSFORMS_CHUNKEMITTER_H
#define LINATTN_DIALECT_LINATTN_TRANSFORMS_CHUNKEMITTER_H

#include "StepTiler.h"

#include "linattn/Dialect/LinAttn/Analysis/NormalForm.h"

namespace linattn {

/// Emits the chunk of a normalised step. For each group of states that writes
/// couple, with the letters of docs/Algebra.md:
///
///   reads of the start state   R0 = (e^G o X) S0
///   coupling                   P  = (X Y^T) o Gamma, write before read
///   writes                     (I - B P_f) U = c + B R0_f
///   outputs                    O  = R0_o + P_o U
///   state                      S1 = e^{G_C} S0 + (e^{G_C - G} o Y)^T U
class ChunkEmitter {
public:
  ChunkEmitter(const NormalForm &form, mlir::OpBuilder &builder,
               StepTiler &tiler, int64_t chunk, MmaPrecision precision,
               mlir::Value valid, llvm::ArrayRef<mlir::Value> states,
               bool separateEvents);

  /// Emits everything up to the reads that reach outputs, which it maps in the
  /// tiler, and the states after the chunk. Fails where a value has no tile.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> emit();

private:
  /// A read or write as rows of a chunk, in the arithmetic type.
  struct Rows {
    const StepEvent *event;
    unsigned order;
    mlir::Value keys;
    /// Where it stands among the decays of its token.
    int64_t position = 0;
    /// The keys before decays of their own token went into them; null where
    /// none did.
    mlir::Value plainKeys;
  };
  /// What one state contributes.
  struct StateRows {
    mlir::Value start;
    mlir::Value gates;
    unsigned decays = 0;
    /// The decays of a token that became one.
    llvm::SmallVector<mlir::Value> merged;
    bool perKey = false;
    int64_t keys = 0, values = 0;
    mlir::Type element;
  };

  mlir::LogicalResult prepareState(unsigned state);
  mlir::LogicalResult prepareEvents();
  /// Of a state whose decays became one: the event before or behind it.
  void moveEvent(Rows &row);
  mlir::Value mergedDecay(const StateRows &state, int64_t from, int64_t to);
  /// P of events between the decays of one token.
  mlir::Value ownTokenProduct(unsigned state, const Rows &read,
                              const Rows &write);
  mlir::LogicalResult emitGroup(llvm::ArrayRef<unsigned> states);
  /// The system of the coupled writes of a group.
  struct System {
    llvm::ArrayRef<unsigned> coupled, states;
    int64_t columns = 0;
    mlir::Type element;
    /// c + B R0_f, per write.
    llvm::SmallVector<mlir::Value> sides;
    /// b, per term and write.
    llvm::SmallVector<llvm::SmallVector<mlir::Value>> rates;
    bool perColumn = false;
  };
  mlir::LogicalResult solve(llvm::ArrayRef<unsigned> coupled,
                            llvm::ArrayRef<unsigned> states);
  mlir::LogicalResult prepareSystem(System &system);
  /// The read that term `term` of a write is of, if it is of this state.
  const Rows *getTermRead(unsigned write, size_t term, unsigned state) const;
  /// All events as rows of one matrix, token by token.
  void solveInterleaved(System &system);
  /// A matrix [C, C] for each pair of writes.
  void solveSeparately(System &system);
  /// The same where rates differ between value columns.
  void solveColumns(System &system);
  /// [C, V] of several writes above each other.
  mlir::Value stack(llvm::ArrayRef<mlir::Value> tiles);
  mlir::Value invert(mlir::Value a);
  mlir::Value rateProduct(const System &system, size_t reader, size_t writer);
  void updateState(unsigned state);

  /// The tile of a coefficient: [C], or [C, V] where it is per column.
  mlir::Value getCoefficient(const Coefficient *coefficient, mlir::Type element,
                             mlir::VectorType columns);
  mlir::Value getTile(mlir::Value value);
  /// Rows beyond the end of the sequence are selected to 0.
  mlir::Value mask(mlir::Value tile);
  mlir::Value widen(mlir::Value tile, mlir::Type element);
  mlir::Value scaleRows(mlir::Value rows, mlir::Value factor);
  /// outs += a b, each operand rounded as the precision says.
  mlir::Value product(mlir::Value a, mlir::Value b, mlir::Value outs);
  mlir::Value zeros(llvm::ArrayRef<int64_t> shape, mlir::Type element);
  /// Rows of several events, token by token: [C n, ..].
  mlir::Value interleave(llvm::ArrayRef<mlir::Value> tiles);
  /// P of reads against writes of one state; a null entry is a row of zeros.
  mlir::Value decayProduct(unsigned state, llvm::ArrayRef<const Rows *> reads,
                           llvm::ArrayRef<const Rows *> writes);
  /// e^{G} at the read, e^{G_C - G} at the write, e^{G_C}; null where the state
  /// does not decay.
  mlir::Value decayScan(unsigned state, DecaySpan span,
                        std::optional<int64_t> position);
  mlir::Value decayTo(const Rows &read);
  mlir::Value decayFrom(const Rows &write);
  mlir::Value decayOver(unsigned state);
  /// onto + P U: what a read sees of writes of its state.
  mlir::Value readWrites(const Rows &read, llvm::ArrayRef<unsigned> writes,
                         mlir::Value onto);
  /// What a read sees of the start state and of the writes without reads.
  mlir::Value readKnown(unsigned read);
  mlir::Value applyScale(mlir::Value value, const StepEvent &read);

  const NormalForm &form;
  mlir::OpBuilder &builder;
  StepTiler &tiler;
  mlir::Location loc;
  int64_t chunk;
  MmaPrecision precision;
  mlir::Value valid;
  /// No matrix has rows of more than one event.
  bool separateEvents;
  llvm::SmallVector<StateRows> states;
  /// Per event of the form; decays stay empty.
  llvm::SmallVector<Rows> rows;
  /// Per write: U, [C, V].
  llvm::DenseMap<unsigned, mlir::Value> updates;
  llvm::DenseMap<unsigned, mlir::Value> known;
  llvm::SmallVector<mlir::Value> finalStates;
  class CoefficientBuilder *coefficients = nullptr;
};

} // namespace linattn

#endif // LINATTN_DIALECT_LINATTN_TRANSFORMS_CHUNKEMITTER_H
