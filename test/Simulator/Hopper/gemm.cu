// C[128 x 64] = A[128 x 128] B[64 x 128]^T in bf16, small integers: a cluster of two
// blocks, each with 64 rows of A; B is multicast, each block fetching half of it for
// both. One warp loads into a ring of two stages, a warpgroup multiplies, a thread
// stores the tile through shared memory.
// nvcc -gencode=arch=compute_90a,code=compute_90a -O3 -lineinfo -ptx gemm.cu
#include <cuda.h>
#include <stdint.h>

constexpr int K = 128, STEP = 64, STAGES = 2, ROUNDS = 4;
constexpr int STAGE = 16384, TILE = STAGES * STAGE, BARS = TILE + 16384;

__device__ __forceinline__ void wait(uint32_t bar, uint32_t parity) {
  asm volatile("{\n.reg .pred p;\nWAIT:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
               "@!p bra WAIT;\n}" ::"r"(bar), "r"(parity) : "memory");
}
__device__ __forceinline__ uint64_t descriptor(uint32_t address) {
  return (uint64_t)1 << 62 | (uint64_t)64 << 32 | 1 << 16 | (address & 0x3ffff) >> 4;
}
__device__ __forceinline__ void load(uint32_t to, const CUtensorMap *map, uint32_t bar, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%3, %4}], [%2];" ::"r"(to), "l"(map), "r"(bar), "r"(x), "r"(y) : "memory");
}
__device__ __forceinline__ void loadBoth(uint32_t to, const CUtensorMap *map, uint32_t bar, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
               ".multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;"
               ::"r"(to), "l"(map), "r"(bar), "r"(x), "r"(y), "h"((uint16_t)3) : "memory");
}
__device__ __forceinline__ void arriveAt(uint32_t bar, uint32_t rank) {
  asm volatile("{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
               "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(bar), "r"(rank) : "memory");
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(160, 1)
    gemm(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
         const __grid_constant__ CUtensorMap c) {
  extern __shared__ __align__(1024) uint8_t smem[];
  const uint32_t sm = (uint32_t)__cvta_generic_to_shared(smem), full = sm + BARS, free_ = full + 16;
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; s++) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full + 8 * s) : "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 8;" ::"r"(free_ + 8 * s) : "memory");
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
  if (warp == 4) {
    if (lane == 0)
      for (int n = 0; n < ROUNDS; n++) {
        const int s = n % STAGES, x = n * STEP % K;
        wait(free_ + 8 * s, (n / STAGES & 1) ^ 1);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 16384;" ::"r"(full + 8 * s) : "memory");
        load(sm + s * STAGE, &a, full + 8 * s, x, rank * 64);
        loadBoth(sm + s * STAGE + 8192 + rank * 4096, &b, full + 8 * s, x, rank * 32);
      }
  } else {
    float d[16];
    for (int half = 0; half < 2; half++) {
#pragma unroll
      for (int i = 0; i < 16; i++) d[i] = 0;
      // Both halves of the columns see the whole of K.
#pragma unroll 1
      for (int n = 2 * half; n < 2 * half + 2; n++) {
        const int s = n % STAGES;
        wait(full + 8 * s, n / STAGES & 1);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int k = 0; k < 4; k++)
          asm volatile("wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 "
                       "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}, %16, %17, 1, 1, 1, 0, 0;"
                       : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
                         "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15])
                       : "l"(descriptor(sm + s * STAGE + 32 * k)),
                         "l"(descriptor(sm + s * STAGE + 8192 + half * 4096 + 32 * k)));
        asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
        for (int i = 0; i < 16; i++) asm volatile("" : "+f"(d[i])::"memory");
        __syncwarp();
        if (lane == 0) { arriveAt(free_ + 8 * s, 0); arriveAt(free_ + 8 * s, 1); }
      }
      // Two matrices of 8 columns per stmatrix; rows of 64 bytes, no swizzle.
      const uint32_t row = sm + TILE + half * 4096 + (16 * warp + (lane & 7) + 8 * (lane >> 3 & 1)) * 64 + (lane >> 4) * 16;
#pragma unroll
      for (int g = 0; g < 4; g += 2) {
        uint32_t v[4];
#pragma unroll
        for (int q = 0; q < 4; q++)
          asm("cvt.rn.bf16x2.f32 %0, %2, %1;" : "=r"(v[q]) : "f"(d[4 * g + 2 * q]), "f"(d[4 * g + 2 * q + 1]));
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};"
                     ::"r"(row + g * 16), "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]) : "memory");
      }
    }
    asm volatile("fence.proxy.async.shared::cta;\nbar.sync 1, 128;" ::: "memory");
    if (threadIdx.x == 0) {
      for (int half = 0; half < 2; half++)
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];"
                     ::"l"(&c), "r"(sm + TILE + half * 4096), "r"(half * 32), "r"((int)rank * 64) : "memory");
      asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
    }
    __syncwarp();
  }
  __syncwarp();
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
