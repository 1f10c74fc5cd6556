//===- TilesToVectors.cpp - linalg on tiles as vector code ----------------===//
//
// See the description of the pass in Passes.td.
//
//===----------------------------------------------------------------------===//

#include "TileEmitter.h"

#include "linattn/Conversion/Passes.h"
#include "linattn/Conversion/StepValues.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/MapVector.h"

namespace linattn {
#define GEN_PASS_DEF_TILESTOVECTORS
#include "linattn/Conversion/Passes.h.inc"
} // namespace linattn

using namespace mlir;
using namespace linattn;

namespace {

/// Rows and bytes of columns of one register block: 12 sums of 32 bytes.
constexpr int64_t kBlockRows = 6;
constexpr int64_t kBlockBytes = 64;

bool isRowMajor(Value value) {
  auto type = dyn_cast<MemRefType>(value.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  return type && type.getRank() == 2 &&
         succeeded(type.getStridesAndOffset(strides, offset)) &&
         strides.back() == 1;
}

bool isStaticRowMajor(Value value) {
  return isRowMajor(value) &&
         cast<MemRefType>(value.getType()).hasStaticShape();
}

/// The depth of a product, or a bound of one that is known at run time only.
std::optional<int64_t> getDepthBound(linalg::MatmulOp product) {
  Value b = product.getInputs()[1];
  int64_t depth = cast<MemRefType>(b.getType()).getDimSize(0);
  if (auto view = b.getDefiningOp<memref::SubViewOp>();
      view && ShapedType::isDynamic(depth))
    depth = cast<MemRefType>(view.getSource().getType()).getDimSize(0);
  if (ShapedType::isDynamic(depth))
    return std::nullopt;
  return depth;
}

/// Whether the product has the form that ProductEmitter takes.
bool isTileProduct(linalg::MatmulOp product) {
  return llvm::all_of(product->getOperands(), isRowMajor) &&
         isStaticRowMajor(product.getOutputs()[0]) && getDepthBound(product) &&
         !product.hasUserDefinedMaps();
}

/// Whether operands and result have one element type, a float.
bool hasOneFloatType(linalg::MatmulOp product) {
  Type element = getElementTypeOrSelf(product.getInputs()[0].getType());
  return isa<FloatType>(element) &&
         llvm::all_of(product->getOperandTypes(), [&](Type type) {
           return getElementTypeOrSelf(type) == element;
         });
}

/// The buffer that a view is of.
Value getBase(Value value) {
  while (auto view = value.getDefiningOp<ViewLikeOpInterface>())
    value = view.getViewSource();
  return value;
}

/// The fill with zeros that gives the product what it adds to, if nothing uses
/// that memory in between.
linalg::FillOp findZeroFill(linalg::MatmulOp product) {
  Value sums = product.getOutputs()[0], base = getBase(sums);
  for (Operation *op = product->getPrevNode(); op; op = op->getPrevNode()) {
    auto fill = dyn_cast<linalg::FillOp>(op);
    if (fill && fill.getOutputs()[0] == sums)
      return matchPattern(fill.getInputs()[0], m_AnyZeroFloat())
                 ? fill
                 : linalg::FillOp();
    WalkResult uses = op->walk([&](Operation *inner) {
      return llvm::any_of(inner->getOperands(),
                          [&](Value operand) {
                            return isa<MemRefType>(operand.getType()) &&
                                   !isa<ViewLikeOpInterface>(inner) &&
                                   getBase(operand) == base;
                          })
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (uses.wasInterrupted())
      return {};
  }
  return {};
}

/// c [M, N] += a [M, K] b [K, N], or = where c is 0. M and N are static.
class ProductEmitter : TileEmitter {
public:
  ProductEmitter(linalg::MatmulOp op, Value panel, bool fromZero)
      : TileEmitter{OpBuilder(op), op.getLoc()}, a(op.getInputs()[0]),
        b(op.getInputs()[1]), c(op.getOutputs()[0]), panel(panel),
        fromZero(fromZero) {
    auto type = cast<MemRefType>(c.getType());
    rows = type.getDimSize(0);
    columns = type.getDimSize(1);
    element = type.getElementType();
    int64_t known = cast<MemRefType>(b.getType()).getDimSize(0);
    depth = ShapedType::isDynamic(known)
                ? memref::DimOp::create(builder, loc, b, 0)
                : index(known);
  }

  static int64_t blockColumns(Type element) {
    return kBlockBytes * 8 / element.getIntOrFloatBitWidth();
  }

  void run() {
    int64_t width = blockColumns(element);
    int64_t whole = columns / width * width;
    loop(whole, width, [&](Value j) { emitColumns(j, width); });
    if (columns > whole)
      emitColumns(index(whole), columns - whole);
  }

private:
  void emitColumns(Value j, int64_t width) {
    auto type = VectorType::get({width}, element);
    // Side by side, so that the loop over the depth reads memory in order.
    loop(depth, 1, [&](Value k) {
      Value row =
          vector::LoadOp::create(builder, loc, type, b, ValueRange{k, j});
      vector::StoreOp::create(builder, loc, row, panel,
                              ValueRange{k, index(0)});
    });
    int64_t whole = rows / kBlockRows * kBlockRows;
    loop(whole, kBlockRows,
         [&](Value i) { emitBlock(i, j, kBlockRows, type); });
    if (rows > whole)
      emitBlock(index(whole), j, rows - whole, type);
  }

  void emitBlock(Value i, Value j, int64_t height, VectorType type) {
    SmallVector<Value> at, sums;
    for (int64_t r = 0; r < height; ++r) {
      at.push_back(add(i, index(r)));
      if (fromZero)
        sums.push_back(arith::ConstantOp::create(builder, loc, type,
                                                 builder.getZeroAttr(type)));
      else
        sums.push_back(vector::LoadOp::create(builder, loc, type, c,
                                              ValueRange{at[r], j}));
    }
    auto loop =
        scf::ForOp::create(builder, loc, index(0), depth, index(1), sums);
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(loop.getBody());
      Value k = loop.getInductionVar();
      Value column = vector::LoadOp::create(builder, loc, type, panel,
                                            ValueRange{k, index(0)});
      SmallVector<Value> next;
      auto contract = arith::FastMathFlags::contract;
      for (auto [row, sum] : llvm::zip(at, loop.getRegionIterArgs())) {
        Value x = memref::LoadOp::create(builder, loc, a, ValueRange{row, k});
        Value splat = vector::BroadcastOp::create(builder, loc, type, x);
        Value product =
            arith::MulFOp::create(builder, loc, splat, column, contract);
        next.push_back(
            arith::AddFOp::create(builder, loc, product, sum, contract));
      }
      scf::YieldOp::create(builder, loc, next);
    }
    for (auto [row, sum] : llvm::zip(at, loop.getResults()))
      vector::StoreOp::create(builder, loc, sum, c, ValueRange{row, j});
  }

  Value a, b, c, panel, depth;
  bool fromZero;
  int64_t rows, columns;
  Type element;
};

/// b [N, M] = a [M, N]^T, by blocks.
class TransposeEmitter : TileEmitter {
public:
  explicit TransposeEmitter(linalg::TransposeOp op)
      : TileEmitter{OpBuilder(op), op.getLoc()}, from(op.getInput()),
        to(op.getInit()) {}

  void run() {
    auto type = cast<MemRefType>(from.getType());
    pieces(type.getDimSize(0), [&](Value i, int64_t height) {
      pieces(type.getDimSize(1), [&](Value j, int64_t width) {
        emitBlock(i, j, height, width, type.getElementType());
      });
    });
  }

private:
  static constexpr int64_t kBlock = 8;

  void pieces(int64_t size, llvm::function_ref<void(Value, int64_t)> body) {
    int64_t whole = size / kBlock * kBlock;
    loop(whole, kBlock, [&](Value at) { body(at, kBlock); });
    if (size > whole)
      body(index(whole), size - whole);
  }

  void emitBlock(Value i, Value j, int64_t height, int64_t width,
                 Type element) {
    auto type = VectorType::get({height, width}, element);
    auto row = VectorType::get({width}, element);
    Value block = arith::ConstantOp::create(builder, loc, type,
                                            builder.getZeroAttr(type));
    for (int64_t r = 0; r < height; ++r) {
      Value part = vector::LoadOp::create(builder, loc, row, from,
                                          ValueRange{add(i, index(r)), j});
      block = vector::InsertOp::create(builder, loc, part, block, r);
    }
    Value turned = vector::TransposeOp::create(builder, loc, block,
                                               ArrayRef<int64_t>{1, 0});
    for (int64_t r = 0; r < width; ++r) {
      Value part = vector::ExtractOp::create(builder, loc, turned, r);
      vector::StoreOp::create(builder, loc, part, to,
                              ValueRange{add(j, index(r)), i});
    }
  }

  Value from, to;
};

/// Loops over vectors of the last dimension, or over elements.
LogicalResult lowerOther(IRRewriter &rewriter, linalg::LinalgOp op) {
  rewriter.setInsertionPoint(op);
  if (!emitRows(op) && failed(linalg::linalgOpToLoops(rewriter, op)))
    return op.emitOpError("has no form in loops");
  rewriter.eraseOp(op);
  return success();
}

/// A copy as loops: the run-time function that memref.copy becomes where
/// strides are free goes element by element.
LogicalResult lowerCopy(IRRewriter &rewriter, memref::CopyOp copy) {
  int64_t rank = cast<MemRefType>(copy.getSource().getType()).getRank();
  rewriter.setInsertionPoint(copy);
  AffineMap map = rewriter.getMultiDimIdentityMap(rank);
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      rewriter, copy.getLoc(), copy.getSource(), copy.getTarget(),
      ArrayRef<AffineMap>{map, map}, iterators,
      [](OpBuilder &b, Location loc, ValueRange args) {
        linalg::YieldOp::create(b, loc, args[0]);
      });
  rewriter.eraseOp(copy);
  return lowerOther(rewriter, generic);
}

struct TilesToVectorsPass
    : linattn::impl::TilesToVectorsBase<TilesToVectorsPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<scf::ParallelOp> loops;
    getOperation().walk([&](scf::ParallelOp loop) {
      if (!loop->getParentOfType<scf::ParallelOp>())
        loops.push_back(loop);
    });
    for (scf::ParallelOp loop : loops)
      if (failed(lower(loop)))
        return signalPassFailure();
  }

  /// One panel of packed columns, for each element type, serves all products of
  /// a parallel iteration.
  llvm::DenseMap<Type, Value> makePanels(scf::ParallelOp loop,
                                         ArrayRef<linalg::MatmulOp> products) {
    llvm::MapVector<Type, int64_t> depths;
    for (linalg::MatmulOp product : products) {
      int64_t &depth =
          depths[getElementTypeOrSelf(product.getInputs()[0].getType())];
      depth = std::max(depth, *getDepthBound(product));
    }
    llvm::DenseMap<Type, Value> panels;
    OpBuilder builder = OpBuilder::atBlockBegin(loop.getBody());
    for (auto [element, depth] : depths)
      panels[element] = memref::AllocOp::create(
          builder, loop.getLoc(),
          MemRefType::get({depth, ProductEmitter::blockColumns(element)},
                          element),
          ValueRange{}, builder.getI64IntegerAttr(64));
    return panels;
  }

  LogicalResult lower(scf::ParallelOp loop) {
    reduceTileMemory(loop);
    SmallVector<linalg::LinalgOp> others;
    SmallVector<linalg::MatmulOp> products;
    SmallVector<linalg::TransposeOp> transposes;
    loop.walk([&](linalg::LinalgOp op) {
      if (auto product = dyn_cast<linalg::MatmulOp>(op.getOperation());
          product && isTileProduct(product) && hasOneFloatType(product)) {
        products.push_back(product);
        return;
      }
      if (auto transpose = dyn_cast<linalg::TransposeOp>(op.getOperation());
          transpose &&
          llvm::all_of(transpose->getOperands(), isStaticRowMajor)) {
        transposes.push_back(transpose);
        return;
      }
      others.push_back(op);
    });
    llvm::DenseMap<Type, Value> panels = makePanels(loop, products);
    for (linalg::MatmulOp product : products) {
      Value panel =
          panels[getElementTypeOrSelf(product.getInputs()[0].getType())];
      linalg::FillOp zero = findZeroFill(product);
      ProductEmitter(product, panel, zero != nullptr).run();
      product->erase();
      if (zero) {
        llvm::erase(others, linalg::LinalgOp(zero));
        zero->erase();
      }
      ++numProducts;
    }
    for (linalg::TransposeOp transpose : transposes) {
      TransposeEmitter(transpose).run();
      transpose->erase();
      ++numTransposes;
    }
    IRRewriter rewriter(&getContext());
    SmallVector<memref::CopyOp> copies;
    loop.walk([&](memref::CopyOp copy) { copies.push_back(copy); });
    for (memref::CopyOp copy : copies)
      if (failed(lowerCopy(rewriter, copy)))
        return failure();
    for (linalg::LinalgOp op : others)
      if (failed(lowerOther(rewriter, op)))
        return failure();
    return success();
  }
};

} // namespace
