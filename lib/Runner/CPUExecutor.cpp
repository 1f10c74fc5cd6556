//===- CPUExecutor.cpp - runs a function in this process --------*- C++ -*-===//
//
// The pipeline leaves `_mlir_ciface_NAME(descriptor *...)`, arguments first,
// then results, and `NAME_result_shapes`, which writes the sizes of all results
// one after another into its last argument.
//
//===----------------------------------------------------------------------===//

#include "linattn/Runner/Executor.h"
#include "linattn/Runner/RuntimeSymbols.h"
#include "linattn/Target/Optimize.h"

#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/Twine.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <chrono>
#include <mutex>

using namespace linattn;
using namespace linattn::runner;
using llvm::StringRef;
using llvm::Twine;

Executor::~Executor() = default;

namespace {
/// A memref descriptor: allocated and aligned pointer, offset, sizes, strides.
class Descriptor {
public:
  explicit Descriptor(Buffer &buffer) {
    words.push_back(reinterpret_cast<intptr_t>(buffer.getData()));
    words.push_back(reinterpret_cast<intptr_t>(buffer.getData()));
    words.push_back(0);
    words.append(buffer.getShape().begin(), buffer.getShape().end());
    words.append(buffer.getStrides().begin(), buffer.getStrides().end());
  }

  void *pointer() { return words.data(); }

private:
  llvm::SmallVector<int64_t, 13> words;
};

/// Arguments of a `_mlir_ciface_` function in the engine's packed form: the
/// addresses of the pointers to the descriptors.
class PackedArguments {
public:
  void add(Buffer &buffer) { descriptors.emplace_back(buffer); }

  llvm::MutableArrayRef<void *> pack() {
    pointers.clear();
    packed.clear();
    for (Descriptor &descriptor : descriptors)
      pointers.push_back(descriptor.pointer());
    for (void *&pointer : pointers)
      packed.push_back(&pointer);
    return packed;
  }

private:
  std::vector<Descriptor> descriptors;
  std::vector<void *> pointers, packed;
};

class CPUExecutor : public Executor {
public:
  explicit CPUExecutor(CPUOptions options) : options(std::move(options)) {}

  llvm::Error compile(mlir::ModuleOp module,
                      const Signature &signature) override {
    this->signature = &signature;
    mlir::OwningOpRef<mlir::ModuleOp> copy = module.clone();
    for (auto function : copy->getOps<mlir::func::FuncOp>()) {
      function.setVisibility(function.getName() == signature.function
                                 ? mlir::SymbolTable::Visibility::Public
                                 : mlir::SymbolTable::Visibility::Private);
      // LLVM knows none of our attributes and would warn about each.
      function.removeArgAttrsAttr();
    }
    mlir::PassManager passes(module.getContext());
    (void)mlir::applyPassManagerCLOptions(passes);
    // Only what the function calls is compiled.
    passes.addPass(mlir::createSymbolDCEPass());
    options.pipeline(passes);
    if (mlir::failed(passes.run(*copy)))
      return usageError("the module does not compile for the CPU");
    return createEngine(*copy);
  }

  DType adapt(DType type) const override {
    return options.widens && isFloat(type) ? DType::F64 : type;
  }

  llvm::Expected<std::vector<Shape>>
  resultShapes(llvm::ArrayRef<Buffer> inputs) override {
    int64_t count = 0;
    for (const Result &result : signature->results)
      count += result.rank;
    // An index is 64 bits wide on every target of ours.
    auto sizes = Buffer::allocate(DType::I64, count, "sizes of the results");
    if (!sizes)
      return sizes.takeError();
    PackedArguments arguments;
    for (Buffer input : inputs)
      arguments.add(input);
    arguments.add(*sizes);
    if (llvm::Error error = engine->invokePacked(
            entry(signature->function + "_result_shapes"), arguments.pack()))
      return error;
    std::vector<Shape> shapes;
    const int64_t *next = sizes->as<int64_t>();
    for (const Result &result : signature->results) {
      shapes.emplace_back(next, next + result.rank);
      next += result.rank;
    }
    return shapes;
  }

  llvm::Expected<double> run(llvm::MutableArrayRef<Buffer> inputs,
                             llvm::MutableArrayRef<Buffer> results) override {
    PackedArguments arguments;
    for (Buffer &input : inputs)
      arguments.add(input);
    for (Buffer &result : results)
      arguments.add(result);
    auto function = engine->lookupPacked(entry(signature->function));
    if (!function)
      return function.takeError();
    llvm::MutableArrayRef<void *> packed = arguments.pack();
    auto start = std::chrono::steady_clock::now();
    (*function)(packed.data());
    std::chrono::duration<double, std::milli> time =
        std::chrono::steady_clock::now() - start;
    return time.count();
  }

private:
  static std::string entry(StringRef name) {
    return ("_mlir_ciface_" + name).str();
  }

  llvm::Error createEngine(mlir::ModuleOp module) {
    static std::once_flag once;
    std::call_once(once, [] {
      llvm::InitializeNativeTarget();
      llvm::InitializeNativeTargetAsmPrinter();
    });
    auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
    if (!builder)
      return builder.takeError();
    builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::Aggressive);
    // The engine takes one machine; the optimizer needs another one.
    auto machine = builder->createTargetMachine();
    if (!machine)
      return machine.takeError();
    auto optimizing = builder->createTargetMachine();
    if (!optimizing)
      return optimizing.takeError();
    auto transformer = [&](llvm::Module *module) {
      optimizeModule(*module, **optimizing);
      return llvm::Error::success();
    };

    mlir::ExecutionEngineOptions engineOptions;
    engineOptions.transformer = transformer;
    engineOptions.jitCodeGenOptLevel = llvm::CodeGenOptLevel::Aggressive;
    engineOptions.enableGDBNotificationListener = false;
    engineOptions.enablePerfNotificationListener = false;
    std::string openmp;
    if (options.threads != 1)
      openmp = loadOpenMP(options.threads);
    StringRef libraries[] = {openmp};
    if (!openmp.empty())
      engineOptions.sharedLibPaths = libraries;
    auto created = mlir::ExecutionEngine::create(module, engineOptions,
                                                 std::move(*machine));
    if (!created)
      return created.takeError();
    engine = std::move(*created);
    engine->registerSymbols(runtimeSymbols);
    if (openmp.empty())
      engine->registerSymbols(singleThreadSymbols);
    // Compilation is lazy: looking the entry up makes it happen here.
    return engine->lookupPacked(entry(signature->function)).takeError();
  }

  CPUOptions options;
  const Signature *signature = nullptr;
  std::unique_ptr<mlir::ExecutionEngine> engine;
};
} // namespace

std::unique_ptr<Executor> runner::makeCPUExecutor(CPUOptions options) {
  return std::make_unique<CPUExecutor>(std::move(options));
}
