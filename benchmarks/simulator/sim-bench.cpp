//===- sim-bench.cpp - How fast the simulator runs kernels ----------------===//
//
// usage: linattn-sim-bench [--json FILE] KERNEL.ptx ..
//
// Runs each kernel with the launch file beside it, all checks on, on one host
// thread, and prints (by that thread's own CPU time) thread instructions and
// tensor-core multiply-adds a second. A kernel with findings is no measurement:
// the program then fails.
//
//===----------------------------------------------------------------------===//

#include "linattn/Simulator/LaunchFile.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace llvm;
using namespace linattn::sim;

static cl::list<std::string> files(cl::Positional, cl::OneOrMore,
                                   cl::desc("KERNEL.ptx .."));
static cl::opt<std::string> jsonFile("json",
                                     cl::desc("Write the figures as JSON"));
static cl::opt<unsigned> repeats("repeat", cl::desc("Best of so many runs"),
                                 cl::init(3));

static ExitOnError check("linattn-sim-bench: ", 2);

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv);
  auto read = [](const std::string &path) {
    return check(errorOrToExpected(MemoryBuffer::getFile(path)));
  };
  json::Array rows;
  outs() << "kernel                 thread instr. CPU seconds   M instr./s   "
            "G multiply-adds/s   (one core)\n";
  for (const std::string &file : files) {
    std::string stem = file.substr(0, file.rfind('.'));
    auto ptx = read(file), text = read(stem + ".json");
    LaunchFile launch = check(parseLaunchFile(text->getBuffer(), stem + ".json",
                                              sys::path::parent_path(file)));
    launch.options.threads = 1;
    Report best;
    for (unsigned r = 0; r < repeats; ++r) {
      Simulator simulator;
      auto *module = check(simulator.load(ptx->getBuffer(), file));
      Report report = check(runLaunchFile(simulator, *module, launch)).report;
      if (!report.clean()) {
        report.printFindings(errs());
        return 1;
      }
      if (r == 0 || report.cpuSeconds < best.cpuSeconds)
        best = std::move(report);
    }
    double instructions = best.threadInstructions / best.cpuSeconds * 1e-6;
    double products = best.tensorFlops * 0.5 / best.cpuSeconds * 1e-9;
    outs() << format("%-20s %15llu %9.3f %12.1f %19.2f\n",
                     sys::path::stem(file).str().c_str(),
                     (unsigned long long)best.threadInstructions,
                     best.cpuSeconds, instructions, products);
    rows.push_back(
        json::Object{{"kernel", sys::path::stem(file)},
                     {"thread_instructions", best.threadInstructions},
                     {"seconds", best.cpuSeconds},
                     {"million_thread_instructions_per_second", instructions},
                     {"giga_multiply_adds_per_second", products}});
  }
  if (!jsonFile.empty()) {
    std::error_code code;
    ToolOutputFile out(jsonFile, code, sys::fs::OpenFlags(0));
    check(errorCodeToError(code));
    out.os() << formatv("{0:2}\n", json::Value(std::move(rows)));
    out.keep();
  }
  return 0;
}
