//===- linattn-sim.cpp - Run a PTX kernel on the CPU ----------------------===//
//
// Exit code: 0 if the kernel ran without findings (and the outputs agree, if
// they were compared), 1 if not, 2 for bad input.
//
//===----------------------------------------------------------------------===//

#include "linattn/Simulator/LaunchFile.h"
#include "linattn/Support/InputFile.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace llvm;
using namespace linattn::sim;

static cl::opt<std::string> ptxFile(cl::Positional, cl::Required,
                                    cl::desc("kernel.ptx"));
static cl::opt<std::string> launchFile(cl::Positional, cl::Required,
                                       cl::desc("launch.json"));
static cl::opt<std::string> compareFile(
    "compare", cl::desc("Compare the outputs with a file that --record wrote"));
static cl::opt<std::string> recordFile("record",
                                       cl::desc("Write the outputs as JSON"));
static cl::opt<std::string> saveDir("save",
                                    cl::desc("Write NAME.npy per output"));
static cl::opt<std::string> jsonFile("json",
                                     cl::desc("Write the report as JSON"));
static cl::opt<bool> statistics("statistics",
                                cl::desc("Print what was executed"));
static cl::opt<bool> print("print", cl::desc("Print the outputs' elements"));
static cl::opt<uint64_t> seed("seed",
                              cl::desc("Overrides the launch file's seed"));
static cl::opt<uint64_t> maxInstructions(
    "max-instructions",
    cl::desc("Warp instructions of a block before the launch is given up; 0: "
             "no limit (default: what the launch file says, else 10^9)"));
static cl::opt<AsyncTiming> timing(
    "timing", cl::desc("When asynchronous work completes"),
    cl::values(clEnumValN(AsyncTiming::Earliest, "earliest", "at once"),
               clEnumValN(AsyncTiming::Latest, "latest", "when waited for"),
               clEnumValN(AsyncTiming::Random, "random", "at seeded moments")));

static ExitOnError check("linattn-sim: ", 2);

static std::unique_ptr<MemoryBuffer> readFile(const std::string &path) {
  auto file = linattn::openInput(path);
  if (!file)
    std::exit(2);
  return file;
}

static void writeFile(StringRef option, StringRef path, StringRef text) {
  std::error_code code;
  ToolOutputFile out(path, code, sys::fs::OpenFlags(0));
  if (!code) {
    out.os() << text;
    out.os().flush();
    code = out.os().error();
    out.os().clear_error();
  }
  if (code)
    check(
        createStringError(code, "--" + option + " " + path +
                                    ": cannot be written: " + code.message()));
  out.keep();
}

static void printOutputs(const LaunchFile &launch, const LaunchResult &result) {
  for (unsigned i = 0; i < launch.buffers.size(); ++i) {
    const LaunchBuffer &b = launch.buffers[i];
    if (!b.isOutput)
      continue;
    outs() << b.name << ":";
    for (uint64_t k = 0; k < b.elements(); ++k)
      outs() << format(" %.9g", elementValue(b.type, result.outputs[i].data() +
                                                         k * b.elementBytes()));
    outs() << "\n";
  }
}

int main(int argc, char **argv) {
  if (!cl::ParseCommandLineOptions(argc, argv, "runs a PTX kernel on the CPU\n",
                                   &errs()))
    return 2;
  auto text = readFile(launchFile);
  LaunchFile launch = check(parseLaunchFile(
      text->getBuffer(), launchFile, sys::path::parent_path(launchFile)));
  if (seed.getNumOccurrences())
    launch.options.seed = seed;
  if (timing.getNumOccurrences())
    launch.options.timing = timing;
  if (maxInstructions.getNumOccurrences())
    launch.options.maxWarpInstructions = maxInstructions;
  launch.options.progress = &errs();
  auto ptx = readFile(ptxFile);
  Simulator simulator;
  auto *module = check(simulator.load(ptx->getBuffer(), ptxFile));
  LaunchResult result = check(runLaunchFile(simulator, *module, launch));
  result.report.printFindings(errs());
  if (statistics)
    result.report.printStatistics(outs());
  if (print)
    printOutputs(launch, result);
  if (!jsonFile.empty())
    writeFile("json", jsonFile,
              formatv("{0:2}\n", result.report.toJSON()).str());
  if (!recordFile.empty())
    writeFile("record", recordFile,
              formatv("{0}\n", outputsToJSON(launch, result)).str());
  for (unsigned i = 0; !saveDir.empty() && i < launch.buffers.size(); ++i)
    if (const LaunchBuffer &b = launch.buffers[i]; b.isOutput)
      writeFile("save", saveDir + "/" + b.name + ".npy",
                toNpy(b.type, b.shape, result.outputs[i]));
  bool good = result.report.clean();
  if (!compareFile.empty()) {
    auto expected = json::parse(readFile(compareFile)->getBuffer());
    if (!expected)
      check(createStringError("--compare " + compareFile + ": " +
                              toString(expected.takeError())));
    if (Error e = compareOutputs(launch, result, *expected)) {
      errs() << "error: " << toString(std::move(e)) << "\n";
      good = false;
    }
  }
  return good ? 0 : 1;
}
