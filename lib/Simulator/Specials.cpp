//===- Specials.cpp - Special registers -----------------------------------===//

#include "Specials.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace linattn::sim {

Type specialRegisterType(StringRef name) {
  StringRef base = name.split('.').first;
  StringRef suffix = name.drop_front(base.size());
  bool axis = StringSwitch<bool>(base)
                  .Cases({"%tid", "%ntid", "%ctaid", "%nctaid"}, true)
                  .Cases({"%clusterid", "%nclusterid", "%cluster_ctaid",
                          "%cluster_nctaid"},
                         true)
                  .Default(false);
  if (axis)
    return suffix == ".x" || suffix == ".y" || suffix == ".z" ? Type::U32
                                                              : Type::None;
  if (!suffix.empty())
    return Type::None;
  if (base.starts_with("%envreg"))
    return Type::U32;
  return StringSwitch<Type>(base)
      .Cases({"%laneid", "%warpid", "%nwarpid", "%lanemask_eq", "%lanemask_lt",
              "%lanemask_le", "%lanemask_gt", "%lanemask_ge"},
             Type::U32)
      .Cases({"%cluster_ctarank", "%cluster_nctarank", "%smid", "%nsmid",
              "%dynamic_smem_size", "%total_smem_size"},
             Type::U32)
      .Case("%gridid", Type::U64)
      .Case("%is_explicit_cluster", Type::Pred)
      .Default(Type::None);
}

bool isClockRegister(StringRef name) {
  return StringSwitch<bool>(name)
      .Cases({"%clock", "%clock64", "%clock_hi"}, true)
      .Cases({"%globaltimer", "%globaltimer_lo", "%globaltimer_hi"}, true)
      .Default(false);
}

uint64_t specialRegisterValue(StringRef name, const Warp &warp, unsigned lane) {
  const Launch &launch = warp.launch();
  const Dim3 &b = launch.config.block, &g = launch.config.grid;
  const Dim3 &c = launch.clusterDim, &i = warp.block.index;
  uint32_t t = warp.index * 32 + lane;
  auto component = [&](StringRef prefix, const Dim3 &d) -> const uint32_t * {
    if (!name.starts_with(prefix) || name.size() != prefix.size() + 2)
      return nullptr;
    char axis = name.back();
    return axis == 'x'   ? &d.x
           : axis == 'y' ? &d.y
           : axis == 'z' ? &d.z
                         : nullptr;
  };
  Dim3 tid{t % b.x, t / b.x % b.y, t / b.x / b.y};
  Dim3 inCluster{i.x % c.x, i.y % c.y, i.z % c.z};
  Dim3 clusterId{i.x / c.x, i.y / c.y, i.z / c.z};
  Dim3 numClusters{g.x / c.x, g.y / c.y, g.z / c.z};
  for (auto &[prefix, dim] : {std::pair<StringRef, Dim3>{"%tid", tid},
                              {"%ntid", b},
                              {"%ctaid", i},
                              {"%nctaid", g},
                              {"%cluster_ctaid", inCluster},
                              {"%cluster_nctaid", c},
                              {"%clusterid", clusterId},
                              {"%nclusterid", numClusters}})
    if (const uint32_t *value = component(prefix, dim))
      return *value;
  uint64_t self = uint64_t(1) << lane;
  const Program &p = *launch.program;
  uint32_t dynamic = launch.config.dynamicSharedBytes;
  if (name == "%laneid")
    return lane;
  if (name == "%warpid")
    return warp.index;
  if (name == "%nwarpid")
    return (b.count() + 31) / 32;
  if (name == "%lanemask_eq")
    return self;
  if (name == "%lanemask_lt")
    return self - 1;
  if (name == "%lanemask_le")
    return self * 2 - 1;
  if (name == "%lanemask_gt")
    return uint32_t(~(self * 2 - 1));
  if (name == "%lanemask_ge")
    return uint32_t(~(self - 1));
  if (name == "%cluster_ctarank")
    return warp.block.rank;
  if (name == "%cluster_nctarank")
    return c.count();
  if (name == "%is_explicit_cluster")
    return c.count() > 1;
  if (name == "%dynamic_smem_size")
    return dynamic;
  if (name == "%total_smem_size")
    return p.dynamicSharedOffset - sharedBase + dynamic;
  if (name == "%smid")
    return launch.config.grid.count() ? i.x % 132 : 0;
  if (name == "%nsmid")
    return 132;
  return 0; // %gridid, %envreg
}

} // namespace linattn::sim
