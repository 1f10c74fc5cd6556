//===- Progress.cpp - signs of life -----------------------------*- C++ -*-===//

#include "linattn/Runner/Progress.h"

#include "llvm/Support/raw_ostream.h"

using namespace linattn::runner;

Progress::Progress(std::string what)
    : what(std::move(what)), thread([this] { report(); }) {}

Progress::~Progress() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    done = true;
  }
  stopped.notify_all();
  thread.join();
}

void Progress::report() {
  std::unique_lock<std::mutex> lock(mutex);
  auto start = std::chrono::steady_clock::now();
  for (std::chrono::seconds at(2);; at *= 2) {
    if (stopped.wait_until(lock, start + at, [this] { return done; }))
      return;
    llvm::errs() << "linattn-run: " << what << ": " << at.count() << " s\n";
  }
}
