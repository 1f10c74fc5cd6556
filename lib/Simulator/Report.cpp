//===- Report.cpp - What a simulated launch did and did wrong -------------===//

#include "linattn/Simulator/Report.h"
#include "llvm/Support/Format.h"

using namespace llvm;

namespace linattn::sim {

StringRef findingKindName(FindingKind kind) {
  switch (kind) {
  case FindingKind::OutOfBounds:
    return "out-of-bounds";
  case FindingKind::Misaligned:
    return "misaligned";
  case FindingKind::UninitialisedMemory:
    return "uninitialised-memory";
  case FindingKind::UninitialisedRegister:
    return "uninitialised-register";
  case FindingKind::ReadOnly:
    return "read-only";
  case FindingKind::SharedRace:
    return "shared-race";
  case FindingKind::GlobalRace:
    return "global-race";
  case FindingKind::ProxyFence:
    return "proxy-fence";
  case FindingKind::WgmmaRegister:
    return "wgmma-register";
  case FindingKind::Mbarrier:
    return "mbarrier";
  case FindingKind::AsyncCopy:
    return "async-copy";
  case FindingKind::ClusterMemory:
    return "cluster-memory";
  case FindingKind::Divergence:
    return "divergence";
  case FindingKind::Deadlock:
    return "deadlock";
  case FindingKind::Barrier:
    return "barrier";
  case FindingKind::BadOperand:
    return "bad-operand";
  case FindingKind::Trap:
    return "trap";
  case FindingKind::Limit:
    return "limit";
  }
  return "unknown";
}

void Report::printFindings(raw_ostream &os) const {
  for (const Finding &f : findings) {
    os << "error: " << findingKindName(f.kind) << ": " << f.message << "\n";
    if (f.line)
      os << "  at PTX line " << f.line << ": " << f.instruction << "\n";
    if (!f.source.empty())
      os << "  from " << f.source << "\n";
    if (f.hasThread)
      os << "  thread (" << f.thread[0] << "," << f.thread[1] << ","
         << f.thread[2] << ") of block (" << f.block[0] << "," << f.block[1]
         << "," << f.block[2] << ")"
         << (f.count > 1 ? ", seen " + std::to_string(f.count) + " times" : "")
         << "\n";
  }
  if (findingsDropped)
    os << "error: " << findingsDropped << " more findings are not shown\n";
}

void Report::printStatistics(raw_ostream &os) const {
  os << "kernel " << kernel << ": " << warpInstructions
     << " warp instructions, " << threadInstructions
     << " thread instructions\n";
  os << "instructions by kind:\n";
  for (auto &[kind, count] : byKind)
    os << "  " << format("%-20s", kind.c_str()) << " " << count << "\n";
  os << "bytes by space (read, written):\n";
  for (auto &[space, traffic] : bySpace)
    os << "  " << format("%-20s", space.c_str()) << " " << traffic.read << " "
       << traffic.written << "\n";
  os << "tensor-core floating-point operations: " << tensorFlops << "\n";
  os << "bank conflicts: " << bankConflicts << "\n";
  for (auto &[line, count] : bankConflictsByLine)
    os << "  line " << line << ": " << count << "\n";
  os << "waits:\n";
  for (auto &[reason, count] : waits)
    os << "  " << format("%-24s", reason.c_str()) << " " << count << "\n";
}

json::Value Report::toJSON() const {
  json::Array list;
  for (const Finding &f : findings) {
    json::Object o{{"kind", findingKindName(f.kind)},
                   {"message", f.message},
                   {"count", int64_t(f.count)}};
    if (f.line) {
      o["line"] = int64_t(f.line);
      o["instruction"] = f.instruction;
    }
    if (f.otherLine)
      o["other_line"] = int64_t(f.otherLine);
    if (!f.source.empty())
      o["source"] = f.source;
    if (f.hasThread) {
      o["thread"] = json::Array{f.thread[0], f.thread[1], f.thread[2]};
      o["block"] = json::Array{f.block[0], f.block[1], f.block[2]};
    }
    if (f.hasAddress)
      o["address"] = f.address;
    list.push_back(std::move(o));
  }
  auto counts = [](const std::map<std::string, uint64_t> &map) {
    json::Object o;
    for (auto &[name, count] : map)
      o[name] = count;
    return o;
  };
  json::Object space, lines;
  for (auto &[name, traffic] : bySpace)
    space[name] =
        json::Object{{"read", traffic.read}, {"written", traffic.written}};
  for (auto &[line, count] : bankConflictsByLine)
    lines[std::to_string(line)] = count;
  return json::Object{{"kernel", kernel},
                      {"findings", std::move(list)},
                      {"findings_dropped", findingsDropped},
                      {"warp_instructions", warpInstructions},
                      {"thread_instructions", threadInstructions},
                      {"instructions_by_kind", counts(byKind)},
                      {"instructions_by_name", counts(byName)},
                      {"tensor_flops", tensorFlops},
                      {"bytes_by_space", std::move(space)},
                      {"bank_conflicts", bankConflicts},
                      {"bank_conflicts_by_line", std::move(lines)},
                      {"waits", counts(waits)}};
}

} // namespace linattn::sim
