//===- Types.cpp - contexts, types, attributes, locations -----------------===//

#include "Handles.h"

#include "linattn-c/Dialects.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;
using namespace linattn::python;

static Type parseType(const std::string &text, ContextPtr context) {
  Diagnostics diagnostics(context);
  MlirType type = mlirTypeParseGet(context->get(), view(text));
  if (mlirTypeIsNull(type))
    diagnostics.raise("'" + text + "' is no type");
  return {context, type};
}

static Attribute parseAttribute(const std::string &text, ContextPtr context) {
  Diagnostics diagnostics(context);
  MlirAttribute attribute = mlirAttributeParseGet(context->get(), view(text));
  if (mlirAttributeIsNull(attribute))
    diagnostics.raise("'" + text + "' is no attribute");
  return {context, attribute};
}

static std::string print(const Type &type) {
  std::string text;
  mlirTypePrint(type.type, append, &text);
  return text;
}

static std::string print(const Attribute &attribute) {
  std::string text;
  mlirAttributePrint(attribute.attribute, append, &text);
  return text;
}

static std::string print(const Location &location) {
  std::string text;
  mlirLocationPrint(location.location, append, &text);
  return text;
}

static Type makeState(int64_t keys, int64_t values, const Type &element) {
  Diagnostics diagnostics(element.context);
  MlirType type =
      linattnStateTypeGetChecked(mlirLocationUnknownGet(element.context->get()),
                                 keys, values, element.type);
  if (mlirTypeIsNull(type))
    diagnostics.raise("no such state");
  return {element.context, type};
}

static void needState(const Type &type) {
  if (!linattnTypeIsAState(type.type))
    throw nb::type_error(("'" + print(type) + "' is no state").c_str());
}

static void bindType(nb::module_ &m) {
  nb::class_<Type>(m, "Type", "A type of MLIR.")
      .def_static("parse", &parseType, "text"_a, "context"_a)
      .def_static("state", &makeState, "keys"_a, "values"_a, "element_type"_a,
                  "!linattn.state<KxVxelement>")
      .def_prop_ro("is_state",
                   [](const Type &t) { return linattnTypeIsAState(t.type); })
      .def_prop_ro("keys",
                   [](const Type &t) {
                     needState(t);
                     return linattnStateTypeGetKeys(t.type);
                   })
      .def_prop_ro("values",
                   [](const Type &t) {
                     needState(t);
                     return linattnStateTypeGetValues(t.type);
                   })
      .def_prop_ro(
          "element_type",
          [](const Type &t) -> std::optional<Type> {
            if (linattnTypeIsAState(t.type))
              return Type{t.context, linattnStateTypeGetElementType(t.type)};
            if (mlirTypeIsAShaped(t.type))
              return Type{t.context, mlirShapedTypeGetElementType(t.type)};
            return std::nullopt;
          },
          "Of a state, tensor, vector or memref; else None.")
      .def_prop_ro(
          "shape",
          [](const Type &t) -> std::optional<std::vector<int64_t>> {
            if (linattnTypeIsAState(t.type))
              return std::vector<int64_t>{linattnStateTypeGetKeys(t.type),
                                          linattnStateTypeGetValues(t.type)};
            if (!mlirTypeIsAShaped(t.type) || !mlirShapedTypeHasRank(t.type))
              return std::nullopt;
            std::vector<int64_t> shape;
            for (intptr_t i = 0, n = mlirShapedTypeGetRank(t.type); i < n; ++i)
              shape.push_back(mlirShapedTypeIsDynamicDim(t.type, i)
                                  ? -1
                                  : mlirShapedTypeGetDimSize(t.type, i));
            return shape;
          },
          "Sizes, -1 where one is dynamic; None where there is no shape.")
      .def_prop_ro("context", [](const Type &t) { return t.context; })
      .def("__eq__",
           [](const Type &a, nb::object b) {
             return nb::isinstance<Type>(b) &&
                    mlirTypeEqual(a.type, nb::cast<const Type &>(b).type);
           })
      .def("__hash__", [](const Type &t) { return size_t(t.type.ptr) >> 4; })
      .def("__str__", [](const Type &t) { return print(t); })
      .def("__repr__", [](const Type &t) { return "Type(" + print(t) + ")"; });
}

static void bindAttribute(nb::module_ &m) {
  nb::class_<Attribute>(m, "Attribute", "An attribute of MLIR.")
      .def_static("parse", &parseAttribute, "text"_a, "context"_a)
      .def_static(
          "string",
          [](const std::string &text, ContextPtr context) {
            return Attribute{context,
                             mlirStringAttrGet(context->get(), view(text))};
          },
          "text"_a, "context"_a)
      .def_static(
          "precision",
          [](const std::string &mma, const std::string &solve,
             ContextPtr context) {
            return parseAttribute("#linattn.precision<mma = " + mma +
                                      ", solve = " + solve + ">",
                                  context);
          },
          "mma"_a, "solve"_a, "context"_a,
          "#linattn.precision; f32, tf32x3, bf16, f16 or bf16x2")
      .def_prop_ro("string_value",
                   [](const Attribute &a) -> std::optional<std::string> {
                     if (!mlirAttributeIsAString(a.attribute))
                       return std::nullopt;
                     return str(mlirStringAttrGetValue(a.attribute));
                   })
      .def_prop_ro("context", [](const Attribute &a) { return a.context; })
      .def("__eq__",
           [](const Attribute &a, nb::object b) {
             return nb::isinstance<Attribute>(b) &&
                    mlirAttributeEqual(
                        a.attribute, nb::cast<const Attribute &>(b).attribute);
           })
      .def("__hash__",
           [](const Attribute &a) { return size_t(a.attribute.ptr) >> 4; })
      .def("__str__", [](const Attribute &a) { return print(a); })
      .def("__repr__",
           [](const Attribute &a) { return "Attribute(" + print(a) + ")"; });
}

void linattn::python::bindTypes(nb::module_ &m) {
  nb::class_<Context>(m, "Context",
                      "Holds types and attributes; knows every dialect of MLIR "
                      "and linattn's.")
      .def(nb::new_([] { return std::make_shared<Context>(); }))
      .def_prop_rw(
          "allow_unregistered_dialects",
          [](const Context &c) {
            return mlirContextGetAllowUnregisteredDialects(c.get());
          },
          [](Context &c, bool allow) {
            mlirContextSetAllowUnregisteredDialects(c.get(), allow);
          });
  bindType(m);
  bindAttribute(m);
  nb::class_<Location>(m, "Location", "Where an operation comes from.")
      .def_static(
          "file",
          [](const std::string &file, unsigned line, unsigned column,
             ContextPtr context) {
            return Location{context, mlirLocationFileLineColGet(context->get(),
                                                                view(file),
                                                                line, column)};
          },
          "file"_a, "line"_a, "column"_a, "context"_a)
      .def_static(
          "unknown",
          [](ContextPtr context) {
            return Location{context, mlirLocationUnknownGet(context->get())};
          },
          "context"_a)
      .def("__eq__",
           [](const Location &a, nb::object b) {
             return nb::isinstance<Location>(b) &&
                    mlirLocationEqual(a.location,
                                      nb::cast<const Location &>(b).location);
           })
      .def("__str__", [](const Location &l) { return print(l); })
      .def("__repr__", [](const Location &l) { return print(l); });
}
