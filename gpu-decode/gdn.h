/* gdn: compiled by linattn-compile for sm_90a. Link with -llinattn_runtime.
 *
 * Arguments
 *   q: bf16 [B, T, 16, 128], token; inner stride 1
 *   k: bf16 [B, T, 16, 128], token; inner stride 1
 *   v: bf16 [B, T, 32, 128], token; inner stride 1
 *   g: f32 [B, T, 32], token
 *   beta: f32 [B, T, 32], token
 *   pool: f32 [P, 32, 128, 128], state pool; inner stride 1
 *   slots: i32 [B], slots
 * Results
 *   out_0: bf16 [B, T, 32, 128], output; inner stride 1
 *   out_1: f32 [P, 32, 128, 128], final state, in pool; inner stride 1
 *
 * Strides count elements and are free unless said otherwise.
 *
 *   linattn_artifact *artifact;
 *   linattn_load("gdn.json", &artifact);
 *   linattn_function *function = linattn_find(artifact, "gdn");
 */
#ifndef LINATTN_GDN_H
#define LINATTN_GDN_H

#include <linattn-c/Runtime.h>

/* The shapes of the results; their memory is yours to give. */
static inline linattn_status gdn_results(
    linattn_function *function,
    const linattn_tensor *q,
    const linattn_tensor *k,
    const linattn_tensor *v,
    const linattn_tensor *g,
    const linattn_tensor *beta,
    const linattn_tensor *pool,
    const linattn_tensor *slots,
    linattn_tensor *out_0) {
  const linattn_tensor linattn_none = {0};
  const linattn_tensor linattn_in[] = {
      q ? *q : linattn_none, k ? *k : linattn_none, v ? *v : linattn_none, g ? *g : linattn_none, beta ? *beta : linattn_none, pool ? *pool : linattn_none, slots ? *slots : linattn_none};
  linattn_tensor linattn_out[2];
  linattn_status linattn_code = linattn_infer_results(
      function, linattn_in, 7, linattn_out, 2);
  if (linattn_code != LINATTN_OK)
    return linattn_code;
  if (out_0)
    *out_0 = linattn_out[0];
  return LINATTN_OK;
}

/* Launches on a CUstream, or the default one. Without a workspace (NULL) one
 * is allocated if it is needed. */
static inline linattn_status gdn(
    linattn_function *function,
    const linattn_tensor *q,
    const linattn_tensor *k,
    const linattn_tensor *v,
    const linattn_tensor *g,
    const linattn_tensor *beta,
    const linattn_tensor *pool,
    const linattn_tensor *slots,
    const linattn_tensor *out_0,
    const linattn_workspace *workspace, void *stream) {
  const linattn_tensor linattn_none = {0};
  const linattn_tensor linattn_in[] = {
      q ? *q : linattn_none, k ? *k : linattn_none, v ? *v : linattn_none, g ? *g : linattn_none, beta ? *beta : linattn_none, pool ? *pool : linattn_none, slots ? *slots : linattn_none};
  const linattn_tensor linattn_out[] = {
      out_0 ? *out_0 : linattn_none, linattn_none};
  return linattn_call(function, linattn_in, 7, linattn_out, 2,
                      workspace, stream);
}

#endif
