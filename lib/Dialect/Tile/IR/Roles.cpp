//===- Roles.cpp - the rules of kernels with roles ------------------------===//
//
// What single operations cannot know: who fills and empties a channel, and that
// it goes on for ever. The channel operations of every role in every block of
// the cluster are listed for several numbers of chunks (they are a function of
// that number alone), compared with what the channel says, and run against each
// other. Which of them runs first changes nothing: each waits for counts that
// only grow, so a run that ends shows that all do.
//
//===----------------------------------------------------------------------===//

#include "RoleEvents.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

#include <map>

using namespace mlir;
using namespace linattn::tile;

LogicalResult RoleOp::verify() {
  int64_t warps = getWarps(), regs = getRegs(), ahead = getAhead();
  if (warps < 1 || warps > 32 || !llvm::isPowerOf2_64(warps))
    return emitOpError("warps is 1, 2, 4, 8, 16 or 32, got ") << warps;
  if (regs < 24 || regs > 256 || regs % 8 != 0)
    return emitOpError("regs is a multiple of 8 from 24 to 256, got ") << regs;
  if (ahead < 0)
    return emitOpError("ahead is not negative, got ") << ahead;
  return success();
}

//===----------------------------------------------------------------------===//
// What a block has
//===----------------------------------------------------------------------===//

static constexpr int64_t kWarpgroup = 4, kMostWarps = 32;
static constexpr int64_t kRegisters = 65536;
/// What sm_90 and sm_100, the devices of roles, give to one block.
static constexpr int64_t kSharedBytes = 227 * 1024;

static LogicalResult verifyWarps(RolesOp roles) {
  int64_t warps = 0, registers = 0, groupRegs = 0;
  for (RoleOp role : roles.getBody().getOps<RoleOp>()) {
    int64_t count = role.getWarps(), regs = role.getRegs();
    if (count >= kWarpgroup)
      warps = llvm::alignTo(warps, kWarpgroup);
    bool begins = warps % kWarpgroup == 0;
    if (!begins && regs != groupRegs)
      return role.emitOpError("shares a warpgroup with a role of ")
             << groupRegs << " registers and has as many, got " << regs;
    if (begins)
      registers += llvm::alignTo(count, kWarpgroup) * 32 * regs;
    groupRegs = regs;
    warps += count;
  }
  warps = llvm::alignTo(warps, kWarpgroup);
  if (warps > kMostWarps)
    return roles.emitOpError("a block has at most 32 warps, got ") << warps;
  if (registers > kRegisters)
    return roles.emitOpError("the roles have at most 65536 registers, got ")
           << registers << " in " << warps / kWarpgroup << " warpgroups";
  return success();
}

static LogicalResult verifyBytes(RolesOp roles) {
  auto func = roles->getParentOfType<FunctionOpInterface>();
  if (!func)
    return success();
  int64_t bytes = 0;
  func.walk([&](Operation *op) {
    // All roles run at once: their tiles do not share bytes.
    if (auto alloc = dyn_cast<AllocOp>(op))
      bytes += llvm::alignTo(alloc.getType().getStorageBytes(), 128);
    else if (auto create = dyn_cast<ChannelCreateOp>(op))
      bytes += create.getType().getStages() * create.getType().getStageBytes();
  });
  if (bytes > kSharedBytes)
    return roles.emitOpError("channels and tiles have at most ")
           << kSharedBytes << " bytes, got " << bytes;
  return success();
}

static LogicalResult verifyIsolation(RoleOp role) {
  WalkResult result = role->walk([&](Operation *op) {
    for (Value operand : op->getOperands()) {
      Type type = operand.getType();
      if (!role.getBody().isAncestor(operand.getParentRegion()) &&
          !isa<ChannelType, MemRefType>(type) && !type.isIntOrIndexOrFloat()) {
        op->emitOpError("only channels, scalars and memrefs cross into a "
                        "role, got ")
            << type;
        return WalkResult::interrupt();
      }
    }
    for (Type type : op->getResultTypes()) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      Attribute layout = tensor ? tensor.getEncoding() : Attribute();
      int64_t warps = role.getWarps();
      if (auto acc = dyn_cast_or_null<AccAttr>(layout))
        warps = acc.getWarps();
      else if (auto row = dyn_cast_or_null<RowAttr>(layout))
        warps = row.getWarps();
      if (warps != int64_t(role.getWarps())) {
        op->emitOpError("a fragment in role @")
            << role.getSymName() << " is of its " << role.getWarps()
            << " warps, got " << type;
        return WalkResult::interrupt();
      }
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Channels
//===----------------------------------------------------------------------===//

namespace {
/// A channel and what the kernel says of it.
struct Channel {
  ChannelCreateOp op;
  int64_t stages = 0;
  int64_t every = 0, own = 0;
  /// Whether blocks fill the stages of others.
  bool shared = false;
  SmallVector<RoleOp> writers, releasers;
};

/// The channel operations of one work item.
struct Item {
  int64_t chunks;
  /// By rank, then by role.
  SmallVector<SmallVector<RoleEvents>> events;
};

class ChannelVerifier {
public:
  explicit ChannelVerifier(RolesOp roles) : roles(roles) {}
  LogicalResult verify();

private:
  LogicalResult collect();
  LogicalResult collectUsers(Channel &channel);
  FailureOr<Item> list(int64_t chunks);
  LogicalResult verifySteps(const Item &item);
  LogicalResult verifyWriter(Channel &channel, const Item &item, int64_t rank,
                             unsigned role);
  LogicalResult verifyReader(Channel &channel, const Item &item, int64_t rank,
                             unsigned role);
  LogicalResult verifyObserver(Channel &channel, const Item &item, int64_t rank,
                               unsigned role);
  LogicalResult verifyLooks(const Item &item, int64_t rank, unsigned role);
  LogicalResult compare(Channel &channel, const Item &item, int64_t rank,
                        unsigned role, RoleEvent::Kind kind,
                        ArrayRef<int64_t> expected);
  LogicalResult simulate(ArrayRef<Item> items);

  bool isWriter(Channel &channel, unsigned role) const {
    return llvm::is_contained(channel.writers, roleOps[role]);
  }

  RolesOp roles;
  int64_t cluster = 1;
  SmallVector<RoleOp> roleOps;
  SmallVector<Channel> channels;
  DenseMap<Operation *, unsigned> channelNumbers;
};
} // namespace

static StringRef verbOf(RoleEvent::Kind kind) {
  switch (kind) {
  case RoleEvent::Acquire:
    return "acquire";
  case RoleEvent::Commit:
    return "commit";
  case RoleEvent::Wait:
    return "wait for";
  case RoleEvent::Release:
    return "release";
  case RoleEvent::Look:
    return "look at";
  }
  llvm_unreachable("a kind of event");
}

/// Where in `events` the channel operation of a step stands; -1 if nowhere.
static int64_t find(const RoleEvents &events, RoleEvent::Kind kind,
                    ChannelCreateOp channel, int64_t step) {
  for (auto [i, event] : llvm::enumerate(events))
    if (event.kind == kind && event.channel == channel && event.step == step)
      return i;
  return -1;
}

LogicalResult ChannelVerifier::collectUsers(Channel &channel) {
  SmallVector<RoleOp> looking;
  for (Operation *user : channel.op->getUsers()) {
    auto role = user->getParentOfType<RoleOp>();
    if (!role || role->getParentOp() != roles)
      return channel.op.emitOpError("is used by the roles of one tile.roles "
                                    "alone");
    SmallVector<RoleOp> &list =
        isa<ChannelAcquireOp, ChannelCommitOp>(user) ? channel.writers
        : isa<ChannelReleaseOp>(user)                ? channel.releasers
                                                     : looking;
    if (!llvm::is_contained(list, role))
      list.push_back(role);
    if (isa<ChannelAcquireOp>(user))
      for (Operation *filler : user->getUsers())
        if (auto load = dyn_cast<LoadAsyncOp>(filler))
          channel.shared |= load.getMulticast();
  }
  auto byPlace = [](RoleOp a, RoleOp b) { return a->isBeforeInBlock(b); };
  llvm::sort(channel.writers, byPlace);
  llvm::sort(channel.releasers, byPlace);
  if (auto parts = channel.op.getParts()) {
    for (auto part : parts->getAsRange<FlatSymbolRefAttr>())
      if (llvm::none_of(channel.writers, [&](RoleOp writer) {
            return writer.getSymName() == part.getValue();
          }))
        return channel.op.emitOpError("part @")
               << part.getValue() << " is a role that fills the channel";
    if (parts->size() != channel.writers.size())
      for (RoleOp writer : channel.writers)
        if (llvm::none_of(parts->getAsRange<FlatSymbolRefAttr>(),
                          [&](FlatSymbolRefAttr part) {
                            return part.getValue() == writer.getSymName();
                          }))
          return channel.op.emitOpError("is filled by its parts alone, got @")
                 << writer.getSymName();
  } else if (channel.writers.size() > 1) {
    return channel.op.emitOpError("is filled by one role unless parts name "
                                  "several, got @")
           << channel.writers[0].getSymName() << " and @"
           << channel.writers[1].getSymName();
  }
  if (channel.writers.empty())
    return channel.op.emitOpError("is filled by a role");
  if (channel.releasers.empty())
    return channel.op.emitOpError("is released by a role");
  for (RoleOp writer : channel.writers)
    if (channel.stages <= int64_t(writer.getAhead()))
      return channel.op.emitOpError("has more stages than role @")
             << writer.getSymName() << " is ahead, got " << channel.stages
             << " for ahead(" << writer.getAhead() << ")";
  return success();
}

LogicalResult ChannelVerifier::collect() {
  auto func = roles->getParentOfType<FunctionOpInterface>();
  if (func)
    if (auto attr = func->getAttrOfType<IntegerAttr>("tile.cluster"))
      cluster = attr.getInt();
  if (cluster < 1 || cluster > 8)
    return roles.emitOpError("tile.cluster lies in [1, 8], got ") << cluster;
  for (RoleOp role : roles.getBody().getOps<RoleOp>())
    roleOps.push_back(role);
  WalkResult result = roles->walk([&](Operation *op) {
    for (Value operand : op->getOperands()) {
      if (!isa<ChannelType>(operand.getType()))
        continue;
      auto create = operand.getDefiningOp<ChannelCreateOp>();
      if (!create || roles->isProperAncestor(create)) {
        op->emitOpError("the channel comes from a channel.create around the "
                        "roles");
        return WalkResult::interrupt();
      }
      if (!channelNumbers.try_emplace(create, channels.size()).second)
        continue;
      Channel channel;
      channel.op = create;
      channel.stages = create.getType().getStages();
      channel.every = create.getEvery().value_or(0);
      channel.own = create.getOwn().value_or(0);
      channel.shared = channel.every != 0;
      channels.push_back(channel);
    }
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  for (Channel &channel : channels) {
    int64_t period = std::max(channel.every, channel.own);
    if (period != 0 && period != cluster)
      return channel.op.emitOpError("the period is the number of blocks of a "
                                    "cluster, ")
             << cluster << ", got " << period;
    if (failed(collectUsers(channel)))
      return failure();
  }
  return success();
}

FailureOr<Item> ChannelVerifier::list(int64_t chunks) {
  Item item{chunks, {}};
  item.events.resize(cluster);
  for (int64_t rank = 0; rank < cluster; ++rank)
    for (RoleOp role : roleOps) {
      FailureOr<RoleEvents> events = listEvents(role, chunks, rank);
      if (failed(events))
        return failure();
      item.events[rank].push_back(std::move(*events));
    }
  return item;
}

/// The steps of a role's operations on a channel are these, in this order.
LogicalResult ChannelVerifier::compare(Channel &channel, const Item &item,
                                       int64_t rank, unsigned role,
                                       RoleEvent::Kind kind,
                                       ArrayRef<int64_t> expected) {
  size_t next = 0;
  for (const RoleEvent &event : item.events[rank][role]) {
    if (event.channel != channel.op || event.kind != kind)
      continue;
    if (next < expected.size() && event.step == expected[next]) {
      ++next;
      continue;
    }
    InFlightDiagnostic error = event.op->emitOpError("role @");
    error << roleOps[role].getSymName() << " in block " << rank << " of "
          << cluster << " is to " << verbOf(kind);
    if (next < expected.size())
      error << " step " << expected[next];
    else
      error << " no further step";
    return error << " of " << item.chunks << " chunks, got step " << event.step;
  }
  if (next == expected.size())
    return success();
  return channel.op.emitOpError("role @")
         << roleOps[role].getSymName() << " in block " << rank << " of "
         << cluster << " is to " << verbOf(kind) << " step " << expected[next]
         << " of " << item.chunks << " chunks, got none";
}

static SmallVector<int64_t> stepsOf(int64_t chunks, int64_t period,
                                    int64_t rank) {
  SmallVector<int64_t> steps;
  for (int64_t step = period ? rank : 0; step < chunks;
       step += std::max<int64_t>(period, 1))
    steps.push_back(step);
  return steps;
}

LogicalResult ChannelVerifier::verifyWriter(Channel &channel, const Item &item,
                                            int64_t rank, unsigned role) {
  SmallVector<int64_t> steps =
      stepsOf(item.chunks, std::max(channel.every, channel.own), rank);
  if (failed(compare(channel, item, rank, role, RoleEvent::Acquire, steps)) ||
      failed(compare(channel, item, rank, role, RoleEvent::Commit, steps)))
    return failure();
  const RoleEvents &events = item.events[rank][role];
  for (int64_t step : steps)
    if (find(events, RoleEvent::Acquire, channel.op, step) >
        find(events, RoleEvent::Commit, channel.op, step))
      return channel.op.emitOpError("role @")
             << roleOps[role].getSymName() << " acquires a step before it "
             << "commits it, got the commit of step " << step << " first";
  return success();
}

LogicalResult ChannelVerifier::verifyReader(Channel &channel, const Item &item,
                                            int64_t rank, unsigned role) {
  if (!llvm::is_contained(channel.releasers, roleOps[role]))
    return verifyObserver(channel, item, rank, role);
  SmallVector<int64_t> steps = stepsOf(item.chunks, channel.own, rank);
  if (failed(compare(channel, item, rank, role, RoleEvent::Wait, steps)) ||
      failed(compare(channel, item, rank, role, RoleEvent::Release, steps)))
    return failure();
  const RoleEvents &events = item.events[rank][role];
  for (int64_t step : steps)
    if (find(events, RoleEvent::Wait, channel.op, step) >
        find(events, RoleEvent::Release, channel.op, step))
      return channel.op.emitOpError("role @")
             << roleOps[role].getSymName() << " waits for a step before it "
             << "releases it, got the release of step " << step << " first";
  return success();
}

/// Who releases a stage for others knows that they are done with it: they
/// committed something that it waited for.
LogicalResult ChannelVerifier::verifyObserver(Channel &channel,
                                              const Item &item, int64_t rank,
                                              unsigned role) {
  const RoleEvents &events = item.events[rank][role];
  auto releasedAfter = [&](ChannelCreateOp other, int64_t step) {
    for (int64_t block = 0; block < cluster; ++block) {
      if (block != rank && !channel.shared)
        continue;
      for (auto [number, releaser] : llvm::enumerate(roleOps)) {
        if (!llvm::is_contained(channel.releasers, releaser))
          continue;
        const RoleEvents &theirs = item.events[block][number];
        int64_t wait = find(theirs, RoleEvent::Wait, other, step);
        int64_t release = find(theirs, RoleEvent::Release, channel.op, step);
        if (wait < 0 || release < wait)
          return false;
      }
    }
    return true;
  };
  int64_t last = -1;
  for (auto [place, event] : llvm::enumerate(events)) {
    if (event.channel != channel.op || event.kind != RoleEvent::Wait)
      continue;
    if (event.step <= last || event.step >= item.chunks)
      return event.op->emitOpError("role @")
             << roleOps[role].getSymName() << " waits for rising steps of the "
             << item.chunks << " chunks, got step " << event.step;
    last = event.step;
    bool announced = false;
    for (size_t later = place + 1; later < events.size() && !announced; ++later)
      announced = events[later].kind == RoleEvent::Commit &&
                  events[later].step == event.step &&
                  events[later].channel != channel.op &&
                  releasedAfter(events[later].channel, event.step);
    if (!announced)
      return event.op->emitOpError("role @")
             << roleOps[role].getSymName() << " does not release step "
             << event.step
             << ", nor commit what those who release it wait for before";
  }
  return success();
}

/// Tiles are looked at while the role has them.
LogicalResult ChannelVerifier::verifyLooks(const Item &item, int64_t rank,
                                           unsigned role) {
  const RoleEvents &events = item.events[rank][role];
  for (size_t place = 0; place < events.size(); ++place) {
    const RoleEvent &event = events[place];
    if (event.kind != RoleEvent::Look)
      continue;
    auto holds = [&](RoleEvent::Kind from, RoleEvent::Kind to) {
      int64_t begin = find(events, from, event.channel, event.step);
      int64_t end = find(events, to, event.channel, event.step);
      return begin >= 0 && begin < int64_t(place) &&
             (end < 0 || end > int64_t(place));
    };
    if (!holds(RoleEvent::Wait, RoleEvent::Release) &&
        !holds(RoleEvent::Acquire, RoleEvent::Commit))
      return event.op->emitOpError("role @")
             << roleOps[role].getSymName() << " has not waited for step "
             << event.step << ", or has released it";
  }
  return success();
}

LogicalResult ChannelVerifier::verifySteps(const Item &item) {
  for (int64_t rank = 0; rank < cluster; ++rank)
    for (unsigned role = 0; role < roleOps.size(); ++role)
      if (failed(verifyLooks(item, rank, role)))
        return failure();
  for (Channel &channel : channels)
    for (int64_t rank = 0; rank < cluster; ++rank)
      for (unsigned role = 0; role < roleOps.size(); ++role) {
        if (isWriter(channel, role) &&
            failed(verifyWriter(channel, item, rank, role)))
          return failure();
        bool reads = llvm::any_of(item.events[rank][role], [&](auto &event) {
          return event.channel == channel.op &&
                 (event.kind == RoleEvent::Wait ||
                  event.kind == RoleEvent::Release);
        });
        bool releases = llvm::is_contained(channel.releasers, roleOps[role]);
        if ((reads || releases) &&
            failed(verifyReader(channel, item, rank, role)))
          return failure();
      }
  return success();
}

/// Runs all roles of all blocks until none goes on; each must have come to its
/// end.
LogicalResult ChannelVerifier::simulate(ArrayRef<Item> items) {
  struct Process {
    int64_t rank;
    unsigned role;
    size_t item = 0, next = 0;
  };
  SmallVector<Process> processes;
  for (int64_t rank = 0; rank < cluster; ++rank)
    for (unsigned role = 0; role < roleOps.size(); ++role)
      processes.push_back({rank, role});

  // Steps count on from item to item: the place of a step in a channel's ring.
  auto ordinalOf = [&](Channel &channel, const Process &process, int64_t step) {
    int64_t ordinal = channel.own ? step / channel.own : step;
    for (const Item &item : items.take_front(process.item))
      ordinal += stepsOf(item.chunks, channel.own, process.rank).size();
    return ordinal;
  };
  // How many roles of a block have committed, released a step.
  using Key = std::tuple<unsigned, int64_t, int64_t>;
  std::map<Key, size_t> commits, releases;
  auto count = [](std::map<Key, size_t> &counts, Key key) {
    auto found = counts.find(key);
    return found == counts.end() ? 0 : found->second;
  };

  auto canRun = [&](const Process &process, const RoleEvent &event) {
    unsigned number = channelNumbers.lookup(event.channel);
    Channel &channel = channels[number];
    int64_t ordinal = ordinalOf(channel, process, event.step);
    for (int64_t block = 0; block < cluster; ++block) {
      if (block != process.rank && !channel.shared)
        continue;
      if (event.kind == RoleEvent::Acquire && ordinal >= channel.stages &&
          count(releases, {number, block, ordinal - channel.stages}) !=
              channel.releasers.size())
        return false;
      bool fills = !channel.every || event.step % channel.every == block;
      if (event.kind == RoleEvent::Wait && fills &&
          count(commits, {number, block, ordinal}) != channel.writers.size())
        return false;
    }
    return true;
  };
  auto current = [&](Process &process) -> const RoleEvent * {
    while (process.item < items.size()) {
      const RoleEvents &events =
          items[process.item].events[process.rank][process.role];
      if (process.next < events.size())
        return &events[process.next];
      ++process.item;
      process.next = 0;
    }
    return nullptr;
  };

  for (bool progress = true; progress;) {
    progress = false;
    for (Process &process : processes)
      while (const RoleEvent *event = current(process)) {
        if (!canRun(process, *event))
          break;
        unsigned number = channelNumbers.lookup(event->channel);
        Key key{number, process.rank,
                ordinalOf(channels[number], process, event->step)};
        if (event->kind == RoleEvent::Commit)
          ++commits[key];
        else if (event->kind == RoleEvent::Release)
          ++releases[key];
        ++process.next;
        progress = true;
      }
  }
  std::optional<InFlightDiagnostic> error;
  for (Process &process : processes) {
    const RoleEvent *event = current(process);
    if (!event)
      continue;
    if (!error)
      error.emplace(
          roles.emitOpError("the roles wait for each other for ever, with ")
          << items[process.item].chunks << " chunks");
    error->attachNote(event->op->getLoc())
        << "role @" << roleOps[process.role].getSymName() << " in block "
        << process.rank << " is to " << verbOf(event->kind) << " step "
        << event->step;
  }
  return error ? LogicalResult(*error) : success();
}

LogicalResult ChannelVerifier::verify() {
  if (failed(collect()))
    return failure();
  // After so many chunks every ring has been round twice in every block.
  int64_t most = 0;
  for (Channel &channel : channels)
    most = std::max(most, 2 * channel.stages * cluster + 3);
  SmallVector<int64_t> counts = {0, 1, 2, 3, most};
  APInt constant;
  if (matchPattern(roles.getChunks(), m_ConstantInt(&constant)) &&
      constant.sle(most))
    counts = {constant.getSExtValue()};
  SmallVector<Item> items;
  for (int64_t chunks : counts) {
    FailureOr<Item> item = list(chunks);
    if (failed(item) || failed(verifySteps(*item)) || failed(simulate(*item)))
      return failure();
    items.push_back(std::move(*item));
  }
  // Work items one after another, with rings that begin at any place.
  if (roles->getParentOfType<LoopLikeOpInterface>()) {
    items.push_back(items.back());
    return simulate(items);
  }
  return success();
}

LogicalResult RolesOp::verifyRegions() {
  llvm::StringSet<> names;
  for (Operation &op : getBody().front()) {
    auto role = dyn_cast<RoleOp>(op);
    if (!role)
      return emitOpError("holds roles, got ") << op.getName();
    if (!names.insert(role.getSymName()).second)
      return role.emitOpError("roles have different names, got @")
             << role.getSymName() << " twice";
  }
  if (failed(verifyWarps(*this)) || failed(verifyBytes(*this)))
    return failure();
  for (RoleOp role : getBody().getOps<RoleOp>())
    if (failed(verifyIsolation(role)))
      return failure();
  return ChannelVerifier(*this).verify();
}
