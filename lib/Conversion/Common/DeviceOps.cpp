//===- DeviceOps.cpp - instructions of a GPU, by name ---------------------===//

#include "DeviceOps.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace linattn;

static Value i32(OpBuilder &builder, Location loc, int32_t number) {
  return LLVM::ConstantOp::create(builder, loc,
                                  builder.getI32IntegerAttr(number));
}

Value device::emitThreadIndex(OpBuilder &builder, Location loc) {
  return NVVM::ThreadIdXOp::create(builder, loc, builder.getI32Type());
}

Value device::emitBlockIndex(OpBuilder &builder, Location loc,
                             unsigned dimension) {
  Type type = builder.getI32Type();
  if (dimension == 0)
    return NVVM::BlockIdXOp::create(builder, loc, type);
  if (dimension == 1)
    return NVVM::BlockIdYOp::create(builder, loc, type);
  return NVVM::BlockIdZOp::create(builder, loc, type);
}

Operation *device::emitBarrier(OpBuilder &builder, Location loc) {
  return NVVM::BarrierOp::create(builder, loc);
}

void device::emitWarpBarrier(OpBuilder &builder, Location loc) {
  NVVM::SyncWarpOp::create(builder, loc, i32(builder, loc, -1));
}

Value device::emitShuffle(OpBuilder &builder, Location loc, Shuffle kind,
                          Value value, Value lane, int64_t segment) {
  // The upper bits select the segment, the lower ones are the last (of `up`,
  // the first) lane in it.
  int32_t clamp = (32 - segment) << 8 | (kind == Shuffle::Up ? 0 : 31);
  NVVM::ShflKind how = kind == Shuffle::Index ? NVVM::ShflKind::idx
                       : kind == Shuffle::Up  ? NVVM::ShflKind::up
                                              : NVVM::ShflKind::bfly;
  return NVVM::ShflOp::create(builder, loc, value.getType(),
                              i32(builder, loc, -1), value, lane,
                              i32(builder, loc, clamp), how, UnitAttr());
}

Value device::emitShuffleXor(OpBuilder &builder, Location loc, Value value,
                             int32_t mask) {
  return emitShuffle(builder, loc, Shuffle::Xor, value,
                     i32(builder, loc, mask));
}

static NVVM::LdStMatrixShapeAttr matrixShape(OpBuilder &builder) {
  return NVVM::LdStMatrixShapeAttr::get(builder.getContext(), 8, 8);
}

static NVVM::MMALayout matrixLayout(bool transposed) {
  return transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row;
}

/// The fields of a struct, or the value itself.
static SmallVector<Value, 4> unpackStruct(OpBuilder &builder, Location loc,
                                          Value value) {
  auto type = dyn_cast<LLVM::LLVMStructType>(value.getType());
  if (!type)
    return {value};
  SmallVector<Value, 4> fields;
  for (size_t i = 0; i < type.getBody().size(); ++i)
    fields.push_back(
        LLVM::ExtractValueOp::create(builder, loc, value, int64_t(i)));
  return fields;
}

SmallVector<Value, 4> device::emitLdMatrix(OpBuilder &builder, Location loc,
                                           Value pointer, unsigned count,
                                           bool transposed) {
  Type type = builder.getI32Type();
  if (count > 1)
    type = LLVM::LLVMStructType::getLiteral(builder.getContext(),
                                            SmallVector<Type>(count, type));
  Value loaded = NVVM::LdMatrixOp::create(
      builder, loc, type, pointer, count, matrixLayout(transposed),
      matrixShape(builder), NVVM::LdStMatrixEltType::B16);
  return unpackStruct(builder, loc, loaded);
}

void device::emitStMatrix(OpBuilder &builder, Location loc, Value pointer,
                          ValueRange values, bool transposed) {
  NVVM::StMatrixOp::create(builder, loc, pointer, values,
                           matrixLayout(transposed), matrixShape(builder),
                           NVVM::LdStMatrixEltType::B16);
}

void device::emitMma(OpBuilder &builder, Location loc, Type element,
                     ValueRange a, ValueRange b, MutableArrayRef<Value> acc) {
  NVVM::MMATypes type = element.isBF16()  ? NVVM::MMATypes::bf16
                        : element.isF16() ? NVVM::MMATypes::f16
                                          : NVVM::MMATypes::tf32;
  auto operands = [&](ValueRange values) {
    SmallVector<Value> result(values);
    // Of f16 alone the operation wants vectors.
    if (element.isF16())
      for (Value &value : result)
        value = LLVM::BitcastOp::create(builder, loc,
                                        VectorType::get({2}, element), value);
    return result;
  };
  Type f32 = builder.getF32Type();
  auto result = LLVM::LLVMStructType::getLiteral(builder.getContext(),
                                                 {f32, f32, f32, f32});
  Value product = NVVM::MmaOp::create(
      builder, loc, result, operands(a), operands(b), ValueRange(acc),
      ArrayRef<int64_t>{16, 8, element.isF32() ? 8 : 16}, std::nullopt,
      std::nullopt, std::array<NVVM::MMATypes, 2>{type, type},
      std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                     NVVM::MMALayout::col});
  llvm::copy(unpackStruct(builder, loc, product), acc.begin());
}

Value device::emitToTF32(OpBuilder &builder, Location loc, Value value) {
  return NVVM::ConvertFloatToTF32Op::create(builder, loc, builder.getI32Type(),
                                            value, NVVM::FPRoundingMode::RNA);
}

void device::emitCopyAsync(OpBuilder &builder, Location loc, Value shared,
                           Value global, unsigned bytes, Value valid) {
  // Only copies of 16 bytes can pass by L1.
  NVVM::LoadCacheModifierKind cache = bytes == 16
                                          ? NVVM::LoadCacheModifierKind::CG
                                          : NVVM::LoadCacheModifierKind::CA;
  NVVM::CpAsyncOp::create(builder, loc, shared, global, bytes, cache, valid);
}

void device::emitCommitGroup(OpBuilder &builder, Location loc) {
  NVVM::CpAsyncCommitGroupOp::create(builder, loc);
}

void device::emitWaitGroup(OpBuilder &builder, Location loc, unsigned pending) {
  NVVM::CpAsyncWaitGroupOp::create(builder, loc, pending);
}

Value device::emitExp2Approx(OpBuilder &builder, Location loc, Value value) {
  return LLVM::CallIntrinsicOp::create(
             builder, loc, builder.getF32Type(),
             builder.getStringAttr("llvm.nvvm.ex2.approx.ftz.f"), value)
      .getResult(0);
}

Value device::emitReciprocalApprox(OpBuilder &builder, Location loc,
                                   Value value) {
  return LLVM::CallIntrinsicOp::create(
             builder, loc, builder.getF32Type(),
             builder.getStringAttr("llvm.nvvm.rcp.approx.ftz.f"), value)
      .getResult(0);
}

Value device::emitOpaque(OpBuilder &builder, Location loc, Value pointer) {
  return LLVM::InlineAsmOp::create(
             builder, loc, pointer.getType(), pointer, "mov.b64 $0, $1;",
             "=l,l", /*has_side_effects=*/false, /*is_align_stack=*/false,
             LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
      .getResult(0);
}

Value device::emitThreadIndexHere(OpBuilder &builder, Location loc) {
  // ptxas sees through moves.
  return emitShuffleXor(builder, loc, emitThreadIndex(builder, loc), 0);
}

Value device::emitVoteAny(OpBuilder &builder, Location loc, Value value) {
  Value all =
      LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(-1));
  return NVVM::VoteSyncOp::create(builder, loc, builder.getI1Type(), all, value,
                                  NVVM::VoteSyncKind::any);
}

void device::insertDeviceDialects(DialectRegistry &registry) {
  registry.insert<gpu::GPUDialect, LLVM::LLVMDialect, NVVM::NVVMDialect>();
}

void device::markKernel(Operation *func, int32_t threads, int32_t blocks) {
  Builder builder(func->getContext());
  func->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                builder.getUnitAttr());
  func->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                builder.getUnitAttr());
  func->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                builder.getDenseI32ArrayAttr({threads, 1, 1}));
  // Without it ptxas may spill a few bytes to fit one more.
  func->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                builder.getI32IntegerAttr(blocks));
}
