//===- Samples.cpp - seeded inputs ------------------------------*- C++ -*-===//
//
// Compiled without contraction to fused multiply-adds, as Random.cpp is.
//
//===----------------------------------------------------------------------===//

#include "linattn/Runner/Samples.h"
#include "linattn/Runner/Random.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Parallel.h"

#include <cmath>
#include <numeric>

using namespace linattn;
using namespace linattn::runner;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Values drawn at a time; even, since normals come in pairs.
static constexpr int64_t kBlock = 4096;

namespace {
/// Log gates by position; a position is (token, channel).
class Gates {
public:
  Gates(uint64_t seed, llvm::StringRef name, GateDistribution distribution,
        int64_t channels)
      : values(seed, (name + "/gate").str()),
        choices(seed, (name + "/choice").str()),
        perChannel(seed, (name + "/channel").str()), distribution(distribution),
        channels(std::max<int64_t>(channels, 1)) {}

  double operator()(int64_t i, double normal) const {
    if (distribution != GateDistribution::Mixed)
      return draw(distribution, i, normal);
    uint64_t choice = perChannel.below(i % channels, 6);
    if (choice == 5)
      choice = choices.below(i, 5);
    return draw(GateDistribution(choice), i, normal);
  }

private:
  double draw(GateDistribution from, int64_t i, double normal) const {
    switch (from) {
    case GateDistribution::None:
      return 0;
    case GateDistribution::Usual:
      return portableLogSigmoid(normal);
    case GateDistribution::Slow:
      return -2e-3 * values.uniform(i);
    case GateDistribution::Strong:
      return -8;
    case GateDistribution::Extreme:
      return values.bits(i) >> 63 ? -1000 : -kInfinity;
    case GateDistribution::Mixed:
      break;
    }
    llvm_unreachable("mixed is resolved before");
  }

  RandomStream values, choices, perChannel;
  GateDistribution distribution;
  int64_t channels;
};

/// What becomes of a normal, elementwise.
class Shaping {
public:
  Shaping(const Argument &argument, const Gates &gates)
      : kind(argument.sample), isParameter(argument.getNumTokenDims() == 0),
        gates(gates) {}

  double operator()(int64_t i, double normal) const {
    switch (kind) {
    case SampleKind::LogGate:
      return gates(i, normal);
    case SampleKind::LinearGate:
      return portableExp(gates(i, normal));
    case SampleKind::RawGate:
      // A finite projection: no other makes sense, and e^-10000 is 0 as well.
      return portableInverseSoftplus(std::min(-gates(i, normal), 1e4));
    case SampleKind::Rate:
      return portableSigmoid(normal);
    case SampleKind::Rate2:
      return 2 * portableSigmoid(normal);
    case SampleKind::Weight:
      return 0.5 * normal;
    case SampleKind::ALog:
      return 0.1 * normal;
    case SampleKind::Raw:
      return isParameter ? 0.1 * normal : normal;
    default:
      return normal;
    }
  }

private:
  SampleKind kind;
  bool isParameter;
  const Gates &gates;
};
} // namespace

static void normalize(double *row, int64_t size) {
  double sum = 0;
  for (int64_t i = 0; i < size; ++i)
    sum += row[i] * row[i];
  double norm = std::sqrt(sum);
  for (int64_t i = 0; i < size; ++i)
    row[i] = norm > 0 ? row[i] / norm : 0;
}

void runner::sample(Buffer &buffer, const Argument &argument,
                    const SampleOptions &options) {
  if (argument.sample == SampleKind::State &&
      options.state == InitialState::Zero)
    return buffer.fillBytes(0);
  llvm::ArrayRef<int64_t> shape = buffer.getShape();
  auto channelDims = shape.drop_front(
      std::min<size_t>(argument.getNumTokenDims(), shape.size()));
  int64_t channels = std::accumulate(channelDims.begin(), channelDims.end(),
                                     int64_t(1), std::multiplies<int64_t>());
  RandomStream stream(options.seed, argument.name);
  Gates gates(options.seed, argument.name, options.gates, channels);
  Shaping shaping(argument, gates);

  bool isKey = argument.sample == SampleKind::UnitKey && !shape.empty();
  int64_t row = isKey ? std::max<int64_t>(shape.back(), 1) : 1;
  // A block holds whole rows, an even number of values.
  int64_t block = llvm::alignTo(kBlock, 2 * row);
  int64_t count = buffer.getNumElements();
  llvm::parallelFor(0, llvm::divideCeil(count, block), [&](size_t number) {
    int64_t begin = int64_t(number) * block;
    int64_t size = std::min(block, count - begin);
    std::vector<double> values(size);
    stream.normals(begin, size, values.data());
    if (isKey)
      for (int64_t i = 0; i < size; i += row)
        normalize(&values[i], row);
    else
      for (int64_t i = 0; i < size; ++i)
        values[i] = shaping(begin + i, values[i]);
    buffer.write(begin, size, values.data());
  });
}

static void writeIntegers(Buffer &buffer, llvm::ArrayRef<int64_t> values) {
  for (auto [i, value] : llvm::enumerate(values)) {
    if (buffer.getType() == DType::I32)
      buffer.as<int32_t>()[i] = int32_t(value);
    else
      buffer.as<int64_t>()[i] = value;
  }
}

void runner::sampleSeqlens(Buffer &buffer, const Argument &argument,
                           int64_t tokens, const SampleOptions &options) {
  RandomStream stream(options.seed, argument.name);
  std::vector<int64_t> offsets(buffer.getNumElements());
  for (auto [i, offset] : llvm::enumerate(offsets))
    offset = stream.below(i, uint64_t(tokens) + 1);
  if (!offsets.empty()) {
    offsets.back() = tokens;
    offsets.front() = 0;
  }
  llvm::sort(offsets);
  writeIntegers(buffer, offsets);
}

llvm::Error runner::sampleSlots(Buffer &buffer, const Argument &argument,
                                int64_t poolSize,
                                const SampleOptions &options) {
  int64_t count = buffer.getNumElements();
  if (count > poolSize)
    return usageError(
        "argument '" + argument.name + "': " + llvm::Twine(count) +
        " sequences need as many slots, "
        "but the pool has " +
        llvm::Twine(poolSize) + "; give slots with --slots or a larger P");
  RandomStream stream(options.seed, argument.name);
  std::vector<int64_t> slots(poolSize);
  std::iota(slots.begin(), slots.end(), 0);
  for (int64_t i = 0; i < count; ++i)
    std::swap(slots[i], slots[i + stream.below(i, poolSize - i)]);
  slots.resize(count);
  writeIntegers(buffer, slots);
  return llvm::Error::success();
}
