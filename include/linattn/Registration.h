//===- Registration.h - everything that the tools know ----------*- C++ -*-===//

#ifndef LINATTN_REGISTRATION_H
#define LINATTN_REGISTRATION_H

namespace mlir {
class DialectRegistry;
}

namespace linattn {

/// Our dialect and passes beside all of MLIR's.
void registerEverything(mlir::DialectRegistry &registry);

} // namespace linattn

#endif // LINATTN_REGISTRATION_H
