//===- Wgmma.h - Matrix products of a warpgroup ---------------------------===//
//
// Each warp of a warpgroup computes 16 of the 64 rows by itself; its wgmma run
// in order, at a moment between issue and the wait for their group.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_LIB_SIMULATOR_WGMMA_H
#define LINATTN_LIB_SIMULATOR_WGMMA_H

#include "Access.h"
#include "MatrixMath.h"

namespace linattn::sim {

/// An operand in shared memory, as a matrix descriptor says: pieces of 16
/// bytes. K-major, a piece holds neighbours along k of one row (of A) or column
/// (of B); otherwise neighbours along the other dimension for one k.
class SharedOperand {
public:
  SharedOperand(uint64_t descriptor, bool kMajor);

  /// Of piece `c` along k of row r; or, not k-major, of piece `c` of 8 rows for
  /// k.
  uint32_t piece(unsigned rowOrK, unsigned c) const {
    uint32_t at =
        kMajor ? start + rowOrK % 8 * rowPitch + rowOrK / 8 * stride + c * kStep
               : start + rowOrK % 8 * rowPitch + rowOrK / 8 * outer +
                     c % span * 16 + c / span * across;
    return at ^ (((at >> 7) - base & swizzleMask) << 4);
  }
  uint32_t start = 0, leading = 0, stride = 0;
  /// Of the pattern of a swizzle, 0 where there is none.
  uint32_t patternBytes = 0;
  uint32_t swizzleMask = 0, base = 0;
  bool kMajor;

private:
  uint32_t rowPitch = 16, kStep = 16, outer = 0, span = 1, across = 0;
};

/// One wgmma.mma_async as decoded.
struct WgmmaShape {
  unsigned n = 0, k = 0;
  MatrixFormat format = MatrixFormat::BF16;
  bool halfD = false, registerA = false;
  bool transposeA = false, transposeB = false; ///< the operand is not k-major
  bool negateA = false, negateB = false;
};

/// The pieces of a warp's operands, each checked once at issue.
struct WgmmaPieces {
  std::vector<uint32_t> a, b; ///< addresses, in the order of decoding
  bool good = true;
};

/// Lists the pieces and reports descriptors that name none of the block's
/// memory.
WgmmaPieces findPieces(const Accessor &who, const WgmmaShape &shape,
                       uint64_t descA, uint64_t descB);
/// Notes the reads of all pieces.
void notePieces(const Accessor &who, const WgmmaPieces &pieces);
/// a[16][k] and b[k][n] from shared memory.
void decodeA(const Block &block, const WgmmaShape &shape,
             const WgmmaPieces &pieces, float *a);
void decodeB(const Block &block, const WgmmaShape &shape,
             const WgmmaPieces &pieces, float *b);

/// After the cluster has run: warps of a warpgroup that did not do the same.
void checkWarpgroupsAtExit(Cluster &cluster);

} // namespace linattn::sim

#endif // LINATTN_LIB_SIMULATOR_WGMMA_H
