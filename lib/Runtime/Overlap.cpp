//===- Overlap.cpp - whether two tensors share memory ---------------------===//
//
// An element of a and one of b meet if the difference of their addresses, a sum
// of indices times strides, is less than an element's width. Strides of a and b
// count the same way once b's indices run backwards: are there 0 <= c[k] <=
// count[k] with low <= sum c[k] stride[k] <= high? With the greatest stride
// first hardly any of them leave a choice, since rows do not reach beyond each
// other.
//
//===----------------------------------------------------------------------===//

#include "linattn/Runtime/Overlap.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

using namespace linattn::runtime;

/// Extents are below 2^62 bytes; their sums and differences fit.
using Wide = __int128;

namespace {
struct Term {
  int64_t stride; ///< in bytes
  int64_t count;
  Wide reach = 0;    ///< of this term and those after it
  int64_t every = 0; ///< their sums are multiples of it
};

class Search {
public:
  explicit Search(const std::map<int64_t, int64_t, std::greater<>> &counts) {
    for (auto [stride, count] : counts)
      terms.push_back({stride, count});
    terms.push_back({0, 0});
    for (size_t i = terms.size() - 1; i-- > 0;) {
      terms[i].reach =
          Wide(terms[i].stride) * terms[i].count + terms[i + 1].reach;
      terms[i].every = std::gcd(terms[i].stride, terms[i + 1].every);
    }
  }

  /// Whether the terms from `i` on have a sum in [low, high].
  bool find(size_t i, Wide low, Wide high) {
    const Term &term = terms[i];
    low = std::max<Wide>(low, 0);
    high = std::min(high, term.reach);
    if (low > high || ++steps > kMostSteps)
      return false;
    if (term.stride == 0)
      return true;
    if (high / term.every * term.every < low)
      return false;
    Wide rest = terms[i + 1].reach;
    Wide first = low <= rest ? 0 : (low - rest + term.stride - 1) / term.stride;
    Wide last = std::min<Wide>(term.count, high / term.stride);
    for (Wide c = first; c <= last && steps <= kMostSteps; ++c)
      if (find(i + 1, low - c * term.stride, high - c * term.stride))
        return true;
    return false;
  }

  bool gaveUp() const { return steps > kMostSteps; }

private:
  static constexpr int kMostSteps = 100000;
  std::vector<Term> terms;
  int steps = 0;
};
} // namespace

std::optional<bool> linattn::runtime::shareMemory(const linattn_tensor &a,
                                                  const linattn_tensor &b) {
  std::map<int64_t, int64_t, std::greater<>> counts;
  // The address of a's lowest element less that of b's highest one.
  Wide distance = Wide(reinterpret_cast<uint64_t>(a.data)) -
                  Wide(reinterpret_cast<uint64_t>(b.data));
  int64_t widths[2];
  for (bool isB : {false, true}) {
    const linattn_tensor &tensor = isB ? b : a;
    int64_t width = int64_t(linattn_dtype_bytes(tensor.dtype));
    widths[isB] = width;
    for (int i = 0; i < tensor.rank; ++i) {
      int64_t more = tensor.sizes[i] - 1, stride = tensor.strides[i] * width;
      if (more == 0 || stride == 0)
        continue;
      counts[std::abs(stride)] += more;
      if (isB == (stride > 0))
        distance -= Wide(more) * std::abs(stride);
    }
  }
  Search search(counts);
  bool found =
      search.find(0, 1 - widths[0] - distance, widths[1] - 1 - distance);
  return search.gaveUp() && !found ? std::nullopt : std::optional(found);
}
