//===- RuntimeHeader.cpp - a C header for a GPU artifact ------------------===//

#include "linattn/Compile/Compile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <set>

using namespace linattn;
using llvm::StringRef;
namespace json = llvm::json;

static std::string identifier(StringRef name) {
  std::string result;
  for (char c : name)
    result += llvm::isAlnum(c) ? c : '_';
  if (result.empty() || llvm::isDigit(result[0]))
    result = "arg" + result;
  static const std::set<StringRef> taken = {
      "auto",    "break",    "case",     "char",     "const",  "continue",
      "default", "do",       "double",   "else",     "enum",   "extern",
      "float",   "for",      "function", "goto",     "if",     "inline",
      "int",     "long",     "register", "restrict", "return", "short",
      "signed",  "sizeof",   "static",   "stream",   "struct", "switch",
      "this",    "typedef",  "union",    "unsigned", "void",   "volatile",
      "while",   "workspace"};
  return taken.count(result) ? result + "_" : result;
}

/// A size of a shape: 128, B, "N + 1", "ceil(T / 64)".
static std::string sizeText(const json::Value &size) {
  if (auto number = size.getAsInteger())
    return std::to_string(*number);
  if (auto name = size.getAsString())
    return name->str();
  const json::Object &formula = *size.getAsObject();
  std::string text;
  if (const json::Value *of = formula.get("of"))
    text = sizeText(*of);
  if (const json::Value *times = formula.get("times"))
    text += " * " + sizeText(*times);
  if (auto by = formula.getInteger("divide")) {
    text += " / " + std::to_string(*by);
    if (formula.getString("round") == "up")
      text = "ceil(" + text + ")";
  }
  if (const json::Value *plus = formula.get("plus"))
    text += " + " + sizeText(*plus);
  return text;
}

namespace {
struct Operand {
  explicit Operand(const json::Object &object)
      : name(identifier(object.getString("name").value_or(""))),
        inPlace(object.getString("in_place").has_value()) {
    llvm::raw_string_ostream os(text);
    os << object.getString("name").value_or("") << ": "
       << object.getString("dtype").value_or("") << " [";
    llvm::ListSeparator comma;
    for (const json::Value &size : *object.getArray("shape"))
      os << comma << sizeText(size);
    os << "]";
    if (auto role = object.getString("role"))
      os << ", " << *role;
    if (auto holder = object.getString("in_place"))
      os << ", in " << *holder;
    bool optional = object.getBoolean("optional").value_or(false) ||
                    object.getString("role") == "unused";
    if (optional)
      os << ", may be NULL";
    const json::Array &strides = *object.getArray("strides");
    if (!strides.empty() && strides.back().getAsInteger() == 1)
      os << "; inner stride 1";
    if (auto alignment = object.getInteger("alignment"))
      os << "; memory and rows aligned to " << *alignment << " bytes";
  }

  std::string name, text;
  bool inPlace;
};
} // namespace

std::string linattn::makeRuntimeHeader(const json::Object &description) {
  std::vector<Operand> arguments, results;
  for (const json::Value &item : *description.getArray("arguments"))
    arguments.emplace_back(*item.getAsObject());
  for (const json::Value &item : *description.getArray("results"))
    results.emplace_back(*item.getAsObject());
  StringRef given = description.getString("name").value_or("");
  std::string name = identifier(given);
  std::string guard = "LINATTN_" + StringRef(name).upper() + "_H";

  std::string text;
  llvm::raw_string_ostream os(text);
  os << "/* " << given << ": compiled by linattn-compile for "
     << description.getString("target").value_or("")
     << ". Link with -llinattn_runtime.\n *\n * Arguments\n";
  for (const Operand &argument : arguments)
    os << " *   " << argument.text << "\n";
  os << " * Results\n";
  for (const Operand &result : results)
    os << " *   " << result.text << "\n";
  os << " *\n * Strides count elements and are free unless said otherwise.\n"
     << " *\n *   linattn_artifact *artifact;\n"
     << " *   linattn_load(\"" << given << ".json\", &artifact);\n"
     << " *   linattn_function *function = linattn_find(artifact, \"" << given
     << "\");\n */\n"
     << "#ifndef " << guard << "\n#define " << guard << "\n\n"
     << "#include <linattn-c/Runtime.h>\n\n";

  auto list = [&](const std::vector<Operand> &operands) {
    llvm::ListSeparator comma;
    for (const Operand &operand : operands) {
      os << comma;
      if (operand.inPlace)
        os << "linattn_none";
      else
        os << operand.name << " ? *" << operand.name << " : linattn_none";
    }
  };
  auto parameters = [&](bool isConst) {
    os << "linattn_function *function";
    for (const Operand &argument : arguments)
      os << ",\n    const linattn_tensor *" << argument.name;
    for (const Operand &result : results)
      if (!result.inPlace)
        os << ",\n    " << (isConst ? "const " : "") << "linattn_tensor *"
           << result.name;
  };
  auto arrays = [&] {
    os << "  const linattn_tensor linattn_none = {0};\n"
       << "  const linattn_tensor linattn_in[] = {\n      ";
    list(arguments);
    os << "};\n";
  };

  if (!results.empty() && !arguments.empty()) {
    os << "/* The shapes of the results; their memory is yours to give, and no "
          "other\n * operand's. */\n"
       << "static inline linattn_status " << name << "_results(\n    ";
    parameters(/*isConst=*/false);
    os << ") {\n";
    arrays();
    os << "  linattn_tensor linattn_out[" << results.size() << "];\n"
       << "  linattn_status linattn_code = linattn_infer_results(\n"
       << "      function, linattn_in, " << arguments.size()
       << ", linattn_out, " << results.size() << ");\n"
       << "  if (linattn_code != LINATTN_OK)\n    return linattn_code;\n";
    for (size_t i = 0; i < results.size(); ++i)
      if (!results[i].inPlace)
        os << "  if (" << results[i].name << ")\n    *" << results[i].name
           << " = linattn_out[" << i << "];\n";
    os << "  return LINATTN_OK;\n}\n\n";

    os << "/* Launches on a CUstream, or the default one. Without a workspace "
          "(NULL) one\n * is allocated if it is needed. */\n"
       << "static inline linattn_status " << name << "(\n    ";
    parameters(/*isConst=*/true);
    os << ",\n    const linattn_workspace *workspace, void *stream) {\n";
    arrays();
    os << "  const linattn_tensor linattn_out[] = {\n      ";
    list(results);
    os << "};\n  return linattn_call(function, linattn_in, " << arguments.size()
       << ", linattn_out, " << results.size()
       << ",\n                      workspace, stream);\n}\n\n";
  }
  os << "#endif\n";
  return text;
}
