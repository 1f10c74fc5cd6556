//===- SignsOfLife.h - Long launches say that they still run --------------===//

#ifndef LINATTN_LIB_SIMULATOR_SIGNSOFLIFE_H
#define LINATTN_LIB_SIMULATOR_SIGNSOFLIFE_H

#include "State.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace linattn::sim {

/// Says on the launch's stream that it still runs.
class SignsOfLife {
public:
  SignsOfLife(const Launch &launch, uint64_t clusters)
      : launch(launch), clusters(clusters) {
    if (launch.options.progress)
      thread = std::thread([this] { say(); });
  }
  ~SignsOfLife() {
    {
      std::lock_guard<std::mutex> guard(lock);
      done = true;
    }
    ended.notify_all();
    if (thread.joinable())
      thread.join();
  }

private:
  void say() {
    std::unique_lock<std::mutex> guard(lock);
    auto start = std::chrono::steady_clock::now();
    for (std::chrono::seconds at(10);; at *= 2) {
      if (ended.wait_until(guard, start + at, [this] { return done; }))
        return;
      *launch.options.progress << llvm::formatv(
          "'{0}' runs for {1} s: {2} million warp instructions, {3} of {4} {5} "
          "done\n",
          launch.program->kernel->name, at.count(),
          launch.warpInstructions / 1000000, uint64_t(launch.clustersDone),
          clusters, launch.clusterDim.count() > 1 ? "clusters" : "blocks");
    }
  }

  const Launch &launch;
  uint64_t clusters;
  bool done = false;
  std::mutex lock;
  std::condition_variable ended;
  std::thread thread;
};

} // namespace linattn::sim

#endif // LINATTN_LIB_SIMULATOR_SIGNSOFLIFE_H
