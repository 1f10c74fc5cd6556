//===- NVPTX.cpp - LLVM dialect to PTX ------------------------------------===//

#include "linattn/Target/NVPTX.h"
#include "linattn/Target/Devices.h"
#include "linattn/Target/Optimize.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Operation.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;

extern "C" {
void LLVMInitializeNVPTXTargetInfo(void);
void LLVMInitializeNVPTXTarget(void);
void LLVMInitializeNVPTXTargetMC(void);
void LLVMInitializeNVPTXAsmPrinter(void);
}

static constexpr llvm::StringLiteral kTriple = "nvptx64-nvidia-cuda";

void linattn::registerNVPTXTranslations(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

std::string linattn::getLLVMVersion() { return LLVM_VERSION_STRING; }

static llvm::Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

static const llvm::Target *getTarget() {
  static const llvm::Target *target = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    std::string error;
    return llvm::TargetRegistry::lookupTarget(llvm::Triple(kTriple), error);
  }();
  return target;
}

llvm::Expected<std::string> linattn::getPTXFeature(llvm::StringRef chip) {
  if (const Device *device = findDevice(chip))
    return device->ptxFeature.str();
  return makeError("target '" + chip + "' is none of " + getKnownDevices());
}

/// Integer sums and products of a kernel up to which LLVM looks for differences
/// between them: each with all before it, which takes seconds for twice as many
/// and saves an instruction in a hundred.
static constexpr ptrdiff_t kManySums = 320;

namespace {
/// Leaves straight line strength reduction out of kernels with many sums.
class PassGate : public llvm::OptPassGate {
public:
  explicit PassGate(const llvm::Module &module) {
    for (const llvm::Function &function : module)
      if (llvm::count_if(llvm::instructions(function), [](const auto &inst) {
            return inst.getOpcode() == llvm::Instruction::Add ||
                   inst.getOpcode() == llvm::Instruction::Mul;
          }) > kManySums)
        large.insert(("function (" + function.getName() + ")").str());
  }

  bool isEnabled() const override { return true; }
  bool shouldRunPass(llvm::StringRef pass,
                     llvm::StringRef place) const override {
    return pass != "slsr" || !large.contains(place);
  }

private:
  llvm::StringSet<> large;
};
} // namespace

llvm::Expected<std::string> linattn::translateToPTX(Operation *gpuModule,
                                                    llvm::StringRef chip) {
  llvm::Expected<std::string> feature = getPTXFeature(chip);
  if (!feature)
    return feature.takeError();
  const llvm::Target *target = getTarget();
  if (!target)
    return makeError("this LLVM was built without the NVPTX target");

  std::string diagnostics;
  ScopedDiagnosticHandler handler(
      gpuModule->getContext(), [&](Diagnostic &diagnostic) {
        llvm::raw_string_ostream(diagnostics) << "\n" << diagnostic;
        return success();
      });
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module =
      translateModuleToLLVMIR(gpuModule, context);
  if (!module)
    return makeError("no translation to LLVM IR:" + diagnostics);

  llvm::Triple triple(kTriple);
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, chip, "+" + *feature, llvm::TargetOptions(), std::nullopt,
      std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  if (!machine || !machine->getMCSubtargetInfo()->isCPUStringValid(chip))
    return makeError("LLVM " + getLLVMVersion() + " has no target '" + chip +
                     "'");
  module->setTargetTriple(triple);
  module->setDataLayout(machine->createDataLayout());
  optimizeModule(*module, *machine);

  PassGate gate(*module);
  context.setOptPassGate(gate);
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr,
                                   llvm::CodeGenFileType::AssemblyFile))
    return makeError("LLVM cannot emit PTX");
  passes.run(*module);
  return text.str().str();
}
