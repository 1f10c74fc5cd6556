//===- ToJSON.cpp - attributes as JSON ------------------------------------===//

#include "linattn/Compile/Compile.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace linattn;

static llvm::json::Value valueOf(Attribute attr) {
  using llvm::json::Value;
  return llvm::TypeSwitch<Attribute, Value>(attr)
      .Case([](DictionaryAttr object) -> Value { return toJSON(object); })
      .Case([](ArrayAttr array) -> Value {
        llvm::json::Array values;
        for (Attribute element : array)
          values.push_back(valueOf(element));
        return values;
      })
      .Case([](StringAttr text) -> Value { return text.getValue().str(); })
      .Case([](BoolAttr flag) -> Value { return flag.getValue(); })
      .Case([](IntegerAttr number) -> Value { return number.getInt(); })
      .Default([](Attribute other) -> Value {
        std::string text;
        llvm::raw_string_ostream(text) << other;
        return text;
      });
}

llvm::json::Object linattn::toJSON(DictionaryAttr attr) {
  llvm::json::Object object;
  for (NamedAttribute field : attr)
    object[field.getName().getValue()] = valueOf(field.getValue());
  return object;
}
