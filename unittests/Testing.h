//===- Testing.h - a small unit-test frame ----------------------*- C++ -*-===//
//
// Part of linattn. TEST(name) { .. } registers itself; a failed check prints
// where and what, and the run goes on.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_UNITTESTS_TESTING_H
#define LINATTN_UNITTESTS_TESTING_H

#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace linattn {
namespace testing {

struct Test {
  const char *name;
  void (*body)();
};

std::vector<Test> &allTests();
/// Counts a check, and prints it if it failed.
bool report(bool ok, const char *file, int line, const std::string &what);

struct Registration {
  Registration(const char *name, void (*body)()) {
    allTests().push_back({name, body});
  }
};

template <typename A, typename B>
bool checkEqual(const A &a, const B &b, const char *text, const char *file,
                int line) {
  bool ok = a == b;
  std::string what;
  if (!ok)
    llvm::raw_string_ostream(what) << text << ": " << a << " against " << b;
  return report(ok, file, line, what);
}

/// The message of an error, or "" for success.
inline std::string messageOf(llvm::Error error) {
  return error ? llvm::toString(std::move(error)) : "";
}

template <typename T> std::string messageOf(llvm::Expected<T> value) {
  return value ? "" : llvm::toString(value.takeError());
}

} // namespace testing
} // namespace linattn

#define TEST(NAME)                                                             \
  static void NAME();                                                          \
  static ::linattn::testing::Registration NAME##Registration(#NAME, NAME);     \
  static void NAME()

#define EXPECT(CONDITION)                                                      \
  ::linattn::testing::report(bool(CONDITION), __FILE__, __LINE__, #CONDITION)

#define EXPECT_EQ(A, B)                                                        \
  ::linattn::testing::checkEqual(A, B, #A " == " #B, __FILE__, __LINE__)

#endif // LINATTN_UNITTESTS_TESTING_H
