//===- Handles.h - what Python holds of MLIR --------------------*- C++ -*-===//
//
// Part of linattn. Python's handles keep what they point into alive, and know
// when a pass has changed it: then they refuse to be used.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_PYTHON_HANDLES_H
#define LINATTN_PYTHON_HANDLES_H

#include <nanobind/nanobind.h>

#include "mlir-c/Diagnostics.h"
#include "mlir-c/IR.h"

#include <memory>
#include <string>
#include <vector>

namespace linattn::python {

class Context {
public:
  Context();
  ~Context();
  Context(const Context &) = delete;
  Context &operator=(const Context &) = delete;

  MlirContext get() const { return context; }

private:
  MlirContext context;
};
using ContextPtr = std::shared_ptr<Context>;

/// Owns an operation with all that is in it: a module, or an operation that is
/// not in a block yet. When that is put into a block, its owner hands over to
/// the block's.
class Tree {
public:
  Tree(ContextPtr context, MlirOperation root)
      : context(std::move(context)), root(root) {}
  ~Tree();
  Tree(const Tree &) = delete;
  Tree &operator=(const Tree &) = delete;

  /// The tree that owns what this one began with.
  Tree *owner() { return parent ? parent->owner() : this; }
  void moveInto(std::shared_ptr<Tree> other) { parent = std::move(other); }
  /// Operands of the root come from there: must not go first.
  void keep(std::shared_ptr<Tree> other) { kept.push_back(std::move(other)); }
  bool ownsRoot() const { return !parent; }

  ContextPtr context;
  MlirOperation root;
  /// Handles made before this time are stale.
  uint64_t changed = 0;

private:
  std::shared_ptr<Tree> parent;
  std::vector<std::shared_ptr<Tree>> kept;
};
using TreePtr = std::shared_ptr<Tree>;

/// Counts changes of any tree.
uint64_t now();
uint64_t tick();

/// An error of the compiler: text with places in files.
struct CompileError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What every handle into a tree has.
struct Handle {
  TreePtr tree;
  uint64_t made = now();

  void check() const {
    if (made < tree->owner()->changed)
      throw CompileError("this handle is stale: passes ran on its module");
  }
};

struct Type {
  ContextPtr context;
  MlirType type;
};
struct Attribute {
  ContextPtr context;
  MlirAttribute attribute;
};
struct Location {
  ContextPtr context;
  MlirLocation location;
};
struct Value : Handle {
  MlirValue value;
};
struct Block : Handle {
  MlirBlock block;
};
struct Region : Handle {
  MlirRegion region;
};
struct Operation : Handle {
  MlirOperation operation;
};
struct Module : Handle {
  MlirModule module;
};

/// Collects the diagnostics of a context while it lives.
class Diagnostics {
public:
  explicit Diagnostics(const ContextPtr &context);
  ~Diagnostics();
  /// Raises what was collected, or `otherwise`.
  [[noreturn]] void raise(const std::string &otherwise) const;

private:
  static MlirLogicalResult handle(MlirDiagnostic diagnostic, void *self);
  void add(MlirDiagnostic diagnostic);

  ContextPtr context;
  MlirDiagnosticHandlerID id;
  std::string text;
};

inline MlirStringRef view(const std::string &text) {
  return mlirStringRefCreate(text.data(), text.size());
}
inline std::string str(MlirStringRef text) {
  return std::string(text.data, text.length);
}
/// For the printing functions of the C API: appends to a std::string.
inline void append(MlirStringRef part, void *text) {
  static_cast<std::string *>(text)->append(part.data, part.length);
}

void bindTypes(nanobind::module_ &m);
void bindOperations(nanobind::module_ &m);
void bindModule(nanobind::module_ &m);

} // namespace linattn::python

#endif // LINATTN_PYTHON_HANDLES_H
