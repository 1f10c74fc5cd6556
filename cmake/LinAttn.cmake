# Finds LLVM/MLIR 22.1 and defines the helpers every directory uses:
#   linattn_add_library(name sources... LINK_LIBS libs... DEPENDS targets...)
#   linattn_add_tool(name sources... LINK_LIBS libs...)
#     with TEST: only for the tests, neither installed nor linked statically
# Libraries link the two shared libraries MLIR and LLVM and no static MLIR
# archive: a static archive beside them would bring a second copy of every
# registry.

if(MLIR_DIR)
  find_package(MLIR 22.1 REQUIRED CONFIG PATHS ${MLIR_DIR} NO_DEFAULT_PATH)
else()
  find_package(MLIR 22.1 REQUIRED CONFIG PATHS /usr/lib/llvm-22 NO_DEFAULT_PATH)
endif()
message(STATUS "linattn: MLIR ${LLVM_PACKAGE_VERSION} in ${MLIR_DIR}")

list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

find_program(LINATTN_CCACHE ccache)
if(LINATTN_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # The sloppiness lets ccache serve files that include the precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${LINATTN_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()

# Flags of our own code: kept on an interface target since nanobind and the
# precompiled headers of others need different ones.
add_library(linattn_flags INTERFACE)
target_compile_options(linattn_flags INTERFACE -Wall -Wextra -Wno-unused-parameter)
target_include_directories(linattn_flags INTERFACE
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
if(LINATTN_WERROR)
  target_compile_options(linattn_flags INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  target_compile_options(linattn_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fpch-instantiate-templates>
    "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
endif()
if(LINATTN_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-omit-frame-pointer
                      -fno-sanitize=vptr,function)
  # Shared, so that Python loads our libraries with the same one before it.
  add_link_options(-fsanitize=address,undefined -shared-libasan)
  execute_process(
    COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libclang_rt.asan-${CMAKE_SYSTEM_PROCESSOR}.so
    OUTPUT_VARIABLE LINATTN_ASAN_RUNTIME OUTPUT_STRIP_TRAILING_WHITESPACE)
  get_filename_component(_linattn_asan_dir ${LINATTN_ASAN_RUNTIME} DIRECTORY)
  add_link_options(-Wl,-rpath,${_linattn_asan_dir})
endif()
find_program(LINATTN_LLD NAMES ld.lld ld.lld-22 HINTS ${LLVM_TOOLS_BINARY_DIR})
if(LINATTN_LLD AND CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  add_link_options(-fuse-ld=${LINATTN_LLD})
endif()

# Everything that includes MLIR headers links this.
add_library(linattn_mlir_flags INTERFACE)
target_link_libraries(linattn_mlir_flags INTERFACE linattn_flags)
target_include_directories(linattn_mlir_flags SYSTEM INTERFACE
  ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
separate_arguments(_linattn_llvm_defs NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_options(linattn_mlir_flags INTERFACE ${_linattn_llvm_defs}
  $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>)

# Everything that uses LLVM's support library alone links this.
add_library(linattn_llvm_flags INTERFACE)
target_link_libraries(linattn_llvm_flags INTERFACE linattn_flags)
target_include_directories(linattn_llvm_flags SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_compile_options(linattn_llvm_flags INTERFACE ${_linattn_llvm_defs}
  $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>)

# One precompiled header of the MLIR headers that most files include.
# Unlike WRITE, CONFIGURE leaves a file alone that says the same already.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/pch.cpp
  CONTENT "// Owner of the precompiled header.\n")
add_library(linattn_pch OBJECT ${PROJECT_BINARY_DIR}/pch.cpp)
target_link_libraries(linattn_pch PRIVATE linattn_mlir_flags)
target_precompile_headers(linattn_pch PRIVATE ${PROJECT_SOURCE_DIR}/cmake/Precompiled.h)

if(LINATTN_STATIC_TOOLS)
  include(${CMAKE_CURRENT_LIST_DIR}/StaticTools.cmake)
endif()

function(linattn_add_library name)
  cmake_parse_arguments(ARG "NO_MLIR" "" "LINK_LIBS;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  # What the static tools link by file; see StaticTools.cmake.
  set_property(GLOBAL APPEND PROPERTY LINATTN_LIBRARIES ${name})
  set_target_properties(${name} PROPERTIES LINATTN_LINK_LIBS "${ARG_LINK_LIBS}")
  if(ARG_NO_MLIR)
    target_link_libraries(${name} PRIVATE linattn_llvm_flags PUBLIC ${ARG_LINK_LIBS})
  else()
    target_link_libraries(${name} PRIVATE linattn_mlir_flags PUBLIC ${ARG_LINK_LIBS} MLIR LLVM)
    target_precompile_headers(${name} REUSE_FROM linattn_pch)
    add_dependencies(${name} linattn_headers ${ARG_DEPENDS})
  endif()
endfunction()

# The objects of a tool are a target of their own, NAME-objects, since the static
# variant links the same ones.
function(linattn_add_tool name)
  cmake_parse_arguments(ARG "NO_MLIR;TEST" "" "LINK_LIBS" ${ARGN})
  add_library(${name}-objects OBJECT ${ARG_UNPARSED_ARGUMENTS})
  add_executable(${name} $<TARGET_OBJECTS:${name}-objects>)
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX
    INSTALL_RPATH "$ORIGIN/../lib;${LLVM_LIBRARY_DIR}")
  if(ARG_NO_MLIR)
    target_link_libraries(${name}-objects PRIVATE linattn_llvm_flags)
    target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS})
  else()
    target_link_libraries(${name}-objects PRIVATE linattn_mlir_flags)
    target_precompile_headers(${name}-objects REUSE_FROM linattn_pch)
    add_dependencies(${name}-objects linattn_headers)
    target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} MLIR LLVM)
  endif()
  # What is said of the tool holds for its objects too.
  target_include_directories(${name}-objects PRIVATE
    $<TARGET_PROPERTY:${name},INCLUDE_DIRECTORIES>)
  set_property(GLOBAL APPEND PROPERTY LINATTN_TOOLS ${name})
  if(ARG_TEST)
    return()
  endif()
  if(LINATTN_STATIC_TOOLS AND NOT ARG_NO_MLIR)
    linattn_add_static_tool(${name} "${ARG_LINK_LIBS}")
  endif()
  install(TARGETS ${name} RUNTIME DESTINATION bin)
endfunction()
