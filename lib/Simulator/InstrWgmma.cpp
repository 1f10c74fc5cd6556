//===- InstrWgmma.cpp - wgmma.* -------------------------------------------===//

#include "Exec.h"
#include "Findings.h"
#include "Fragments.h"
#include "Unwritten.h"
#include "Wgmma.h"
#include "llvm/ADT/bit.h"

using namespace llvm;

namespace linattn::sim {

/// A wgmma that has been issued and not yet waited for.
struct WgmmaOp {
  AsyncRef work;
  const Instr *instr = nullptr;
  WgmmaShape shape;
  WgmmaPieces pieces;
  bool accumulate = false;
  uint64_t group = 0;
};

struct WgmmaQueue {
  std::deque<std::shared_ptr<WgmmaOp>> ops; ///< in order of issue
  uint64_t group = 0;                       ///< that the next wgmma belongs to
  bool fenced = false;
  /// What all lanes knew, with their clocks then.
  ClockRef known;
  std::array<ClockRef, 32> knownBy;
};

/// What the warps of a warpgroup have done, so that each is held against the
/// first.
struct WgmmaLog {
  struct Entry {
    const Instr *instr;
    uint64_t descA, descB;
    bool accumulate;
    bool operator==(const Entry &o) const {
      return instr == o.instr && descA == o.descA && descB == o.descB &&
             accumulate == o.accumulate;
    }
  };
  std::deque<Entry> entries;
  uint64_t first = 0; ///< index of entries.front()
  std::array<uint64_t, 4> done{};
  std::array<const Instr *, 4> last{};
  bool reported = false;
};

namespace {

//===----------------------------------------------------------------------===//
// The warpgroup
//===----------------------------------------------------------------------===//

void logStep(Warp &w, const Instr &i, uint64_t descA, uint64_t descB,
             bool accumulate) {
  Block &block = w.block;
  unsigned group = w.index / 4, self = w.index % 4;
  if (block.wgmmaLogs.size() <= group)
    block.wgmmaLogs.resize(group + 1);
  if (!block.wgmmaLogs[group])
    block.wgmmaLogs[group] = std::make_shared<WgmmaLog>();
  WgmmaLog &log = *block.wgmmaLogs[group];
  if ((group + 1) * 4 > block.warps.size()) {
    if (!log.reported)
      report(FindingKind::Divergence, w, i, 0,
             "a warpgroup is four warps, warp " + Twine(w.index) +
                 " is in the block's last, which is not whole");
    log.reported = true;
    return;
  }
  WgmmaLog::Entry entry{&i, descA, descB, accumulate};
  uint64_t at = log.done[self]++;
  log.last[self] = &i;
  if (at == log.first + log.entries.size()) {
    log.entries.push_back(entry);
  } else if (at >= log.first && !(log.entries[at - log.first] == entry) &&
             !log.reported) {
    const WgmmaLog::Entry &other = log.entries[at - log.first];
    log.reported = true;
    report(FindingKind::Divergence, w, i, 0,
           other.instr != &i
               ? "the warps of the warpgroup do not execute the same: another "
                 "one is at line " +
                     Twine(other.instr->line)
               : Twine("the warps of the warpgroup give this instruction "
                       "different descriptors or scale-d"));
  }
  while (!log.entries.empty() &&
         *std::min_element(log.done.begin(), log.done.end()) > log.first) {
    log.entries.pop_front();
    ++log.first;
  }
}

//===----------------------------------------------------------------------===//
// Registers in flight
//===----------------------------------------------------------------------===//

template <typename F> void eachRegister(const Instr &i, unsigned arg, F f) {
  for (unsigned k = 0; k < i.args[arg].count; ++k)
    if (const Op &op = i.op[i.args[arg].first + k]; !op.isConst && !op.isSink)
      f(op.reg);
}

void mark(Warp &w, const WgmmaOp &op, bool inFlight) {
  uint32_t bits = inFlight ? allLanes : 0;
  eachRegister(*op.instr, 0, [&](uint32_t r) { w.inFlightWrite[r] = bits; });
  if (op.shape.registerA)
    eachRegister(*op.instr, 1, [&](uint32_t r) { w.inFlightRead[r] = bits; });
}

std::string nameOf(const Warp &w, uint32_t reg) {
  return w.launch().program->registerNames[reg];
}

/// A register that a wgmma of another shape in flight writes; 0: none.
uint32_t writtenByOther(const Warp &w, const Instr &i, const WgmmaQueue &queue,
                        const WgmmaShape &shape) {
  uint32_t found = 0;
  for (const auto &op : queue.ops) {
    if (op->shape.n == shape.n && op->shape.halfD == shape.halfD)
      continue;
    eachRegister(*op->instr, 0, [&](uint32_t theirs) {
      eachRegister(i, 0, [&](uint32_t ours) {
        if (ours == theirs)
          found = ours;
      });
    });
  }
  return found;
}

void checkRegisters(Warp &w, const Instr &i, const WgmmaQueue &queue,
                    const WgmmaShape &shape, bool accumulate) {
  auto wrong = [&](const Twine &text) {
    report(FindingKind::WgmmaRegister, w, i, 0, text);
  };
  uint32_t unfenced = 0, reused = 0, early = 0;
  uint32_t otherShape = writtenByOther(w, i, queue, shape);
  auto fenceCheck = [&](uint32_t reg) {
    if (!w.unfenced.empty() && w.unfenced[reg])
      unfenced = reg;
  };
  eachRegister(i, 0, [&](uint32_t reg) {
    fenceCheck(reg);
    if (w.inFlightRead[reg])
      reused = reg;
    if (uint32_t missing = ~w.available[reg];
        accumulate && missing && w.launch().options.checkUninitialised) {
      report(FindingKind::UninitialisedRegister, w, i, countr_zero(missing),
             "accumulator " + nameOf(w, reg) + " is read but " +
                 unwrittenText(w, reg, countr_zero(missing)));
      w.available[reg] = allLanes;
    }
  });
  if (shape.registerA)
    eachRegister(i, 1, [&](uint32_t reg) {
      fenceCheck(reg);
      if (w.inFlightWrite[reg])
        early = reg;
    });
  if (!queue.fenced)
    wrong("wgmma.fence must come before the first wgmma.mma_async");
  else if (unfenced)
    wrong("register " + nameOf(w, unfenced) +
          " was written after the last wgmma.fence");
  if (reused)
    wrong("accumulator " + nameOf(w, reused) +
          " is an A register of a wgmma in flight");
  if (otherShape)
    wrong("accumulator " + nameOf(w, otherShape) +
          " is written by a wgmma of another shape in flight");
  if (early)
    wrong("A register " + nameOf(w, early) +
          " is the result of a wgmma in flight: wgmma.wait_group must come "
          "first");
}

//===----------------------------------------------------------------------===//
// The product
//===----------------------------------------------------------------------===//

void perform(WgmmaOp &op) {
  Warp &w = *op.work->issuer;
  const Instr &i = *op.instr;
  const WgmmaShape &s = op.shape;
  counters().tensorFlops += uint64_t(2) * matrixRows * s.n * s.k;
  if (!op.pieces.good)
    return;
  Accessor who{&w, &i, op.work->lane, op.work.get()};
  notePieces(who, op.pieces);
  alignas(32) float a[matrixRows * 16], b[16 * 256], acc[matrixRows * 256];
  if (s.registerA) {
    loadFragmentA(w, &i.op[i.args[1].first], s.format, s.k, a);
    if (s.negateA)
      for (float &x : a)
        x = -x;
  } else {
    decodeA(w.block, s, op.pieces, a);
  }
  decodeB(w.block, s, op.pieces, b);
  const Op *d = &i.op[0];
  unsigned perGroup = s.halfD ? 2 : 4;
  if (op.accumulate)
    for (unsigned g = 0; g < s.n / 8; ++g)
      loadAccumulator(w, d + g * perGroup, s.halfD, acc + 8 * g, s.n);
  else
    std::fill(acc, acc + matrixRows * s.n, 0.0f);
  multiplyAdd(acc, a, b, s.n, s.k);
  canonicalise(acc, matrixRows * s.n);
  for (unsigned g = 0; g < s.n / 8; ++g)
    storeAccumulator(w, d + g * perGroup, s.halfD, acc + 8 * g, s.n);
}

/// The warp's wgmma up to `last` take effect, in order.
void performUpTo(WgmmaQueue &queue, const AsyncWork &last) {
  for (auto &op : queue.ops) {
    bool end = op->work.get() == &last;
    if (end || !op->work->done) {
      op->work->done = true;
      perform(*op);
    }
    if (end)
      return;
  }
}

/// Everything that the lanes of the warp know and have done.
const ClockRef &knownToAll(Warp &w, WgmmaQueue &queue) {
  if (!queue.known || queue.knownBy != w.clocks) {
    queue.known = w.release(allLanes);
    queue.knownBy = w.clocks;
  }
  return queue.known;
}

/// Whether a 64-bit operand is the same in all lanes.
bool uniform(const Warp &w, const Op &op) {
  uint64_t first = w.read(op, 0);
  for (unsigned l = 1; l < 32; ++l)
    if (w.read(op, l) != first)
      return false;
  return true;
}

WgmmaShape shapeOf(const Instr &i) {
  WgmmaShape s;
  s.n = i.detail & 0x1ff;
  s.k = i.detail >> 9 & 0x1f;
  s.format = matrixFormatOf(i.types[1]);
  s.halfD = i.types[0] == Type::F16;
  s.registerA = i.detail >> 14 & 1;
  s.negateA = i.arg(4).imm < 0;
  s.negateB = i.arg(5).imm < 0;
  if (i.numArgs > 6) {
    s.transposeB = i.arg(i.numArgs - 1).imm;
    s.transposeA = !s.registerA && i.arg(6).imm;
  }
  return s;
}

WgmmaQueue &queueOf(Warp &w) {
  if (!w.wgmma) {
    w.wgmma = std::make_shared<WgmmaQueue>();
    w.inFlightWrite.assign(w.launch().program->numRegisters, 0);
    w.inFlightRead.assign(w.launch().program->numRegisters, 0);
  }
  return *w.wgmma;
}

/// Operands: d, a or its descriptor, descriptor of b, scale-d, scales of a and
/// b, transposes.
Step mma(Warp &w, const Instr &i, uint32_t) {
  WgmmaQueue &queue = queueOf(w);
  auto op = std::make_shared<WgmmaOp>();
  op->instr = &i;
  op->shape = shapeOf(i);
  op->group = queue.group;
  uint32_t scale = w.pred(i.arg(3));
  op->accumulate = scale & 1;
  if ((scale != 0 && scale != allLanes) || !uniform(w, i.arg(2)) ||
      (!op->shape.registerA && !uniform(w, i.arg(1))))
    report(FindingKind::Divergence, w, i, 0,
           "descriptors and scale-d must be the same in all lanes");
  uint64_t descA = op->shape.registerA ? 0 : w.read(i.arg(1), 0);
  uint64_t descB = w.read(i.arg(2), 0);
  logStep(w, i, descA, descB, op->accumulate);
  checkRegisters(w, i, queue, op->shape, op->accumulate);
  op->work = makeWork(w, 0, i);
  // A warp's wgmma are one thread of events, whose clock counts groups.
  op->work->slot = w.cluster().firstAsync + w.clusterIndex;
  op->work->slotClock = queue.group + 1;
  if (op->work->clock)
    op->work->clock = knownToAll(w, queue);
  Accessor who{&w, &i, 0};
  op->pieces = findPieces(who, op->shape, descA, descB);
  queue.ops.push_back(op);
  mark(w, *op, true);
  w.anyInFlight = true;
  WgmmaQueue *q = &queue;
  op->work->perform = [q](AsyncWork &work) { performUpTo(*q, work); };
  w.cluster().asyncQueue.issue(w.cluster(), op->work);
  return Step::Next;
}

Step fence(Warp &w, const Instr &i, uint32_t) {
  logStep(w, i, 0, 0, false);
  queueOf(w).fenced = true;
  for (uint32_t reg : w.unfencedList)
    w.unfenced[reg] = 0;
  w.unfencedList.clear();
  return Step::Next;
}

Step commit(Warp &w, const Instr &i, uint32_t) {
  logStep(w, i, 0, 0, false);
  WgmmaQueue &queue = queueOf(w);
  ++queue.group;
  return Step::Next;
}

Step wait(Warp &w, const Instr &i, uint32_t active) {
  logStep(w, i, 0, 0, false);
  ++counters().waits["wgmma groups"];
  WgmmaQueue &queue = queueOf(w);
  uint64_t keep = i.arg(0).imm;
  std::vector<AsyncRef> groups;
  while (!queue.ops.empty() && queue.ops.front()->group + keep < queue.group) {
    std::shared_ptr<WgmmaOp> op = queue.ops.front();
    if (!op->work->done)
      w.cluster().asyncQueue.finish(*op->work);
    queue.ops.pop_front();
    mark(w, *op, false);
    if (groups.empty() || groups.back()->slotClock != op->work->slotClock)
      groups.push_back(op->work);
  }
  // Registers of several wgmma stay in flight with the last of them.
  for (const auto &op : queue.ops)
    mark(w, *op, true);
  w.anyInFlight = !queue.ops.empty();
  acquireWork(w, active, groups);
  return Step::Next;
}

Error decode(Instr &i, const Words &words) {
  unsigned n = 0, k = 0;
  StringRef shape = words[4];
  if (!shape.consume_front("m64n") || shape.consumeInteger(10, n) ||
      !shape.consume_front("k") || shape.consumeInteger(10, k) ||
      !shape.empty())
    return createStringError("unknown shape " + words[4]);
  bool tf32 = i.types[1] == Type::TF32, half = i.types[0] == Type::F16;
  if (n < 8 || n > 256 || n % 8 || k != (tf32 ? 8u : 16u))
    return createStringError("there is no shape " + words[4] + " of ." +
                             typeName(i.types[1]));
  if (i.types[1] != i.types[2])
    return createStringError("A and B must have the same type");
  if (half && i.types[1] != Type::F16)
    return createStringError("half-precision accumulators need f16 operands");
  bool registers = i.args[1].count > 1;
  if (registers ? i.args[1].count != 4 : !i.arg(1).isWide)
    return createStringError("A is a descriptor or four registers");
  if (i.args[0].count != (half ? n / 4 : n / 2))
    return createStringError(
        words[4] + " needs " + Twine(half ? n / 4 : n / 2) +
        " accumulator registers, got " + Twine(unsigned(i.args[0].count)));
  unsigned want = tf32 ? 6 : registers ? 7 : 8;
  if (i.numArgs != want)
    return createStringError("needs " + Twine(want) + " operands, got " +
                             Twine(unsigned(i.numArgs)));
  for (unsigned a = 4; a < i.numArgs; ++a) {
    int64_t value = i.arg(a).imm;
    if (a < 6 ? value != 1 && value != -1 : value != 0 && value != 1)
      return createStringError("operand " + Twine(a) + " must be " +
                               (a < 6 ? "1 or -1" : "0 or 1") + ", got " +
                               Twine(value));
  }
  i.detail = n | k << 9 | unsigned(registers) << 14;
  return Error::success();
}

} // namespace

void checkWarpgroupsAtExit(Cluster &cluster) {
  for (const auto &block : cluster.blocks)
    for (size_t group = 0; group < block->wgmmaLogs.size(); ++group) {
      const WgmmaLog *log = block->wgmmaLogs[group].get();
      if (!log || log->reported)
        continue;
      auto [least, most] =
          std::minmax_element(log->done.begin(), log->done.end());
      if (*least == *most)
        continue;
      unsigned warp = most - log->done.begin();
      report(FindingKind::Divergence, *block->warps[group * 4 + warp],
             *log->last[warp], 0,
             "not all warps of the warpgroup execute this: one has done " +
                 Twine(*least) + " wgmma instructions, this one " +
                 Twine(*most));
    }
}

void registerWgmma(InstrTable &t) {
  constexpr InstrKind K = InstrKind::Tensor;
  constexpr uint32_t A =
      TraitAligned | TraitWholeWarp | TraitAsync | TraitOwnFlightCheck;
  t.add("wgmma.fence.sync.aligned", "", fence, K, A);
  t.add("wgmma.commit_group.sync.aligned", "", commit, K, A);
  t.add("wgmma.wait_group.sync.aligned", "#", wait, K, A);
  std::string names = "wgmma.mma_async.sync.aligned.";
  // The shape is checked when it is decoded.
  for (StringRef types :
       {"f32.bf16.bf16", "f32.f16.f16", "f16.f16.f16", "f32.tf32.tf32"})
    for (unsigned n = 8; n <= 256; n += 8)
      t.add(names + "m64n" + std::to_string(n) +
                (types.ends_with("tf32") ? "k8." : "k16.") + types.str(),
            "=vb32 <vab32 <b64 <pred # # #? #?", mma, K, A, decode);
}

} // namespace linattn::sim
