//===- Async.h - Work that completes later --------------------------------===//
//
// An asynchronous instruction makes an AsyncWork and issues it. The work takes
// effect when the scheduler completes it: at once (AsyncTiming::Earliest), when
// a wait demands it or nothing else can go on (Latest), or at a seeded moment.
//
// Two kinds of waits exist. A wait that names its work (cp.async.wait_group,
// wgmma.wait_group) calls AsyncQueue::finish for each. A wait on an mbarrier
// returns Step::Block; the scheduler then runs other warps and, when none can
// go on, completes queued work, which bumps Cluster::events.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_LIB_SIMULATOR_ASYNC_H
#define LINATTN_LIB_SIMULATOR_ASYNC_H

#include "VectorClock.h"
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <vector>

namespace linattn::sim {

class Warp;
class Cluster;
struct Instr;

/// Whose work it is, and its place among the clocks.
struct AsyncOrigin {
  Warp *issuer = nullptr;
  uint32_t lane = 0;
  const Instr *instr = nullptr;
  /// What the issuing thread knew, and the entry of the vector clock that
  /// stands for this work; both unused without race checks.
  ClockRef clock;
  uint32_t slot = 0, slotClock = 0;
  /// The issuing thread, and up to which clock its own accesses come first.
  uint32_t issuerThread = 0, issuerClock = 0;
};

struct AsyncWork : AsyncOrigin {
  /// Does the work: moves the bytes, signals the mbarrier.
  std::function<void(AsyncWork &)> perform;
  /// Of a store that is waited for in two steps: `this` reads the source, the
  /// other stands for the writes.
  std::shared_ptr<AsyncWork> writes;
  bool done = false;
};
using AsyncRef = std::shared_ptr<AsyncWork>;

/// Work by a lane, with its place among the clocks. Later accesses of the lane
/// are not ordered before it.
AsyncRef makeWork(Warp &warp, uint32_t lane, const Instr &instr);
/// Adds the completion of work to what a synchronisation object publishes.
void releaseWork(ClockRef &object, Cluster &cluster, const AsyncOrigin &work);
/// The lanes learn that the work is complete.
void acquireWork(Warp &warp, uint32_t lanes, const std::vector<AsyncRef> &work);

class AsyncQueue {
public:
  /// Registers the work under the cluster's timing; may perform it at once.
  void issue(Cluster &cluster, AsyncRef work);
  /// Performs the work now unless it is done.
  void finish(AsyncWork &work);
  /// Performs one seeded piece of queued work; false if there is none.
  bool finishOne(Cluster &cluster);
  bool empty() const { return queue.empty(); }
  /// The next slot of the vector clock, with its clock.
  std::pair<uint32_t, uint32_t> nextSlot();

private:
  std::deque<AsyncRef> queue;
  uint64_t issued = 0;
};

/// Commit groups of one lane.
struct LaneAsync {
  std::vector<AsyncRef> open;               ///< cp.async, not yet in a group
  std::deque<std::vector<AsyncRef>> groups; ///< cp.async groups, oldest first
  std::vector<AsyncRef> bulkOpen;
  std::deque<std::vector<AsyncRef>> bulkGroups;
};

} // namespace linattn::sim

#endif // LINATTN_LIB_SIMULATOR_ASYNC_H
