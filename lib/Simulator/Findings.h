//===- Findings.h - Collecting what a kernel does wrong -------------------===//

#ifndef LINATTN_LIB_SIMULATOR_FINDINGS_H
#define LINATTN_LIB_SIMULATOR_FINDINGS_H

#include "State.h"
#include "llvm/ADT/Twine.h"

namespace linattn::sim {

/// Thread-safe; equal findings (kind, lines) are counted once.
class Findings {
public:
  Findings(const Ast &ast, unsigned limit) : ast(ast), limit(limit) {}

  void add(FindingKind kind, const Warp &warp, const Instr &instr,
           unsigned lane, const llvm::Twine &message, uint64_t address = 0,
           bool hasAddress = false, const Instr *other = nullptr);
  void addGlobal(FindingKind kind, const llvm::Twine &message);
  /// Sorted, so that the order does not depend on the host's threads.
  std::vector<Finding> take(uint64_t &dropped);

private:
  const Ast &ast;
  unsigned limit;
  std::mutex lock;
  uint64_t dropped = 0;
  std::map<FindingKind, unsigned> countByKind;
  std::map<std::tuple<int, unsigned, unsigned, std::string>, Finding> byKey;
};

/// Reports for the instruction that a lane runs.
void report(FindingKind kind, const Warp &warp, const Instr &instr,
            unsigned lane, const llvm::Twine &message);
void reportAt(FindingKind kind, const Warp &warp, const Instr &instr,
              unsigned lane, uint64_t address, const llvm::Twine &message,
              const Instr *other = nullptr);

/// "0-3,16-31": the bits that are set.
std::string rangesText(uint64_t bits);

} // namespace linattn::sim

#endif // LINATTN_LIB_SIMULATOR_FINDINGS_H
