//===- Kernels.h - PTX for the tests of the runtime -----------------------===//

#ifndef LINATTN_UNITTESTS_RUNTIME_KERNELS_H
#define LINATTN_UNITTESTS_RUNTIME_KERNELS_H

namespace linattn::testing {

extern const char *const kScaleAddPTX, *const kScaleAddJSON;
extern const char *const kTilePTX, *const kTileJSON;
extern const char *const kClusterPTX, *const kClusterJSON;

} // namespace linattn::testing

#endif // LINATTN_UNITTESTS_RUNTIME_KERNELS_H
