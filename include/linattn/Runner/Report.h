//===- Report.h - what a run has to say -------------------------*- C++ -*-===//

#ifndef LINATTN_RUNNER_REPORT_H
#define LINATTN_RUNNER_REPORT_H

#include "linattn/Runner/Executor.h"
#include "linattn/Runner/Metrics.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

namespace linattn {
namespace runner {

struct ArrayReport {
  std::string name;
  DType type = DType::F32;
  Shape shape;
  /// How it came about: a sample kind, or "file"; of results empty.
  std::string source;
};

struct TimeReport {
  std::vector<double> milliseconds;
  /// Tokens that belong to a sequence; 0 where nothing counts tokens.
  int64_t tokens = 0;

  double median() const;
  double min() const;
  double max() const;
  double tokensPerSecond() const;
};

struct Report {
  std::string function;
  Target target;
  std::string gates;
  uint64_t seed = 0;
  std::map<std::string, int64_t> sizes;
  std::vector<ArrayReport> inputs, results;
  double compileMilliseconds = 0;
  /// One per result, with --verify.
  std::vector<Comparison> comparisons;
  double oracleMilliseconds = 0;
  std::optional<TimeReport> time;
  /// Things to know that are no faults.
  std::vector<std::string> notes;
  /// Broken rules beside the comparisons.
  std::vector<std::string> faults;

  bool ok() const;
  void print(llvm::raw_ostream &os) const;
  llvm::json::Value toJSON() const;
};

} // namespace runner
} // namespace linattn

#endif // LINATTN_RUNNER_REPORT_H
