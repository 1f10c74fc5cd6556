//===- State.h - Warps, blocks and clusters while they run ----------------===//

#ifndef LINATTN_LIB_SIMULATOR_STATE_H
#define LINATTN_LIB_SIMULATOR_STATE_H

#include "Async.h"
#include "DeviceMemory.h"
#include "Program.h"
#include "VectorClock.h"
#include "linattn/Simulator/Simulator.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include <bitset>
#include <mutex>
#include <random>

namespace linattn::sim {

class Block;
class Cluster;
struct WgmmaQueue;
struct WgmmaLog;
struct MbarrierTable;
class Launch;
class Findings;

/// Windows of the generic address space. Shared addresses of another block of
/// the cluster carry its rank plus one in bits 24 and up.
constexpr uint64_t sharedWindow = uint64_t(1) << 44;
constexpr uint64_t localWindow = uint64_t(2) << 44;
constexpr uint64_t paramWindow = uint64_t(3) << 44;
constexpr uint64_t windowBytes = uint64_t(1) << 32;
constexpr unsigned clusterRankShift = 24;
/// Where a block's shared memory starts, as on sm_90: address 0 is no variable.
constexpr uint32_t sharedBase = 1024;
constexpr uint32_t maxSharedBytes = 227 * 1024;
/// Slots of a vector clock that stand for pieces of asynchronous work.
constexpr uint32_t asyncSlots = 256;

/// Bits of a register, lane by lane.
using LaneBits = std::array<uint64_t, 32>;

/// Lanes of a warp that are at the same place.
struct Split {
  enum State : uint8_t {
    Ready,
    Blocked,  ///< its instruction returned Step::Block
    Converge, ///< waits for lanes that its instruction needs
  };
  uint32_t pc = 0;
  uint32_t mask = 0;
  State state = Ready;
  /// Of a blocked instruction: it has registered its arrival, and what it waits
  /// for. Reset when the split goes on.
  bool armed = false;
  /// It has just asked in vain: others go first.
  bool polled = false;
  /// Instructions since it last asked in vain.
  uint32_t sincePoll = 0;
  uint64_t waitValue = 0;
  /// Cluster::events when it blocked.
  uint64_t seenEvents = 0;
  llvm::SmallVector<uint32_t, 2> returns;
};

class Warp {
public:
  Warp(Block &block, uint32_t index, uint32_t lanes);

  Block &block;
  const uint32_t index;      ///< in the block
  uint32_t clusterIndex = 0; ///< among the warps of the cluster
  const uint32_t launched;   ///< lanes that exist
  uint32_t live;             ///< lanes that have not exited

  //===--- Registers ------------------------------------------------------===//
  /// [0] the register file, [1] the constant pool: see Op::isConst.
  const uint8_t *base[2];
  std::unique_ptr<uint8_t[]> registers;
  /// Lanes whose register holds a value, by register.
  std::vector<uint32_t> available;
  /// Bits that are missing in the lanes that are not available; no entry: all.
  llvm::DenseMap<uint32_t, LaneBits> unwritten;
  std::vector<uint32_t> predicates;
  uint32_t carry = 0; ///< CC.CF of each lane
  /// Lanes whose register asynchronous work reads or writes; empty: none does.
  std::vector<uint32_t> inFlightWrite, inFlightRead;
  bool anyInFlight = false;

  template <typename T> const T *in(const Op &op) const {
    return reinterpret_cast<const T *>(base[op.isConst] + op.offset);
  }
  template <typename T> T *out(const Op &op) const {
    return reinterpret_cast<T *>(registers.get() + op.offset);
  }
  uint64_t read(const Op &op, unsigned lane) const {
    return op.isWide ? in<uint64_t>(op)[lane] : in<uint32_t>(op)[lane];
  }
  void write(const Op &op, unsigned lane, uint64_t value) {
    if (op.isWide)
      out<uint64_t>(op)[lane] = value;
    else
      out<uint32_t>(op)[lane] = value;
  }
  uint32_t pred(const Op &op) const {
    uint32_t mask = op.isConst ? (op.imm ? ~0u : 0) : predicates[op.reg];
    return op.negated ? ~mask : mask;
  }
  void setPred(const Op &op, uint32_t active, uint32_t value) {
    uint32_t &p = predicates[op.reg];
    p = (p & ~active) | (value & active);
  }

  //===--- Control --------------------------------------------------------===//
  llvm::SmallVector<Split, 4> splits;
  uint32_t current = 0; ///< index of the split that runs
  Split &split() { return splits[current]; }
  std::vector<uint8_t> frame;      ///< local memory, lane after lane
  std::vector<Shadow> frameShadow; ///< per lane

  //===--- Happens-before -------------------------------------------------===//
  uint32_t clock = 1;
  std::array<ClockRef, 32> clocks;
  uint32_t threadId(unsigned lane) const { return clusterIndex * 32 + lane; }
  /// What the lanes publish: all they know and have done. Null without race
  /// checks. The warp's clock ticks.
  ClockRef release(uint32_t lanes);
  void acquire(uint32_t lanes, const ClockRef &from);
  /// Adds what the lanes publish to a synchronisation object.
  void releaseInto(ClockRef &object, uint32_t lanes);
  /// fence.proxy.async by the lanes.
  void proxyFence(uint32_t lanes);
  /// membar and fence: publishes at the next relaxed access, and takes what
  /// relaxed accesses before it have seen.
  void fenceLanes(uint32_t lanes);
  struct FenceState {
    ClockRef published;         ///< null: no fence yet
    std::vector<uint64_t> seen; ///< keys of Launch::globalSync
  };
  std::vector<FenceState>
      fences; ///< per lane; empty: the kernel has no atomics
  std::array<bool, 32> clusterArrived{};
  std::array<uint64_t, 32> clusterGeneration{};

  /// Groups of asynchronous copies of each lane, see Async.h; null in kernels
  /// that have none (Program::usesAsync).
  std::unique_ptr<LaneAsync[]> async;
  /// wgmma not yet waited for; null: none so far.
  std::shared_ptr<WgmmaQueue> wgmma;
  /// Registers of wgmma written since the last wgmma.fence, by register.
  std::vector<uint8_t> unfenced;
  std::vector<uint32_t> unfencedList; ///< the same as a list
  /// Blocks of the cluster that are known to have started.
  uint32_t startedBlocks = 0;
  /// The last mbarrier that a lane asked in vain, for reports of deadlocks.
  struct MbarrierQuestion {
    const Instr *instr = nullptr;
    uint32_t lane = 0;
    uint64_t address = 0;
  } asked;

  Launch &launch() const;
  Cluster &cluster() const;
};

/// One of a block's sixteen named barriers.
struct NamedBarrier {
  uint32_t arrived = 0;  ///< threads
  uint32_t expected = 0; ///< threads; 0: all live threads of the block
  uint64_t generation = 0;
  ClockRef gathering, released;
  // bar.red
  uint32_t reduceCount = 0, reduceAnd = 1, reduceOr = 0;
  uint32_t resultCount = 0, resultAnd = 0, resultOr = 0;
  unsigned line = 0; ///< of the first arrival
};

/// The last use of a block's shared memory by somebody whose end the block must
/// learn of before it exits.
struct OutsideUse {
  uint32_t clock = 0; ///< 0: none
  const Warp *warp = nullptr;
  const Instr *instr = nullptr;
  uint32_t lane = 0;
  uint64_t address = 0;
};

class Block {
public:
  Block(Cluster &cluster, Dim3 index, uint32_t rank);

  Cluster &cluster;
  Dim3 index;
  uint32_t rank; ///< in the cluster
  std::vector<std::unique_ptr<Warp>> warps;
  std::vector<uint8_t> shared; ///< from sharedBase on
  Shadow sharedShadow;
  std::array<NamedBarrier, 16> barriers;
  uint32_t liveThreads = 0;
  std::shared_ptr<MbarrierTable> mbarriers;
  std::vector<std::shared_ptr<WgmmaLog>> wgmmaLogs; ///< by warpgroup
  /// By thread of the cluster or slot of asynchronous work; empty: none.
  std::vector<OutsideUse> outsideUses;
  ClockRef knownAtExit; ///< by the threads that have exited

  uint32_t sharedBytes() const { return shared.size(); }
};

/// A cluster of blocks, or one block: what runs on one host thread.
class Cluster {
public:
  Cluster(Launch &launch, uint32_t linearIndex);

  Launch &launch;
  uint32_t linear; ///< in the grid of clusters
  std::vector<std::unique_ptr<Block>> blocks;
  std::vector<Warp *> warps;
  /// Counts what may let a waiting warp go on: bump it after any change that a
  /// Step::Block instruction looks at.
  uint64_t events = 0;
  /// Counts what changes the state that polling instructions look at.
  uint64_t pollsSinceProgress = 0;
  /// Counts the times that waits with a time limit gave up, and whether such a
  /// wait has blocked since.
  uint64_t timeouts = 0;
  bool timedWaits = false;
  uint32_t liveThreads = 0;
  std::mt19937_64 random;
  AsyncQueue asyncQueue;
  NamedBarrier clusterBarrier;
  bool stopped = false;
  bool ranAtAll = false;   ///< other than by polling, since it last stalled
  uint64_t clockTicks = 0; ///< what %clock reads
  uint64_t executed = 0;   ///< warp instructions
  /// Entries of a vector clock of this cluster: its threads, the wgmma of each
  /// warp, slots of other asynchronous work.
  uint32_t clockSize = 0;
  uint32_t firstAsync = 0; ///< where the threads end

  void progress() {
    ++events;
    worked();
  }
  /// Something other than polling went on.
  void worked() {
    pollsSinceProgress = 0;
    ranAtAll = true;
  }

  enum class Outcome { Done, Stalled, Stopped };
  /// Runs until all threads have exited, or nothing more can happen here.
  Outcome run();
  /// Findings about who waits where.
  void reportDeadlock();

private:
};

/// Counters of one host thread, summed at the end.
struct Counters {
  std::vector<uint64_t> warpRuns, threadRuns;       ///< by pc
  std::vector<uint64_t> conflicts;                  ///< by pc
  uint64_t readBytes[8] = {}, writtenBytes[8] = {}; ///< by StateSpace
  uint64_t tensorFlops = 0;
  double cpuSeconds = 0;
  std::map<std::string, uint64_t> waits;
  std::map<std::string, Traffic> asyncTraffic;
};

class Launch {
public:
  const Program *program = nullptr;
  DeviceMemory *memory = nullptr;
  LaunchConfig config;
  LaunchOptions options;
  Dim3 clusterDim{1, 1, 1};
  std::vector<uint8_t> parameters;
  std::vector<uint8_t> constants; ///< the program's pool
  Findings *findings = nullptr;
  /// Several host threads run: shadow pages of global memory need their locks.
  bool parallel = false;
  std::atomic<bool> stop{false};
  /// What the signs of life count.
  std::atomic<uint64_t> warpInstructions{0}, clustersDone{0};

  /// Race state shared by clusters that meet at atomics in global memory:
  /// what was released at an address.
  std::mutex globalSyncLock;
  std::map<uint64_t, std::map<uint32_t, ClockRef>> globalSync;
};

/// The counters of the host thread that runs now.
Counters &counters();
void setCounters(Counters *counters);

} // namespace linattn::sim

#endif // LINATTN_LIB_SIMULATOR_STATE_H
