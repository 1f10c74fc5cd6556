//===- CommandLine.h - options of linattn-run -------------------*- C++ -*-===//

#ifndef LINATTN_RUNNER_COMMANDLINE_H
#define LINATTN_RUNNER_COMMANDLINE_H

#include "linattn/Runner/Run.h"

namespace linattn {
namespace runner {

/// Says what is wrong on stderr and gives nothing for a wrong command line.
std::optional<RunOptions> parseCommandLine(int argc, char **argv);

} // namespace runner
} // namespace linattn

#endif // LINATTN_RUNNER_COMMANDLINE_H
