//===- Ptxas.cpp - PTX to cubin -------------------------------------------===//

#include "linattn/Target/NVPTX.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/VersionTuple.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace linattn;

static Error makeError(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

namespace {
/// A file that goes away with the object.
class TemporaryFile {
public:
  static Expected<TemporaryFile> create(StringRef suffix) {
    SmallString<128> path;
    if (std::error_code error =
            sys::fs::createTemporaryFile("linattn", suffix, path))
      return makeError("no temporary file: " + error.message());
    return TemporaryFile(path);
  }
  StringRef path() const { return name; }
  Expected<std::string> read() const {
    ErrorOr<std::unique_ptr<MemoryBuffer>> buffer =
        MemoryBuffer::getFile(name, /*IsText=*/false);
    if (!buffer)
      return makeError("cannot read " + name + ": " +
                       buffer.getError().message());
    return (*buffer)->getBuffer().str();
  }

private:
  TemporaryFile(StringRef path) : name(path), remover(path) {}
  std::string name;
  FileRemover remover;
};
} // namespace

/// Runs a program; returns its exit code and all that it says.
static Expected<int> run(StringRef program, ArrayRef<StringRef> arguments,
                         std::string &output) {
  Expected<TemporaryFile> log = TemporaryFile::create("log");
  if (!log)
    return log.takeError();
  SmallVector<StringRef> all = {program};
  llvm::append_range(all, arguments);
  std::optional<StringRef> redirects[] = {StringRef(), log->path(),
                                          log->path()};
  std::string error;
  int code =
      sys::ExecuteAndWait(program, all, std::nullopt, redirects,
                          /*SecondsToWait=*/0, /*MemoryLimit=*/0, &error);
  if (code < 0)
    return makeError(program + ": " + error);
  Expected<std::string> text = log->read();
  if (!text)
    return text.takeError();
  output = *text;
  return code;
}

/// "13.5.37" of "Cuda compilation tools, release 13.5, V13.5.37".
static std::string versionOf(StringRef path) {
  std::string output;
  Expected<int> code = run(path, {"--version"}, output);
  if (!code) {
    consumeError(code.takeError());
    return "";
  }
  SmallVector<StringRef> match;
  if (*code != 0 || !Regex(" V([0-9]+(\\.[0-9]+)*)").match(output, &match))
    return "";
  return match[1].str();
}

static void addIfFile(std::vector<Ptxas> &found, const Twine &path,
                      StringRef origin) {
  std::string text = path.str();
  if (sys::fs::can_execute(text) &&
      llvm::none_of(found, [&](const Ptxas &p) { return p.path == text; }))
    found.push_back({text, "", origin.str()});
}

/// Wheels put it into lib/python3.X/site-packages/nvidia/cuNN/bin.
static void addWheels(std::vector<Ptxas> &found, StringRef environment,
                      StringRef origin) {
  auto entries = [](const Twine &folder, StringRef prefix) {
    std::vector<std::string> paths;
    std::error_code error;
    for (sys::fs::directory_iterator it(folder, error), end;
         !error && it != end; it.increment(error))
      if (sys::path::filename(it->path()).starts_with(prefix))
        paths.push_back(it->path());
    llvm::sort(paths);
    return paths;
  };
  for (const std::string &python : entries(environment + "/lib", "python3"))
    for (const std::string &toolkit :
         entries(python + "/site-packages/nvidia", "cu"))
      addIfFile(found, toolkit + "/bin/ptxas", origin);
}

Expected<Ptxas> linattn::findPtxas(StringRef toolPath) {
  std::optional<std::string> named = sys::Process::GetEnv("LINATTN_PTXAS");
  // Empty is how a script takes a variable back.
  if (named && !named->empty()) {
    std::string version = versionOf(*named);
    if (version.empty())
      return makeError("LINATTN_PTXAS: no ptxas runs at '" + *named + "'");
    return Ptxas{*named, version, "LINATTN_PTXAS"};
  }
  std::vector<Ptxas> found;
  // The tool lies in build/bin of the project, or in bin of an environment.
  SmallString<128> tool(toolPath);
  sys::fs::real_path(toolPath, tool);
  StringRef bin = sys::path::parent_path(tool);
  addWheels(found, sys::path::parent_path(bin), "wheel");
  StringRef root = sys::path::parent_path(sys::path::parent_path(bin));
  addWheels(found, (root + "/.venv").str(), "wheel");
  if (std::optional<std::string> active = sys::Process::GetEnv("VIRTUAL_ENV"))
    addWheels(found, *active, "wheel");
  if (std::optional<std::string> cuda = sys::Process::GetEnv("CUDA_HOME"))
    addIfFile(found, *cuda + "/bin/ptxas", "CUDA_HOME");
  if (ErrorOr<std::string> path = sys::findProgramByName("ptxas"))
    addIfFile(found, *path, "PATH");

  const Ptxas *best = nullptr;
  VersionTuple newest;
  for (Ptxas &candidate : found) {
    candidate.version = versionOf(candidate.path);
    VersionTuple version;
    if (candidate.version.empty() || version.tryParse(candidate.version))
      continue;
    if (!best || version > newest) {
      best = &candidate;
      newest = version;
    }
  }
  if (!best)
    return makeError(
        "no ptxas in LINATTN_PTXAS, a virtual environment, CUDA_HOME "
        "or PATH: `pip install --no-deps nvidia-cuda-nvcc` brings "
        "one, and --no-cubin stops at PTX");
  return *best;
}

Resources linattn::parsePtxasOutput(StringRef text) {
  Resources resources;
  auto number = [](StringRef line, StringRef pattern) -> unsigned {
    SmallVector<StringRef> match;
    unsigned value = 0;
    if (Regex(pattern).match(line, &match))
      match[1].getAsInteger(10, value);
    return value;
  };
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  std::string kernel;
  for (StringRef line : lines) {
    SmallVector<StringRef> match;
    if (Regex("Compiling entry function '([^']*)'").match(line, &match))
      kernel = match[1].str();
    auto most = [&](StringRef pattern, unsigned &value) {
      value = std::max(value, number(line, pattern));
    };
    most("[Uu]sed ([0-9]+) registers", resources.registers);
    most("used ([0-9]+) barriers", resources.barriers);
    most("([0-9]+) bytes smem", resources.sharedBytes);
    most("([0-9]+) bytes smem", resources.sharedBytesOf[kernel]);
    most("([0-9]+) bytes stack frame", resources.stackBytes);
    // -warn-spills says the same words once more, in its warnings.
    if (line.contains("bytes stack frame")) {
      unsigned stores = number(line, "([0-9]+) bytes spill stores");
      resources.spillStoreBytes += stores;
      resources.spillsOf[kernel] += stores;
      resources.spillLoadBytes += number(line, "([0-9]+) bytes spill loads");
    }
    if (line.contains("warning") || line.contains("Performance Loss") ||
        line.contains("(C7"))
      resources.notes.push_back(line.trim().str());
  }
  return resources;
}

Expected<Cubin> linattn::assemble(const Ptxas &ptxas, StringRef ptx,
                                  StringRef chip) {
  Expected<TemporaryFile> input = TemporaryFile::create("ptx");
  if (!input)
    return input.takeError();
  Expected<TemporaryFile> output = TemporaryFile::create("cubin");
  if (!output)
    return output.takeError();
  {
    std::error_code error;
    raw_fd_ostream stream(input->path(), error);
    stream << ptx;
    stream.close();
    if (error || stream.has_error())
      return makeError("cannot write " + input->path() + " for ptxas");
  }
  std::string said;
  std::string arch = ("-arch=" + chip).str();
  Expected<int> code = run(
      ptxas.path,
      {arch, "-O3", "-v", "-warn-spills", input->path(), "-o", output->path()},
      said);
  if (!code)
    return code.takeError();
  if (*code != 0)
    return makeError("ptxas " + ptxas.version + " (" + ptxas.path + ") for " +
                     chip + ":\n" + said);
  Expected<std::string> bytes = output->read();
  if (!bytes)
    return bytes.takeError();
  return Cubin{std::move(*bytes), parsePtxasOutput(said)};
}
