//===- Cache.h - compiled files by their content ----------------*- C++ -*-===//

#ifndef LINATTN_COMPILE_CACHE_H
#define LINATTN_COMPILE_CACHE_H

#include "linattn/Compile/Compile.h"

#include <optional>
#include <vector>

namespace linattn {

/// Suffixes and bytes of the files of a function.
using CachedFiles = std::vector<std::pair<std::string, std::string>>;

/// LINATTN_CACHE_DIR if it is set; else, `byDefault`, ~/.cache/linattn.
std::optional<std::string> findCacheFolder(bool byDefault);

/// Of all that the files depend on: the module as it prints, the options, this
/// compiler, and its tools.
std::string makeCacheKey(mlir::ModuleOp module, const CompileOptions &options,
                         llvm::StringRef ptxasVersion);

/// Nothing if the key is not there, or its file is damaged.
std::optional<CachedFiles> loadCached(llvm::StringRef folder,
                                      llvm::StringRef key);

/// Puts the files there as a whole or not at all, whoever else does so.
llvm::Error storeCached(llvm::StringRef folder, llvm::StringRef key,
                        const CachedFiles &files);

} // namespace linattn

#endif // LINATTN_COMPILE_CACHE_H
