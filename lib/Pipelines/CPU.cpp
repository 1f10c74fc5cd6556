//===- CPU.cpp - pipelines to the CPU -------------------------------------===//

#include "linattn/Conversion/Passes.h"
#include "linattn/Pipelines/Pipelines.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace linattn;

/// 16-bit floats: arithmetic in f32, conversions of bf16 by integer operations
/// (older run-time libraries lack __truncsfbf2).
static void addFloatExpansion(OpPassManager &pm) {
  arith::ArithEmulateUnsupportedFloatsOptions emulate;
  emulate.sourceTypeStrs.assign({"bf16", "f16"});
  emulate.targetTypeStr = "f32";
  pm.addPass(arith::createArithEmulateUnsupportedFloats(emulate));
  pm.addNestedPass<func::FuncOp>(math::createMathExtendToSupportedTypes());
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  pm.addPass(arith::createArithExpandOpsPass(expand));
}

void linattn::buildLoopsToLLVMPipeline(OpPassManager &pm) {
  // Before functions of the C library are declared: those need no wrappers.
  pm.addNestedPass<func::FuncOp>(LLVM::createLLVMRequestCWrappersPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());

  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  bufferize.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::FullyDynamicLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(bufferize));
  bufferization::buildBufferDeallocationPipeline(pm);
  pm.addPass(createConvertBufferizationToMemRefPass());

  pm.addNestedPass<func::FuncOp>(createConvertLinalgToParallelLoopsPass());
  pm.addPass(createCanonicalizerPass());
  addFloatExpansion(pm);
  // The C library has no rsqrt.
  math::MathExpandOpsPassOptions expand;
  expand.opMnemonics.assign({"rsqrt"});
  pm.addPass(math::createMathExpandOpsPass(expand));
  // log1p and expm1 by the C library: through log and exp they lose digits.
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createConvertVectorToSCFPass());
  pm.addPass(createConvertSCFToOpenMPPass());
  // Removes the stack scopes that the conversion adds: they hold no stack memory.
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  ConvertVectorToLLVMPassOptions vectors;
  vectors.reassociateFPReductions = true;
  pm.addPass(createConvertVectorToLLVMPass(vectors));
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertToLLVMPass());
  pm.addPass(createConvertOpenMPToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createCanonicalizerPass());
}

void linattn::buildSerialCPUPipeline(OpPassManager &pm) {
  pm.addPass(createInlinerPass());
  pm.addPass(createResultsToArguments());
  pm.addNestedPass<func::FuncOp>(createRecurrenceToLoops());
  pm.addNestedPass<func::FuncOp>(createShortConvToLoops());
  pm.addNestedPass<func::FuncOp>(createAttentionToLoops());
  buildLoopsToLLVMPipeline(pm);
}

void linattn::registerLinAttnPipelines() {
  PassPipelineRegistration<>(
      "linattn-to-cpu-serial",
      "Level 0 to the LLVM dialect for the CPU, token by token",
      buildSerialCPUPipeline);
}
