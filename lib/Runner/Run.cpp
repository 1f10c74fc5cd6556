//===- Run.cpp - compile, run, verify, time, save ---------------*- C++ -*-===//

#include "linattn/Runner/Run.h"
#include "linattn/Compile/Compile.h"
#include "linattn/Runner/Npy.h"
#include "linattn/Runner/Progress.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/xxhash.h"

#include <chrono>
#include <cstring>

using namespace linattn;
using namespace linattn::runner;
using llvm::Twine;

llvm::StringRef runner::nameOf(GateDistribution distribution) {
  static constexpr llvm::StringLiteral names[] = {"none",   "usual",   "slow",
                                                  "strong", "extreme", "mixed"};
  return names[unsigned(distribution)];
}

/// Fills results before a run: in floats a NaN, so that what is not written
/// does not pass for a value.
static constexpr unsigned char kUnwritten = 0xff;

static uint64_t hash(const Buffer &buffer) {
  return llvm::xxh3_64bits(llvm::ArrayRef<uint8_t>(
      buffer.as<uint8_t>(), size_t(buffer.getNumBytes())));
}

namespace {
/// One executor with the arrays it works on.
class Execution {
public:
  Execution(const Signature &signature, std::unique_ptr<Executor> executor)
      : signature(signature), executor(std::move(executor)) {}

  /// Milliseconds.
  llvm::Expected<double> compile(mlir::ModuleOp module) {
    auto start = std::chrono::steady_clock::now();
    if (llvm::Error error = executor->compile(module, signature))
      return error;
    std::chrono::duration<double, std::milli> time =
        std::chrono::steady_clock::now() - start;
    return time.count();
  }

  /// Arguments in the executor's types, results unwritten.
  llvm::Error prepare(llvm::ArrayRef<Buffer> given) {
    for (const Argument &argument : signature.arguments) {
      Buffer buffer = given[argument.index];
      std::string what = "argument '" + argument.name + "'";
      DType type = executor->adapt(argument.type);
      if (type != argument.type || argument.inPlace) {
        auto copy = type != argument.type ? buffer.convertedTo(type, what)
                                          : buffer.contiguousCopy(what);
        if (!copy)
          return copy.takeError();
        buffer = *copy;
      }
      arguments.push_back(buffer);
      // A pool comes out changed: what it was is kept to compare and rerun.
      Buffer &kept = pools.emplace_back();
      if (argument.inPlace) {
        auto copy = buffer.contiguousCopy(what);
        if (!copy)
          return copy.takeError();
        kept = *copy;
      }
    }
    auto shapes = executor->resultShapes(arguments);
    if (!shapes)
      return shapes.takeError();
    for (auto [i, result] : llvm::enumerate(signature.results)) {
      if (result.inPlace)
        continue;
      auto buffer = Buffer::allocate(executor->adapt(result.type), (*shapes)[i],
                                     "result " + Twine(i));
      if (!buffer)
        return buffer.takeError();
      buffer->fillBytes(kUnwritten);
      results.push_back(*buffer);
    }
    return llvm::Error::success();
  }

  llvm::Expected<double> run() { return executor->run(arguments, results); }

  /// Before another run on the same inputs.
  void restorePools() {
    for (const Argument &argument : signature.arguments)
      if (argument.inPlace)
        std::memcpy(arguments[argument.index].getData(),
                    pools[argument.index].getData(),
                    pools[argument.index].getNumBytes());
  }

  /// Result `i` of the function: an array of its own, or the pool.
  const Buffer &result(unsigned i) const {
    if (signature.results[i].inPlace)
      return arguments[signature.results[i].pool];
    unsigned position = 0;
    for (unsigned j = 0; j < i; ++j)
      position += !signature.results[j].inPlace;
    return results[position];
  }

  /// What result `i` held before the run, where rows of it must stay so.
  llvm::Expected<std::optional<Buffer>> before(unsigned i,
                                               const RowMap &rows) const {
    const Result &description = signature.results[i];
    if (!description.direct || !llvm::is_contained(rows.sequence, -1))
      return std::nullopt;
    if (description.inPlace)
      return pools[description.pool];
    auto buffer = Buffer::allocate(result(i).getType(), result(i).getShape(),
                                   "result " + Twine(i));
    if (!buffer)
      return buffer.takeError();
    buffer->fillBytes(kUnwritten);
    return *buffer;
  }

  std::vector<uint64_t> hashArguments() const {
    std::vector<uint64_t> hashes;
    for (const Argument &argument : signature.arguments)
      hashes.push_back(argument.inPlace ? 0 : hash(arguments[argument.index]));
    return hashes;
  }

  std::vector<uint64_t> hashResults() const {
    std::vector<uint64_t> hashes;
    for (unsigned i = 0; i < signature.results.size(); ++i)
      hashes.push_back(hash(result(i)));
    return hashes;
  }

  DType adapt(DType type) const { return executor->adapt(type); }

private:
  const Signature &signature;
  std::unique_ptr<Executor> executor;
  std::vector<Buffer> arguments, results, pools;
};

class Runner {
public:
  Runner(mlir::ModuleOp module, const RunOptions &options)
      : module(module), options(options) {}

  llvm::Expected<Report> run() {
    for (auto step : {&Runner::analyze, &Runner::makeArguments,
                      &Runner::saveInputs, &Runner::execute, &Runner::verify,
                      &Runner::saveResults, &Runner::time})
      if (llvm::Error error = (this->*step)())
        return error;
    return std::move(report);
  }

private:
  llvm::Error analyze() {
    auto function = selectFunction(module, options.function);
    if (!function)
      return function.takeError();
    auto analyzed = analyzeSignature(*function);
    if (!analyzed)
      return analyzed.takeError();
    signature = std::move(*analyzed);
    // Before arrays are made: a target that there is not should fail at once.
    auto executor = makeExecutor(options.target);
    if (!executor)
      return executor.takeError();
    execution.emplace(signature, std::move(*executor));
    report.function = signature.function;
    report.target = options.target;
    report.gates = nameOf(options.inputs.samples.gates).str();
    report.seed = options.inputs.samples.seed;
    return llvm::Error::success();
  }

  llvm::Error makeArguments() {
    Progress progress("drawing inputs");
    auto made = makeInputs(signature, options.inputs);
    if (!made)
      return made.takeError();
    inputs = std::move(*made);
    report.sizes = inputs.sizes;
    report.notes = describeGatesOutOfRange(signature, inputs);
    for (const Argument &argument : signature.arguments)
      report.inputs.push_back({argument.name, argument.type,
                               Shape(inputs.buffers[argument.index].getShape()),
                               inputs.given[argument.index]
                                   ? "given"
                                   : nameOf(argument.sample).str()});
    return llvm::Error::success();
  }

  llvm::Error execute() {
    {
      Progress progress("compiling");
      auto time = execution->compile(module);
      if (!time)
        return time.takeError();
      report.compileMilliseconds = *time;
    }
    Progress progress("running");
    if (llvm::Error error = execution->prepare(inputs.buffers))
      return error;
    std::vector<uint64_t> hashes = execution->hashArguments();
    auto time = execution->run();
    if (!time)
      return time.takeError();
    for (auto [i, after] : llvm::enumerate(execution->hashArguments()))
      if (after != hashes[i])
        report.faults.push_back("argument '" + signature.arguments[i].name +
                                "' was changed by the run");
    for (unsigned i = 0; i < signature.results.size(); ++i) {
      const Buffer &result = execution->result(i);
      report.results.push_back(
          {std::to_string(i), result.getType(), Shape(result.getShape()), ""});
    }
    return llvm::Error::success();
  }

  llvm::Error verify() {
    if (!options.verify)
      return llvm::Error::success();
    Target target;
    target.precision = "fp64";
    target.threads = options.target.threads;
    auto executor = makeExecutor(target);
    if (!executor)
      return executor.takeError();
    oracle.emplace(signature, std::move(*executor));
    {
      Progress progress("running the oracle (fp64 token loop)");
      if (auto time = oracle->compile(module); !time)
        return time.takeError();
      if (llvm::Error error = oracle->prepare(inputs.buffers))
        return error;
      auto time = oracle->run();
      if (!time)
        return time.takeError();
      report.oracleMilliseconds = *time;
    }
    {
      Progress progress("comparing");
      for (unsigned i = 0; i < signature.results.size(); ++i)
        if (llvm::Error error = compareResult(i))
          return error;
    }
    // It takes longer than all the rest, and what keeps the plain promise needs
    // no other.
    bool keepsPromise =
        llvm::all_of(report.comparisons, [](const auto &c) { return c.ok(); });
    if (!productsRound() || (keepsPromise && !options.roundingModel))
      return llvm::Error::success();
    return compareWithModel();
  }

  /// The chunk form in fp64 with each operand of a product rounded once: what
  /// rounding costs, whatever the rest of a device does.
  llvm::Error compareWithModel() {
    if (options.target.precision == "fp64")
      return llvm::Error::success();
    Progress progress("running the rounding model");
    Target target = options.target;
    target.device = "cpu";
    target.precision = "fp64";
    target.keepRounding = true;
    target.mma = getForcedMma();
    auto executor = makeExecutor(target);
    if (!executor)
      return executor.takeError();
    Execution model(signature, std::move(*executor));
    if (auto time = model.compile(module); !time)
      return time.takeError();
    if (llvm::Error error = model.prepare(inputs.buffers))
      return error;
    if (auto time = model.run(); !time)
      return time.takeError();
    for (auto [i, comparison] : llvm::enumerate(report.comparisons)) {
      const Buffer &modelled = model.result(i);
      const Buffer &reference = oracle->result(i);
      if (modelled.getShape() != reference.getShape())
        continue;
      Result description = signature.results[i];
      description.type = modelled.getType();
      RowMap rows =
          mapRows(description.rows, modelled.getShape(), inputs.buffers);
      Comparison error = compare(modelled, reference, /*before=*/nullptr,
                                 description, rows, /*limit=*/0);
      comparison.model = {error.relativeRMS, error.worst};
      if (keepsRounding() && !isPlain(signature, inputs))
        comparison.allowModel();
    }
    return llvm::Error::success();
  }

  llvm::Error compareResult(unsigned i) {
    const Buffer &result = execution->result(i);
    const Buffer &reference = oracle->result(i);
    if (result.getShape() != reference.getShape()) {
      Comparison &comparison = report.comparisons.emplace_back();
      comparison.faults.push_back(
          "the shape is " + toString(result.getShape()) + ", the oracle's " +
          toString(reference.getShape()));
      return llvm::Error::success();
    }
    Result description = signature.results[i];
    description.type = result.getType();
    bool rounds =
        (signature.computesIn16Bit && options.target.precision != "fp64") ||
        keepsRounding();
    RowMap rows = mapRows(description.rows, result.getShape(), inputs.buffers);
    auto before = execution->before(i, rows);
    if (!before)
      return before.takeError();
    report.comparisons.push_back(
        compare(result, reference, *before ? &**before : nullptr, description,
                rows, errorLimit(description, rounds)));
    return llvm::Error::success();
  }

  /// Whether the chunk form rounds operands of products to 16 bits, on a device
  /// or on a CPU that is told to keep roundings.
  bool productsRound() const {
    if (options.target.lowering != "chunkwise")
      return false;
    std::string mma = getForcedMma();
    return mma.empty() ? signature.productsRound
                       : mma == "bf16" || mma == "f16";
  }

  /// What the command line, or the plan of a kernel, has products round to.
  std::string getForcedMma() const {
    return getPlanOption(options.target.plan, "mma")
        .value_or(options.target.mma)
        .str();
  }

  /// A device rounds as the region says.
  bool keepsRounding() const {
    return productsRound() &&
           (options.target.device != "cpu" || options.target.keepRounding);
  }

  llvm::Error time() {
    if (!options.time)
      return llvm::Error::success();
    Progress progress("timing");
    // The first run was the warm-up.
    std::vector<uint64_t> hashes = execution->hashResults();
    TimeReport &time = report.time.emplace();
    for (unsigned i = 0; i < options.repeat; ++i) {
      execution->restorePools();
      auto once = execution->run();
      if (!once)
        return once.takeError();
      time.milliseconds.push_back(*once);
    }
    time.tokens = countTokens();
    for (auto [i, again] : llvm::enumerate(execution->hashResults()))
      if (again != hashes[i])
        report.faults.push_back(
            "two runs on the same inputs differ in result " +
            std::to_string(i));
    return llvm::Error::success();
  }

  int64_t countTokens() const {
    int64_t most = 0;
    for (const Argument &argument : signature.arguments) {
      if (!argument.getNumTokenDims())
        continue;
      RowMap rows =
          mapRows(argument.rows, inputs.buffers[argument.index].getShape(),
                  inputs.buffers);
      most = std::max<int64_t>(
          most, llvm::count_if(rows.sequence,
                               [](int64_t sequence) { return sequence >= 0; }));
    }
    return most;
  }

  llvm::Error saveInputs() {
    if (options.save.empty())
      return llvm::Error::success();
    if (std::error_code code = llvm::sys::fs::create_directories(options.save))
      return usageError("--save " + options.save +
                        ": cannot be created: " + code.message());
    for (const Argument &argument : signature.arguments)
      if (llvm::Error error =
              save("in_" + argument.name, inputs.buffers[argument.index]))
        return error;
    return llvm::Error::success();
  }

  llvm::Error saveResults() {
    if (options.save.empty())
      return llvm::Error::success();
    for (unsigned i = 0; i < signature.results.size(); ++i) {
      if (llvm::Error error = save("out_" + Twine(i), execution->result(i)))
        return error;
      if (!oracle)
        continue;
      if (llvm::Error error = save("oracle_" + Twine(i), oracle->result(i)))
        return error;
    }
    return llvm::Error::success();
  }

  llvm::Error save(const Twine &name, const Buffer &buffer) {
    std::string file = name.str();
    // Names of arguments are free text.
    for (char &c : file)
      if (!llvm::isAlnum(c) && !strchr("_-.", c))
        c = '_';
    return writeNpy(options.save + "/" + file + ".npy", buffer);
  }

  mlir::ModuleOp module;
  const RunOptions &options;
  Signature signature;
  Inputs inputs;
  std::optional<Execution> execution, oracle;
  Report report;
};
} // namespace

llvm::Expected<Report> runner::run(mlir::ModuleOp module,
                                   const RunOptions &options) {
  return Runner(module, options).run();
}
