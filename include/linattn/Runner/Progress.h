//===- Progress.h - signs of life -------------------------------*- C++ -*-===//

#ifndef LINATTN_RUNNER_PROGRESS_H
#define LINATTN_RUNNER_PROGRESS_H

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace linattn {
namespace runner {

/// While it lives, says on stderr what is being done: after 2 seconds, and each
/// time that the time has doubled. Short work passes in silence.
class Progress {
public:
  explicit Progress(std::string what);
  ~Progress();

private:
  void report();

  std::string what;
  std::mutex mutex;
  std::condition_variable stopped;
  bool done = false;
  std::thread thread;
};

} // namespace runner
} // namespace linattn

#endif // LINATTN_RUNNER_PROGRESS_H
