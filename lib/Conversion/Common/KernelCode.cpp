//===- KernelCode.cpp - scalar code of a kernel ---------------------------===//

#include "KernelCode.h"

#include "DeviceOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace linattn;
using namespace linattn::simt;

/// Address space of global memory.
static constexpr unsigned kGlobal = 1;

static Value constant(KernelCode &code, Type type, int64_t value) {
  return arith::ConstantOp::create(code.builder, code.loc,
                                   IntegerAttr::get(type, value));
}

Value KernelCode::i1(bool value) {
  return constant(*this, builder.getI1Type(), value);
}
Value KernelCode::i32(int64_t value) {
  return constant(*this, builder.getI32Type(), value);
}
Value KernelCode::i64(int64_t value) {
  return constant(*this, builder.getI64Type(), value);
}
Value KernelCode::f32(double value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getF32FloatAttr(value));
}

Value KernelCode::toI64(Value index) {
  Type type = builder.getI64Type();
  if (index.getType() == type)
    return index;
  return arith::ExtSIOp::create(builder, loc, type, index);
}

/// The number of a constant.
static std::optional<int64_t> numberOf(Value value) {
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return number.getSExtValue();
  return std::nullopt;
}

Value KernelCode::addI(Value a, Value b) {
  if (numberOf(a) == 0)
    return b;
  if (numberOf(b) == 0)
    return a;
  return arith::AddIOp::create(builder, loc, a, b);
}

Value KernelCode::mulI(Value a, Value b) {
  if (numberOf(a) == 1)
    return b;
  if (numberOf(b) == 1)
    return a;
  return arith::MulIOp::create(builder, loc, a, b);
}

Value KernelCode::minI(Value a, Value b) {
  return arith::MinSIOp::create(builder, loc, a, b);
}

Value KernelCode::isLess(Value a, Value b) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, a, b);
}

Value KernelCode::select(Value condition, Value a, Value b) {
  return arith::SelectOp::create(builder, loc, condition, a, b);
}

Value KernelCode::advance(Value pointer, Type element, Value offset) {
  if (numberOf(offset) == 0)
    return pointer;
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), element, pointer,
                             LLVM::GEPArg(offset));
}

Value KernelCode::load(Type type, Value pointer, unsigned alignment,
                       bool invariant) {
  return LLVM::LoadOp::create(builder, loc, type, pointer, alignment,
                              /*isVolatile=*/false, /*isNonTemporal=*/false,
                              invariant);
}

void KernelCode::store(Value value, Value pointer, unsigned alignment) {
  LLVM::StoreOp::create(builder, loc, value, pointer, alignment);
}

Value KernelCode::toF32(Value value) {
  if (value.getType().isF32())
    return value;
  return arith::ExtFOp::create(builder, loc, builder.getF32Type(), value);
}

Value KernelCode::fromF32(Value value, Type type) {
  if (type.isF32())
    return value;
  return arith::TruncFOp::create(builder, loc, type, value);
}

void KernelCode::when(Value condition, llvm::function_ref<void()> then) {
  if (!condition)
    return then();
  auto branch =
      scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  then();
}

KernelFunction simt::createKernel(KernelCode &code, Operation *module,
                                  StringRef name,
                                  const KernelSignature &signature,
                                  int32_t threads, int32_t blocks) {
  OpBuilder &builder = code.builder;
  MLIRContext *context = builder.getContext();
  Type pointer = LLVM::LLVMPointerType::get(context, kGlobal);
  Type i64 = builder.getI64Type();
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attrs;
  // Inputs that nothing writes may be loaded through the read-only path.
  DictionaryAttr readOnly = readOnlyAttrs(builder);
  DictionaryAttr none = builder.getDictionaryAttr({});
  // A state may be the caller's buffer of its own result.
  llvm::DenseSet<unsigned> ofStates;
  SmallVector<Value> states = signature.getOp().getStates();
  for (ShortConvOp front : signature.getFronts())
    if (front.getWindow())
      states.push_back(front.getWindow());
  for (Value state : states)
    if (std::optional<unsigned> index = signature.getOperand(state))
      ofStates.insert(*index);
  for (auto [i, tensor] : llvm::enumerate(signature.getTensors())) {
    types.push_back(pointer);
    bool isState = ofStates.contains(i);
    attrs.push_back(tensor.written || isState ? none : readOnly);
    types.append(tensor.numStrides(), i64);
    attrs.append(tensor.numStrides(), none);
  }
  types.append(2, i64);
  attrs.append(2, none);

  builder.setInsertionPointToEnd(&module->getRegion(0).front());
  auto kernel = LLVM::LLVMFuncOp::create(
      builder, code.loc, name,
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), types));
  for (auto [i, dictionary] : llvm::enumerate(attrs))
    kernel.setArgAttrs(i, dictionary);
  device::markKernel(kernel, threads, blocks);
  Block *entry = kernel.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  auto ret = LLVM::ReturnOp::create(builder, code.loc, ValueRange());
  builder.setInsertionPoint(ret);

  KernelFunction result;
  unsigned next = 0;
  for (const TensorParameter &parameter : signature.getTensors()) {
    GlobalTensor tensor{parameter.type, entry->getArgument(next++), {}};
    for (unsigned i = 0; i < parameter.numStrides(); ++i)
      tensor.strides.push_back(entry->getArgument(next++));
    result.tensors.push_back(tensor);
  }
  result.time = entry->getArgument(next++);
  result.numSequences = entry->getArgument(next++);
  return result;
}
