//===- Findings.cpp - Collecting what a kernel does wrong -----------------===//

#include "Findings.h"

using namespace llvm;

namespace linattn::sim {

void Findings::add(FindingKind kind, const Warp &warp, const Instr &instr,
                   unsigned lane, const Twine &message, uint64_t address,
                   bool hasAddress, const Instr *other) {
  std::lock_guard<std::mutex> guard(lock);
  // A race between two lines is one finding, whichever side came second.
  unsigned first = instr.line, second = other ? other->line : 0;
  if (other && second < first)
    std::swap(first, second);
  auto key = std::make_tuple(int(kind), first, second,
                             kind == FindingKind::UninitialisedRegister
                                 ? message.str()
                                 : std::string());
  auto it = byKey.find(key);
  // Many findings of one kind must not hide another kind.
  constexpr unsigned fewOfKind = 4;
  unsigned &ofKind = countByKind[kind];
  if (it == byKey.end() && byKey.size() >= limit && ofKind >= fewOfKind) {
    ++dropped;
    return;
  }
  Finding finding;
  finding.kind = kind;
  finding.message = message.str();
  finding.line = instr.line;
  finding.instruction = ast.lineText(instr.line);
  finding.source = ast.sourceOf(instr.loc);
  finding.otherLine = other ? other->line : 0;
  const Dim3 &b = warp.launch().config.block;
  uint32_t t = warp.index * 32 + lane;
  finding.thread = {t % b.x, t / b.x % b.y, t / b.x / b.y};
  finding.block = {warp.block.index.x, warp.block.index.y, warp.block.index.z};
  finding.hasThread = true;
  finding.hasAddress = hasAddress;
  finding.address = address;
  if (it == byKey.end()) {
    ++ofKind;
    byKey.emplace(key, std::move(finding));
    return;
  }
  // The first thread of the first block speaks for all, whatever the order in
  // which host threads got here.
  Finding &known = it->second;
  finding.count = known.count + 1;
  auto place = [](const Finding &f) {
    return std::make_tuple(f.block[2], f.block[1], f.block[0], f.thread[2],
                           f.thread[1], f.thread[0]);
  };
  if (place(finding) < place(known))
    known = std::move(finding);
  else
    known.count = finding.count;
}

void Findings::addGlobal(FindingKind kind, const Twine &message) {
  std::lock_guard<std::mutex> guard(lock);
  Finding finding;
  finding.kind = kind;
  finding.message = message.str();
  byKey.emplace(std::make_tuple(int(kind), 0u, 0u, finding.message), finding);
}

std::vector<Finding> Findings::take(uint64_t &droppedCount) {
  std::vector<Finding> result;
  for (auto &[key, finding] : byKey)
    result.push_back(finding);
  droppedCount = dropped;
  return result;
}

std::string rangesText(uint64_t bits) {
  std::string text;
  for (unsigned first = 0; first < 64; ++first) {
    if (!(bits >> first & 1))
      continue;
    unsigned last = first;
    while (last < 63 && bits >> (last + 1) & 1)
      ++last;
    text += (text.empty() ? "" : ",") + std::to_string(first);
    if (last > first)
      text += "-" + std::to_string(last);
    first = last;
  }
  return text;
}

void report(FindingKind kind, const Warp &warp, const Instr &instr,
            unsigned lane, const Twine &message) {
  warp.launch().findings->add(kind, warp, instr, lane, message);
}

void reportAt(FindingKind kind, const Warp &warp, const Instr &instr,
              unsigned lane, uint64_t address, const Twine &message,
              const Instr *other) {
  warp.launch().findings->add(kind, warp, instr, lane, message, address, true,
                              other);
}

} // namespace linattn::sim
