//===- Parser.cpp - Modules ---------------------------------------------===//

#include "Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace linattn::sim {

Parser::Parser(StringRef text, StringRef name)
    : lex(text), ast(std::make_unique<Ast>()) {
  ast->fileName = name.str();
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (StringRef line : lines)
    ast->lines.push_back(line.str());
}

Expected<std::unique_ptr<Ast>> Parser::run() {
  while (lex.skipSpace(), !lex.atEnd())
    if (!parseTopLevel())
      break;
  if (lex.error.empty() && ast->version.empty())
    lex.fail("not a PTX module: there is no .version directive");
  if (!lex.error.empty())
    return createStringError(ast->fileName + ":" +
                             std::to_string(lex.errorLine) + ": " + lex.error);
  return std::move(ast);
}

bool Parser::parseTopLevel() {
  if (lex.eat(';'))
    return true;
  if (lex.peek() != '.')
    return fail("expected a directive at module level");
  std::string word = lex.directive();
  if (word == ".version" || word == ".target" || word == ".address_size") {
    std::string rest = lex.restOfLine();
    if (word == ".version")
      ast->version = rest;
    if (word == ".target")
      ast->target = rest;
    if (word == ".address_size" && rest != "64")
      return fail("only 64-bit addresses are supported, got " + rest);
    return true;
  }
  if (word == ".file")
    return parseFile();
  if (word == ".section")
    return skipBraces();
  if (word == ".pragma" || word == ".alias")
    return lex.skipTo(';');
  if (word == ".loc")
    return parseLoc();
  bool isExtern = false;
  while (word == ".visible" || word == ".weak" || word == ".extern" ||
         word == ".common") {
    isExtern |= word == ".extern";
    word = lex.directive();
  }
  if (word == ".entry" || word == ".func")
    return parseFunction(word == ".entry", isExtern);
  if (word == ".global" || word == ".shared" || word == ".const")
    return parseVariables(word, isExtern, ast->variables);
  return fail("unknown directive '" + word + "'");
}

bool Parser::parseFile() {
  uint64_t index;
  std::string path;
  if (!lex.unsignedInteger(index))
    return false;
  if (index > 1u << 16)
    return fail("file number " + Twine(index) + " is too large");
  if (!lex.quoted(path))
    return false;
  if (ast->files.size() <= index)
    ast->files.resize(index + 1);
  ast->files[index] = path;
  uint64_t ignored;
  while (lex.eat(','))
    if (!lex.unsignedInteger(ignored))
      return false;
  return true;
}

bool Parser::parseLoc() {
  uint64_t file, line;
  if (!lex.unsignedInteger(file) || !lex.unsignedInteger(line))
    return false;
  lex.restOfLine(); // column, inlined-at
  ast->locations.push_back({uint32_t(file), uint32_t(line)});
  currentLoc = ast->locations.size() - 1;
  return true;
}

bool Parser::skipBraces() {
  if (!lex.skipTo('{'))
    return false;
  for (unsigned depth = 1; depth;) {
    if (lex.atEnd())
      return fail("unbalanced braces in a section");
    char c = lex.next();
    depth += c == '{' ? 1 : c == '}' ? -1 : 0;
  }
  return true;
}

Expected<std::unique_ptr<Ast>> parsePTX(StringRef text, StringRef name) {
  return Parser(text, name).run();
}

} // namespace linattn::sim
