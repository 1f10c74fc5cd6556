//===- TileKernel.cpp - the frame of a kernel on tiles --------------------===//

#include "TileKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TensorEncoding.h"

using namespace mlir;
using namespace linattn;

gpu::GPUFuncOp linattn::createTileKernel(OpBuilder &builder, Location loc,
                                         StringRef name,
                                         const KernelSignature &signature,
                                         ArrayRef<Workspace> buffers,
                                         int64_t sizes, int64_t warps) {
  SmallVector<Type> types;
  for (const TensorParameter &tensor : signature.getTensors())
    types.push_back(tensor.getMemRefType());
  for (const Workspace &buffer : buffers)
    types.push_back(buffer.type);
  types.append(sizes, builder.getIndexType());
  auto func = gpu::GPUFuncOp::create(builder, loc, name,
                                     builder.getFunctionType(types, {}));
  func->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                builder.getUnitAttr());
  func->setAttr("tile.warps", builder.getI64IntegerAttr(warps));
  // Messages of later passes name what a kernel reads.
  SmallVector<StringRef> names;
  for (const TensorParameter &tensor : signature.getTensors())
    names.push_back(tensor.name);
  for (const Workspace &buffer : buffers)
    names.push_back(buffer.name);
  for (auto [argument, given] : llvm::zip(func.getArguments(), names))
    argument.setLoc(NameLoc::get(builder.getStringAttr(given), loc));
  return func;
}

void linattn::enterTileKernel(OpBuilder &builder, gpu::GPUFuncOp func) {
  builder.setInsertionPointToStart(&func.getBody().front());
  auto ret = gpu::ReturnOp::create(builder, func.getLoc());
  builder.setInsertionPoint(ret);
}

Value linattn::makeConstantState(OpBuilder &builder, Location loc,
                                 const KernelSignature &signature, Value state,
                                 RankedTensorType type) {
  if (signature.getOperand(state))
    return {};
  Value filler = arith::ConstantOp::create(
      builder, loc,
      builder.getF32FloatAttr(signature.getConstant(state).getValueAsDouble()));
  return tensor::SplatOp::create(builder, loc, filler, type);
}

LogicalResult linattn::verifyLayouts(gpu::GPUModuleOp module, Operation *op) {
  auto verify = [&](Type type, Operation *holder) -> LogicalResult {
    auto tensor = dyn_cast<RankedTensorType>(type);
    auto layout =
        tensor
            ? dyn_cast_or_null<VerifiableTensorEncoding>(tensor.getEncoding())
            : VerifiableTensorEncoding();
    if (!layout)
      return success();
    return layout.verifyEncoding(
        tensor.getShape(), tensor.getElementType(), [&]() {
          InFlightDiagnostic error =
              op->emitOpError("is not lowered to tiles: the token-serial "
                              "kernel runs it; ");
          error.attachNote(holder->getLoc())
              << "in '" << holder->getName() << "' of type " << type;
          return error;
        });
  };
  WalkResult result = module.walk([&](Operation *inner) {
    for (Type type : inner->getResultTypes())
      if (failed(verify(type, inner)))
        return WalkResult::interrupt();
    for (Region &region : inner->getRegions())
      for (Type type : region.getArgumentTypes())
        if (failed(verify(type, inner)))
          return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
