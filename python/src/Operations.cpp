//===- Operations.cpp - operations, blocks, regions, values ---------------===//

#include "Handles.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;
using namespace linattn::python;

static Operation make(const std::string &name, const Location &location,
                      const std::vector<Value> &operands,
                      const std::optional<std::vector<Type>> &results,
                      nb::dict attributes, int regions) {
  ContextPtr context = location.context;
  Diagnostics diagnostics(context);
  // Text loads dialects as it names them; so does a name here.
  std::string dialect = name.substr(0, name.find('.'));
  mlirContextGetOrLoadDialect(context->get(), view(dialect));
  MlirOperationState state =
      mlirOperationStateGet(view(name), location.location);
  std::vector<MlirValue> values;
  for (const Value &operand : operands) {
    operand.check();
    values.push_back(operand.value);
  }
  mlirOperationStateAddOperands(&state, intptr_t(values.size()), values.data());
  std::vector<MlirNamedAttribute> named;
  for (auto [key, value] : attributes)
    named.push_back(mlirNamedAttributeGet(
        mlirIdentifierGet(context->get(), view(nb::cast<std::string>(key))),
        nb::cast<const Attribute &>(value).attribute));
  mlirOperationStateAddAttributes(&state, intptr_t(named.size()), named.data());
  std::vector<MlirRegion> owned;
  for (int i = 0; i < regions; ++i)
    owned.push_back(mlirRegionCreate());
  mlirOperationStateAddOwnedRegions(&state, intptr_t(owned.size()),
                                    owned.data());
  if (results) {
    std::vector<MlirType> types;
    for (const Type &type : *results)
      types.push_back(type.type);
    mlirOperationStateAddResults(&state, intptr_t(types.size()), types.data());
  } else {
    mlirOperationStateEnableResultTypeInference(&state);
  }
  MlirOperation operation = mlirOperationCreate(&state);
  if (mlirOperationIsNull(operation))
    diagnostics.raise("cannot make '" + name + "'");
  auto tree = std::make_shared<Tree>(context, operation);
  for (const Value &operand : operands)
    tree->keep(operand.tree);
  return {{tree}, operation};
}

static std::string printOperation(const Operation &op, bool generic,
                                  bool locations) {
  op.check();
  std::string text;
  MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
  if (generic)
    mlirOpPrintingFlagsPrintGenericOpForm(flags);
  if (locations)
    mlirOpPrintingFlagsEnableDebugInfo(flags, true, /*prettyForm=*/false);
  mlirOperationPrintWithFlags(op.operation, flags, append, &text);
  mlirOpPrintingFlagsDestroy(flags);
  return text;
}

static std::vector<Value> results(const Operation &op) {
  op.check();
  std::vector<Value> values;
  for (intptr_t i = 0, n = mlirOperationGetNumResults(op.operation); i < n; ++i)
    values.push_back({{op.tree}, mlirOperationGetResult(op.operation, i)});
  return values;
}

static std::vector<Value> operands(const Operation &op) {
  op.check();
  std::vector<Value> values;
  for (intptr_t i = 0, n = mlirOperationGetNumOperands(op.operation); i < n;
       ++i)
    values.push_back({{op.tree}, mlirOperationGetOperand(op.operation, i)});
  return values;
}

static nb::dict attributes(const Operation &op) {
  op.check();
  nb::dict all;
  for (intptr_t i = 0, n = mlirOperationGetNumAttributes(op.operation); i < n;
       ++i) {
    MlirNamedAttribute named = mlirOperationGetAttribute(op.operation, i);
    std::string name = str(mlirIdentifierStr(named.name));
    all[name.c_str()] = nb::cast(Attribute{op.tree->context, named.attribute});
  }
  return all;
}

static void verify(const Operation &op) {
  op.check();
  Diagnostics diagnostics(op.tree->context);
  if (!mlirOperationVerify(op.operation))
    diagnostics.raise("the operation does not verify");
}

static void bindOperation(nb::module_ &m) {
  nb::class_<Operation>(m, "Operation", "An operation.")
      .def_static("create", &make, "name"_a, "location"_a,
                  "operands"_a = std::vector<Value>(), "results"_a = nb::none(),
                  "attributes"_a = nb::dict(), "regions"_a = 0,
                  "An operation that is in no block yet. `results` are types; "
                  "None infers them.")
      .def_prop_ro("name",
                   [](const Operation &op) {
                     op.check();
                     return str(
                         mlirIdentifierStr(mlirOperationGetName(op.operation)));
                   })
      .def_prop_ro("operands", &operands)
      .def_prop_ro("results", &results)
      .def_prop_ro("result",
                   [](const Operation &op) {
                     std::vector<Value> all = results(op);
                     if (all.size() != 1)
                       throw nb::value_error(("the operation has " +
                                              std::to_string(all.size()) +
                                              " results, not one")
                                                 .c_str());
                     return all[0];
                   })
      .def_prop_ro("attributes", &attributes)
      .def(
          "set_attribute",
          [](Operation &op, const std::string &name, const Attribute &value) {
            op.check();
            mlirOperationSetAttributeByName(op.operation, view(name),
                                            value.attribute);
          },
          "name"_a, "value"_a)
      .def_prop_ro("regions",
                   [](const Operation &op) {
                     op.check();
                     std::vector<Region> all;
                     for (intptr_t i = 0,
                                   n = mlirOperationGetNumRegions(op.operation);
                          i < n; ++i)
                       all.push_back({{op.tree},
                                      mlirOperationGetRegion(op.operation, i)});
                     return all;
                   })
      .def_prop_ro("location",
                   [](const Operation &op) {
                     op.check();
                     return Location{op.tree->context,
                                     mlirOperationGetLocation(op.operation)};
                   })
      .def("verify", &verify, "Raises CompileError if the operation is wrong.")
      .def("to_text", &printOperation, "generic"_a = false,
           "locations"_a = false)
      .def("__eq__",
           [](const Operation &a, nb::object b) {
             return nb::isinstance<Operation>(b) &&
                    mlirOperationEqual(
                        a.operation, nb::cast<const Operation &>(b).operation);
           })
      .def("__hash__",
           [](const Operation &op) { return size_t(op.operation.ptr) >> 4; })
      .def("__str__", [](const Operation &op) {
        return printOperation(op, false, false);
      });
}

static Operation appendOperation(Block &block, Operation &op) {
  block.check();
  op.check();
  if (!op.tree->ownsRoot() || !mlirOperationEqual(op.tree->root, op.operation))
    throw nb::value_error("the operation is in a block already");
  mlirBlockAppendOwnedOperation(block.block, op.operation);
  op.tree->moveInto(block.tree);
  return op;
}

static void bindBlock(nb::module_ &m) {
  nb::class_<Block>(m, "Block", "A list of operations, with arguments.")
      .def_prop_ro("arguments",
                   [](const Block &block) {
                     block.check();
                     std::vector<Value> all;
                     for (intptr_t i = 0,
                                   n = mlirBlockGetNumArguments(block.block);
                          i < n; ++i)
                       all.push_back({{block.tree},
                                      mlirBlockGetArgument(block.block, i)});
                     return all;
                   })
      .def_prop_ro(
          "operations",
          [](const Block &block) {
            block.check();
            std::vector<Operation> all;
            for (MlirOperation op = mlirBlockGetFirstOperation(block.block);
                 !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
              all.push_back({{block.tree}, op});
            return all;
          })
      .def("append", &appendOperation, "operation"_a,
           "Puts an operation at the end and returns it.");
  nb::class_<Region>(m, "Region", "A list of blocks.")
      .def_prop_ro("blocks",
                   [](const Region &region) {
                     region.check();
                     std::vector<Block> all;
                     for (MlirBlock block =
                              mlirRegionGetFirstBlock(region.region);
                          !mlirBlockIsNull(block);
                          block = mlirBlockGetNextInRegion(block))
                       all.push_back({{region.tree}, block});
                     return all;
                   })
      .def(
          "append_block",
          [](Region &region, const std::vector<Type> &types,
             const Location &location) {
            region.check();
            std::vector<MlirType> all;
            for (const Type &type : types)
              all.push_back(type.type);
            std::vector<MlirLocation> locations(all.size(), location.location);
            MlirBlock block = mlirBlockCreate(intptr_t(all.size()), all.data(),
                                              locations.data());
            mlirRegionAppendOwnedBlock(region.region, block);
            return Block{{region.tree}, block};
          },
          "types"_a, "location"_a);
}

static void bindValue(nb::module_ &m) {
  nb::class_<Value>(m, "Value", "A result of an operation, or an argument.")
      .def_prop_ro("type",
                   [](const Value &value) {
                     value.check();
                     return Type{value.tree->context,
                                 mlirValueGetType(value.value)};
                   })
      .def_prop_ro(
          "owner",
          [](const Value &value) -> std::optional<Operation> {
            value.check();
            if (!mlirValueIsAOpResult(value.value))
              return std::nullopt;
            return Operation{{value.tree}, mlirOpResultGetOwner(value.value)};
          },
          "The operation that gives it; None for an argument.")
      .def_prop_ro(
          "index",
          [](const Value &value) {
            value.check();
            return mlirValueIsAOpResult(value.value)
                       ? mlirOpResultGetResultNumber(value.value)
                       : mlirBlockArgumentGetArgNumber(value.value);
          },
          "Its place among the results or arguments.")
      .def("__eq__",
           [](const Value &a, nb::object b) {
             return nb::isinstance<Value>(b) &&
                    mlirValueEqual(a.value, nb::cast<const Value &>(b).value);
           })
      .def("__hash__",
           [](const Value &value) { return size_t(value.value.ptr) >> 4; })
      .def("__str__", [](const Value &value) {
        value.check();
        std::string text;
        mlirValuePrint(value.value, append, &text);
        return text;
      });
}

void linattn::python::bindOperations(nb::module_ &m) {
  bindValue(m);
  bindOperation(m);
  bindBlock(m);
}
