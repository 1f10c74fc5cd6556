//===- Metrics.cpp - a result against the oracle ----------------*- C++ -*-===//

#include "linattn/Runner/Metrics.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace linattn;
using namespace linattn::runner;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

double runner::errorLimit(const Result &result, bool roundsTo16Bit) {
  if (roundsTo16Bit || is16Bit(result.type))
    return 5e-3;
  return result.type == DType::F64 ? 1e-12 : 1e-4;
}

void Comparison::allowModel() {
  constexpr double kAllowed = 1.5;
  // Whole modules, whose differences cancel, err up to 2.3e-2. Where a model
  // errs more it is wrong itself, or the result means nothing.
  constexpr double kMaxLimit = 5e-2;
  if (!model)
    return;
  auto raise = [&](double limit, double error) {
    return std::max(limit, std::min(kAllowed * error, kMaxLimit));
  };
  limit = raise(limit, model->relativeRMS);
  worstLimit = raise(worstLimit, model->worst);
}

bool runner::isPlain(const Signature &signature, const Inputs &inputs) {
  constexpr int64_t kPlainKeys = 64;
  // The promise is one for states: differences of two attentions cancel.
  bool hasState = llvm::any_of(signature.arguments, [](const Argument &a) {
    return a.sample == SampleKind::State;
  });
  if (!hasState)
    return false;
  for (const Argument &argument : signature.arguments) {
    if (inputs.given[argument.index] && isFloat(argument.type))
      return false;
    if (argument.sample == SampleKind::Rate2)
      return false;
    if (argument.sample == SampleKind::State && argument.dims.size() >= 2 &&
        argument.dims[argument.dims.size() - 2].size < kPlainKeys)
      return false;
  }
  return true;
}

namespace {
/// Sums of squares that neither overflow nor vanish: in units of the largest
/// magnitude of the reference.
struct Sums {
  double unit = 0;
  double error = 0, reference = 0;
  /// The result is not 0 where the reference is 0 throughout.
  bool nonzero = false;
  /// Elements differ in being inf or NaN.
  bool special = false;

  double relativeRMS() const {
    if (special)
      return kInfinity;
    if (reference == 0)
      return nonzero || error > 0 ? kInfinity : 0;
    return std::sqrt(error / reference);
  }
};

class Comparer {
public:
  Comparer(const Buffer &result, const Buffer &reference,
           const Result &description, const RowMap &rows)
      : result(result), reference(reference), rows(rows),
        heads(description.headDim < 0 ? 1
                                      : result.getShape()[description.headDim]),
        tolerance(result.getType() == DType::F16
                      ? 0x1p-25 // half of the last place of its denormals
                      : smallestNormal(result.getType())),
        sums(std::max<int64_t>(rows.numSequences, 1) * heads) {
    // Heads may follow other dimensions of the row only as its first one.
    inner = heads ? rows.rowSize / heads : 0;
  }

  Comparison run() {
    forEachSlice([&](Sums &sum, int64_t begin) { findUnit(sum, begin); });
    forEachSlice([&](Sums &sum, int64_t begin) { accumulate(sum, begin); });
    Comparison comparison;
    summarize(comparison);
    return comparison;
  }

private:
  /// Calls `visit` for each row and head that belongs to a sequence.
  template <typename Visit> void forEachSlice(Visit visit) {
    values.resize(inner);
    expected.resize(inner);
    for (auto [row, sequence] : llvm::enumerate(rows.sequence))
      for (int64_t head = 0; sequence >= 0 && head < heads; ++head)
        visit(sums[sequence * heads + head],
              int64_t(row) * rows.rowSize + head * inner);
  }

  void findUnit(Sums &sum, int64_t begin) {
    reference.read(begin, inner, expected.data());
    // What is infinite in the result's type is no measure of the rest.
    for (double x : expected)
      if (std::isfinite(roundTo(result.getType(), x)))
        sum.unit = std::max(sum.unit, std::fabs(x));
  }

  void accumulate(Sums &sum, int64_t begin) {
    reference.read(begin, inner, expected.data());
    result.read(begin, inner, values.data());
    double scale = sum.unit > 0 ? 1 / sum.unit : 1;
    // The inverse of a denormal is infinite.
    scale = std::min(scale, std::numeric_limits<double>::max());
    for (int64_t i = 0; i < inner; ++i) {
      double want = expected[i], got = values[i];
      double rounded = roundTo(result.getType(), want);
      if (!std::isfinite(rounded) || !std::isfinite(got)) {
        bool same = std::isnan(rounded) ? std::isnan(got) : rounded == got;
        if (!same) {
          noteSpecial(begin + i, rounded, got);
          sum.special = true;
        }
        continue;
      }
      sum.nonzero |= got != 0;
      double error = std::fabs(got - want);
      error = error <= tolerance && want != 0 ? 0 : error * scale;
      sum.error += error * error;
      sum.reference += want * scale * (want * scale);
    }
  }

  void noteSpecial(int64_t element, double want, double got) {
    if (specials++ == 0)
      firstSpecial = llvm::formatv("element {0} is {1}, the oracle has {2}",
                                   element, toString(got), toString(want))
                         .str();
  }

  void summarize(Comparison &comparison) {
    Sums whole;
    for (const Sums &sum : sums)
      whole.unit = std::max(whole.unit, sum.unit);
    for (auto [i, sum] : llvm::enumerate(sums)) {
      double factor = sum.unit > 0 ? sum.unit / whole.unit : 1;
      whole.error += sum.error * factor * factor;
      whole.reference += sum.reference * factor * factor;
      whole.nonzero |= sum.unit == 0 && sum.nonzero;
      whole.special |= sum.special;
      double relative = sum.relativeRMS();
      int64_t sequence = int64_t(i) / heads, head = int64_t(i) % heads;
      if (sum.unit == 0 && sum.nonzero)
        comparison.faults.push_back(
            llvm::formatv("the reference of sequence {0}, head {1} is 0, the "
                          "result is not",
                          sequence, head)
                .str());
      if (comparison.worstSequence < 0 || relative > comparison.worst ||
          std::isnan(relative)) {
        comparison.worst = relative;
        comparison.worstSequence = sequence;
        comparison.worstHead = head;
      }
    }
    comparison.relativeRMS = whole.relativeRMS();
    if (specials)
      comparison.faults.push_back(
          llvm::formatv("{0} element(s) differ in being inf or NaN: {1}",
                        specials, firstSpecial)
              .str());
  }

  const Buffer &result;
  const Buffer &reference;
  const RowMap &rows;
  int64_t heads, inner = 0;
  double tolerance;
  std::vector<Sums> sums;
  std::vector<double> values, expected;
  int64_t specials = 0;
  std::string firstSpecial;
};
} // namespace

static void checkUntouched(const Buffer &result, const Buffer &before,
                           const RowMap &rows, Comparison &comparison) {
  int64_t bytes = rows.rowSize * int64_t(sizeInBytes(result.getType()));
  int64_t changed = 0, first = -1;
  for (auto [row, sequence] : llvm::enumerate(rows.sequence)) {
    int64_t offset = int64_t(row) * bytes;
    if (sequence >= 0 || !std::memcmp(result.getData() + offset,
                                      before.getData() + offset, bytes))
      continue;
    first = changed++ == 0 ? int64_t(row) : first;
  }
  if (changed)
    comparison.faults.push_back(
        llvm::formatv("{0} row(s) that belong to no sequence were written, the "
                      "first one is {1}",
                      changed, first)
            .str());
}

Comparison runner::compare(const Buffer &result, const Buffer &reference,
                           const Buffer *before, const Result &description,
                           const RowMap &rows, double limit) {
  Comparison comparison;
  if (isFloat(result.getType())) {
    comparison = Comparer(result, reference, description, rows).run();
  } else if (std::memcmp(result.getData(), reference.getData(),
                         result.getNumBytes())) {
    comparison.faults.push_back("integers differ from the oracle's");
  }
  comparison.limit = comparison.worstLimit = limit;
  if (before)
    checkUntouched(result, *before, rows, comparison);
  return comparison;
}
