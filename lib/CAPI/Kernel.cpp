//===- Kernel.cpp - object files for the CPU, in this process -------------===//

#include "Artifact.h"
#include "Errors.h"
#include "linattn-c/Compiler.h"
#include "linattn/Runner/RuntimeSymbols.h"

#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include <utility>

using namespace linattn;

struct LinAttnKernel {
  std::unique_ptr<llvm::orc::LLJIT> jit;
  void *entry = nullptr;
  void *sizes = nullptr;
};

static llvm::Expected<std::unique_ptr<LinAttnKernel>>
load(llvm::StringRef object, const std::string &function) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto kernel = std::make_unique<LinAttnKernel>();
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  kernel->jit = std::move(*jit);
  // The process' symbols include those of the libraries opened here.
  runner::loadOpenMP(/*threads=*/0);
  llvm::orc::JITDylib &library = kernel->jit->getMainJITDylib();
  llvm::orc::MangleAndInterner mangle(kernel->jit->getExecutionSession(),
                                      kernel->jit->getDataLayout());
  if (llvm::Error error = library.define(
          llvm::orc::absoluteSymbols(runner::runtimeSymbols(mangle))))
    return error;
  if (llvm::Error error = kernel->jit->addObjectFile(
          llvm::MemoryBuffer::getMemBufferCopy(object, function)))
    return error;
  auto entry = kernel->jit->lookup("_mlir_ciface_" + function);
  if (!entry)
    return entry.takeError();
  kernel->entry = entry->toPtr<void *>();
  // A function without results has none.
  auto sizes =
      kernel->jit->lookup("_mlir_ciface_" + function + "_result_shapes");
  if (sizes)
    kernel->sizes = sizes->toPtr<void *>();
  else
    llvm::consumeError(sizes.takeError());
  return kernel;
}

LinAttnKernel *linattnKernelLoadObject(const char *object, size_t size,
                                       const char *function, char **error) {
  auto kernel = load(llvm::StringRef(object, size), function);
  if (kernel)
    return kernel->release();
  std::string text = "error: " + llvm::toString(kernel.takeError());
  if (error)
    *error = copyText(text);
  return nullptr;
}

LinAttnKernel *linattnKernelLoad(const LinAttnArtifact *artifact,
                                 char **error) {
  const std::string &object = artifact->code.object;
  if (!object.empty())
    return linattnKernelLoadObject(object.data(), object.size(),
                                   artifact->code.name.c_str(), error);
  if (error)
    *error = copyText("error: '" + artifact->code.name +
                      "' was not compiled for the CPU");
  return nullptr;
}

void linattnKernelDestroy(LinAttnKernel *kernel) { delete kernel; }

void *linattnKernelGetEntry(const LinAttnKernel *kernel) {
  return kernel->entry;
}

void *linattnKernelGetSizesEntry(const LinAttnKernel *kernel) {
  return kernel->sizes;
}

//===----------------------------------------------------------------------===//
// Calls with a number of pointers that is only known at run time
//===----------------------------------------------------------------------===//

template <size_t> using Pointer = void *;

template <size_t... i>
static void call(void *entry, void **arguments, std::index_sequence<i...>) {
  reinterpret_cast<void (*)(Pointer<i>...)>(entry)(arguments[i]...);
}

template <size_t count> static void callWith(void *entry, void **arguments) {
  call(entry, arguments, std::make_index_sequence<count>());
}

template <size_t... counts>
static void dispatch(void *entry, void **arguments, size_t count,
                     std::index_sequence<counts...>) {
  using Caller = void (*)(void *, void **);
  static constexpr Caller callers[] = {callWith<counts>...};
  callers[count](entry, arguments);
}

void linattnInvoke(void *entry, void **memrefs, size_t count) {
  constexpr size_t most = 64;
  assert(count <= most && "more descriptors than a call takes");
  dispatch(entry, memrefs, count, std::make_index_sequence<most + 1>());
}
