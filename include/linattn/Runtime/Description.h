//===- Description.h - what a compiled function says of itself --*- C++ -*-===//
//
// NAME.json as structures; docs/Artifacts.md has its fields. Names of sizes are
// numbers here: indices into Description::sizes.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_RUNTIME_DESCRIPTION_H
#define LINATTN_RUNTIME_DESCRIPTION_H

#include "linattn-c/Runtime.h"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace linattn::runtime {

/// A size: a number; a name; round(of * times / divide) + plus; the smallest of
/// several.
struct Expr {
  enum Kind { Number, Name, Formula, Minimum } kind = Number;
  int64_t number = 0;
  int name = -1;
  std::vector<Expr> of;          ///< one, or several for Minimum
  std::vector<Expr> times, plus; ///< none or one
  int64_t divide = 1;
  bool roundUp = false;

  static Expr constant(int64_t number) {
    Expr expr;
    expr.number = number;
    return expr;
  }
};

struct TensorDescription {
  std::string name, role;
  linattn_dtype dtype = LINATTN_F32;
  std::vector<Expr> shape;
  std::string shapeText; ///< "[B, T, 16, 128]"
  /// Per dimension: a number, or free.
  std::vector<std::optional<int64_t>> strides;
  int64_t alignment = 1;
  bool optional = false;
  /// Of a result: the argument that holds it.
  int inPlace = -1;
  /// Of an argument: a result is in it.
  bool written = false;
};

/// A scratch buffer between the launches of a call.
struct WorkspaceBuffer {
  std::string name;
  linattn_dtype dtype = LINATTN_F32;
  std::vector<Expr> shape;
};

/// Where a parameter's tensor lies: arguments, results, then workspace.
struct Operand {
  enum Kind { Argument, Result, Workspace } kind = Argument;
  int index = 0;
};

struct Parameter {
  enum Kind { Pointer, Stride, Size, Constant, TensorMap } kind = Pointer;
  Operand tensor;
  int dimension = 0;
  bool inBytes = false; ///< of a stride
  Expr size;
  uint64_t constant = 0;
  int map = 0;
  int bytes = 8; ///< 4 or 8; a tensor map has 128
  bool isSigned = true;
};

/// What cuTensorMapEncodeTiled takes.
struct TensorMapDescription {
  Operand tensor;
  std::string tensorName;
  linattn_dtype dtype = LINATTN_BF16;
  bool tf32 = false;
  /// Dimensions of the tensor, the contiguous one first.
  std::vector<int> dimensions;
  std::vector<uint32_t> box;
  int swizzle = 0;   ///< 0, 32, 64 or 128 bytes
  int promotion = 0; ///< 0, 64, 128 or 256 bytes
  bool fillNaN = false;
};

using Triple = std::array<int64_t, 3>;

struct Launch {
  std::string kernel;
  std::array<Expr, 3> grid = {Expr::constant(1), Expr::constant(1),
                              Expr::constant(1)};
  Triple block = {1, 1, 1};
  Triple cluster = {1, 1, 1};
  int64_t dynamicShared = 0;
  std::vector<Parameter> parameters;
  std::vector<TensorMapDescription> maps;
};

struct SizeOrigin {
  int name = 0;
  int argument = 0;
  int dimension = 0;
  int64_t plus = 0;
};

struct Description {
  std::string name, target, json;
  std::string cubinFile, ptxFile;
  std::vector<TensorDescription> arguments, results;
  std::vector<WorkspaceBuffer> workspace;
  std::vector<Launch> launches;
  /// Names of sizes, and where those that no shape names stand.
  std::vector<std::string> sizes;
  std::vector<SizeOrigin> origins;

  const std::string &nameOf(Operand operand) const;
};

/// Sizes that the device gives, not the tensors.
constexpr const char *kMultiprocessors = "$multiprocessors";

/// Throws an Error of status ARTIFACT that names the field; `origin` is the
/// file.
std::unique_ptr<Description> parseDescription(std::string json,
                                              const std::string &origin);

/// Whether a file says that it is a description, of whatever version.
bool isDescription(const std::string &json);

std::optional<linattn_dtype> parseDType(const std::string &name);

/// "N + 1", as the messages print it.
std::string toString(const Expr &expr, const std::vector<std::string> &names);

} // namespace linattn::runtime

#endif // LINATTN_RUNTIME_DESCRIPTION_H
