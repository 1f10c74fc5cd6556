//===- Types.cpp - PTX types and AST queries ------------------------------===//

#include "Ast.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;

namespace linattn::sim {

namespace {
struct TypeEntry {
  StringLiteral name;
  Type type;
  unsigned bits;
};
constexpr TypeEntry typeTable[] = {
    {"", Type::None, 0},          {"b8", Type::B8, 8},
    {"b16", Type::B16, 16},       {"b32", Type::B32, 32},
    {"b64", Type::B64, 64},       {"b128", Type::B128, 128},
    {"u8", Type::U8, 8},          {"u16", Type::U16, 16},
    {"u32", Type::U32, 32},       {"u64", Type::U64, 64},
    {"s8", Type::S8, 8},          {"s16", Type::S16, 16},
    {"s32", Type::S32, 32},       {"s64", Type::S64, 64},
    {"f16", Type::F16, 16},       {"f16x2", Type::F16x2, 32},
    {"bf16", Type::BF16, 16},     {"bf16x2", Type::BF16x2, 32},
    {"f32", Type::F32, 32},       {"f64", Type::F64, 64},
    {"tf32", Type::TF32, 32},     {"e4m3", Type::E4M3, 8},
    {"e5m2", Type::E5M2, 8},      {"e4m3x2", Type::E4M3x2, 16},
    {"e5m2x2", Type::E5M2x2, 16}, {"pred", Type::Pred, 1},
};
} // namespace

unsigned typeBits(Type type) { return typeTable[size_t(type)].bits; }
StringRef typeName(Type type) { return typeTable[size_t(type)].name; }

bool isSigned(Type type) { return type >= Type::S8 && type <= Type::S64; }
bool isFloat(Type type) { return type >= Type::F16 && type <= Type::E5M2x2; }

Type parseType(StringRef name) {
  if (name.empty())
    return Type::None;
  for (const TypeEntry &entry : typeTable)
    if (entry.name == name)
      return entry.type;
  return Type::None;
}

static std::string scoped(StringRef name, uint32_t scope) {
  return (name + "@" + Twine(scope)).str();
}

int64_t Function::findLabel(StringRef name, uint32_t scope) const {
  while (true) {
    auto it = labels.find(scoped(name, scope));
    if (it != labels.end())
      return it->second;
    if (scope == 0)
      return -1;
    scope = scopeParent[scope];
  }
}

const std::vector<std::string> *Function::findTargets(StringRef name,
                                                      uint32_t scope) const {
  while (true) {
    auto it = branchTargets.find(scoped(name, scope));
    if (it != branchTargets.end())
      return &it->second;
    if (scope == 0)
      return nullptr;
    scope = scopeParent[scope];
  }
}

std::string Ast::sourceOf(unsigned loc) const {
  if (loc == 0 || loc >= locations.size() || locations[loc].line == 0)
    return "";
  const Location &location = locations[loc];
  StringRef file = location.file < files.size()
                       ? StringRef(files[location.file])
                       : StringRef();
  return (file + ":" + Twine(location.line)).str();
}

std::string Ast::lineText(unsigned line) const {
  if (line == 0 || line > lines.size())
    return "";
  return StringRef(lines[line - 1]).trim().str();
}

} // namespace linattn::sim
