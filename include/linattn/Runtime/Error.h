//===- Error.h - what is wrong, as an exception -----------------*- C++ -*-===//

#ifndef LINATTN_RUNTIME_ERROR_H
#define LINATTN_RUNTIME_ERROR_H

#include "linattn-c/Runtime.h"

#include <sstream>
#include <stdexcept>
#include <string>

namespace linattn::runtime {

/// Thrown inside the library; the C API turns it into a status.
class Error : public std::runtime_error {
public:
  Error(linattn_status status, const std::string &message)
      : std::runtime_error(message), status(status) {}
  linattn_status status;
};

template <typename... Parts> std::string text(const Parts &...parts) {
  std::ostringstream stream;
  (stream << ... << parts);
  return stream.str();
}

} // namespace linattn::runtime

#endif // LINATTN_RUNTIME_ERROR_H
