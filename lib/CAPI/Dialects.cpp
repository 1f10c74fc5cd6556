//===- Dialects.cpp - C API of the linattn dialect ------------------------===//

#include "linattn-c/Dialects.h"
#include "linattn-c/Passes.h"
#include "linattn/Compile/Compile.h"
#include "linattn/Dialect/LinAttn/IR/LinAttn.h"
#include "linattn/Registration.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/IR/MLIRContext.h"

using namespace mlir;
using namespace linattn;

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(LinAttn, linattn, linattn::LinAttnDialect)

MlirContext linattnContextCreate(void) {
  linattnRegisterPasses();
  DialectRegistry registry;
  registerCompileDialects(registry);
  return wrap(new MLIRContext(registry, MLIRContext::Threading::DISABLED));
}

bool linattnTypeIsAState(MlirType type) { return isa<StateType>(unwrap(type)); }

MlirType linattnStateTypeGetChecked(MlirLocation location, int64_t keys,
                                    int64_t values, MlirType elementType) {
  Location loc = unwrap(location);
  auto element = dyn_cast<FloatType>(unwrap(elementType));
  if (!element) {
    emitError(loc) << "the element type of a state is a float, got "
                   << unwrap(elementType);
    return wrap(Type());
  }
  loc.getContext()->loadDialect<LinAttnDialect>();
  return wrap(
      Type(StateType::getChecked([&] { return emitError(loc); },
                                 loc.getContext(), keys, values, element)));
}

int64_t linattnStateTypeGetKeys(MlirType type) {
  return cast<StateType>(unwrap(type)).getKeys();
}

int64_t linattnStateTypeGetValues(MlirType type) {
  return cast<StateType>(unwrap(type)).getValues();
}

MlirType linattnStateTypeGetElementType(MlirType type) {
  return wrap(Type(cast<StateType>(unwrap(type)).getElementType()));
}

bool linattnAttributeIsAPrecision(MlirAttribute attribute) {
  return isa<PrecisionAttr>(unwrap(attribute));
}

MlirAttribute linattnPrecisionAttrGet(MlirContext context,
                                      LinAttnMmaPrecision mma,
                                      LinAttnMmaPrecision solve) {
  unwrap(context)->loadDialect<LinAttnDialect>();
  return wrap(Attribute(PrecisionAttr::get(unwrap(context), MmaPrecision(mma),
                                           MmaPrecision(solve))));
}

LinAttnMmaPrecision linattnPrecisionAttrGetMma(MlirAttribute attribute) {
  return LinAttnMmaPrecision(cast<PrecisionAttr>(unwrap(attribute)).getMma());
}

LinAttnMmaPrecision linattnPrecisionAttrGetSolve(MlirAttribute attribute) {
  return LinAttnMmaPrecision(cast<PrecisionAttr>(unwrap(attribute)).getSolve());
}
