//===- LaunchData.h - Buffers of launch files -----------------------------===//

#ifndef LINATTN_LIB_SIMULATOR_LAUNCHDATA_H
#define LINATTN_LIB_SIMULATOR_LAUNCHDATA_H

#include "linattn/Simulator/LaunchFile.h"

namespace linattn::sim {

/// 0 if the name is no element type.
unsigned elementTypeBytes(llvm::StringRef type);
inline bool isElementType(llvm::StringRef type) {
  return elementTypeBytes(type) != 0;
}
/// Rounds to the nearest element.
void setElement(llvm::StringRef type, uint8_t *at, double value);
/// The i-th output of splitmix64 with this seed.
uint64_t randomBits(uint64_t seed, uint64_t i);
double randomElement(llvm::StringRef type, uint64_t seed, uint64_t i,
                     double low, double high);
/// "inf", "-inf", "nan", "-0"
bool specialNumber(llvm::StringRef text, double &out);
bool readNpy(llvm::StringRef directory, llvm::StringRef file,
             LaunchBuffer &buffer, std::string &error);
bool parseTiming(llvm::StringRef text, AsyncTiming &out);

} // namespace linattn::sim

#endif // LINATTN_LIB_SIMULATOR_LAUNCHDATA_H
