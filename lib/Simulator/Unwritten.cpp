//===- Unwritten.cpp - Bits of registers that nobody wrote ----------------===//

#include "Unwritten.h"
#include "Findings.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace linattn::sim {

namespace {

constexpr uint64_t nothingWritten = ~uint64_t(0);

uint64_t allBits(const Op &op) { return maskTrailingOnes<uint64_t>(op.bits); }

uint64_t missingBits(const Warp &w, uint32_t reg, unsigned lane) {
  if (w.available[reg] >> lane & 1)
    return 0;
  auto it = w.unwritten.find(reg);
  return it == w.unwritten.end() ? nothingWritten : it->second[lane];
}

template <typename F> void eachLane(uint32_t lanes, F f) {
  for (; lanes; lanes &= lanes - 1)
    f(unsigned(countr_zero(lanes)));
}

void reportUse(Warp &w, const Instr &i, uint32_t reg, uint32_t lanes) {
  unsigned lane = countr_zero(lanes);
  if (w.launch().options.checkUninitialised)
    report(FindingKind::UninitialisedRegister, w, i, lane,
           "register " + w.launch().program->registerNames[reg] +
               " is read but " + unwrittenText(w, reg, lane));
  w.available[reg] |= lanes;
}

/// The instruction reads every bit of the operand.
void useAll(Warp &w, const Instr &i, const Op &op, uint32_t active) {
  uint32_t lanes = 0;
  eachLane(active & ~w.available[op.reg], [&](unsigned lane) {
    lanes |= uint32_t((missingBits(w, op.reg, lane) & allBits(op)) != 0)
             << lane;
  });
  if (lanes)
    reportUse(w, i, op.reg, lanes);
}

/// Runs an instruction that passes bits on with the missing ones as zeros and
/// as ones, each source by itself: a bit of a result that differs is missing.
class Trial {
public:
  Trial(Warp &w, const Instr &i, uint32_t active)
      : w(w), i(i), active(active), results(i.op, i.args[0].count) {
    const Arg &last = i.args[i.numArgs - 1];
    for (const Op &op :
         ArrayRef(i.op, last.first + last.count).drop_front(results.size())) {
      // One register may be two operands.
      if (op.isConst ||
          any_of(sources, [&](Source &s) { return s.op->reg == op.reg; }))
        continue;
      if (op.isPassed)
        addSource(op);
      else
        useAll(w, i, op, active);
    }
    for (Source &s : sources)
      if (s.lacking)
        incomplete.push_back(&s);
    for (unsigned filling = 0; filling < 1u << incomplete.size(); ++filling)
      run(filling);
  }

  /// Reports sources of which nothing is written and that matter: the place is
  /// nearer to the mistake than where the result is used.
  bool reportNothing() {
    bool any = false;
    for (auto [k, s] : enumerate(incomplete)) {
      uint32_t uses = 0;
      eachLane(s->lacking, [&, k = k, s = s](unsigned lane) {
        for (unsigned filling = 0; filling < outcomes.size(); ++filling)
          if (s->missing[lane] == allBits(*s->op) &&
              outcomes[filling][lane] != outcomes[filling ^ 1u << k][lane])
            uses |= 1u << lane;
      });
      if (uses)
        reportUse(w, i, s->op->reg, uses);
      any |= uses != 0;
    }
    return any;
  }

  void markResults() {
    for (unsigned d = 0; d < results.size(); ++d) {
      const Op &op = results[d];
      if (op.isSink)
        continue;
      LaneBits none;
      none.fill(nothingWritten);
      LaneBits &missing = w.unwritten.try_emplace(op.reg, none).first->second;
      w.available[op.reg] |= active;
      eachLane(lanes, [&](unsigned lane) {
        uint64_t differ = 0;
        for (unsigned at = d; at < outcomes.size(); at += results.size())
          differ |= outcomes[at][lane] ^ outcomes[d][lane];
        if (!differ)
          return;
        w.available[op.reg] &= ~(1u << lane);
        missing[lane] = differ == allBits(op) ? nothingWritten : differ;
      });
    }
  }

private:
  struct Source {
    const Op *op;
    uint32_t lacking; ///< lanes
    LaneBits value, missing;
  };

  Warp &w;
  const Instr &i;
  uint32_t active;
  ArrayRef<Op> results;
  SmallVector<Source, 4> sources;
  SmallVector<Source *, 4> incomplete;
  uint32_t lanes = 0; ///< that lack something
  /// The results' values, filling after filling.
  SmallVector<LaneBits, 8> outcomes;

  void addSource(const Op &op) {
    Source &s = sources.emplace_back();
    s.op = &op;
    s.lacking = active & ~w.available[op.reg];
    lanes |= s.lacking;
    for (unsigned lane = 0; lane < 32; ++lane) {
      s.value[lane] = w.read(op, lane);
      s.missing[lane] = missingBits(w, op.reg, lane) & allBits(op);
    }
  }

  /// Bit k of `filling` is what the missing bits of incomplete[k] are.
  void run(unsigned filling) {
    for (auto [k, s] : enumerate(incomplete))
      eachLane(s->lacking, [&, k = k, s = s](unsigned lane) {
        uint64_t ones = filling >> k & 1 ? s->missing[lane] : 0;
        w.write(*s->op, lane, (s->value[lane] & ~s->missing[lane]) | ones);
      });
    i.fn(w, i, lanes);
    for (const Op &op : results) {
      LaneBits &values = outcomes.emplace_back();
      for (unsigned lane = 0; lane < 32; ++lane)
        values[lane] = w.read(op, lane);
    }
    // A result may have gone into a source.
    for (const Source &s : sources)
      for (unsigned lane = 0; lane < 32; ++lane)
        w.write(*s.op, lane, s.value[lane]);
  }
};

} // namespace

std::string unwrittenText(const Warp &w, uint32_t reg, unsigned lane) {
  uint64_t missing = missingBits(w, reg, lane);
  return missing == nothingWritten
             ? "was never written"
             : "its bits " + rangesText(missing) + " were never written";
}

void checkUnwritten(Warp &w, const Instr &i, uint32_t active) {
  if (!(i.traits & TraitPassesBits)) {
    for (const Arg &arg : ArrayRef(i.args, i.numArgs))
      for (const Op &op : ArrayRef(i.op + arg.first, arg.count))
        if (is_contained(ArrayRef(i.sources, i.numSources), op.reg))
          useAll(w, i, op, active);
    return;
  }
  if (i.op[0].type == Type::Pred) {
    uint32_t &to = w.available[i.op[0].reg];
    to = (to & ~active) | (active & w.available[i.op[1].reg]);
    return;
  }
  Trial trial(w, i, active);
  if (!(i.traits & TraitCopies) && trial.reportNothing())
    // What it has reported is there now.
    return checkUnwritten(w, i, active);
  trial.markResults();
}

} // namespace linattn::sim
