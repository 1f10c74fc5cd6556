//===- LayoutsTest.cpp - every element is where the layouts say -----------===//
//
// The expected places are those of the PTX fragments (mma.m16n8) and of the
// text of the layouts, element by element; Layouts.h counts from the lanes.
//
//===----------------------------------------------------------------------===//

#include "linattn/Dialect/Tile/IR/Layouts.h"
#include "Testing.h"

#include "mlir/IR/MLIRContext.h"
#include <map>
#include <set>

using namespace mlir;
using namespace linattn::tile;

namespace {
using Place = std::pair<int64_t, int64_t>; // warp, lane
using Element = std::pair<int64_t, int64_t>;

struct Fixture {
  Fixture() { context.loadDialect<TileDialect>(); }
  MLIRContext context;
};
} // namespace

static int64_t evaluate(const LaneTerm &term, int64_t lane, int64_t warp) {
  return lane / term.laneDiv % term.laneMod * term.laneScale +
         warp % term.warpMod * term.warpScale;
}

/// Who holds an element, by the text of the layout.
static bool holds(RankedTensorType type, Element element, Place place) {
  auto [row, column] = element;
  auto [warp, lane] = place;
  Attribute layout = type.getEncoding();
  int64_t tiles = type.getDimSize(0) / 16;
  auto ofWarp = [&, warp = warp, row = row](int64_t warps) {
    return warp % std::min(warps, tiles) == row / 16 % std::min(warps, tiles);
  };
  if (auto acc = dyn_cast<AccAttr>(layout))
    return ofWarp(acc.getWarps()) && lane == row % 8 * 4 + column % 8 / 2;
  if (auto rows = dyn_cast<RowAttr>(layout))
    return ofWarp(rows.getWarps()) && lane / 4 == row % 8;
  if (isa<ColAttr>(layout))
    return lane % 4 == column % 8 / 2;
  int64_t vec = cast<StridedAttr>(layout).getVec();
  int64_t lanes = std::min<int64_t>(32, type.getDimSize(0) / vec);
  return lane % lanes == column / vec % lanes;
}

static void checkLayout(RankedTensorType type, int64_t warps) {
  std::map<Element, std::set<Place>> places;
  bool twice = false;
  for (int64_t warp = 0; warp < warps; ++warp)
    for (int64_t lane = 0; lane < 32; ++lane)
      for (int64_t i = 0; i < getElementsPerLane(type); ++i) {
        LaneElement own = getLaneElement(type, i);
        Element element(own.row + evaluate(getLaneRow(type), lane, warp),
                        own.column + evaluate(getLaneColumn(type), lane, warp));
        twice |= !places[element].insert({warp, lane}).second;
      }
  EXPECT(!twice);

  bool rows = isa<RowAttr>(type.getEncoding());
  int64_t height = type.getRank() == 2 || rows ? type.getDimSize(0) : 1;
  int64_t width = rows ? 1 : type.getShape().back();
  EXPECT_EQ(places.size(), size_t(height * width));
  Replication replication = getReplication(type);
  int64_t wrong = 0, wrongWriters = 0;
  for (int64_t row = 0; row < height; ++row)
    for (int64_t column = 0; column < width; ++column) {
      const std::set<Place> &got = places[{row, column}];
      int64_t writers = 0;
      for (int64_t warp = 0; warp < warps; ++warp)
        for (int64_t lane = 0; lane < 32; ++lane) {
          bool held = got.count({warp, lane});
          wrong += held != holds(type, {row, column}, {warp, lane});
          writers += held && warp < replication.warpCount &&
                     lane / replication.laneDiv % replication.laneMod == 0;
        }
      wrongWriters += writers != 1;
    }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(wrongWriters, 0);
}

TEST(accumulatorsOfManyShapesAndWarps) {
  Fixture fixture;
  auto f32 = Float32Type::get(&fixture.context);
  for (int64_t warps : {1, 2, 4, 8, 16})
    for (int64_t rows : {16, 32, 64, 128, 256})
      for (int64_t columns : {8, 16, 24, 64, 128}) {
        auto acc = AccAttr::get(&fixture.context, warps);
        checkLayout(RankedTensorType::get({rows, columns}, f32, acc), warps);
      }
}

TEST(rowsThatAreNoPowerOfTwo) {
  Fixture fixture;
  auto f32 = Float32Type::get(&fixture.context);
  for (int64_t warps : {1, 2, 4}) {
    auto acc = AccAttr::get(&fixture.context, warps);
    checkLayout(RankedTensorType::get({48 * warps, 40}, f32, acc), warps);
  }
}

TEST(vectorsAlongRowsAndColumns) {
  Fixture fixture;
  auto f32 = Float32Type::get(&fixture.context);
  for (int64_t warps : {1, 2, 4, 8})
    for (int64_t size : {16, 32, 64, 128, 256}) {
      auto row = RowAttr::get(&fixture.context, warps);
      checkLayout(RankedTensorType::get({size}, f32, row), warps);
      auto col = ColAttr::get(&fixture.context);
      checkLayout(RankedTensorType::get({size}, f32, col), warps);
    }
}

TEST(vectorsOverLanes) {
  Fixture fixture;
  auto f32 = Float32Type::get(&fixture.context);
  for (int64_t warps : {1, 4})
    for (int64_t vec : {1, 2, 4, 8})
      for (int64_t size = vec; size <= 512; size *= 2) {
        auto strided = StridedAttr::get(&fixture.context, vec);
        checkLayout(RankedTensorType::get({size}, f32, strided), warps);
      }
}

TEST(conversionTable) {
  Fixture fixture;
  auto f32 = Float32Type::get(&fixture.context);
  auto of = [&](Attribute layout) {
    return RankedTensorType::get({64}, f32, layout);
  };
  auto row1 = of(RowAttr::get(&fixture.context, 1));
  auto row4 = of(RowAttr::get(&fixture.context, 4));
  auto col = of(ColAttr::get(&fixture.context));
  auto lanes = of(StridedAttr::get(&fixture.context, 2));
  // Only where every warp holds the whole source: shuffles do not leave a warp.
  for (auto source : {row1, row4, col, lanes})
    for (auto target : {row1, row4, col, lanes}) {
      bool whole = source != row4;
      EXPECT_EQ(isConvertible(source, target), whole || source == target);
    }
}
