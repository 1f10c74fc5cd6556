//===- PtxasTest.cpp - what ptxas says about kernels ----------------------===//

#include "Testing.h"
#include "linattn/Target/NVPTX.h"

using namespace linattn;

// As ptxas 13.5 writes it for two kernels, the first of which spills.
static constexpr const char kOutput[] =
    R"(ptxas warning : Registers are spilled to local memory in function 'chain', 2796 bytes spill stores, 3160 bytes spill loads
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'chain' for 'sm_90a'
ptxas info    : Function properties for chain
    2056 bytes stack frame, 2796 bytes spill stores, 3160 bytes spill loads
ptxas info    : Used 64 registers, used 2 barriers, 2056 bytes cumulative stack size
ptxas info    : Compile time = 1156.387 ms
ptxas info    : Compiling entry function 'offchain' for 'sm_90a'
ptxas info    : Function properties for offchain
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 159 registers, used 1 barriers, 1536 bytes smem
)";

TEST(ptxasSpillsAreCountedOnce) {
  Resources resources = parsePtxasOutput(kOutput);
  EXPECT_EQ(resources.spillStoreBytes, 2796u);
  EXPECT_EQ(resources.spillLoadBytes, 3160u);
  EXPECT_EQ(resources.spillsOf["chain"], 2796u);
  EXPECT_EQ(resources.spillsOf["offchain"], 0u);
  EXPECT_EQ(resources.stackBytes, 2056u);
  EXPECT_EQ(resources.notes.size(), size_t(1));
}

TEST(ptxasResourcesAreTheMostOfAKernel) {
  Resources resources = parsePtxasOutput(kOutput);
  EXPECT_EQ(resources.registers, 159u);
  EXPECT_EQ(resources.barriers, 2u);
  EXPECT_EQ(resources.sharedBytes, 1536u);
  EXPECT_EQ(resources.sharedBytesOf["chain"], 0u);
  EXPECT_EQ(resources.sharedBytesOf["offchain"], 1536u);
}
