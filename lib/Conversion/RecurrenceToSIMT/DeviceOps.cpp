//===- DeviceOps.cpp - what only a GPU can do -----------------------------===//

#include "DeviceOps.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace linattn;

void simt::insertDeviceDialects(DialectRegistry &registry) {
  registry.insert<gpu::GPUDialect, LLVM::LLVMDialect, NVVM::NVVMDialect>();
}

Value simt::emitThreadIndex(OpBuilder &builder, Location loc) {
  return NVVM::ThreadIdXOp::create(builder, loc, builder.getI32Type());
}

Value simt::emitBlockIndex(OpBuilder &builder, Location loc) {
  return NVVM::BlockIdXOp::create(builder, loc, builder.getI32Type());
}

Operation *simt::emitBarrier(OpBuilder &builder, Location loc) {
  return NVVM::BarrierOp::create(builder, loc);
}

Value simt::emitShuffleXor(OpBuilder &builder, Location loc, Value value,
                           int32_t mask) {
  auto constant = [&](int32_t number) -> Value {
    return LLVM::ConstantOp::create(builder, loc,
                                    builder.getI32IntegerAttr(number));
  };
  // All lanes take part; the last operand says that a segment is a whole warp.
  return NVVM::ShflOp::create(builder, loc, value.getType(), constant(-1),
                              value, constant(mask), constant(kWarpSize - 1),
                              NVVM::ShflKind::bfly, UnitAttr());
}

Value simt::emitOpaque(OpBuilder &builder, Location loc, Value pointer) {
  return LLVM::InlineAsmOp::create(
             builder, loc, pointer.getType(), pointer, "mov.b64 $0, $1;",
             "=l,l", /*has_side_effects=*/false, /*is_align_stack=*/false,
             LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
      .getResult(0);
}

void simt::markKernel(Operation *func, int32_t threads) {
  Builder builder(func->getContext());
  func->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                builder.getUnitAttr());
  func->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                builder.getUnitAttr());
  func->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                builder.getDenseI32ArrayAttr({threads, 1, 1}));
  // One block is enough: otherwise ptxas may spill a few bytes to fit one more.
  func->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                builder.getI32IntegerAttr(1));
}
