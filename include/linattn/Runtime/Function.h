//===- Function.h - a loaded function and its calls -------------*- C++ -*-===//

#ifndef LINATTN_RUNTIME_FUNCTION_H
#define LINATTN_RUNTIME_FUNCTION_H

#include "linattn/Runtime/Binding.h"
#include "linattn/Runtime/Driver.h"

#include <map>
#include <mutex>

namespace linattn::runtime {

/// The kernels of a function in one context.
struct LoadedCode {
  cuda::CodeModule module = nullptr;
  std::vector<cuda::Function> kernels; ///< one per launch
};

class Function {
public:
  Function(std::unique_ptr<Description> description, std::string cubin,
           std::string ptx)
      : description(std::move(description)), cubin(std::move(cubin)),
        ptx(std::move(ptx)) {}
  Function(const Function &) = delete;
  ~Function();

  const Description &getDescription() const { return *description; }

  /// Loads the code into the current context and checks that the device has
  /// what it needs.
  void prepare();
  void call(const linattn_tensor *arguments, int32_t numArguments,
            const linattn_tensor *results, int32_t numResults,
            const linattn_workspace *workspace, cuda::Stream stream);

private:
  const LoadedCode &load(Driver &driver, const CurrentDevice &device);
  LoadedCode loadModule(Driver &driver, const DeviceLimits &limits) const;
  void findKernels(Driver &driver, const DeviceLimits &limits,
                   LoadedCode &code) const;
  void checkParameters(Driver &driver, const Launch &launch,
                       cuda::Function kernel) const;
  void checkKernel(Driver &driver, const DeviceLimits &limits,
                   const Launch &launch, cuda::Function kernel) const;
  void checkPlacement(Driver &driver, const CurrentDevice &device,
                      const Binding &binding) const;
  void checkPointer(Driver &driver, const CurrentDevice &device,
                    const Binding &binding, const std::string &name,
                    const linattn_tensor &tensor) const;
  void launch(Driver &driver, const DeviceLimits &limits,
              const Binding &binding, const Launch &launch,
              cuda::Function kernel, cuda::Stream stream) const;

  std::unique_ptr<Description> description;
  std::string cubin, ptx;
  std::mutex mutex;
  /// By context.
  std::map<uint64_t, LoadedCode> loaded;
};

/// Whether code for `target` (sm_90a, ..) runs on a device: as a cubin, or as
/// PTX that the driver compiles.
bool runsCubin(const std::string &target, int major, int minor);
bool runsPTX(const std::string &target, int major, int minor);

/// Throws an Error that names the rule which the tensor breaks.
cuda::TensorMap encodeTensorMap(Driver &driver, const Binding &binding,
                                const TensorMapDescription &map);

} // namespace linattn::runtime

#endif // LINATTN_RUNTIME_FUNCTION_H
