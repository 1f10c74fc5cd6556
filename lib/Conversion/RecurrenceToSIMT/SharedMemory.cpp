//===- SharedMemory.cpp - what threads of a block exchange ----------------===//

#include "SharedMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace linattn;
using namespace linattn::simt;

/// Address space of shared memory.
static constexpr unsigned kShared = 3;
/// What a kernel may have without asking the driver for more.
static constexpr int64_t kMaxStaticBytes = 48 * 1024;
/// Floats of the widest access.
static constexpr int64_t kAlignment = 4;

void SharedMemory::begin(StringRef name) {
  symbol = name.str();
  array = LLVM::AddressOfOp::create(
      frame.builder, frame.loc,
      LLVM::LLVMPointerType::get(frame.builder.getContext(), kShared), symbol);
}

Value SharedMemory::copySize() {
  // Not 0: nothing is added where an offset is 0.
  Value size = frame.i32(-1);
  copySizes.push_back(size.getDefiningOp());
  return size;
}

void SharedMemory::beginToken() {
  OpBuilder &builder = frame.builder;
  Value local =
      arith::SubIOp::create(builder, frame.loc, frame.token, frame.begin);
  Value low =
      arith::TruncIOp::create(builder, frame.loc, builder.getI32Type(), local);
  Value parity = arith::AndIOp::create(builder, frame.loc, low, frame.i32(1));
  Value size = copySize();
  Value offset = arith::MulIOp::create(builder, frame.loc, parity, size);
  current = frame.advance(array->getResult(0), builder.getF32Type(), offset);
}

int64_t SharedMemory::allocate(int64_t size) {
  return allocatePadded(size, size);
}

int64_t SharedMemory::allocatePadded(int64_t size, int64_t padded) {
  int64_t slot = used;
  // Zeros there too: LLVM makes one load of four floats of loads of three.
  padded = llvm::alignTo(padded, kAlignment);
  used += padded;
  if (size == padded)
    return slot;
  // Zeroed before the first barrier, and never written again.
  OpBuilder &builder = frame.builder;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(frame.preambleEnd);
  Type f32 = builder.getF32Type();
  for (int64_t first = size; first < padded; first += frame.plan.threads) {
    int64_t count = padded - first;
    Value inside;
    if (count < frame.plan.threads)
      inside = frame.isLess(frame.thread, frame.i32(count));
    frame.when(inside, [&] {
      Value zero = frame.f32(0.0);
      Value element = frame.addI(frame.thread, frame.i32(slot + first));
      Value even = frame.advance(array->getResult(0), f32, element);
      frame.store(zero, even, sizeof(float));
      Value odd = frame.advance(even, f32, copySize());
      frame.store(zero, odd, sizeof(float));
    });
  }
  return slot;
}

Value SharedMemory::address(int64_t slot, Value element) {
  Value offset = frame.i32(slot);
  if (element)
    offset = frame.addI(element, offset);
  return frame.advance(current, frame.builder.getF32Type(), offset);
}

LogicalResult SharedMemory::finish(Operation *module) {
  if (used == 0) {
    // Unused address computations go away with the array.
    used = 4;
  }
  if (getBytes() > kMaxStaticBytes)
    return frame.op.emitOpError()
           << "is not lowered to a SIMT kernel: keys and decays of a token "
              "need "
           << getBytes() << " bytes of shared memory, got " << kMaxStaticBytes
           << " (smaller K, or the CPU)";
  OpBuilder &builder = frame.builder;
  for (Operation *size : copySizes)
    size->setAttr("value", builder.getI32IntegerAttr(used));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&module->getRegion(0).front());
  auto type = LLVM::LLVMArrayType::get(builder.getF32Type(), 2 * used);
  LLVM::GlobalOp::create(builder, frame.loc, type, /*isConstant=*/false,
                         LLVM::Linkage::Internal, symbol, Attribute(),
                         /*alignment=*/16, kShared);
  return success();
}
