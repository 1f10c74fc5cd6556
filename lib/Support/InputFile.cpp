//===- InputFile.cpp - files that a tool is given ---------------*- C++ -*-===//

#include "linattn/Support/InputFile.h"

#include "llvm/Support/raw_ostream.h"

std::unique_ptr<llvm::MemoryBuffer> linattn::openInput(llvm::StringRef path) {
  auto file = llvm::MemoryBuffer::getFileOrSTDIN(path);
  if (file)
    return std::move(*file);
  llvm::errs() << "error: cannot open '" << path
               << "': " << file.getError().message() << "\n";
  return nullptr;
}
