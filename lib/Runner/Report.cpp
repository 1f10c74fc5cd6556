//===- Report.cpp - what a run has to say -----------------------*- C++ -*-===//

#include "linattn/Runner/Report.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>

using namespace linattn;
using namespace linattn::runner;
using llvm::formatv;

double TimeReport::median() const {
  std::vector<double> sorted = milliseconds;
  llvm::sort(sorted);
  size_t n = sorted.size();
  return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

double TimeReport::min() const {
  return *std::min_element(milliseconds.begin(), milliseconds.end());
}

double TimeReport::max() const {
  return *std::max_element(milliseconds.begin(), milliseconds.end());
}

double TimeReport::tokensPerSecond() const {
  return median() > 0 ? tokens / median() * 1e3 : 0;
}

bool Report::ok() const {
  return faults.empty() &&
         llvm::all_of(comparisons, [](const Comparison &c) { return c.ok(); });
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static void printArrays(llvm::raw_ostream &os, llvm::StringRef title,
                        llvm::ArrayRef<ArrayReport> arrays) {
  for (const ArrayReport &array : arrays) {
    std::string line =
        formatv("{0,-8} {1,-8} {2,-5} {3,-18} {4}", title, array.name,
                nameOf(array.type), toString(array.shape), array.source)
            .str();
    os << llvm::StringRef(line).rtrim() << "\n";
    title = "";
  }
}

static void printComparisons(llvm::raw_ostream &os, const Report &report) {
  bool hasModel = llvm::any_of(report.comparisons, [](const Comparison &c) {
    return c.model.has_value();
  });
  os << formatv("\n{0,-8} {1,-5} {2,-18} {3,9} {4,9} {5,-16} ", "verify",
                "type", "shape", "rel. RMS", "worst", "(sequence, head)");
  if (hasModel)
    os << formatv("{0,9} {1,9} ", "model", "worst");
  os << formatv("{0,8} {1}\n", "limit", "verdict");
  for (auto [i, c] : llvm::enumerate(report.comparisons)) {
    const ArrayReport &result = report.results[i];
    std::string where =
        c.worstSequence < 0
            ? "-"
            : formatv("({0}, {1})", c.worstSequence, c.worstHead).str();
    os << formatv("{0,-8} {1,-5} {2,-18} {3,9:e2} {4,9:e2} {5,-16} ",
                  result.name, nameOf(result.type), toString(result.shape),
                  c.relativeRMS, c.worst, where);
    if (c.model)
      os << formatv("{0,9:e2} {1,9:e2} ", c.model->relativeRMS, c.model->worst);
    os << formatv("{0,8:e1} {1}\n", c.limit, c.ok() ? "ok" : "WRONG");
    // A broken kernel breaks a rule everywhere: a few say enough.
    constexpr size_t kShown = 3;
    for (const std::string &fault : llvm::ArrayRef(c.faults).take_front(kShown))
      os << "         " << fault << "\n";
    if (c.faults.size() > kShown)
      os << "         and " << c.faults.size() - kShown << " more\n";
  }
}

void Report::print(llvm::raw_ostream &os) const {
  os << formatv("@{0} on {1}, {2} lowering, {3}; gates {4}, seed {5}\n",
                function, target.device, target.lowering, target.precision,
                gates, seed);
  printArrays(os, "inputs", inputs);
  printArrays(os, "results", results);
  os << formatv("compiled in {0:f1} ms\n", compileMilliseconds);
  for (const std::string &note : notes)
    os << "note: " << note << "\n";
  if (!comparisons.empty()) {
    printComparisons(os, *this);
    os << formatv("oracle (fp64 token loop): {0:f1} ms\n", oracleMilliseconds);
    if (llvm::any_of(comparisons,
                     [](const Comparison &c) { return c.model.has_value(); }))
      os << "model: the chunk form in fp64, each operand of a product rounded "
            "once\n";
  }
  if (time) {
    os << formatv("\ntime     median {0:f3} ms, min {1:f3}, max {2:f3} of {3} "
                  "runs",
                  time->median(), time->min(), time->max(),
                  time->milliseconds.size());
    if (time->tokens)
      os << formatv("; {0} tokens, {1:f0} tokens/s", time->tokens,
                    time->tokensPerSecond());
    os << "\n";
  }
  for (const std::string &fault : faults)
    os << "WRONG: " << fault << "\n";
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

/// JSON has no infinities.
static llvm::json::Value number(double value) {
  if (std::isfinite(value))
    return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

static llvm::json::Array toJSON(llvm::ArrayRef<ArrayReport> arrays) {
  llvm::json::Array out;
  for (const ArrayReport &array : arrays) {
    llvm::json::Object object{{"name", array.name},
                              {"type", nameOf(array.type)},
                              {"shape", llvm::json::Array(array.shape)}};
    if (!array.source.empty())
      object["source"] = array.source;
    out.push_back(std::move(object));
  }
  return out;
}

static llvm::json::Object toJSON(const Comparison &c, llvm::StringRef name) {
  llvm::json::Object out{
      {"result", name},
      {"relative_rms", number(c.relativeRMS)},
      {"worst", llvm::json::Object{{"relative_rms", number(c.worst)},
                                   {"sequence", c.worstSequence},
                                   {"head", c.worstHead},
                                   {"limit", c.worstLimit}}},
      {"limit", c.limit},
      {"faults", llvm::json::Array(c.faults)},
      {"ok", c.ok()}};
  if (c.model)
    out["rounding_model"] =
        llvm::json::Object{{"relative_rms", number(c.model->relativeRMS)},
                           {"worst", number(c.model->worst)}};
  return out;
}

llvm::json::Value Report::toJSON() const {
  llvm::json::Object sizesObject;
  for (auto &[name, size] : sizes)
    sizesObject[name] = size;
  llvm::json::Object out{{"function", function},
                         {"device", target.device},
                         {"lowering", target.lowering},
                         {"precision", target.precision},
                         {"llvm", LLVM_VERSION_STRING},
                         {"gates", gates},
                         {"seed", seed},
                         {"sizes", std::move(sizesObject)},
                         {"inputs", ::toJSON(inputs)},
                         {"results", ::toJSON(results)},
                         {"compile_ms", compileMilliseconds},
                         {"notes", llvm::json::Array(notes)},
                         {"faults", llvm::json::Array(faults)},
                         {"ok", ok()}};
  if (target.lowering == "chunkwise") {
    out["chunk"] = target.chunk;
    out["keep_rounding"] = target.keepRounding;
    out["hoist"] = target.hoist;
  }
  if (!comparisons.empty()) {
    llvm::json::Array array;
    for (auto [i, comparison] : llvm::enumerate(comparisons))
      array.push_back(::toJSON(comparison, results[i].name));
    out["verify"] = std::move(array);
    out["oracle_ms"] = oracleMilliseconds;
  }
  if (time)
    out["time"] =
        llvm::json::Object{{"median_ms", time->median()},
                           {"min_ms", time->min()},
                           {"max_ms", time->max()},
                           {"runs_ms", llvm::json::Array(time->milliseconds)},
                           {"tokens", time->tokens},
                           {"tokens_per_s", time->tokensPerSecond()}};
  return out;
}
