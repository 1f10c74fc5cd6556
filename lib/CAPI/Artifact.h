//===- Artifact.h - what a handle of the C API holds ------------*- C++ -*-===//

#ifndef LINATTN_LIB_CAPI_ARTIFACT_H
#define LINATTN_LIB_CAPI_ARTIFACT_H

#include "linattn/Compile/Artifact.h"

struct LinAttnArtifact {
  linattn::Artifact code;
  std::string json;
};

#endif // LINATTN_LIB_CAPI_ARTIFACT_H
