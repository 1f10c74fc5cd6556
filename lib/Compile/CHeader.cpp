//===- CHeader.cpp - a C header for an object file ------------------------===//

#include "linattn/Compile/Compile.h"
#include "linattn/Conversion/Destinations.h"
#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <set>

using namespace mlir;
using namespace linattn;

/// A C identifier like `name`.
static std::string identifier(StringRef name) {
  std::string result;
  for (char c : name)
    result += llvm::isAlnum(c) ? c : '_';
  if (result.empty() || llvm::isDigit(result[0]))
    result = "arg" + result;
  return result;
}

static void declareMemRef(llvm::raw_ostream &os, int64_t rank) {
  os << "#ifndef LINATTN_MEMREF" << rank << "\n"
     << "#define LINATTN_MEMREF" << rank << "\n"
     << "typedef struct {\n"
     << "  void *allocated, *data;\n"
     << "  int64_t offset, sizes[" << rank << "], strides[" << rank << "];\n"
     << "} linattn_memref" << rank << ";\n"
     << "#endif\n";
}

std::string linattn::makeCHeader(func::FuncOp func) {
  struct Parameter {
    std::string name;
    RankedTensorType type;
    StringRef kind;
  };
  SmallVector<Parameter> inputs, results;
  for (BlockArgument argument : func.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    auto given = func.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                   kArgNameAttr);
    std::string name =
        given ? given.str() : std::to_string(argument.getArgNumber());
    inputs.push_back({identifier(name), type, "input"});
  }
  for (auto [i, value] :
       llvm::enumerate(func.getBody().front().getTerminator()->getOperands()))
    if (!getInPlaceArgument(value))
      results.push_back({"out_" + std::to_string(i),
                         dyn_cast<RankedTensorType>(value.getType()),
                         "result"});

  std::set<int64_t> ranks = {1};
  for (const Parameter &parameter : llvm::concat<Parameter>(inputs, results))
    if (parameter.type)
      ranks.insert(parameter.type.getRank());

  std::string text;
  llvm::raw_string_ostream os(text);
  std::string name = identifier(func.getName());
  std::string guard = "LINATTN_" + StringRef(name).upper() + "_H";
  os << "/* " << func.getName()
     << ": compiled by linattn-compile for the CPU. Link with -lomp -lm.\n"
     << " * sizes and strides count elements; element (i, j, ..) of a tensor "
        "is "
        "at\n"
     << " * data[offset + i * strides[0] + j * strides[1] + ..]. The values of "
        "one token\n"
     << " * (and columns of a state) are contiguous, other strides are free. "
        "*/\n"
     << "#ifndef " << guard << "\n#define " << guard << "\n\n"
     << "#include <stdint.h>\n\n"
     << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
  for (int64_t rank : ranks)
    declareMemRef(os, rank);

  auto declare = [&](StringRef symbol, ArrayRef<Parameter> parameters,
                     bool sizes) {
    os << "void " << symbol << "(";
    llvm::ListSeparator separator(",");
    for (const Parameter &parameter : parameters) {
      os << separator << "\n    ";
      if (parameter.type)
        os << "linattn_memref" << parameter.type.getRank() << " *"
           << parameter.name << " /* " << parameter.kind << ", "
           << parameter.type << " */";
      else
        os << "int64_t " << parameter.name;
    }
    if (sizes)
      os << separator << "\n    linattn_memref1 *sizes /* out, int64_t */";
    os << ");\n";
  };
  os << "\n/* Inputs, then the memory of each result, which shares no byte "
        "with "
        "an\n * input or another result: nothing checks that. */\n";
  SmallVector<Parameter> all(inputs);
  all.append(results);
  declare(("_mlir_ciface_" + func.getName()).str(), all, false);
  if (func.getNumResults() != 0) {
    os << "\n/* Writes the sizes of all results, one after another. */\n";
    declare(("_mlir_ciface_" + func.getName() + "_result_shapes").str(), inputs,
            true);
  }
  os << "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
  return text;
}
