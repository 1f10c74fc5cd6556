//===- VectorClock.h - What a thread knows of the others ------------------===//
//
// Happens-before by vector clocks. Every warp has a clock that ticks at each
// release of one of its lanes; an access is stamped (thread, clock). A thread
// that acquires learns, for every thread of its cluster and every slot of
// asynchronous work, up to which clock that one's accesses are ordered before.
//
// A clock has a second half, indexed alike: up to which clock accesses are also
// ordered before for the async proxy, that is, were followed by a proxy fence.
//
// Clocks are shared between lanes and never changed once shared.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_LIB_SIMULATOR_VECTORCLOCK_H
#define LINATTN_LIB_SIMULATOR_VECTORCLOCK_H

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace linattn::sim {

class VectorClock {
public:
  explicit VectorClock(uint32_t size) : size(size), values(2 * size, 0) {}

  uint32_t get(uint32_t index) const { return values[index]; }
  uint32_t fenced(uint32_t index) const { return values[size + index]; }
  void set(uint32_t index, uint32_t clock) {
    values[index] = std::max(values[index], clock);
  }
  void setFenced(uint32_t index, uint32_t clock) {
    values[size + index] = std::max(values[size + index], clock);
  }
  /// All that is known so far becomes known to the async proxy.
  void fence() {
    for (uint32_t i = 0; i < size; ++i)
      values[size + i] = std::max(values[size + i], values[i]);
  }
  void join(const VectorClock &other) {
    for (uint32_t i = 0; i < 2 * size; ++i)
      values[i] = std::max(values[i], other.values[i]);
    for (auto &[cluster, clock] : other.foreign)
      joinForeign(cluster, clock);
  }
  bool covers(const VectorClock &other) const {
    for (uint32_t i = 0; i < 2 * size; ++i)
      if (values[i] < other.values[i])
        return false;
    for (auto &[cluster, clock] : other.foreign) {
      auto it = foreign.find(cluster);
      if (it == foreign.end() ||
          (it->second != clock && !it->second->covers(*clock)))
        return false;
    }
    return true;
  }

  using Ref = std::shared_ptr<const VectorClock>;
  /// Knowledge about the threads of another cluster.
  const VectorClock *ofCluster(uint32_t cluster) const {
    auto it = foreign.find(cluster);
    return it == foreign.end() ? nullptr : it->second.get();
  }
  void joinForeign(uint32_t cluster, const Ref &clock) {
    Ref &mine = foreign[cluster];
    if (!mine || clock->covers(*mine)) {
      mine = clock;
      return;
    }
    auto joined = std::make_shared<VectorClock>(*mine);
    joined->join(*clock);
    mine = joined;
  }
  const std::map<uint32_t, Ref> &others() const { return foreign; }

private:
  uint32_t size;
  std::vector<uint32_t> values;
  std::map<uint32_t, Ref> foreign;
};

using ClockRef = std::shared_ptr<const VectorClock>;

} // namespace linattn::sim

#endif // LINATTN_LIB_SIMULATOR_VECTORCLOCK_H
