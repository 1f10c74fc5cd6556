//===- Simulator.cpp - Modules and launches -------------------------------===//

#include "linattn/Simulator/Simulator.h"
#include "Compiler.h"
#include "Findings.h"
#include "SignsOfLife.h"
#include "State.h"
#include "llvm/Support/MathExtras.h"
#include <chrono>
#include <thread>
#include <time.h>

using namespace llvm;

namespace linattn::sim {

class Module {
public:
  std::unique_ptr<Ast> ast;
  GlobalPlaces globals;
  StringMap<std::unique_ptr<Program>> programs;
};

struct Simulator::Impl {
  DeviceMemory memory;
  std::vector<std::unique_ptr<Module>> modules;

  Error checkRange(uint64_t address, uint64_t bytes, Allocation *&alloc) const {
    alloc = memory.find(address);
    if (!alloc && bytes == 0)
      return Error::success();
    if (!alloc)
      return createStringError("address 0x" + Twine::utohexstr(address) +
                               " is in no allocation");
    uint64_t offset = address - alloc->address;
    if (bytes > alloc->bytes - offset)
      return createStringError(Twine(bytes) + " bytes at offset " +
                               Twine(offset) + " of '" + alloc->name +
                               "', which has " + Twine(alloc->bytes));
    return Error::success();
  }

  Error placeGlobals(Module &module);
  Expected<Program *> program(Module &module, StringRef kernel);
};

Simulator::Simulator() : impl(std::make_unique<Impl>()) {}
Simulator::~Simulator() = default;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Expected<uint64_t> Simulator::allocate(uint64_t bytes, StringRef name) {
  Allocation *alloc = impl->memory.allocate(bytes, name);
  if (!alloc)
    return createStringError("no memory for " + Twine(bytes) + " bytes of '" +
                             name + "'");
  return alloc->address;
}

Error Simulator::release(uint64_t address) {
  if (!impl->memory.release(address))
    return createStringError("address 0x" + Twine::utohexstr(address) +
                             " is no allocation");
  return Error::success();
}

Error Simulator::upload(uint64_t address, ArrayRef<uint8_t> bytes) {
  Allocation *alloc;
  if (Error e = impl->checkRange(address, bytes.size(), alloc))
    return e;
  if (bytes.empty())
    return Error::success();
  uint64_t offset = address - alloc->address;
  std::memcpy(alloc->data.get() + offset, bytes.data(), bytes.size());
  alloc->shadow.markWritten(offset, bytes.size());
  return Error::success();
}

Error Simulator::download(uint64_t address,
                          MutableArrayRef<uint8_t> bytes) const {
  Allocation *alloc;
  if (Error e = impl->checkRange(address, bytes.size(), alloc))
    return e;
  if (!bytes.empty())
    std::memcpy(bytes.data(), alloc->data.get() + (address - alloc->address),
                bytes.size());
  return Error::success();
}

bool Simulator::isInitialised(uint64_t address, uint64_t bytes) const {
  Allocation *alloc;
  if (Error e = impl->checkRange(address, bytes, alloc)) {
    consumeError(std::move(e));
    return false;
  }
  return !alloc || alloc->shadow.isWritten(address - alloc->address, bytes);
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

Error Simulator::Impl::placeGlobals(Module &module) {
  const Ast &ast = *module.ast;
  auto fail = [&](unsigned line, const Twine &message) {
    return createStringError(ast.fileName + ":" + Twine(line) + ": " + message);
  };
  for (const Variable &v : ast.variables) {
    if (v.space == StateSpace::Shared)
      continue;
    if (v.isExtern)
      return fail(v.line, "external variable '" + v.name + "' is not defined");
    if (module.globals.count(v.name))
      return fail(v.line, "variable '" + v.name + "' is defined twice");
    Allocation *alloc = memory.allocate(v.bytes(), v.name);
    if (!alloc)
      return fail(v.line, "no memory for variable '" + v.name + "'");
    // Globals without initialiser start as zeros.
    std::memset(alloc->data.get(), 0, v.bytes());
    alloc->shadow.markWritten(0, v.bytes());
    alloc->readOnly = v.space == StateSpace::Const;
    module.globals[v.name] = {alloc->address, v.bytes(), v.space};
  }
  for (const Variable &v : ast.variables) {
    if (v.init.empty() || v.space == StateSpace::Shared)
      continue;
    Allocation *alloc = memory.find(module.globals[v.name].address);
    unsigned bytes = typeBytes(v.type);
    for (size_t k = 0; k < v.init.size(); ++k) {
      const Variable::Init &init = v.init[k];
      uint64_t bits = init.bits;
      if (!init.symbol.empty()) {
        auto it = module.globals.find(init.symbol);
        if (it == module.globals.end())
          return fail(v.line, "unknown variable '" + init.symbol +
                                  "' in the initialiser of '" + v.name + "'");
        bits += it->second.address;
      } else if (init.type == Type::F64 && v.type == Type::F32) {
        double d;
        std::memcpy(&d, &bits, 8);
        float f = float(d);
        bits = 0;
        std::memcpy(&bits, &f, 4);
      } else if (init.type == Type::F32 && v.type == Type::F64) {
        float f;
        std::memcpy(&f, &bits, 4);
        double d = f;
        std::memcpy(&bits, &d, 8);
      }
      if (k * bytes + bytes <= alloc->bytes)
        std::memcpy(alloc->data.get() + k * bytes, &bits, std::min(bytes, 8u));
    }
  }
  return Error::success();
}

Expected<Module *> Simulator::load(StringRef ptx, StringRef name) {
  auto module = std::make_unique<Module>();
  Expected<std::unique_ptr<Ast>> ast = parsePTX(ptx, name);
  if (!ast)
    return ast.takeError();
  module->ast = std::move(*ast);
  if (Error e = impl->placeGlobals(*module))
    return std::move(e);
  impl->modules.push_back(std::move(module));
  return impl->modules.back().get();
}

std::vector<std::string> Simulator::kernelNames(const Module &module) const {
  std::vector<std::string> names;
  for (const Function &f : module.ast->functions)
    if (f.isKernel && !f.isDeclaration)
      names.push_back(f.name);
  return names;
}

static Expected<const Function *> findKernel(const Module &module,
                                             StringRef name) {
  auto it = module.ast->functionByName.find(name);
  if (it == module.ast->functionByName.end() || !it->second->isKernel ||
      it->second->isDeclaration)
    return createStringError(module.ast->fileName + ": no kernel '" + name +
                             "'");
  return it->second;
}

Expected<Program *> Simulator::Impl::program(Module &module, StringRef kernel) {
  Expected<const Function *> function = findKernel(module, kernel);
  if (!function)
    return function.takeError();
  std::unique_ptr<Program> &program = module.programs[kernel];
  if (!program) {
    auto compiled = compileKernel(*module.ast, **function, module.globals);
    if (!compiled)
      return compiled.takeError();
    program = std::move(*compiled);
  }
  return program.get();
}

Expected<KernelInfo> Simulator::kernelInfo(Module &module,
                                           StringRef kernel) const {
  Expected<Program *> program = impl->program(module, kernel);
  if (!program)
    return program.takeError();
  const Function &f = *(*program)->kernel;
  KernelInfo info;
  info.name = f.name;
  for (const Variable &p : f.parameters)
    info.parameters.push_back(
        {p.name, typeName(p.type).str(), uint32_t(p.bytes()), p.align});
  info.requiredBlock = {f.reqntid[0], f.reqntid[1], f.reqntid[2]};
  info.requiredCluster = {f.cluster[0], f.cluster[1], f.cluster[2]};
  info.staticSharedBytes = (*program)->staticShared;
  return info;
}

Expected<std::pair<uint64_t, uint64_t>>
Simulator::globalVariable(const Module &module, StringRef name) const {
  auto it = module.globals.find(name);
  if (it == module.globals.end())
    return createStringError(module.ast->fileName + ": no global variable '" +
                             name + "'");
  return std::make_pair(it->second.address, it->second.bytes);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

static std::string dimText(const Dim3 &d) {
  return std::to_string(d.x) + "x" + std::to_string(d.y) + "x" +
         std::to_string(d.z);
}

/// The limits of sm_90.
static Error checkConfig(const Program &program, const LaunchConfig &config,
                         Dim3 &cluster) {
  const Function &f = *program.kernel;
  auto fail = [&](const Twine &message) {
    return createStringError("launch of '" + f.name + "': " + message);
  };
  const Dim3 &b = config.block, &g = config.grid;
  if (b.count() == 0 || b.count() > 1024 || b.x > 1024 || b.y > 1024 ||
      b.z > 64)
    return fail("a block has 1 to 1024 threads, got " + dimText(b));
  if (g.count() == 0 || g.y > 65535 || g.z > 65535 || g.x > 0x7fffffff)
    return fail("bad grid " + dimText(g));
  if (f.reqntid[0] &&
      (f.reqntid[0] != b.x || f.reqntid[1] != b.y || f.reqntid[2] != b.z))
    return fail("the kernel requires blocks of " +
                dimText({f.reqntid[0], f.reqntid[1], f.reqntid[2]}) +
                " threads, got " + dimText(b));
  if (f.maxntid[0] &&
      b.count() > uint64_t(f.maxntid[0]) * f.maxntid[1] * f.maxntid[2])
    return fail("the kernel allows at most " +
                Twine(uint64_t(f.maxntid[0]) * f.maxntid[1] * f.maxntid[2]) +
                " threads a block, got " + dimText(b));
  cluster = {1, 1, 1};
  if (f.cluster[0])
    cluster = {f.cluster[0], f.cluster[1], f.cluster[2]};
  if (config.cluster.count()) {
    if (f.cluster[0] && dimText(cluster) != dimText(config.cluster))
      return fail("the kernel requires clusters of " + dimText(cluster) +
                  " blocks, got " + dimText(config.cluster));
    cluster = config.cluster;
  }
  if (cluster.count() > 16)
    return fail("a cluster has at most 16 blocks, got " + dimText(cluster));
  if (g.x % cluster.x || g.y % cluster.y || g.z % cluster.z)
    return fail("grid " + dimText(g) + " is not a multiple of the cluster " +
                dimText(cluster));
  uint64_t shared = program.dynamicSharedOffset - sharedBase +
                    uint64_t(config.dynamicSharedBytes);
  if (shared > maxSharedBytes)
    return fail("a block has at most " + Twine(maxSharedBytes) +
                " bytes of shared memory, got " + Twine(shared));
  return Error::success();
}

static Error bindArguments(const Program &program, ArrayRef<Argument> arguments,
                           std::vector<uint8_t> &out) {
  const Function &f = *program.kernel;
  if (arguments.size() != f.parameters.size())
    return createStringError("launch of '" + f.name + "': the kernel has " +
                             Twine(f.parameters.size()) + " parameters, got " +
                             Twine(arguments.size()));
  out.assign(program.paramBytes + 16, 0);
  out.resize(program.paramBytes);
  for (unsigned i = 0; i < arguments.size(); ++i) {
    if (arguments[i].bytes.size() != f.parameters[i].bytes())
      return createStringError(
          "launch of '" + f.name + "': parameter " + Twine(i) + " ('" +
          f.parameters[i].name + "') has " + Twine(f.parameters[i].bytes()) +
          " bytes, got " + Twine(arguments[i].bytes.size()));
    if (!arguments[i].bytes.empty())
      std::memcpy(out.data() + program.parameterOffset[i],
                  arguments[i].bytes.data(), arguments[i].bytes.size());
  }
  return Error::success();
}

namespace {

/// Hands clusters to host threads. A cluster that stalls waits until others
/// have run; when all that are left have stalled, they are deadlocked.
class ClusterPool {
public:
  ClusterPool(Launch &launch, uint64_t total) : launch(launch), total(total) {}

  void work() {
    while (!launch.stop) {
      std::unique_ptr<Cluster> cluster = take();
      if (!cluster)
        return;
      uint64_t before = cluster->liveThreads;
      Cluster::Outcome outcome = cluster->run();
      give(std::move(cluster), outcome, before);
    }
  }

private:
  std::unique_ptr<Cluster> take() {
    std::lock_guard<std::mutex> guard(lock);
    if (next < total) {
      ++running;
      uint64_t index = next++;
      return std::make_unique<Cluster>(launch, index);
    }
    if (!stalled.empty() && stalledInVain < stalled.size() + running) {
      auto cluster = std::move(stalled.front());
      stalled.pop_front();
      ++running;
      return cluster;
    }
    if (running == 0 && !stalled.empty()) {
      for (auto &cluster : stalled)
        cluster->reportDeadlock();
      stalled.clear();
      launch.stop = true;
    }
    return nullptr;
  }

  void give(std::unique_ptr<Cluster> cluster, Cluster::Outcome outcome,
            uint64_t) {
    std::lock_guard<std::mutex> guard(lock);
    --running;
    if (outcome == Cluster::Outcome::Stalled) {
      // Memory written by others may have changed what it polls.
      bool moved = cluster->ranAtAll;
      stalledInVain = moved ? 0 : stalledInVain + 1;
      cluster->pollsSinceProgress = 0;
      ++cluster->events;
      cluster->ranAtAll = false;
      stalled.push_back(std::move(cluster));
    } else {
      stalledInVain = 0;
      ++launch.clustersDone;
    }
  }

  Launch &launch;
  uint64_t total, next = 0, running = 0, stalledInVain = 0;
  std::deque<std::unique_ptr<Cluster>> stalled;
  std::mutex lock;
};

StringRef spaceName(unsigned space) {
  static constexpr StringLiteral names[] = {
      "generic", "global", "shared", "shared", "local", "param", "const", ""};
  return names[space];
}

void summarise(Report &report, const Program &program,
               const std::vector<std::unique_ptr<Counters>> &all) {
  for (auto &c : all) {
    for (const Instr &i : program.code) {
      uint64_t threads = c->threadRuns[i.pc];
      report.warpInstructions += c->warpRuns[i.pc];
      report.threadInstructions += threads;
      if (threads) {
        report.byKind[instrKindName(i.kind).str()] += threads;
        report.byName[i.statement->opcode] += threads;
      }
      if (uint64_t extra = c->conflicts[i.pc]) {
        report.bankConflicts += extra;
        report.bankConflictsByLine[i.line] += extra;
      }
    }
    for (unsigned s = 0; s < 7; ++s)
      if (c->readBytes[s] || c->writtenBytes[s]) {
        Traffic &t = report.bySpace[spaceName(s).str()];
        t.read += c->readBytes[s];
        t.written += c->writtenBytes[s];
      }
    for (auto &[name, traffic] : c->asyncTraffic) {
      report.bySpace[name].read += traffic.read;
      report.bySpace[name].written += traffic.written;
    }
    report.cpuSeconds += c->cpuSeconds;
    report.tensorFlops += c->tensorFlops;
    for (auto &[reason, count] : c->waits)
      report.waits[reason] += count;
  }
}

} // namespace

Expected<Report> Simulator::launch(Module &module, StringRef kernel,
                                   const LaunchConfig &config,
                                   ArrayRef<Argument> arguments,
                                   const LaunchOptions &options) {
#if defined(__x86_64__) && defined(__AVX2__)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
    return createStringError(
        "the simulator was built for CPUs with AVX2 and FMA");
#endif
  Expected<Program *> program = impl->program(module, kernel);
  if (!program)
    return program.takeError();
  Launch launch;
  launch.program = *program;
  launch.memory = &impl->memory;
  launch.config = config;
  launch.options = options;
  launch.constants = (*program)->constants;
  launch.constants.resize(launch.constants.size() + 64);
  if (Error e = checkConfig(**program, config, launch.clusterDim))
    return std::move(e);
  if (Error e = bindArguments(**program, arguments, launch.parameters))
    return std::move(e);
  Findings findings(*module.ast, options.maxFindings);
  launch.findings = &findings;
  impl->memory.forgetAccesses();

  auto start = std::chrono::steady_clock::now();
  uint64_t clusters = config.grid.count() / launch.clusterDim.count();
  unsigned threads =
      options.threads ? options.threads : std::thread::hardware_concurrency();
  // Blocks that talk through global memory take turns on one host thread, so
  // that results depend on the seed alone.
  if ((*program)->usesGlobalSync)
    threads = 1;
  threads = std::max<uint64_t>(1, std::min<uint64_t>(threads, clusters));
  launch.parallel = threads > 1;
  ClusterPool pool(launch, clusters);
  std::vector<std::unique_ptr<Counters>> all;
  std::vector<std::thread> workers;
  for (unsigned t = 0; t < threads; ++t) {
    all.push_back(std::make_unique<Counters>());
    for (auto *list : {&all.back()->warpRuns, &all.back()->threadRuns,
                       &all.back()->conflicts})
      list->assign((*program)->code.size(), 0);
  }
  auto body = [&](unsigned t) {
    setCounters(all[t].get());
    timespec begin, end;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    pool.work();
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    all[t]->cpuSeconds = double(end.tv_sec - begin.tv_sec) +
                         1e-9 * double(end.tv_nsec - begin.tv_nsec);
    setCounters(nullptr);
  };
  {
    SignsOfLife signs(launch, clusters);
    for (unsigned t = 1; t < threads; ++t)
      workers.emplace_back(body, t);
    body(0);
    for (std::thread &worker : workers)
      worker.join();
  }

  Report report;
  report.kernel = kernel.str();
  summarise(report, **program, all);
  report.findings = findings.take(report.findingsDropped);
  report.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  return report;
}

} // namespace linattn::sim
