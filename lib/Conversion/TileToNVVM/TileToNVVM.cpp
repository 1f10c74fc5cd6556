//===- TileToNVVM.cpp - kernels on tiles to scalars and NVVM --------------===//
//
// Walks a kernel once and writes, operation by operation, what one lane does:
// a tensor in registers becomes its scalars, also where loops carry it; a tile
// of shared memory becomes addresses, most of them constants.
//
//===----------------------------------------------------------------------===//

#include "../Common/DeviceOps.h"
#include "Lowerings.h"
#include "linattn/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/SaveAndRestore.h"

namespace linattn {
#define GEN_PASS_DEF_CONVERTTILETONVVM
#include "linattn/Conversion/Passes.h.inc"
} // namespace linattn

using namespace mlir;
using namespace linattn;
using namespace linattn::device;
using namespace linattn::tilenvvm;

static constexpr llvm::StringLiteral kArena = "tile_arena";
static constexpr llvm::StringLiteral kWarps = "tile.warps";
/// About how many registers of a thread the maker of a kernel counts on. From
/// so many on few of its 255 are left for addresses.
static constexpr llvm::StringLiteral kRegisters = "tile.registers";
static constexpr int64_t kManyRegisters = 192;
static constexpr llvm::StringLiteral kSharedBytes = "tile.shared_bytes";

namespace {

/// One kernel.
class KernelTranslation {
public:
  KernelTranslation(gpu::GPUFuncOp func, OpBuilder &builder, int64_t warps,
                    int64_t capability)
      : func(func), builder(builder),
        e(builder, func.getLoc(), warps, capability) {}

  FailureOr<LLVM::LLVMFuncOp> run();

private:
  LogicalResult declareArguments(SmallVectorImpl<Type> &types,
                                 SmallVectorImpl<DictionaryAttr> &attrs);
  void bindArguments(Block &entry);
  LogicalResult emitBlock(Block &block);
  LogicalResult emit(Operation *op);
  /// Whether what the loop carries leaves few registers for the rest.
  bool isHeavy(scf::ForOp loop);
  LogicalResult emitFor(scf::ForOp op);
  LogicalResult emitIf(scf::IfOp op);
  LogicalResult checkWarps();
  LogicalResult checkCarried(Operation *op, TypeRange types);

  /// The registers or the scalar that values became, one after another.
  SmallVector<Value> flatten(ValueRange values);
  SmallVector<Type> flattenTypes(TypeRange types);
  void bind(ValueRange values, ValueRange flat);

  gpu::GPUFuncOp func;
  OpBuilder &builder;
  Emitter e;
};

} // namespace

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// A memref is a pointer and a stride for each dimension whose stride is not
/// known.
LogicalResult
KernelTranslation::declareArguments(SmallVectorImpl<Type> &types,
                                    SmallVectorImpl<DictionaryAttr> &attrs) {
  for (auto [i, type] : llvm::enumerate(func.getArgumentTypes())) {
    DictionaryAttr attr = func.getArgAttrDict(i);
    attrs.push_back(attr ? attr : builder.getDictionaryAttr({}));
    auto memref = dyn_cast<MemRefType>(type);
    if (!memref) {
      types.push_back(type.isIndex() ? builder.getI64Type() : type);
      if (!types.back().isIntOrFloat())
        return func.emitOpError("argument ")
               << i << " is a memref, an index or a scalar, got " << type;
      continue;
    }
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(memref.getStridesAndOffset(strides, offset)) || offset != 0)
      return func.emitOpError("argument ")
             << i << " is a strided memref without an offset, got " << type;
    types.push_back(LLVM::LLVMPointerType::get(builder.getContext(), 1));
    for (int64_t stride : strides)
      if (ShapedType::isDynamic(stride)) {
        types.push_back(builder.getI64Type());
        attrs.push_back(builder.getDictionaryAttr({}));
      }
  }
  return success();
}

void KernelTranslation::bindArguments(Block &entry) {
  auto next = entry.getArguments().begin();
  for (BlockArgument argument : func.getArguments()) {
    Value value = *next++;
    auto memref = dyn_cast<MemRefType>(argument.getType());
    if (!memref) {
      if (argument.getType().isIndex())
        value = arith::IndexCastOp::create(builder, e.loc,
                                           builder.getIndexType(), value);
      e.scalars.map(argument, value);
      continue;
    }
    GlobalArray array;
    array.pointer = value;
    array.type = memref;
    SmallVector<int64_t> strides;
    int64_t offset;
    (void)memref.getStridesAndOffset(strides, offset);
    for (int64_t stride : strides)
      array.strides.push_back(ShapedType::isDynamic(stride) ? Value(*next++)
                                                            : e.i64(stride));
    e.arrays[argument] = array;
  }
}

FailureOr<LLVM::LLVMFuncOp> KernelTranslation::run() {
  if (!func.isKernel())
    return func.emitOpError("is no kernel");
  if (!func.getBody().hasOneBlock())
    return func.emitOpError("has one block, got ")
           << func.getBody().getBlocks().size();
  if (failed(checkWarps()))
    return failure();
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attrs;
  if (failed(declareArguments(types, attrs)))
    return failure();
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(builder.getContext()), types);
  auto kernel =
      LLVM::LLVMFuncOp::create(builder, func.getLoc(), func.getName(), type);
  kernel.setAllArgAttrs(attrs);
  markKernel(kernel, e.warps * tile::kWarpSize);

  OpBuilder::InsertionGuard guard(builder);
  Block *entry = kernel.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  bindArguments(*entry);
  e.begin(kArena);
  builder.setInsertionPointToEnd(entry);
  LogicalResult result = emitBlock(func.getBody().front());
  e.finish();
  if (failed(result)) {
    kernel.erase();
    return failure();
  }
  return kernel;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

SmallVector<Value> KernelTranslation::flatten(ValueRange values) {
  SmallVector<Value> flat;
  for (Value value : values) {
    if (tile::isFragment(value.getType()))
      llvm::append_range(flat, e.fragments.lookup(value));
    else
      flat.push_back(e.scalars.lookup(value));
  }
  return flat;
}

SmallVector<Type> KernelTranslation::flattenTypes(TypeRange types) {
  SmallVector<Type> flat;
  for (Type type : types) {
    if (tile::isFragment(type)) {
      auto fragment = cast<RankedTensorType>(type);
      flat.append(getNumRegisters(fragment), getRegisterType(fragment));
    } else {
      flat.push_back(type);
    }
  }
  return flat;
}

void KernelTranslation::bind(ValueRange values, ValueRange flat) {
  for (Value value : values) {
    if (!tile::isFragment(value.getType())) {
      e.scalars.map(value, flat.front());
      flat = flat.drop_front();
      continue;
    }
    int64_t count = getNumRegisters(cast<RankedTensorType>(value.getType()));
    e.fragments[value] = Registers(flat.take_front(count));
    flat = flat.drop_front(count);
  }
}

/// All warps run every operation.
LogicalResult KernelTranslation::checkWarps() {
  WalkResult result = func.walk([&](Operation *op) {
    for (Type type : op->getResultTypes()) {
      if (!tile::isFragment(type))
        continue;
      Attribute layout = cast<RankedTensorType>(type).getEncoding();
      auto acc = dyn_cast<tile::AccAttr>(layout);
      auto row = dyn_cast<tile::RowAttr>(layout);
      int64_t warps = acc ? acc.getWarps() : row ? row.getWarps() : e.warps;
      if (warps != e.warps) {
        op->emitOpError("layouts are for the ")
            << e.warps << " warps of the kernel, got " << type;
        return WalkResult::interrupt();
      }
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult KernelTranslation::checkCarried(Operation *op, TypeRange types) {
  for (Type type : types)
    if (!tile::isFragment(type) && !type.isIntOrIndexOrFloat())
      return op->emitOpError("carries tensors in registers and scalars, got ")
             << type;
  return success();
}

//===----------------------------------------------------------------------===//
// Control
//===----------------------------------------------------------------------===//

bool KernelTranslation::isHeavy(scf::ForOp loop) {
  auto registers = func->getAttrOfType<IntegerAttr>(kRegisters);
  return registers && registers.getInt() >= kManyRegisters &&
         llvm::any_of(loop.getResultTypes(), tile::isFragment);
}

LogicalResult KernelTranslation::emitFor(scf::ForOp op) {
  if (failed(checkCarried(op, op.getResultTypes())))
    return failure();
  auto loop = scf::ForOp::create(
      builder, op.getLoc(), e.scalars.lookup(op.getLowerBound()),
      e.scalars.lookup(op.getUpperBound()), e.scalars.lookup(op.getStep()),
      flatten(op.getInitArgs()));
  e.scalars.map(op.getInductionVar(), loop.getInductionVar());
  bind(op.getRegionIterArgs(), loop.getRegionIterArgs());
  {
    OpBuilder::InsertionGuard guard(builder);
    llvm::SaveAndRestore isShort(e.isShortOfRegisters);
    e.isShortOfRegisters |= isHeavy(op);
    // Without carried values the loop has its terminator already.
    if (!loop.getBody()->empty())
      loop.getBody()->getTerminator()->erase();
    builder.setInsertionPointToEnd(loop.getBody());
    if (failed(emitBlock(*op.getBody())))
      return failure();
  }
  bind(op.getResults(), loop.getResults());
  if (isHeavy(op) && !op->getParentOfType<scf::ForOp>())
    e.beginAgain();
  return success();
}

LogicalResult KernelTranslation::emitIf(scf::IfOp op) {
  if (failed(checkCarried(op, op.getResultTypes())))
    return failure();
  auto branch = scf::IfOp::create(
      builder, op.getLoc(), flattenTypes(op.getResultTypes()),
      e.scalars.lookup(op.getCondition()), op.elseBlock() != nullptr);
  auto emitRegion = [&](Block *source, Block *target) {
    OpBuilder::InsertionGuard guard(builder);
    // What a branch makes is not seen behind it.
    llvm::SaveAndRestore invariants(e.invariants);
    if (!target->empty())
      target->getTerminator()->erase();
    builder.setInsertionPointToEnd(target);
    return emitBlock(*source);
  };
  if (failed(emitRegion(op.thenBlock(), branch.thenBlock())) ||
      (op.elseBlock() &&
       failed(emitRegion(op.elseBlock(), branch.elseBlock()))))
    return failure();
  bind(op.getResults(), branch.getResults());
  return success();
}

/// The product and those right behind it that have its operand b and do not
/// need its result.
static SmallVector<tile::MmaOp> productsFrom(tile::MmaOp first) {
  SmallVector<tile::MmaOp> products = {first};
  auto isResult = [&](Value value) {
    return llvm::any_of(products, [&](tile::MmaOp product) {
      return value == product.getResult();
    });
  };
  while (auto next =
             dyn_cast_or_null<tile::MmaOp>(products.back()->getNextNode())) {
    if (next.getB() != first.getB() ||
        cast<RankedTensorType>(next.getType()).getEncoding() !=
            cast<RankedTensorType>(first.getType()).getEncoding() ||
        next.getTerms() != first.getTerms() || isResult(next.getA()) ||
        isResult(next.getAcc()))
      break;
    products.push_back(next);
  }
  return products;
}

LogicalResult KernelTranslation::emitBlock(Block &block) {
  for (Operation *op = &block.front(); op; op = op->getNextNode()) {
    e.loc = op->getLoc();
    if (auto product = dyn_cast<tile::MmaOp>(op)) {
      SmallVector<tile::MmaOp> products = productsFrom(product);
      if (failed(emitProducts(e, products)))
        return failure();
      op = products.back();
    } else if (failed(emit(op))) {
      return failure();
    }
  }
  return success();
}

LogicalResult KernelTranslation::emit(Operation *op) {
  using namespace tile;
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](LoadOp op) { return emitLoad(e, op); })
      .Case([&](StoreOp op) { return emitStore(e, op); })
      .Case([&](LoadAsyncOp op) { return emitLoadAsync(e, op); })
      .Case([&](AllocOp op) { return emitAlloc(e, op); })
      .Case([&](SmemViewOp op) { return emitView(e, op); })
      .Case([&](LocalLoadOp op) { return emitLocalLoad(e, op); })
      .Case([&](LocalStoreOp op) { return emitLocalStore(e, op); })
      .Case([&](BarrierOp) {
        emitBarrier(builder, e.loc);
        return success();
      })
      .Case([&](ChannelCreateOp op) { return emitChannelCreate(e, op); })
      .Case([&](ChannelAcquireOp op) {
        return emitStage(e, op.getChannel(), op.getStep(), op.getResults());
      })
      .Case([&](ChannelCommitOp) {
        emitCommitGroup(builder, e.loc);
        return success();
      })
      .Case([&](ChannelWaitOp op) {
        emitWaitGroup(builder, e.loc, op.getPending());
        return emitStage(e, op.getChannel(), op.getStep(), op.getResults());
      })
      // A barrier keeps writers off, which --tile-insert-barriers has placed.
      .Case([&](ChannelReleaseOp) { return success(); })
      .Case([&](DecayMmaOp op) { return emitDecayMma(e, op); })
      .Case([&](ScanRowsOp op) { return emitScanRows(e, op); })
      .Case([&](UnitLowerInverseOp op) { return emitInverse(e, op); })
      .Case([&](UnitLowerSolveOp op) { return emitSolve(e, op); })
      .Case([&](ConvertOp op) { return emitConvert(e, op); })
      .Case([&](SplatRowOp op) { return emitSplatRow(e, op); })
      .Case([&](SplatColOp op) { return emitSplatCol(e, op); })
      .Case([&](ReduceOp op) { return emitReduce(e, op); })
      .Case([&](ScanOp op) { return emitScan(e, op); })
      .Case([&](IotaOp op) { return emitIota(e, op); })
      .Case([&](BandOp op) { return emitBand(e, op); })
      .Case([&](WarpAnyOp op) { return emitWarpAny(e, op); })
      .Case([&](tensor::ExtractOp op) { return emitExtract(e, op); })
      .Case([&](memref::LoadOp op) { return emitScalarLoad(e, op); })
      .Case([&](scf::ForOp op) { return emitFor(op); })
      .Case([&](scf::IfOp op) { return emitIf(op); })
      .Case([&](scf::YieldOp op) {
        scf::YieldOp::create(builder, op.getLoc(), flatten(op.getOperands()));
        return success();
      })
      .Case([&](gpu::BlockIdOp op) {
        Value index =
            emitBlockIndex(builder, e.loc, unsigned(op.getDimension()));
        e.scalars.map(op.getResult(),
                      arith::IndexCastOp::create(
                          builder, e.loc, builder.getIndexType(), index));
        return success();
      })
      .Case([&](gpu::ReturnOp) {
        LLVM::ReturnOp::create(builder, e.loc, ValueRange());
        return success();
      })
      .Default([&](Operation *op) -> LogicalResult {
        if (op->getNumRegions() == 0 &&
            (isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
             isa<tensor::SplatOp, tensor::ExtractSliceOp>(op)))
          return emitElementwise(e, op);
        return op->emitOpError("has no translation in a kernel on tiles");
      });
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// The end of what was planned in the arena, if the pass that plans it has not
/// said.
static int64_t getSharedBytes(gpu::GPUFuncOp func) {
  if (auto bytes = func->getAttrOfType<IntegerAttr>(kSharedBytes))
    return bytes.getInt();
  int64_t end = 0;
  func.walk([&](Operation *op) {
    if (auto alloc = dyn_cast<tile::AllocOp>(op))
      end = std::max<int64_t>(end, alloc.getOffset().value_or(0) +
                                       alloc.getType().getStorageBytes());
    if (auto channel = dyn_cast<tile::ChannelCreateOp>(op)) {
      tile::ChannelType type = channel.getType();
      end = std::max<int64_t>(end, channel.getOffset().value_or(0) +
                                       type.getStages() * type.getStageBytes());
    }
  });
  return end;
}

/// The description of a kernel, its launch with what its code asks for.
static DictionaryAttr describeLaunch(DictionaryAttr description,
                                     StringRef kernel, int64_t threads,
                                     int64_t sharedBytes) {
  auto launches = description.getAs<ArrayAttr>("launches");
  if (!launches)
    return description;
  Builder builder(description.getContext());
  SmallVector<Attribute> all(launches.getValue());
  for (Attribute &attr : all) {
    auto launch = dyn_cast<DictionaryAttr>(attr);
    auto name = launch ? launch.getAs<StringAttr>("kernel") : StringAttr();
    if (!name || name != kernel)
      continue;
    NamedAttrList fields(launch);
    fields.set("block", builder.getI64ArrayAttr(threads));
    fields.set("dynamic_shared_bytes", builder.getI64IntegerAttr(sharedBytes));
    attr = fields.getDictionary(description.getContext());
  }
  NamedAttrList result(description);
  result.set("launches", builder.getArrayAttr(all));
  return result.getDictionary(description.getContext());
}

/// 90 for sm_90a; none if the text is no such name.
static std::optional<int64_t> capabilityOf(StringRef chip) {
  int64_t number;
  if (!chip.consume_front("sm_") || chip.consumeInteger(10, number))
    return std::nullopt;
  return number;
}

namespace {
struct ConvertTileToNVVM
    : public linattn::impl::ConvertTileToNVVMBase<ConvertTileToNVVM> {
  using ConvertTileToNVVMBase::ConvertTileToNVVMBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    insertDeviceDialects(registry);
    registry.insert<arith::ArithDialect, math::MathDialect, scf::SCFDialect>();
  }

  void runOnOperation() override {
    gpu::GPUModuleOp module = getOperation();
    std::optional<int64_t> capability = capabilityOf(chip);
    if (!capability || *capability < 80) {
      module.emitError("'chip' is sm_80 or later, got '") << chip << "'";
      return signalPassFailure();
    }
    SmallVector<gpu::GPUFuncOp> kernels;
    for (auto func : module.getOps<gpu::GPUFuncOp>())
      if (func->hasAttr(kWarps))
        kernels.push_back(func);
    if (kernels.empty())
      return;
    OpBuilder builder(module.getContext());
    builder.setInsertionPointToStart(module.getBody());
    LLVM::GlobalOp::create(builder, module.getLoc(),
                           LLVM::LLVMArrayType::get(builder.getI8Type(), 0),
                           /*isConstant=*/false, LLVM::Linkage::External,
                           kArena, Attribute(), /*alignment=*/1024,
                           /*addrSpace=*/3);
    for (gpu::GPUFuncOp func : kernels)
      if (failed(translate(func, builder, *capability)))
        return signalPassFailure();
  }

  LogicalResult translate(gpu::GPUFuncOp func, OpBuilder &builder,
                          int64_t capability) {
    auto warps = func->getAttrOfType<IntegerAttr>(kWarps);
    if (!warps || !llvm::is_contained({1, 2, 4, 8, 16, 32}, warps.getInt()))
      return func.emitOpError(kWarps)
             << " is 1, 2, 4, 8, 16 or 32, got " << func->getAttr(kWarps);
    builder.setInsertionPoint(func);
    FailureOr<LLVM::LLVMFuncOp> kernel =
        KernelTranslation(func, builder, warps.getInt(), capability).run();
    if (failed(kernel))
      return failure();
    // The description of one kernel is its own, of several their module's.
    Operation *module = (*kernel)->getParentOp();
    for (auto [described, place] :
         {std::pair<Operation *, Operation *>{func, *kernel}, {module, module}})
      if (auto description =
              described->getAttrOfType<DictionaryAttr>(kKernelAttr))
        place->setAttr(kKernelAttr,
                       describeLaunch(description, func.getName(),
                                      warps.getInt() * tile::kWarpSize,
                                      getSharedBytes(func)));
    func.erase();
    ++numKernels;
    return success();
  }
};
} // namespace
