//===- Compiler.cpp - C API of the compiler -------------------------------===//

#include "linattn-c/Compiler.h"
#include "Artifact.h"
#include "Errors.h"
#include "linattn/Conversion/Passes.h"

#include "mlir/CAPI/IR.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace linattn;

static llvm::Error makeError(const Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

MlirModule linattnParseModule(MlirContext context, const char *source,
                              size_t size, const char *fileName, char **error) {
  ErrorText errors(unwrap(context));
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(StringRef(source, size), fileName),
      llvm::SMLoc());
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(sources, ParserConfig(unwrap(context)));
  if (!module)
    errors.give(error);
  return wrap(module.release());
}

LinAttnCompileOptions linattnCompileOptionsDefault(void) {
  LinAttnCompileOptions options = {};
  options.target = "cpu";
  options.lowering = "serial";
  options.cpu = "native";
  options.chunk = 64;
  options.assemble = true;
  return options;
}

static StringRef orEmpty(const char *text) {
  return text ? StringRef(text) : StringRef();
}

static llvm::Error check(const CompileOptions &options) {
  bool isCPU = options.target == "cpu";
  if (!isCPU) {
    auto feature = getPTXFeature(options.target);
    if (!feature)
      return makeError(llvm::toString(feature.takeError()) + ", cpu");
  }
  if (!llvm::is_contained({"auto", "chunkwise", "serial"}, options.lowering))
    return makeError("the lowering is auto, chunkwise or serial, got '" +
                     Twine(options.lowering) + "'");
  if (options.chunk < 1)
    return makeError("a chunk has at least one token, got " +
                     Twine(options.chunk));
  return checkPlan(options.plan);
}

static llvm::Expected<Artifact> compile(ModuleOp module, bool widen,
                                        CompileOptions options) {
  if (llvm::Error error = check(options))
    return error;
  auto names = selectFunctions(module, options);
  if (!names)
    return names.takeError();
  if (names->size() != 1)
    return makeError("the module has " + Twine(names->size()) +
                     " public functions: name one of them");
  std::optional<Ptxas> ptxas;
  if (options.target != "cpu" && options.cubin) {
    auto found = findPtxas(options.toolPath);
    if (!found)
      return found.takeError();
    ptxas = *found;
  }
  OwningOpRef<ModuleOp> widened;
  if (widen) {
    widened = module.clone();
    PassManager passes(module.getContext());
    passes.addPass(createWiden());
    if (failed(passes.run(*widened)))
      return makeError("cannot be widened to f64");
    module = *widened;
  }
  return compileFunction(module, names->front(), options,
                         ptxas ? &*ptxas : nullptr);
}

LinAttnArtifact *linattnCompile(MlirModule module,
                                const LinAttnCompileOptions *given,
                                char **error) {
  CompileOptions options;
  options.target = orEmpty(given->target);
  options.lowering = orEmpty(given->lowering);
  options.function = orEmpty(given->function);
  options.cpu = orEmpty(given->cpu);
  options.mma = orEmpty(given->mma);
  options.plan = orEmpty(given->plan);
  options.sizes = {given->sequences, given->tokens};
  options.chunk = given->chunk;
  options.keepRounding = given->keepRounding;
  options.cubin = given->assemble;
  options.toolPath = orEmpty(given->toolPath);
  ErrorText errors(unwrap(module)->getContext());
  llvm::Expected<Artifact> artifact =
      compile(unwrap(module), given->widen, options);
  if (!artifact) {
    errors.add(artifact.takeError());
    errors.give(error);
    return nullptr;
  }
  std::string json = llvm::formatv(
      "{0:2}\n", llvm::json::Value(std::move(artifact->description)));
  return new LinAttnArtifact{std::move(*artifact), std::move(json)};
}

void linattnArtifactDestroy(LinAttnArtifact *artifact) { delete artifact; }

const char *linattnArtifactGetName(const LinAttnArtifact *artifact) {
  return artifact->code.name.c_str();
}

const char *linattnArtifactGetPart(const LinAttnArtifact *artifact,
                                   LinAttnPart part, size_t *size) {
  const Artifact &code = artifact->code;
  const std::string *bytes = nullptr;
  switch (part) {
  case LINATTN_PART_DESCRIPTION:
    bytes = &artifact->json;
    break;
  case LINATTN_PART_OBJECT:
    bytes = &code.object;
    break;
  case LINATTN_PART_HEADER:
    bytes = &code.header;
    break;
  case LINATTN_PART_PTX:
    bytes = &code.ptx;
    break;
  case LINATTN_PART_CUBIN:
    bytes = code.cubin ? &code.cubin->bytes : nullptr;
    break;
  }
  if (!bytes || bytes->empty())
    return nullptr;
  if (size)
    *size = bytes->size();
  return bytes->data();
}
