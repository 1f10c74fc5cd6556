//===- NormalForm.h - the affine normal form of a step ----------*- C++ -*-===//
//
// Part of linattn. A step as a chain of events per state:
//
//   decay  S <- Diag(e^g) S
//   read   r_j = scale S^T x
//   write  S <- S + k (c + sum_j b_j * r_j)^T
//
// with g, x, k, c and b_j free of the state; b_j scales value columns. This is
// what a chunk needs to become matrix products and one triangular solve.
//
// Rules, whose labels stand in the diagnostics:
//   (normal_form_c1) A state is an argument of the step, a decay or a write.
//   (normal_form_c2) A version of a state ends in one decay or write at most.
//   (normal_form_c3) The step yields the last version of each state.
//   (normal_form_c4) The keys of reads and writes are free of the state.
//   (normal_form_c5) Decays are free of the state.
//   (normal_form_c6) The value of a write is affine in reads, each value column
//                    in its own.
// Outputs may be any function of reads. What nothing uses is ignored.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_DIALECT_LINATTN_ANALYSIS_NORMALFORM_H
#define LINATTN_DIALECT_LINATTN_ANALYSIS_NORMALFORM_H

#include "linattn/Dialect/LinAttn/Analysis/Coefficient.h"
#include "linattn/Dialect/LinAttn/Analysis/UniformVectors.h"
#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

#include "mlir/IR/Diagnostics.h"

#include <optional>

namespace linattn {

/// A decay, read or write of one token. The version of a state counts the
/// decays and writes before it in the token, its position only the decays:
/// between events of equal position the decay is exactly 1.
struct StepEvent {
  enum class Kind { Decay, Read, Write };
  Kind kind;
  mlir::Operation *op;
  /// Which state of the recurrence.
  unsigned state;
  /// The version that is read, or ended by a decay or write.
  unsigned version;
  /// Decays of this state before the event.
  unsigned position;

  /// Of a decay: whether the gate differs between keys.
  bool perKey = false;
  /// Of a read: whether a write, or an output, depends on it. Both may hold.
  bool feedsWrite = false;
  bool reachesOutput = false;
  /// Of a write: c (null where there is none), and the b_j in the order of the
  /// reads.
  struct Term {
    /// Index of the read among the events.
    unsigned read;
    const Coefficient *coefficient;
  };
  const Coefficient *constant = nullptr;
  llvm::SmallVector<Term, 2> terms;

  /// Whether a coefficient of a read differs between value columns, so that
  /// each column has a system of its own.
  bool hasPerColumnTerm() const {
    return llvm::any_of(
        terms, [](const Term &term) { return term.coefficient->perColumn; });
  }

  DecayOp getDecay() const { return mlir::cast<DecayOp>(op); }
  ReadOp getRead() const { return mlir::cast<ReadOp>(op); }
  WriteOp getWrite() const { return mlir::cast<WriteOp>(op); }
};

class NormalForm {
public:
  /// Finds the normal form of a step whose delta updates are expanded; other
  /// shorthand may stand. Changes nothing. Reports what has none with
  /// diagnostics of the given severity, or silently.
  static mlir::FailureOr<NormalForm>
  compute(RecurrenceOp recurrence,
          std::optional<mlir::DiagnosticSeverity> severity =
              mlir::DiagnosticSeverity::Error);

  RecurrenceOp getRecurrence() const { return recurrence; }

  /// All events that something depends on. An operation stands behind what it
  /// uses, and the reads of a version before the decay or write that ends it.
  llvm::ArrayRef<StepEvent> getEvents() const { return events; }

  /// The events of one state, in the order of its chain.
  llvm::SmallVector<const StepEvent *> getChain(unsigned state) const;

  /// Decays of a state in one token: the distance of positions from one token
  /// to the next.
  unsigned getNumDecays(unsigned state) const;

  const UniformVectors &getUniformVectors() const { return uniform; }
  const CoefficientPool &getPool() const { return *pool; }

  /// Prints the events and outputs in the names of the operands (the arguments'
  /// `linattn.name`), for a person who holds it against a paper. `positions`
  /// adds version and position of each event.
  void print(llvm::raw_ostream &os, bool positions = false) const;

private:
  friend class NormalFormAnalysis;
  NormalForm(RecurrenceOp recurrence)
      : recurrence(recurrence), uniform(*recurrence.getBody()),
        pool(std::make_unique<CoefficientPool>()) {}

  RecurrenceOp recurrence;
  UniformVectors uniform;
  std::unique_ptr<CoefficientPool> pool;
  std::vector<StepEvent> events;
};

/// The first line that NormalForm::print prints: function and sizes.
void printRecurrenceTitle(llvm::raw_ostream &os, RecurrenceOp recurrence);

} // namespace linattn

#endif // LINATTN_DIALECT_LINATTN_ANALYSIS_NORMALFORM_H
