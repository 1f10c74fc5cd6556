//===- fuzz-sim.cpp - Throws damaged kernels at the simulator -------------===//
//
// usage: linattn-fuzz-sim --runs=N --seed=S [--seconds=N] kernel.ptx ..
//
// Damages the PTX of each kernel and its launch file (X.json beside X.ptx) by
// seeded edits, then loads, compiles and runs what still loads. Whatever
// happens must come back as an error or a finding; a crash ends the program,
// and its last line tells the seed that repeats it.
//
//===----------------------------------------------------------------------===//

#include "linattn/Simulator/LaunchFile.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Signals.h"
#include <chrono>
#include <random>

using namespace llvm;
using namespace linattn::sim;

static cl::list<std::string> files(cl::Positional, cl::OneOrMore,
                                   cl::desc("kernel.ptx .."));
static cl::opt<unsigned> runs("runs", cl::desc("Damaged copies of each kernel"),
                              cl::init(100));
static cl::opt<uint64_t> firstSeed("seed", cl::desc("The first seed"),
                                   cl::init(1));
static cl::opt<unsigned> seconds("seconds", cl::init(0),
                                 cl::desc("Go on with new seeds this long"));
static cl::opt<bool> verbose("verbose", cl::desc("Print each outcome"));

namespace {

class Damage {
public:
  Damage(uint64_t seed) : random(seed) {}

  std::string apply(std::string text) {
    for (unsigned edits = 1 + random() % 4; edits && !text.empty(); --edits)
      edit(text);
    return text;
  }
  bool flip(unsigned one) { return random() % one == 0; }

private:
  std::mt19937_64 random;

  size_t at(const std::string &text) { return random() % text.size(); }
  std::pair<size_t, size_t> line(const std::string &text) {
    size_t start = text.rfind('\n', at(text));
    start = start == std::string::npos ? 0 : start + 1;
    size_t end = text.find('\n', start);
    end = end == std::string::npos ? text.size() : end + 1;
    return {start, end - start};
  }

  void edit(std::string &text) {
    static const char *const words[] = {
        "0", "-1", "4294967295", "18446744073709551615", "%tid.x", "{", "}",
        "[", "]", ";", ",", "%p1", "%r1", "%rd1", "%f1", "@%p1 ", "_", ".b64",
        ".v4", ".u16", ".pred", "bra", "0f7F800000", "1e400", "\"", "<999999>",
        "%clock", ".shared", ".param", "ret;", "call f, ();", "/*", "//", "\\",
        "null",
        // of tensor cores, asynchronous copies and barriers
        ".trans", ".x4", ".m16n8k16", ".tf32", ".bf16x2", ".async", ".bulk",
        ".tensor.2d", ".tile", ".shared::cluster", ".multicast::cluster",
        ".L2::cache_hint", ".read", ".noinc", ".parity", ".expect_tx",
        ".arrive", ".relaxed", ".cluster", ".sync.aligned",
        "mbarrier.inval.shared::cta.b64 [%r20];", "wgmma.fence.sync.aligned;",
        "wgmma.commit_group.sync.aligned;", "wgmma.wait_group.sync.aligned 0;",
        "cp.async.bulk.commit_group;", "cp.async.commit_group;",
        "cp.async.wait_all;", "fence.proxy.async;",
        "barrier.cluster.arrive.aligned;", "barrier.cluster.wait.aligned;",
        "setmaxnreg.dec.sync.aligned.u32 24;", "bar.sync 1, 64;", "exit;"};
    switch (random() % 8) {
    case 0: // another character
      text[at(text)] = char(random() % 8 ? 32 + random() % 95 : random());
      break;
    case 1: // a line less
    {
      auto [start, size] = line(text);
      text.erase(start, size);
      break;
    }
    case 2: // a line twice, elsewhere
    {
      auto [start, size] = line(text);
      std::string copy = text.substr(start, size);
      text.insert(line(text).first, copy);
      break;
    }
    case 3: // a word in between
      text.insert(at(text), words[random() % std::size(words)]);
      break;
    case 4: // cut short
      if (random() % 4 == 0)
        text.resize(at(text));
      break;
    case 5: // a number changed
    {
      size_t digit = text.find_first_of("0123456789", at(text));
      if (digit != std::string::npos)
        text.replace(digit, 1, words[random() % 4]);
      break;
    }
    case 6: // a range less
      text.erase(at(text), random() % 12);
      break;
    default: // two words exchanged
    {
      size_t a = at(text), b = at(text);
      std::swap(text[a], text[b]);
    }
    }
  }
};

std::pair<std::string, uint64_t> current;

/// After a crash: how to see it again.
void tellSeed(void *) {
  errs() << "repeat with --runs=1 --seed=" << current.second << " "
         << current.first << "\n";
}

std::string outcome(const std::string &ptx, const std::string &json,
                    uint64_t seed) {
  auto launch = parseLaunchFile(json, "launch.json", "");
  if (!launch)
    return "launch file: " + toString(launch.takeError());
  uint64_t bytes = 0;
  for (const LaunchBuffer &b : launch->buffers)
    bytes += b.elements() * b.elementBytes();
  if (bytes > (64u << 20) || launch->config.grid.count() > 64)
    return "too large to run";
  launch->options.seed = seed;
  launch->options.threads = 1;
  launch->options.maxWarpInstructions = 200000;
  Simulator simulator;
  auto module = simulator.load(ptx, "kernel.ptx");
  if (!module)
    return toString(module.takeError());
  auto result = runLaunchFile(simulator, **module, *launch);
  if (!result)
    return toString(result.takeError());
  return "ran, " + std::to_string(result->report.findings.size()) + " findings";
}

std::string damagedRun(const std::string &ptx, const std::string &json,
                       uint64_t seed) {
  Damage damage(seed);
  bool wrongLaunch = damage.flip(6);
  return outcome(wrongLaunch ? ptx : damage.apply(ptx),
                 wrongLaunch ? damage.apply(json) : json, seed);
}

} // namespace

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv);
  sys::AddSignalHandler(tellSeed, nullptr);
  ExitOnError check("linattn-fuzz-sim: ");
  std::map<std::string, unsigned> outcomes;
  auto read = [&](const std::string &path) {
    return check(errorOrToExpected(MemoryBuffer::getFile(path)))
        ->getBuffer()
        .str();
  };
  auto start = std::chrono::steady_clock::now();
  uint64_t seed = firstSeed;
  do {
    for (const std::string &file : files) {
      std::string ptx = read(file);
      std::string json = read(file.substr(0, file.rfind('.')) + ".json");
      for (uint64_t s = seed; s < seed + runs; ++s) {
        current = {file, s};
        std::string what = damagedRun(ptx, json, s);
        if (verbose)
          outs() << file << " " << s << ": " << what << "\n";
        StringRef kind(what);
        if (kind.contains('\n') && !kind.starts_with("ran")) {
          errs() << "not one clear error: " << what << "\n";
          tellSeed(nullptr);
          return 1;
        }
        ++outcomes[kind.starts_with("ran, 0") ? "ran clean"
                   : kind.starts_with("ran")  ? "ran with findings"
                                              : "refused"];
      }
    }
    seed += runs;
  } while (std::chrono::steady_clock::now() - start <
           std::chrono::seconds(seconds));
  for (auto &[what, count] : outcomes)
    outs() << what << ": " << count << "\n";
  return 0;
}
