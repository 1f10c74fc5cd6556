//===- SharedMemory.h - what threads of a block exchange --------*- C++ -*-===//

#ifndef LINATTN_CONVERSION_RECURRENCETOSIMT_SHAREDMEMORY_H
#define LINATTN_CONVERSION_RECURRENCETOSIMT_SHAREDMEMORY_H

#include "KernelFrame.h"

namespace linattn::simt {

/// Slots of f32 in one shared array, each there twice: for even and for odd
/// tokens. A slot is written once a token, then there is a barrier, then it is
/// read. So between the reads at token t and the next write to the same memory,
/// at t + 2, stands the barrier of that slot at t + 1, which no thread passes
/// before all have read: one barrier a token and slot is enough.
class SharedMemory {
public:
  SharedMemory(KernelFrame &frame) : frame(frame) {}

  /// Emits the array's address into the preamble.
  void begin(llvm::StringRef symbol);
  /// Emits which copy the loop's token uses, at the start of the body.
  void beginToken();

  /// A new slot of `size` floats, and of zeros up to 16 bytes.
  int64_t allocate(int64_t size);
  /// A slot of `padded` floats, up to 16 bytes, of which those from `size` on
  /// are 0.
  int64_t allocatePadded(int64_t size, int64_t padded);

  /// The current copy of a slot, at an element.
  mlir::Value address(int64_t slot, mlir::Value element = {});

  /// Defines the array in `module`, once the slots are known. Fails if it is
  /// larger than a kernel may have.
  llvm::LogicalResult finish(mlir::Operation *module);
  /// Both copies of all slots.
  int64_t getBytes() const { return 2 * used * int64_t(sizeof(float)); }

private:
  /// The floats of one copy: a constant that finish() sets.
  mlir::Value copySize();

  KernelFrame &frame;
  std::string symbol;
  mlir::Operation *array = nullptr;
  llvm::SmallVector<mlir::Operation *> copySizes;
  mlir::Value current;
  int64_t used = 0;
};

} // namespace linattn::simt

#endif // LINATTN_CONVERSION_RECURRENCETOSIMT_SHAREDMEMORY_H
