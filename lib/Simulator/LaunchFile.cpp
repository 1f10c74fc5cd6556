//===- LaunchFile.cpp - Launches described in JSON ------------------------===//

#include "linattn/Simulator/LaunchFile.h"
#include "LaunchData.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace linattn::sim {
namespace {

constexpr uint64_t maxBufferBytes = uint64_t(1) << 34;

/// Reads one description. Every function returns false after it set the error.
class Reader {
public:
  Reader(StringRef name, StringRef directory)
      : name(name), directory(directory) {}
  LaunchFile launch;
  std::string error;

  bool fail(const Twine &message) {
    if (error.empty())
      error = (name + ": " + message).str();
    return false;
  }

  bool read(const json::Value &value) {
    const json::Object *root = value.getAsObject();
    if (!root)
      return fail("expected an object");
    if (!onlyKeys(*root, "the launch",
                  {"kernel", "grid", "block", "cluster", "dynamic_shared",
                   "buffers", "args", "options", "comment"}))
      return false;
    if (auto k = root->getString("kernel"))
      launch.kernel = k->str();
    uint64_t shared = 0;
    if (!dim(*root, "grid", launch.config.grid, true) ||
        !dim(*root, "block", launch.config.block, true) ||
        !dim(*root, "cluster", launch.config.cluster, false) ||
        !number(*root, "dynamic_shared", "the launch", shared, UINT32_MAX))
      return false;
    launch.config.dynamicSharedBytes = shared;
    return each(*root, "buffers",
                [&](const json::Object &o) { return buffer(o); }) &&
           each(*root, "args",
                [&](const json::Object &o) { return argument(o); }) &&
           options(root->getObject("options"));
  }

private:
  std::string name, directory;

  bool onlyKeys(const json::Object &o, const Twine &where,
                ArrayRef<StringRef> keys) {
    for (auto &entry : o)
      if (!is_contained(keys, StringRef(entry.first)))
        return fail("unknown key '" + StringRef(entry.first) + "' in " + where);
    return true;
  }

  template <typename F> bool each(const json::Object &o, StringRef key, F f) {
    const json::Value *list = o.get(key);
    if (!list)
      return true;
    const json::Array *array = list->getAsArray();
    if (!array)
      return fail("'" + key + "' must be a list");
    for (const json::Value &v : *array) {
      const json::Object *element = v.getAsObject();
      if (!element)
        return fail("the elements of '" + key + "' must be objects");
      if (!f(*element))
        return false;
    }
    return true;
  }

  bool number(const json::Object &o, StringRef key, const Twine &where,
              uint64_t &out, uint64_t max) {
    const json::Value *v = o.get(key);
    if (!v)
      return true;
    std::optional<uint64_t> n = v->getAsUINT64();
    if (!n || *n > max)
      return fail("'" + key + "' of " + where +
                  " must be an integer from 0 to " + Twine(max));
    out = *n;
    return true;
  }

  bool real(const json::Object &o, StringRef key, const Twine &where,
            double &out) {
    const json::Value *v = o.get(key);
    if (!v)
      return true;
    std::optional<double> n = v->getAsNumber();
    if (!n)
      return fail("'" + key + "' of " + where + " must be a number");
    out = *n;
    return true;
  }

  bool dim(const json::Object &o, StringRef key, Dim3 &out, bool needed) {
    const json::Value *v = o.get(key);
    if (!v)
      return needed ? fail("'" + key + "' is missing") : true;
    uint32_t d[3] = {1, 1, 1};
    json::Array single;
    const json::Array *list = v->getAsArray();
    if (!list) {
      single.push_back(*v);
      list = &single;
    }
    if (list->empty() || list->size() > 3)
      return fail("'" + key + "' must have one to three numbers");
    for (unsigned i = 0; i < list->size(); ++i) {
      std::optional<uint64_t> n = (*list)[i].getAsUINT64();
      if (!n || *n == 0 || *n > INT32_MAX)
        return fail("'" + key + "' must hold positive integers");
      d[i] = *n;
    }
    out = {d[0], d[1], d[2]};
    return true;
  }

  bool buffer(const json::Object &o) {
    LaunchBuffer b;
    std::optional<StringRef> n = o.getString("name"), t = o.getString("type");
    if (!n)
      return fail("a buffer has no 'name'");
    b.name = n->str();
    std::string where = "buffer '" + b.name + "'";
    if (!onlyKeys(o, where,
                  {"name", "type", "shape", "init", "seed", "low", "high",
                   "value", "values", "file", "output", "tolerance",
                   "absolute"}))
      return false;
    for (LaunchBuffer &other : launch.buffers)
      if (other.name == b.name)
        return fail(where + " is described twice");
    if (!t || !isElementType(*t))
      return fail("'type' of " + where +
                  " must be one of u8 .. u64, s8 .. s64, "
                  "f16, bf16, f32, f64");
    b.type = t->str();
    const json::Array *shape = o.getArray("shape");
    if (!shape)
      return fail("'shape' of " + where + " must be a list");
    uint64_t total = b.elementBytes();
    for (const json::Value &v : *shape) {
      std::optional<uint64_t> extent = v.getAsUINT64();
      if (!extent || (*extent && total > maxBufferBytes / *extent))
        return fail("'shape' of " + where +
                    " is no list of sizes, or too large");
      b.shape.push_back(*extent);
      total *= *extent;
    }
    b.isOutput = o.getBoolean("output").value_or(false);
    if (!real(o, "tolerance", where, b.tolerance) ||
        !real(o, "absolute", where, b.absolute) || !initialise(o, b, where))
      return false;
    launch.buffers.push_back(std::move(b));
    return true;
  }

  bool initialise(const json::Object &o, LaunchBuffer &b, const Twine &where) {
    StringRef init = o.getString("init").value_or("none");
    uint64_t seed = 0, count = b.elements();
    double low = -1, high = 1, value = 0;
    if (!number(o, "seed", where, seed, UINT64_MAX) ||
        !real(o, "low", where, low) || !real(o, "high", where, high) ||
        !real(o, "value", where, value))
      return false;
    unsigned size = b.elementBytes();
    if (init == "none")
      return true;
    b.bytes.assign(count * size, 0);
    auto fill = [&](auto make) {
      for (uint64_t i = 0; i < count; ++i)
        setElement(b.type, b.bytes.data() + i * size, make(i));
      return true;
    };
    if (init == "zero")
      return true;
    if (init == "fill")
      return fill([&](uint64_t) { return value; });
    if (init == "iota")
      return fill([&](uint64_t i) { return value + double(i); });
    if (init == "random") {
      if (!(low <= high))
        return fail("'low' of " + where + " exceeds 'high'");
      return fill([&](uint64_t i) {
        return randomElement(b.type, seed, i, low, high);
      });
    }
    if (init == "bits") {
      for (uint64_t i = 0; i < count; ++i) {
        uint64_t r = randomBits(seed, i);
        std::memcpy(b.bytes.data() + i * size, &r, size);
      }
      return true;
    }
    if (init == "values") {
      const json::Array *values = o.getArray("values");
      if (!values || values->size() != count)
        return fail("'values' of " + where + " must be a list of " +
                    Twine(count) + " numbers");
      for (uint64_t i = 0; i < count; ++i) {
        const json::Value &v = (*values)[i];
        uint8_t *at = b.bytes.data() + i * size;
        if (auto n = v.getAsUINT64(); n && b.type[0] != 'f' && b.type[0] != 'b')
          std::memcpy(at, &*n, size);
        else if (auto s = v.getAsInteger();
                 s && b.type[0] != 'f' && b.type[0] != 'b')
          std::memcpy(at, &*s, size);
        else if (auto d = v.getAsNumber())
          setElement(b.type, at, *d);
        else if (auto text = v.getAsString();
                 text && specialNumber(*text, value))
          setElement(b.type, at, value);
        else
          return fail("'values' of " + where + " must hold numbers");
      }
      return true;
    }
    if (init == "npy") {
      std::optional<StringRef> file = o.getString("file");
      if (!file)
        return fail("'file' of " + where + " is missing");
      std::string problem;
      if (!readNpy(directory, *file, b, problem))
        return fail(where + ": " + problem);
      return true;
    }
    return fail("unknown 'init' of " + where + ": '" + init + "'");
  }

  bool findBuffer(StringRef wanted, unsigned &out) {
    for (unsigned i = 0; i < launch.buffers.size(); ++i)
      if (launch.buffers[i].name == wanted) {
        out = i;
        return true;
      }
    return fail("an argument names an unknown buffer '" + wanted + "'");
  }

  bool argument(const json::Object &o) {
    LaunchArgument a;
    std::string where = "argument " + std::to_string(launch.arguments.size());
    if (!onlyKeys(o, where,
                  {"buffer", "offset", "type", "value", "bytes", "tensor_map"}))
      return false;
    if (auto b = o.getString("buffer")) {
      a.kind = LaunchArgument::Buffer;
      if (!findBuffer(*b, a.buffer) ||
          !number(o, "offset", where, a.offset, UINT64_MAX / 2))
        return false;
    } else if (auto bytes = o.getString("bytes")) {
      std::string raw;
      if (!tryGetFromHex(*bytes, raw))
        return fail("'bytes' of " + where + " must be hexadecimal");
      a.bytes.assign(raw.begin(), raw.end());
    } else if (const json::Object *map = o.getObject("tensor_map")) {
      a.kind = LaunchArgument::Map;
      if (!tensorMap(*map, a, where))
        return false;
    } else {
      std::optional<StringRef> type = o.getString("type");
      const json::Value *value = o.get("value");
      if (!type || !value || !isElementType(*type))
        return fail(where + " needs 'buffer', 'bytes', 'tensor_map' or 'type' "
                            "with 'value'");
      a.bytes.resize(elementTypeBytes(*type));
      double special;
      bool isFloat = (*type)[0] == 'f' || (*type)[0] == 'b';
      if (auto n = value->getAsUINT64(); n && !isFloat)
        std::memcpy(a.bytes.data(), &*n, a.bytes.size());
      else if (auto s = value->getAsInteger(); s && !isFloat)
        std::memcpy(a.bytes.data(), &*s, a.bytes.size());
      else if (auto d = value->getAsNumber())
        setElement(*type, a.bytes.data(), *d);
      else if (auto text = value->getAsString();
               text && specialNumber(*text, special))
        setElement(*type, a.bytes.data(), special);
      else
        return fail("'value' of " + where + " must be a number");
    }
    launch.arguments.push_back(std::move(a));
    return true;
  }

  template <typename T, size_t N>
  bool list(const json::Object &o, StringRef key, const Twine &where,
            std::array<T, N> &out, unsigned count) {
    const json::Array *array = o.getArray(key);
    if (!array || array->size() != count)
      return fail("'" + key + "' of " + where + " must be a list of " +
                  Twine(count) + " numbers");
    for (unsigned i = 0; i < count; ++i) {
      std::optional<uint64_t> n = (*array)[i].getAsUINT64();
      if (!n || *n > std::numeric_limits<T>::max())
        return fail("'" + key + "' of " + where + " must hold sizes");
      out[i] = *n;
    }
    return true;
  }

  bool tensorMap(const json::Object &o, LaunchArgument &a, const Twine &where) {
    if (!onlyKeys(o, where,
                  {"buffer", "offset", "type", "dims", "strides", "box",
                   "element_strides", "swizzle", "fill"}))
      return false;
    std::optional<StringRef> b = o.getString("buffer");
    if (!b)
      return fail("the tensor map of " + where + " has no 'buffer'");
    uint64_t swizzle = 0;
    if (!findBuffer(*b, a.buffer) ||
        !number(o, "offset", where, a.offset, UINT64_MAX / 2) ||
        !number(o, "swizzle", where, swizzle, 128))
      return false;
    StringRef type =
        o.getString("type").value_or(launch.buffers[a.buffer].type);
    int kind = StringSwitch<int>(type)
                   .Case("u8", 0)
                   .Case("u16", 1)
                   .Case("u32", 2)
                   .Case("s32", 3)
                   .Case("u64", 4)
                   .Case("s64", 5)
                   .Case("f16", 6)
                   .Case("f32", 7)
                   .Case("f64", 8)
                   .Case("bf16", 9)
                   .Case("tf32", 11)
                   .Default(-1);
    if (kind < 0)
      return fail("a tensor map cannot hold '" + type + "'");
    a.map.type = TensorMapType(kind);
    switch (swizzle) {
    case 0:
      a.map.swizzle = TensorMapSwizzle::None;
      break;
    case 32:
      a.map.swizzle = TensorMapSwizzle::B32;
      break;
    case 64:
      a.map.swizzle = TensorMapSwizzle::B64;
      break;
    case 128:
      a.map.swizzle = TensorMapSwizzle::B128;
      break;
    default:
      return fail("'swizzle' of " + where + " must be 0, 32, 64 or 128");
    }
    StringRef fill = o.getString("fill").value_or("zero");
    if (fill != "zero" && fill != "nan")
      return fail("'fill' of " + where + " must be zero or nan");
    a.map.fill = fill == "nan" ? TensorMapFill::Nan : TensorMapFill::Zero;
    const json::Array *dims = o.getArray("dims");
    if (!dims || dims->empty() || dims->size() > 5)
      return fail("'dims' of " + where + " must have one to five sizes");
    a.map.rank = dims->size();
    return list(o, "dims", where, a.map.dims, a.map.rank) &&
           list(o, "strides", where, a.map.strides, a.map.rank - 1) &&
           list(o, "box", where, a.map.box, a.map.rank) &&
           (!o.get("element_strides") ||
            list(o, "element_strides", where, a.map.elementStrides,
                 a.map.rank));
  }

  bool options(const json::Object *o) {
    if (!o)
      return true;
    LaunchOptions &opts = launch.options;
    uint64_t threads = 0, findings = opts.maxFindings;
    if (!onlyKeys(*o, "the options",
                  {"seed", "timing", "threads", "races", "uninitialised",
                   "shuffle", "max_findings", "max_instructions"}) ||
        !number(*o, "seed", "the options", opts.seed, UINT64_MAX) ||
        !number(*o, "threads", "the options", threads, 4096) ||
        !number(*o, "max_findings", "the options", findings, 1 << 20) ||
        !number(*o, "max_instructions", "the options", opts.maxWarpInstructions,
                UINT64_MAX))
      return false;
    opts.threads = threads;
    opts.maxFindings = findings;
    opts.checkRaces = o->getBoolean("races").value_or(opts.checkRaces);
    opts.checkUninitialised =
        o->getBoolean("uninitialised").value_or(opts.checkUninitialised);
    opts.shuffleWarps = o->getBoolean("shuffle").value_or(opts.shuffleWarps);
    if (auto timing = o->getString("timing"))
      if (!parseTiming(*timing, opts.timing))
        return fail("'timing' must be earliest, latest or random");
    return true;
  }
};

} // namespace

Expected<LaunchFile> parseLaunchFile(StringRef text, StringRef name,
                                     StringRef directory) {
  Expected<json::Value> value = json::parse(text);
  if (!value) {
    // The JSON library's message is "[line:column, byte=n]: text".
    std::string message = toString(value.takeError());
    StringRef rest = message;
    rest.consume_front("[");
    auto [line, tail] = rest.split(':');
    return createStringError(name + ":" + line + ": " +
                             tail.split("]: ").second.rtrim());
  }
  Reader reader(name, directory);
  if (!reader.read(*value))
    return createStringError(reader.error);
  return std::move(reader.launch);
}

Expected<LaunchResult> runLaunchFile(Simulator &simulator, Module &module,
                                     const LaunchFile &launch) {
  std::string kernel = launch.kernel;
  if (kernel.empty()) {
    std::vector<std::string> names = simulator.kernelNames(module);
    if (names.size() != 1)
      return createStringError("the module has " + Twine(names.size()) +
                               " kernels: the launch must name one");
    kernel = names.front();
  }
  std::vector<uint64_t> addresses;
  for (const LaunchBuffer &b : launch.buffers) {
    Expected<uint64_t> at =
        simulator.allocate(b.elements() * b.elementBytes(), b.name);
    if (!at)
      return at.takeError();
    addresses.push_back(*at);
    if (!b.bytes.empty())
      if (Error e = simulator.upload(*at, b.bytes))
        return std::move(e);
  }
  std::vector<Argument> arguments;
  for (const LaunchArgument &a : launch.arguments) {
    if (a.kind == LaunchArgument::Bytes) {
      arguments.push_back({a.bytes});
    } else if (a.kind == LaunchArgument::Buffer) {
      arguments.push_back(argument<uint64_t>(addresses[a.buffer] + a.offset));
    } else {
      TensorMap map = a.map;
      map.address = addresses[a.buffer] + a.offset;
      Expected<TensorMapHandle> handle = encodeTensorMap(map);
      if (!handle)
        return handle.takeError();
      arguments.push_back(argument(*handle));
    }
  }
  Expected<Report> report = simulator.launch(module, kernel, launch.config,
                                             arguments, launch.options);
  if (!report)
    return report.takeError();
  LaunchResult result;
  result.report = std::move(*report);
  result.outputs.resize(launch.buffers.size());
  for (unsigned i = 0; i < launch.buffers.size(); ++i) {
    const LaunchBuffer &b = launch.buffers[i];
    if (!b.isOutput)
      continue;
    result.outputs[i].resize(b.elements() * b.elementBytes());
    if (Error e = simulator.download(addresses[i], result.outputs[i]))
      return std::move(e);
  }
  return result;
}

} // namespace linattn::sim
