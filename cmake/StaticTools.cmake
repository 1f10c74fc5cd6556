# With LINATTN_STATIC_TOOLS: beside each tool NAME a target NAME-static, that
# runs on a Linux without LLVM, in ${PROJECT_BINARY_DIR}/static/bin; the target
# `static-tools` builds them all.
#
# Only the link lines differ. They name files, not CMake targets: our archives
# and MLIR's both carry the shared libraries in their interfaces, which would
# bring a second copy of everything.

# --- LLVM and MLIR as files -------------------------------------------------

file(GLOB _archives ${LLVM_LIBRARY_DIR}/libMLIR*.a)
list(FILTER _archives EXCLUDE REGEX "libMLIR(CAPI|Test|.*Test\\.a|.*TestPasses|Tblgen|PDLL)")

# The CPU that the tools run on, and the GPUs that they compile for.
set(LINATTN_STATIC_TARGETS ${LLVM_NATIVE_ARCH} NVPTX)
execute_process(
  COMMAND ${LLVM_TOOLS_BINARY_DIR}/llvm-config --link-static --libfiles
          ${LINATTN_STATIC_TARGETS} orcjit passes targetparser lto
          debuginfodwarf frontendopenmp
  OUTPUT_VARIABLE _llvm_files OUTPUT_STRIP_TRAILING_WHITESPACE
  RESULT_VARIABLE _llvm_config_failed)
if(_llvm_config_failed)
  message(FATAL_ERROR "LINATTN_STATIC_TOOLS: llvm-config gave no static libraries")
endif()
separate_arguments(_llvm_files)
# Polly is not registered; two more are asked for by the execution engine, but
# are no part of any component above.
list(FILTER _llvm_files EXCLUDE REGEX "libPolly")
list(APPEND _archives ${_llvm_files}
  ${LLVM_LIBRARY_DIR}/libLLVMPerfJITEvents.a
  ${LLVM_LIBRARY_DIR}/libLLVMOrcDebugging.a)
list(REMOVE_DUPLICATES _archives)

foreach(_name z zstd)
  find_library(LINATTN_STATIC_${_name} NAMES lib${_name}.a)
  if(NOT LINATTN_STATIC_${_name})
    message(FATAL_ERROR "LINATTN_STATIC_TOOLS: no lib${_name}.a (utils/setup installs it)")
  endif()
  list(APPEND _archives ${LINATTN_STATIC_${_name}})
endforeach()

# MLIR initialises every target that LLVM was built with: those left out get
# initialisers that do nothing.
set(_stubs "/* Written by cmake/StaticTools.cmake: targets that are left out. */\n")
foreach(_target ${LLVM_TARGETS_TO_BUILD})
  if(NOT _target IN_LIST LINATTN_STATIC_TARGETS)
    foreach(_part Target TargetInfo TargetMC TargetMCA AsmPrinter AsmParser Disassembler)
      string(APPEND _stubs "void LLVMInitialize${_target}${_part}(void) {}\n")
    endforeach()
  endif()
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/static/target-stubs.c CONTENT "${_stubs}")
add_library(linattn_target_stubs STATIC EXCLUDE_FROM_ALL
  ${PROJECT_BINARY_DIR}/static/target-stubs.c)

add_library(linattn_static_llvm INTERFACE)
target_link_libraries(linattn_static_llvm INTERFACE
  -Wl,--start-group ${_archives} linattn_target_stubs -Wl,--end-group m)
target_link_options(linattn_static_llvm INTERFACE
  -static-libstdc++ -static-libgcc -Wl,--gc-sections -Wl,--icf=all -Wl,-s)

# --- The tools --------------------------------------------------------------

add_custom_target(static-tools)

# Our libraries that `libs` need, themselves included, and what else they link:
# without the shared libraries of LLVM, whose place the archives take.
function(linattn_closure libs out_ours out_others)
  set(todo ${libs})
  set(ours)
  set(others)
  while(todo)
    list(POP_FRONT todo lib)
    get_property(known GLOBAL PROPERTY LINATTN_LIBRARIES)
    if(lib IN_LIST known AND NOT lib IN_LIST ours)
      list(APPEND ours ${lib})
      get_target_property(needs ${lib} LINATTN_LINK_LIBS)
      if(needs)
        list(APPEND todo ${needs})
      endif()
    elseif(NOT lib IN_LIST known AND NOT lib MATCHES "^(LLVM|MLIR)$")
      list(APPEND others ${lib})
    endif()
  endwhile()
  set(${out_ours} ${ours} PARENT_SCOPE)
  set(${out_others} ${others} PARENT_SCOPE)
endfunction()

# linattn_add_static_tool(name LINK_LIBS): the objects of tool `name`, linked
# anew.
function(linattn_add_static_tool name link_libs)
  linattn_closure("${link_libs}" ours others)
  set(files)
  foreach(lib ${ours})
    list(APPEND files $<TARGET_FILE:${lib}>)
  endforeach()
  add_executable(${name}-static EXCLUDE_FROM_ALL $<TARGET_OBJECTS:${name}-objects>)
  target_link_libraries(${name}-static PRIVATE
    -Wl,--start-group ${files} -Wl,--end-group ${others} linattn_static_llvm)
  add_dependencies(${name}-static ${ours})
  set_target_properties(${name}-static PROPERTIES
    OUTPUT_NAME ${name}
    LINKER_LANGUAGE CXX
    LINK_DEPENDS "${files}"
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/static/bin)
  add_dependencies(static-tools ${name}-static)
endfunction()
