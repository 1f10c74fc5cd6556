//===- ResultsToArguments.cpp - results become destinations ---------------===//
//
// See the description of the pass in Passes.td.
//
//===----------------------------------------------------------------------===//

#include "linattn/Conversion/Destinations.h"
#include "linattn/Conversion/Passes.h"
#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace linattn {
#define GEN_PASS_DEF_RESULTSTOARGUMENTS
#include "linattn/Conversion/Passes.h.inc"
} // namespace linattn

using namespace mlir;
using namespace linattn;

namespace {

struct ResultsToArgumentsPass
    : linattn::impl::ResultsToArgumentsBase<ResultsToArgumentsPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<func::FuncOp> functions;
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (!func.isDeclaration() && func.isPublic() && func.getNumResults() != 0)
        functions.push_back(func);
    for (func::FuncOp func : functions) {
      if (failed(check(func)) || failed(makeShapeFunction(func)))
        return signalPassFailure();
      moveResults(func);
    }
  }

  /// Destinations are for ranked tensors and for functions that nobody calls.
  LogicalResult check(func::FuncOp func) {
    for (auto [i, type] : llvm::enumerate(func.getResultTypes()))
      if (!isa<RankedTensorType>(type))
        return func.emitOpError()
               << "result " << i << " is a ranked tensor, got " << type;
    if (!func.getBody().hasOneBlock())
      return func.emitOpError("has one block to be compiled, got ")
             << func.getBody().getBlocks().size();
    std::optional<SymbolTable::UseRange> uses =
        SymbolTable::getSymbolUses(func, getOperation());
    if (!uses || !uses->empty())
      return func.emitOpError(
          "is called inside the module: make it private, or "
          "inline it (--inline) before its results become "
          "arguments");
    return success();
  }

  LogicalResult makeShapeFunction(func::FuncOp func) {
    OpBuilder builder(func);
    Location loc = func.getLoc();
    auto shapes = cast<func::FuncOp>(builder.clone(*func));
    shapes.setName((func.getName() + "_result_shapes").str());
    for (auto i : llvm::seq(shapes.getNumArguments()))
      shapes.setArgAttrs(i, ArrayRef<NamedAttribute>());
    auto out = MemRefType::get({ShapedType::kDynamic}, builder.getIndexType());
    Block &body = shapes.getBody().front();
    Value buffer = body.addArgument(out, loc);
    auto ret = cast<func::ReturnOp>(body.getTerminator());
    builder.setInsertionPoint(ret);
    int64_t position = 0;
    for (Value result : ret.getOperands())
      for (int64_t d :
           llvm::seq(cast<RankedTensorType>(result.getType()).getRank())) {
        Value size = tensor::DimOp::create(builder, loc, result, d);
        Value at = arith::ConstantIndexOp::create(builder, loc, position++);
        memref::StoreOp::create(builder, loc, size, buffer, at);
      }
    func::ReturnOp::create(builder, loc);
    ret.erase();
    shapes.setType(builder.getFunctionType(body.getArgumentTypes(), {}));
    // What the sizes do not need is dead once they are asked of the operations.
    RewritePatternSet patterns(&getContext());
    memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
    memref::populateResolveShapedTypeResultDimsPatterns(patterns);
    return applyPatternsGreedily(shapes, std::move(patterns));
  }

  void moveResults(func::FuncOp func) {
    Location loc = func.getLoc();
    Block &body = func.getBody().front();
    auto ret = cast<func::ReturnOp>(body.getTerminator());
    OpBuilder builder(&body, body.begin());
    llvm::SmallPtrSet<Value, 2> taken;
    for (Value result : ret.getOperands()) {
      Value destination;
      BlockArgument pool = getInPlaceArgument(result);
      if (pool && taken.insert(pool).second) {
        ++numInPlace;
        destination = bufferization::ToBufferOp::create(
            builder, loc,
            getStridedMemRef(cast<RankedTensorType>(pool.getType()), true),
            pool);
      } else {
        ++numDestinations;
        auto type = cast<RankedTensorType>(result.getType());
        destination = body.addArgument(getStridedMemRef(type, false), loc);
      }
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPoint(ret);
      bufferization::MaterializeInDestinationOp::create(
          builder, loc, Type(), result, destination, /*restrict=*/true,
          /*writable=*/true);
    }
    builder.setInsertionPoint(ret);
    func::ReturnOp::create(builder, loc);
    ret.erase();
    func.setType(builder.getFunctionType(body.getArgumentTypes(), {}));
    func.setResAttrsAttr({});
    // The caller's tensors stay as they are, but for pools that are updated.
    for (BlockArgument argument : body.getArguments())
      if (isa<RankedTensorType>(argument.getType()) &&
          !taken.contains(argument))
        func.setArgAttr(argument.getArgNumber(),
                        bufferization::BufferizationDialect::kWritableAttrName,
                        builder.getBoolAttr(false));
    if (ArrayAttr attrs = func.getArgAttrsAttr()) {
      SmallVector<Attribute> all(attrs.begin(), attrs.end());
      all.resize(body.getNumArguments(), builder.getDictionaryAttr({}));
      func.setArgAttrsAttr(builder.getArrayAttr(all));
    }
  }
};

} // namespace
