//===- RuntimeSymbols.cpp - what compiled code calls ------------*- C++ -*-===//

#include "linattn/Runner/RuntimeSymbols.h"
#include "linattn/Runner/Scalar.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

using namespace linattn;
using namespace linattn::runner;

//===----------------------------------------------------------------------===//
// 16-bit floats
//===----------------------------------------------------------------------===//

// The ABIs of x86-64 and AArch64 return a 16-bit float in the low bits of the
// register that also returns a float, and compilers differ in the names of the
// 16-bit types: so a float carries the bits.
static float carry(uint16_t bits) {
  return llvm::bit_cast<float>(uint32_t(bits));
}

static uint16_t carried(float value) {
  return uint16_t(llvm::bit_cast<uint32_t>(value));
}

static float truncFloatToBF16(float x) { return carry(floatToBF16(x)); }
static float truncDoubleToBF16(double x) { return carry(doubleToBF16(x)); }
static float truncFloatToF16(float x) { return carry(floatToF16(x)); }
static float truncDoubleToF16(double x) { return carry(doubleToF16(x)); }
static float extendF16(float x) { return f16ToFloat(carried(x)); }

//===----------------------------------------------------------------------===//
// Copies of strided memrefs
//===----------------------------------------------------------------------===//

namespace {
/// What MLIR passes for memref<*xT>: the rank and a descriptor.
struct UnrankedMemRef {
  int64_t rank;
  int64_t *descriptor;

  char *data(int64_t elementSize) const {
    return reinterpret_cast<char *>(descriptor[1]) +
           descriptor[2] * elementSize;
  }
  int64_t size(int64_t dim) const { return descriptor[3 + dim]; }
  int64_t stride(int64_t dim) const { return descriptor[3 + rank + dim]; }
};
} // namespace

static void copyDimension(int64_t elementSize, const UnrankedMemRef &source,
                          const UnrankedMemRef &target, int64_t dim,
                          const char *from, char *to) {
  if (dim == source.rank) {
    std::memcpy(to, from, elementSize);
    return;
  }
  int64_t size = source.size(dim);
  bool isRow = dim + 1 == source.rank && source.stride(dim) == 1 &&
               target.stride(dim) == 1;
  if (isRow) {
    std::memmove(to, from, size * elementSize);
    return;
  }
  for (int64_t i = 0; i < size; ++i)
    copyDimension(elementSize, source, target, dim + 1,
                  from + i * source.stride(dim) * elementSize,
                  to + i * target.stride(dim) * elementSize);
}

/// `memref.copy` of memrefs that are not contiguous calls `memrefCopy`.
static void copyMemRef(int64_t elementSize, UnrankedMemRef *source,
                       UnrankedMemRef *target) {
  copyDimension(elementSize, *source, *target, 0, source->data(elementSize),
                target->data(elementSize));
}

namespace {
class Symbols {
public:
  explicit Symbols(llvm::orc::MangleAndInterner mangle) : mangle(mangle) {}

  template <typename Function>
  Symbols &add(llvm::StringRef name, Function *function) {
    map[mangle(name)] = {llvm::orc::ExecutorAddr::fromPtr(function),
                         llvm::JITSymbolFlags::Exported};
    return *this;
  }
  llvm::orc::SymbolMap take() { return std::move(map); }

private:
  llvm::orc::MangleAndInterner mangle;
  llvm::orc::SymbolMap map;
};
} // namespace

llvm::orc::SymbolMap
runner::runtimeSymbols(llvm::orc::MangleAndInterner mangle) {
  return Symbols(mangle)
      .add("__truncsfbf2", &truncFloatToBF16)
      .add("__truncdfbf2", &truncDoubleToBF16)
      .add("__truncsfhf2", &truncFloatToF16)
      .add("__truncdfhf2", &truncDoubleToF16)
      .add("__extendhfsf2", &extendF16)
      .add("memrefCopy", &copyMemRef)
      .take();
}

//===----------------------------------------------------------------------===//
// OpenMP
//===----------------------------------------------------------------------===//

/// Where LLVM's own OpenMP runtime may be: beside the LLVM that is loaded, in
/// the folder of the LLVM that this was built with, where the loader looks.
static std::vector<std::string> openMPCandidates() {
  std::vector<std::string> folders;
  Dl_info info;
  if (dladdr(reinterpret_cast<void *>(&llvm::cl::ParseCommandLineOptions),
             &info) &&
      info.dli_fname)
    folders.push_back(llvm::sys::path::parent_path(info.dli_fname).str());
  folders.push_back(LINATTN_LLVM_LIBRARY_DIR);
  std::vector<std::string> paths;
  for (const std::string &folder : folders)
    for (const char *name : {"libomp.so.5", "libomp.so"})
      paths.push_back(folder + "/" + name);
  paths.insert(paths.end(), {"libomp.so.5", "libomp.so"});
  return paths;
}

std::string runner::loadOpenMP(unsigned threads) {
  // The runtime reads it when it is loaded.
  if (threads)
    setenv("OMP_NUM_THREADS", std::to_string(threads).c_str(), /*overwrite=*/1);
  for (const std::string &path : openMPCandidates()) {
    if (llvm::sys::path::is_absolute(path) && !llvm::sys::fs::exists(path))
      continue;
    if (llvm::sys::DynamicLibrary::getPermanentLibrary(path.c_str()).isValid())
      return path;
  }
  return "";
}

// The entry points that LLVM's OpenMP builder calls for a parallel loop. One
// thread does every iteration, so that bounds stay as they are.

/// The body takes its captured values as one pointer, if it has any.
static void forkCall(void *, int32_t count,
                     void (*body)(int32_t *, int32_t *, void *),
                     void *captured) {
  int32_t thread = 0, number = 0;
  body(&thread, &number, count ? captured : nullptr);
}
static int32_t threadNumber(void *) { return 0; }
static void barrier(void *, int32_t) {}
static void pushNumThreads(void *, int32_t, int32_t) {}
static void staticInit(void *, int32_t, int32_t, int32_t *isLast, uint64_t *,
                       uint64_t *, int64_t *, int64_t, int64_t) {
  *isLast = 1;
}
static void staticFini(void *, int32_t) {}

llvm::orc::SymbolMap
runner::singleThreadSymbols(llvm::orc::MangleAndInterner mangle) {
  return Symbols(mangle)
      .add("__kmpc_fork_call", &forkCall)
      .add("__kmpc_global_thread_num", &threadNumber)
      .add("__kmpc_barrier", &barrier)
      .add("__kmpc_push_num_threads", &pushNumThreads)
      .add("__kmpc_for_static_init_8u", &staticInit)
      .add("__kmpc_for_static_fini", &staticFini)
      .take();
}
