//===- Cache.cpp - compiled files by their content ------------------------===//

#include "linattn/Compile/Cache.h"
#include "linattn/Target/NVPTX.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include "llvm/TargetParser/Host.h"

#include <elf.h>
#include <link.h>

using namespace linattn;
using llvm::StringRef;

/// The bytes of the linker's build id of the file that holds this code: another
/// compiler has another one.
static std::string findBuildId() {
  struct Search {
    uintptr_t inside;
    std::string id;
  } search{reinterpret_cast<uintptr_t>(&findBuildId), ""};
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *data) -> int {
        auto &search = *static_cast<Search *>(data);
        bool holds = false;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto &segment = info->dlpi_phdr[i];
          uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
          holds |= segment.p_type == PT_LOAD && search.inside >= begin &&
                   search.inside - begin < segment.p_memsz;
        }
        if (!holds)
          return 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto &segment = info->dlpi_phdr[i];
          if (segment.p_type != PT_NOTE)
            continue;
          auto *begin =
              reinterpret_cast<const char *>(info->dlpi_addr + segment.p_vaddr);
          auto *end = begin + segment.p_memsz;
          while (end - begin >= ptrdiff_t(sizeof(ElfW(Nhdr)))) {
            auto *note = reinterpret_cast<const ElfW(Nhdr) *>(begin);
            const char *text =
                begin + sizeof(*note) + ((note->n_namesz + 3) & ~3u);
            if (note->n_type == NT_GNU_BUILD_ID)
              search.id.assign(text, note->n_descsz);
            begin = text + ((note->n_descsz + 3) & ~3u);
          }
        }
        return 1;
      },
      &search);
  return search.id;
}

std::optional<std::string> linattn::findCacheFolder(bool byDefault) {
  auto named = llvm::sys::Process::GetEnv("LINATTN_CACHE_DIR");
  if (named && !named->empty())
    return named;
  if (!byDefault)
    return std::nullopt;
  llvm::SmallString<128> folder;
  if (!llvm::sys::path::cache_directory(folder))
    folder = ".";
  llvm::sys::path::append(folder, "linattn");
  return folder.str().str();
}

std::string linattn::makeCacheKey(mlir::ModuleOp module,
                                  const CompileOptions &options,
                                  StringRef ptxasVersion) {
  static const std::string buildId = findBuildId();
  std::string text;
  llvm::raw_string_ostream os(text);
  // Lengths between them: no two lists of strings read the same.
  auto add = [&](StringRef part) { os << part.size() << ":" << part; };
  add(buildId);
  add(getLLVMVersion());
  add(ptxasVersion);
  add(options.target);
  add(options.lowering);
  add(std::to_string(options.chunk));
  add(options.mma);
  add(options.keepRounding ? "keep" : "drop");
  add(options.plan);
  add(std::to_string(options.sizes.sequences));
  add(std::to_string(options.sizes.tokens));
  add(options.cubin ? "cubin" : "ptx");
  add(std::to_string(options.chunk));
  add(options.mma);
  add(options.keepRounding ? "keep rounding" : "");
  if (options.target == "cpu")
    add(options.cpu == "native" ? llvm::sys::getHostCPUName()
                                : StringRef(options.cpu));
  module.print(os);
  return llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(text)),
                     /*LowerCase=*/true);
}

static std::string pathOf(StringRef folder, StringRef key) {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, key.take_front(2), key.drop_front(2));
  return path.str().str();
}

/// Tells damage, not malice: a cubin is hashed for every call.
static std::string checksum(StringRef bytes) {
  return llvm::utohexstr(llvm::xxh3_64bits(bytes), /*LowerCase=*/true);
}

// A file of the cache: a line "SUFFIX BYTES HASH" per file, an empty line, then
// the bytes of all files.
std::optional<CachedFiles> linattn::loadCached(StringRef folder,
                                               StringRef key) {
  auto buffer = llvm::MemoryBuffer::getFile(pathOf(folder, key),
                                            /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return std::nullopt;
  auto [header, bytes] = (*buffer)->getBuffer().split("\n\n");
  CachedFiles files;
  llvm::SmallVector<StringRef> lines;
  header.split(lines, '\n');
  for (StringRef line : lines) {
    auto [suffix, rest] = line.split(' ');
    auto [sizeText, hash] = rest.split(' ');
    size_t size = 0;
    if (sizeText.getAsInteger(10, size) || size > bytes.size())
      return std::nullopt;
    StringRef content = bytes.take_front(size);
    bytes = bytes.drop_front(size);
    if (checksum(content) != hash)
      return std::nullopt;
    files.push_back({suffix.str(), content.str()});
  }
  return files;
}

llvm::Error linattn::storeCached(StringRef folder, StringRef key,
                                 const CachedFiles &files) {
  std::string path = pathOf(folder, key);
  if (std::error_code error =
          llvm::sys::fs::create_directories(llvm::sys::path::parent_path(path)))
    return llvm::createStringError(error, "cannot make a folder in " + folder);
  // Writes beside it, then renames.
  return llvm::writeToOutput(path, [&](llvm::raw_ostream &os) {
    for (const auto &[suffix, bytes] : files)
      os << suffix << " " << bytes.size() << " " << checksum(bytes) << "\n";
    os << "\n";
    for (const auto &[suffix, bytes] : files)
      os << bytes;
    return llvm::Error::success();
  });
}
