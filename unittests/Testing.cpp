//===- Testing.cpp - a small unit-test frame --------------------*- C++ -*-===//
//
// Usage: linattn-unittests [PART-OF-A-NAME]
//
//===----------------------------------------------------------------------===//

#include "Testing.h"

using namespace linattn;

static unsigned checks, failures;

std::vector<testing::Test> &testing::allTests() {
  static std::vector<Test> tests;
  return tests;
}

bool testing::report(bool ok, const char *file, int line,
                     const std::string &what) {
  ++checks;
  // A check in a loop that always fails would flood the output.
  if (!ok && ++failures <= 50)
    llvm::errs() << file << ":" << line << ": failed: " << what << "\n";
  return ok;
}

int main(int argc, char **argv) {
  unsigned ran = 0;
  for (const testing::Test &test : testing::allTests()) {
    if (argc > 1 && !llvm::StringRef(test.name).contains(argv[1]))
      continue;
    unsigned before = failures;
    test.body();
    ++ran;
    llvm::outs() << (failures == before ? "ok   " : "FAIL ") << test.name
                 << "\n";
  }
  llvm::outs() << ran << " tests, " << checks << " checks, " << failures
               << " failed\n";
  return failures || !ran;
}
