//===- CommandLine.cpp - options of linattn-run -----------------*- C++ -*-===//

#include "linattn/Runner/CommandLine.h"
#include "linattn/Compile/Compile.h"
#include "linattn/Dialect/LinAttn/IR/LinAttn.h"
#include "linattn/Support/CommandLine.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/CommandLine.h"

using namespace linattn;
using namespace linattn::runner;
namespace cl = llvm::cl;

static constexpr llvm::StringLiteral kOverview(
    R"(linattn-run: runs a function of linear attention and checks it

Arguments are drawn by a seed, or read from .npy files. For example

  linattn-run gated_deltanet.mlir --size B=2 --size T=4096 --verify --time

compiles the only public function of the file for this CPU, draws inputs of two
sequences of 4096 tokens, runs it, compares each result with the same token loop
in double precision and prints the relative errors and tokens per second. Then

  linattn-run f.mlir --seqlens=0,100,100,164 --gates=extreme --verify
  linattn-run f.mlir --input q=q.npy --input k=k.npy --size N=1 --save out

run three packed sequences, the second one empty, with gates of -1000 and -inf;
and an own q and k, everything else drawn, all arrays written to the folder out.

Exit code: 0 if it ran and, with --verify, every result is right; 1 if a result
is wrong; 2 if the command line, the module or an input is.
)");

static cl::OptionCategory category("linattn-run options");

/// LLVM's shared library registers the options of every tool's library, some
/// by names as plain as ours: ours is the one that is meant.
static llvm::StringRef claim(llvm::StringRef name) {
  auto &registered = cl::getRegisteredOptions();
  if (auto it = registered.find(name); it != registered.end())
    it->second->removeArgument();
  return name;
}

namespace {
/// LLVM's own parsers name C types and list no choices.
template <typename T> struct Choice : cl::parser<T> {
  using cl::parser<T>::parser;
  bool parse(cl::Option &option, llvm::StringRef, llvm::StringRef text,
             T &value) {
    std::string names;
    for (const auto &choice : this->Values) {
      if (choice.Name == text) {
        value = choice.V.getValue();
        return false;
      }
      names += (names.empty() ? "" : ", ") + choice.Name.str();
    }
    return option.error("is one of " + names + ", got '" + text + "'");
  }
};

/// A number from the text of an option; false after saying what it takes.
template <typename T>
bool parseNumber(cl::Option &option, llvm::StringRef text, T &value) {
  if (!text.getAsInteger(10, value))
    return true;
  return !option.error("takes a whole number from " +
                       llvm::Twine(std::numeric_limits<T>::min()) + " to " +
                       llvm::Twine(std::numeric_limits<T>::max()) + ", got '" +
                       text + "'");
}

/// Leaves `value` alone where the option is not there.
template <typename T> bool parse(cl::opt<std::string> &option, T &value) {
  return !option.getNumOccurrences() || parseNumber(option, option, value);
}

bool parse(cl::list<std::string> &option,
           std::optional<std::vector<int64_t>> &values) {
  if (!option.getNumOccurrences())
    return true;
  values.emplace();
  for (const std::string &text : option)
    if (!parseNumber(option, text, values->emplace_back()))
      return false;
  return true;
}

struct Options {
  cl::opt<std::string> file{cl::Positional, cl::desc("FILE.mlir"), cl::Required,
                            cl::cat(category)};
  cl::opt<std::string> function{
      claim("function"), cl::desc("The function; default: the only public one"),
      cl::value_desc("NAME"), cl::cat(category)};
  cl::list<std::string> sizes{
      claim("size"),
      cl::desc("Size of a dynamic dimension: B sequences, T tokens, N packed "
               "sequences, P states in a pool, S keys of an attention, or a "
               "name from linattn.dims"),
      cl::value_desc("NAME=N"), cl::CommaSeparated, cl::cat(category)};
  cl::list<std::string> inputs{
      claim("input"),
      cl::desc("Reads an argument, by its linattn.name or its number; float32 "
               "for bf16 is rounded"),
      cl::value_desc("ARG=FILE.npy"), cl::cat(category)};
  cl::opt<bool> roundInputs{
      claim("round-inputs"),
      cl::desc("Rounds files of wider floats than their arguments (float64 for "
               "f32) instead of refusing them"),
      cl::cat(category)};
  cl::list<std::string> seqlens{
      claim("seqlens"),
      cl::desc("Offsets of packed sequences, for all operands that take some"),
      cl::value_desc("0,64,100"), cl::CommaSeparated, cl::cat(category)};
  cl::list<std::string> slots{
      claim("slots"),
      cl::desc("States of the pool for the sequences; -1, or the padding of "
               "the recurrence, is no sequence"),
      cl::value_desc("2,-1,0"), cl::CommaSeparated, cl::cat(category)};
  cl::opt<InitialState, false, Choice<InitialState>> state{
      claim("state"), cl::desc("Initial states"),
      cl::init(InitialState::Random),
      cl::values(clEnumValN(InitialState::Random, "random",
                            "standard normals (default)"),
                 clEnumValN(InitialState::Zero, "zero", "0")),
      cl::cat(category)};
  cl::opt<GateDistribution, false, Choice<GateDistribution>> gates{
      claim("gates"), cl::desc("Log decays that are drawn"),
      cl::init(GateDistribution::Usual),
      cl::values(
          clEnumValN(GateDistribution::None, "none", "0: nothing decays"),
          clEnumValN(GateDistribution::Usual, "usual",
                     "logsigmoid of a normal (default)"),
          clEnumValN(GateDistribution::Slow, "slow", "uniform in [-2e-3, 0]"),
          clEnumValN(GateDistribution::Strong, "strong", "-8"),
          clEnumValN(GateDistribution::Extreme, "extreme",
                     "-1000 or -inf, half each"),
          clEnumValN(GateDistribution::Mixed, "mixed",
                     "one of these per channel, or another one per token")),
      cl::cat(category)};
  cl::opt<std::string> seed{claim("seed"),
                            cl::desc("Seed of what is drawn (default 0)"),
                            cl::value_desc("N"), cl::cat(category)};
  cl::opt<std::string> device{
      claim("device"), cl::desc("cpu (default), sim, cuda"), cl::init("cpu"),
      cl::value_desc("NAME"), cl::cat(category)};
  cl::opt<std::string> lowering{
      claim("lowering"),
      cl::desc("serial (default): token by token; chunkwise"),
      cl::init("serial"), cl::value_desc("NAME"), cl::cat(category)};
  cl::opt<std::string> chunk{
      claim("chunk"), cl::desc("Tokens per chunk: 16, 32, 64 (default) or 128"),
      cl::value_desc("N"), cl::cat(category)};
  cl::opt<std::string> mma{
      claim("mma"),
      cl::desc("What products of the chunk form round to: f32, tf32x3, bf16, "
               "f16 or bf16x2; default: what the inputs say"),
      cl::value_desc("NAME"), cl::cat(category)};
  cl::opt<bool> keepRounding{
      claim("keep-rounding"),
      cl::desc("Rounds operands of products on the CPU as a GPU would"),
      cl::cat(category)};
  cl::opt<bool> hoist{
      claim("hoist"),
      cl::desc("Takes one product off the chain from state to state; a system "
               "that has no such form stays as it is, with a remark"),
      cl::cat(category)};
  cl::opt<std::string> plan{
      claim("plan"),
      cl::desc("Of kernels in chunks: as --plan of linattn-compile"),
      cl::value_desc("OPTIONS"), cl::cat(category)};
  cl::opt<std::string> precision{
      claim("precision"),
      cl::desc("fp32 (default): the types of the function; fp64: every float "
               "widened, inputs rounded to their own types before"),
      cl::init("fp32"), cl::value_desc("NAME"), cl::cat(category)};
  cl::opt<bool> verify{
      claim("verify"),
      cl::desc("Compares each result with the fp64 token loop"),
      cl::cat(category)};
  cl::opt<bool> roundingModel{
      claim("rounding-model"),
      cl::desc("With --verify: shows what the roundings of products err by "
               "themselves, also where every result is right"),
      cl::cat(category)};
  cl::opt<bool> time{claim("time"),
                     cl::desc("Times further runs and counts tokens/s"),
                     cl::cat(category)};
  cl::opt<std::string> repeat{claim("repeat"),
                              cl::desc("Runs to time (default 5)"),
                              cl::value_desc("N"), cl::cat(category)};
  cl::opt<std::string> threads{
      claim("threads"), cl::desc("Threads of parallel loops (default: all)"),
      cl::value_desc("N"), cl::cat(category)};
  cl::opt<std::string> json{
      claim("json"),
      cl::desc("Writes the report as JSON to a file, or - for stdout"),
      cl::value_desc("FILE"), cl::cat(category)};
  cl::opt<std::string> save{
      claim("save"),
      cl::desc("Writes in_NAME.npy, out_I.npy and, with --verify, "
               "oracle_I.npy; 16-bit floats as float32"),
      cl::value_desc("DIR"), cl::cat(category)};
};
} // namespace

std::optional<RunOptions> runner::parseCommandLine(int argc, char **argv) {
  Options options;
  mlir::registerMLIRContextCLOptions();
  mlir::registerAsmPrinterCLOptions();
  mlir::registerPassManagerCLOptions();
  cl::HideUnrelatedOptions(category);
  if (!cl::ParseCommandLineOptions(argc, argv, kOverview, &llvm::errs()))
    return std::nullopt;
  if (llvm::Error error =
          checkGivenOnce(argc, argv, category, {"size", "input"})) {
    llvm::errs() << "linattn-run: error: " << llvm::toString(std::move(error))
                 << "\n";
    return std::nullopt;
  }
  RunOptions result;
  if (!parse(options.seed, result.inputs.samples.seed) ||
      !parse(options.seqlens, result.inputs.seqlens) ||
      !parse(options.slots, result.inputs.slots) ||
      !parse(options.chunk, result.target.chunk) ||
      !parse(options.repeat, result.repeat) ||
      !parse(options.threads, result.target.threads))
    return std::nullopt;
  if (result.repeat == 0) {
    llvm::errs() << "linattn-run: error: --repeat is at least 1, got 0\n";
    return std::nullopt;
  }

  bool chunkwise = options.lowering == "chunkwise";
  if (!chunkwise &&
      (options.chunk.getNumOccurrences() || options.mma.getNumOccurrences() ||
       options.keepRounding || options.hoist || options.roundingModel)) {
    llvm::errs() << "linattn-run: error: --chunk, --mma, --keep-rounding, "
                    "--rounding-model and --hoist belong to "
                    "--lowering=chunkwise, got --lowering="
                 << options.lowering << "\n";
    return std::nullopt;
  }
  if (options.roundingModel && !options.verify) {
    llvm::errs() << "linattn-run: error: --rounding-model stands beside "
                    "--verify, which was not given\n";
    return std::nullopt;
  }
  int64_t chunk = result.target.chunk;
  if (chunk != 16 && chunk != 32 && chunk != 64 && chunk != 128) {
    llvm::errs() << "linattn-run: error: --chunk is 16, 32, 64 or 128, got "
                 << chunk << "\n";
    return std::nullopt;
  }
  if (!options.mma.empty() && !symbolizeMmaPrecision(options.mma)) {
    llvm::errs() << "linattn-run: error: --mma is f32, tf32x3, bf16, f16 or "
                    "bf16x2, got "
                 << options.mma << "\n";
    return std::nullopt;
  }

  std::string ofChunks = options.plan;
  takeFuseConv(ofChunks);
  if (options.device == "cpu" ? !options.plan.empty()
                              : !chunkwise && !ofChunks.empty()) {
    llvm::errs()
        << "linattn-run: error: --plan belongs to kernels in chunks "
           "(--device=sim or cuda, --lowering=chunkwise), got --device="
        << options.device << " --lowering=" << options.lowering << "\n";
    return std::nullopt;
  }
  if (llvm::Error error = checkPlan(options.plan)) {
    llvm::errs() << "linattn-run: error: --" << llvm::toString(std::move(error))
                 << "\n";
    return std::nullopt;
  }

  result.file = options.file;
  result.function = options.function;
  result.inputs.sizes = options.sizes;
  result.inputs.files = options.inputs;
  result.inputs.roundFiles = options.roundInputs;
  result.inputs.samples.gates = options.gates;
  result.inputs.samples.state = options.state;
  result.target.device = options.device;
  result.target.lowering = options.lowering;
  result.target.precision = options.precision;
  result.target.mma = options.mma;
  result.target.plan = options.plan;
  result.target.keepRounding = options.keepRounding;
  result.target.hoist = options.hoist;
  result.verify = options.verify;
  result.roundingModel = options.roundingModel;
  result.time = options.time;
  result.json = options.json;
  result.save = options.save;
  return result;
}
