//===- Report.h - What a simulated launch did and did wrong ---------------===//

#ifndef LINATTN_SIMULATOR_REPORT_H
#define LINATTN_SIMULATOR_REPORT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace linattn::sim {

enum class FindingKind {
  OutOfBounds,
  Misaligned,
  UninitialisedMemory,
  UninitialisedRegister,
  ReadOnly,
  SharedRace,
  GlobalRace,
  ProxyFence,
  WgmmaRegister,
  Mbarrier,
  AsyncCopy,
  ClusterMemory,
  Divergence,
  Deadlock,
  Barrier,
  BadOperand,
  Trap,
  Limit
};

/// The name used in messages and in JSON, such as "out-of-bounds".
llvm::StringRef findingKindName(FindingKind kind);

struct Finding {
  FindingKind kind;
  std::string message;
  unsigned line = 0;       ///< in the PTX text
  std::string instruction; ///< that line's text
  std::string source;      ///< "file:line" where debug lines exist
  unsigned otherLine = 0;  ///< of a race: the other access
  std::array<uint32_t, 3> block{}, thread{};
  bool hasThread = false;
  bool hasAddress = false;
  uint64_t address = 0;
  uint64_t count = 1; ///< how often it was seen
};

/// Bytes moved, as requested by threads.
struct Traffic {
  uint64_t read = 0, written = 0;
};

struct Report {
  std::string kernel;
  std::vector<Finding> findings;
  uint64_t findingsDropped = 0;

  uint64_t warpInstructions = 0, threadInstructions = 0;
  /// Thread instructions by kind ("fp32", "shared memory", ..).
  std::map<std::string, uint64_t> byKind;
  /// Warp instructions by PTX name without its modifiers' operands.
  std::map<std::string, uint64_t> byName;
  /// Multiply-adds count as two.
  uint64_t tensorFlops = 0;
  std::map<std::string, Traffic> bySpace;
  /// Extra shared-memory wavefronts beyond the fewest the access needs.
  uint64_t bankConflicts = 0;
  /// PTX line to its extra wavefronts.
  std::map<unsigned, uint64_t> bankConflictsByLine;
  /// Times that warps had to wait, by reason.
  std::map<std::string, uint64_t> waits;
  double seconds = 0;    ///< on the clock
  double cpuSeconds = 0; ///< of all host threads together

  bool clean() const { return findings.empty(); }
  void printFindings(llvm::raw_ostream &os) const;
  void printStatistics(llvm::raw_ostream &os) const;
  llvm::json::Value toJSON() const;
};

} // namespace linattn::sim

#endif // LINATTN_SIMULATOR_REPORT_H
