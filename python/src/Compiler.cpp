//===- Compiler.cpp - modules and compiling them --------------------------===//
//
// Part of linattn. The module `_compiler`: everything that needs MLIR, over the
// C API alone.
//
//===----------------------------------------------------------------------===//

#include "Handles.h"

#include "linattn-c/Compiler.h"
#include "linattn-c/Passes.h"
#include "mlir-c/BuiltinAttributes.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;
using namespace linattn::python;

/// Takes over the text of an error.
static std::string take(char *error) {
  std::string text = error ? error : "error: unknown";
  linattnStringFree(error);
  return text;
}

static Module makeHandle(ContextPtr context, MlirModule module) {
  auto tree = std::make_shared<Tree>(std::move(context),
                                     mlirModuleGetOperation(module));
  return {{tree}, module};
}

static Module parse(nb::handle source, ContextPtr context,
                    const std::string &fileName) {
  std::string text;
  if (nb::isinstance<nb::bytes>(source)) {
    nb::bytes bytes = nb::cast<nb::bytes>(source);
    text.assign(bytes.c_str(), bytes.size());
  } else {
    text = nb::cast<std::string>(source);
  }
  char *error = nullptr;
  MlirModule module;
  {
    nb::gil_scoped_release release;
    module = linattnParseModule(context->get(), text.data(), text.size(),
                                fileName.c_str(), &error);
  }
  if (mlirModuleIsNull(module))
    throw CompileError(take(error));
  return makeHandle(context, module);
}

static nb::bytes toBytecode(const Module &module) {
  module.check();
  std::string bytes;
  mlirOperationWriteBytecode(mlirModuleGetOperation(module.module), append,
                             &bytes);
  return nb::bytes(bytes.data(), bytes.size());
}

static void run(Module &module, const std::string &pipeline) {
  module.check();
  char *error = nullptr;
  bool done;
  {
    nb::gil_scoped_release release;
    done = linattnRunPipeline(module.module, pipeline.c_str(), &error);
  }
  // Also where it failed: what ran before has changed the module.
  module.tree->owner()->changed = tick();
  module.made = now();
  if (!done)
    throw CompileError(take(error));
}

static Operation operationOf(const Module &module) {
  module.check();
  return {{module.tree}, mlirModuleGetOperation(module.module)};
}

namespace {
/// Frees an artifact at the end.
struct Artifact {
  std::shared_ptr<LinAttnArtifact> artifact;

  nb::object part(LinAttnPart which) const {
    size_t size = 0;
    const char *data = linattnArtifactGetPart(artifact.get(), which, &size);
    if (!data)
      return nb::none();
    return nb::bytes(data, size);
  }
};

/// Code in this process.
struct LoadedKernel {
  std::shared_ptr<LinAttnKernel> kernel;
};
} // namespace

static Artifact compile(const Module &module, const std::string &target,
                        const std::string &lowering,
                        std::optional<std::string> function,
                        const std::string &cpu, std::optional<std::string> mma,
                        std::optional<std::string> plan, int64_t chunk,
                        bool keepRounding, bool widen, bool assemble,
                        std::optional<std::string> toolPath, int64_t sequences,
                        int64_t tokens) {
  module.check();
  LinAttnCompileOptions options = linattnCompileOptionsDefault();
  options.target = target.c_str();
  options.lowering = lowering.c_str();
  options.function = function ? function->c_str() : nullptr;
  options.cpu = cpu.c_str();
  options.mma = mma ? mma->c_str() : nullptr;
  options.plan = plan ? plan->c_str() : nullptr;
  options.sequences = sequences;
  options.tokens = tokens;
  options.chunk = chunk;
  options.keepRounding = keepRounding;
  options.widen = widen;
  options.assemble = assemble;
  options.toolPath = toolPath ? toolPath->c_str() : nullptr;
  char *error = nullptr;
  LinAttnArtifact *artifact;
  {
    nb::gil_scoped_release release;
    artifact = linattnCompile(module.module, &options, &error);
  }
  if (!artifact)
    throw CompileError(take(error));
  return {std::shared_ptr<LinAttnArtifact>(artifact, linattnArtifactDestroy)};
}

static LoadedKernel load(nb::bytes object, const std::string &function) {
  char *error = nullptr;
  LinAttnKernel *kernel = linattnKernelLoadObject(object.c_str(), object.size(),
                                                  function.c_str(), &error);
  if (!kernel)
    throw CompileError(take(error));
  return {std::shared_ptr<LinAttnKernel>(kernel, linattnKernelDestroy)};
}

void linattn::python::bindModule(nb::module_ &m) {
  nb::class_<Artifact>(m, "Artifact",
                       "Code of one function; None for a part "
                       "that it does not have.")
      .def_prop_ro("name",
                   [](const Artifact &a) {
                     return linattnArtifactGetName(a.artifact.get());
                   })
      .def_prop_ro(
          "description",
          [](const Artifact &a) { return a.part(LINATTN_PART_DESCRIPTION); })
      .def_prop_ro(
          "object",
          [](const Artifact &a) { return a.part(LINATTN_PART_OBJECT); })
      .def_prop_ro(
          "header",
          [](const Artifact &a) { return a.part(LINATTN_PART_HEADER); })
      .def_prop_ro("ptx",
                   [](const Artifact &a) { return a.part(LINATTN_PART_PTX); })
      .def_prop_ro("cubin", [](const Artifact &a) {
        return a.part(LINATTN_PART_CUBIN);
      });
  nb::class_<LoadedKernel>(m, "LoadedKernel",
                           "An object file, loaded into this process.")
      .def_prop_ro("entry",
                   [](const LoadedKernel &k) {
                     return uintptr_t(linattnKernelGetEntry(k.kernel.get()));
                   })
      .def_prop_ro("sizes", [](const LoadedKernel &k) {
        return uintptr_t(linattnKernelGetSizesEntry(k.kernel.get()));
      });
  m.def("load_object", &load, "object"_a, "function"_a);

  nb::class_<Module>(m, "Module", "A module of MLIR.")
      .def_static("parse", &parse, "source"_a, "context"_a,
                  "file_name"_a = "module.mlir",
                  "From text or bytecode; verified.")
      .def_static(
          "create",
          [](const Location &location) {
            return makeHandle(location.context,
                              mlirModuleCreateEmpty(location.location));
          },
          "location"_a, "An empty one.")
      .def_prop_ro("operation", &operationOf)
      .def_prop_ro("body",
                   [](const Module &module) {
                     module.check();
                     return Block{{module.tree},
                                  mlirModuleGetBody(module.module)};
                   })
      .def_prop_ro("context",
                   [](const Module &module) { return module.tree->context; })
      .def("clone",
           [](const Module &module) {
             module.check();
             return makeHandle(module.tree->context,
                               mlirModuleFromOperation(mlirOperationClone(
                                   mlirModuleGetOperation(module.module))));
           })
      .def("to_bytecode", &toBytecode)
      .def("run", &run, "pipeline"_a,
           "Runs a textual pipeline, such as "
           "'builtin.module(linattn-normalize)'. Handles into the module are "
           "stale afterwards.")
      .def("compile", &compile, "target"_a, "lowering"_a = "serial",
           "function"_a = nb::none(), "cpu"_a = "native", "mma"_a = nb::none(),
           "plan"_a = nb::none(), "chunk"_a = 64, "keep_rounding"_a = false,
           "widen"_a = false, "assemble"_a = true, "tool_path"_a = nb::none(),
           "sequences"_a = 0, "tokens"_a = 0);
}

NB_MODULE(_compiler, m) {
  m.doc() = "MLIR with the linattn dialect, and the compiler.";
  nb::object base = nb::module_::import_("linattn.errors").attr("CompileError");
  m.attr("CompileError") = base;
  nb::register_exception_translator(
      [](const std::exception_ptr &p, void *payload) {
        try {
          std::rethrow_exception(p);
        } catch (const CompileError &error) {
          // Made here, where the user's frame still runs: it looks its line up.
          auto *type = static_cast<PyObject *>(payload);
          if (PyObject *made = PyObject_CallFunction(type, "s", error.what())) {
            PyErr_SetObject(type, made);
            Py_DECREF(made);
          }
        }
      },
      base.ptr());
  bindTypes(m);
  bindOperations(m);
  bindModule(m);
}
