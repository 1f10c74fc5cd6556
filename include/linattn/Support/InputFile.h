//===- InputFile.h - files that a tool is given -----------------*- C++ -*-===//
//
// Part of linattn. Every tool says the same of a file that it cannot open.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_SUPPORT_INPUTFILE_H
#define LINATTN_SUPPORT_INPUTFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

namespace linattn {

/// The contents of a file, or of the standard input for "-". Null after
/// printing "error: cannot open 'PATH': REASON".
std::unique_ptr<llvm::MemoryBuffer> openInput(llvm::StringRef path);

} // namespace linattn

#endif // LINATTN_SUPPORT_INPUTFILE_H
