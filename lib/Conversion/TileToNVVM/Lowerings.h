//===- Lowerings.h - the translation of each operation ----------*- C++ -*-===//

#ifndef LINATTN_CONVERSION_TILETONVVM_LOWERINGS_H
#define LINATTN_CONVERSION_TILETONVVM_LOWERINGS_H

#include "Emitter.h"

#include "mlir/Support/LLVM.h"

namespace linattn::tilenvvm {

// Each fails, with an error at the operation, for what it cannot translate.

// GlobalMemory.cpp
llvm::LogicalResult emitLoad(Emitter &e, tile::LoadOp op);
llvm::LogicalResult emitStore(Emitter &e, tile::StoreOp op);
llvm::LogicalResult emitLoadAsync(Emitter &e, tile::LoadAsyncOp op);
llvm::LogicalResult emitScalarLoad(Emitter &e, mlir::Operation *op);

// SharedMemory.cpp
llvm::LogicalResult emitAlloc(Emitter &e, tile::AllocOp op);
llvm::LogicalResult emitView(Emitter &e, tile::SmemViewOp op);
llvm::LogicalResult emitChannelCreate(Emitter &e, tile::ChannelCreateOp op);
/// The tiles of a channel's stage at `step`.
llvm::LogicalResult emitStage(Emitter &e, mlir::Value channel, mlir::Value step,
                              mlir::ValueRange results);
llvm::LogicalResult emitLocalLoad(Emitter &e, tile::LocalLoadOp op);
llvm::LogicalResult emitLocalStore(Emitter &e, tile::LocalStoreOp op);
/// The registers of `type` from a tile, and into it.
Registers loadFragment(Emitter &e, const SmemTile &tile,
                       mlir::RankedTensorType type);
void storeFragment(Emitter &e, const SmemTile &tile,
                   mlir::RankedTensorType type, mlir::ValueRange registers);
/// The same by every warp, to places of its own.
void storeByAllWarps(Emitter &e, const SmemTile &tile,
                     mlir::RankedTensorType type, mlir::ValueRange registers);

/// Whether 8 x 8 matrices of 16-bit elements begin at multiples of 16 bytes.
bool hasMatrixRows(tile::SmemType type);
/// The 16 x 16 operand a of an mma from (row + warpRows, column) on.
llvm::SmallVector<mlir::Value, 4> loadOperandA(Emitter &e, const SmemTile &tile,
                                               const LaneSum &warpRows,
                                               int64_t row, int64_t column);
/// The 16 x 8 count operand b from (row, column) on: two registers for each 8
/// columns. `count` is 1 or 2.
llvm::SmallVector<mlir::Value, 4> loadOperandB(Emitter &e, const SmemTile &tile,
                                               const LaneSum &warpColumns,
                                               int64_t row, int64_t column,
                                               int64_t count);
/// Blocks of 8 columns that a warp has of a matrix in `acc`.
int64_t numBlocks(mlir::RankedTensorType type);
/// The first column of a warp's part of a matrix in `acc`.
LaneSum warpColumnsOf(mlir::RankedTensorType type);
/// Two elements beside each other, along a row or a column.
llvm::SmallVector<mlir::Value, 4> loadPair(Emitter &e, const SmemTile &tile,
                                           const LaneSum &rows,
                                           const LaneSum &columns, int64_t row,
                                           int64_t column, bool alongColumns);

// Products.cpp
/// Products of one operand b that do not need each other.
llvm::LogicalResult emitProducts(Emitter &e, llvm::ArrayRef<tile::MmaOp> ops);
// DecayProducts.cpp
llvm::LogicalResult emitDecayMma(Emitter &e, tile::DecayMmaOp op);
llvm::LogicalResult emitScanRows(Emitter &e, tile::ScanRowsOp op);
// Inverse.cpp
llvm::LogicalResult emitInverse(Emitter &e, tile::UnitLowerInverseOp op);
// Solve.cpp
llvm::LogicalResult emitSolve(Emitter &e, tile::UnitLowerSolveOp op);

// Vectors.cpp
llvm::LogicalResult emitConvert(Emitter &e, tile::ConvertOp op);
llvm::LogicalResult emitSplatRow(Emitter &e, tile::SplatRowOp op);
llvm::LogicalResult emitSplatCol(Emitter &e, tile::SplatColOp op);
llvm::LogicalResult emitReduce(Emitter &e, tile::ReduceOp op);
llvm::LogicalResult emitScan(Emitter &e, tile::ScanOp op);
llvm::LogicalResult emitIota(Emitter &e, tile::IotaOp op);
llvm::LogicalResult emitBand(Emitter &e, tile::BandOp op);
llvm::LogicalResult emitWarpAny(Emitter &e, tile::WarpAnyOp op);
llvm::LogicalResult emitExtract(Emitter &e, mlir::Operation *op);

// Elementwise.cpp
/// Arithmetic on fragments, constants and splats of them, and on scalars.
llvm::LogicalResult emitElementwise(Emitter &e, mlir::Operation *op);

} // namespace linattn::tilenvvm

#endif // LINATTN_CONVERSION_TILETONVVM_LOWERINGS_H
