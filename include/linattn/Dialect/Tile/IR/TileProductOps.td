//===- TileProductOps.td - products of tiles ---------------*- tablegen -*-===//

#ifndef LINATTN_DIALECT_TILE_IR_PRODUCTOPS
#define LINATTN_DIALECT_TILE_IR_PRODUCTOPS

include "linattn/Dialect/Tile/IR/TileOpBase.td"

def Tile_MmaOp : Tile_Op<"mma", [TypesMatchWith<"result has the type of the accumulator",
    "acc", "result", "$_self">]> {
  let summary = "a matrix product: acc + a b";
  let description = [{
    a is [M, K], in registers (a fragment of the accumulator's warps) or in shared
    memory; b is [K, N] in shared memory; the accumulator is [M, N] in f32. 16-bit
    operands are multiplied exactly. f32 operands are rounded to tf32 (`terms = 1`),
    or split in two tf32 numbers each and multiplied in three products (`terms = 3`,
    about 22 bits). An `async` product goes on in the background: its result is the
    accumulator of further ones, and a value once `mma_wait` gives it.

    Example:

    ```mlir
    %d = tile.mma %a, %b, %c : tensor<64x64xbf16, #tile.acc<warps = 4>>,
        !tile.smem<64x128xbf16, swizzle = 128>, tensor<64x128xf32, #tile.acc<warps = 4>>
    ```

    Constraints:

    * (mma_c1) a is [M, K], b [K, N], the accumulator [M, N] in f32 and `acc`.
    * (mma_c2) a and b have one element type: bf16, f16 or f32; `terms` is 3 or 1
      for f32, else 1.
    * (mma_c3) A fragment a has the layout of the accumulator, with one part of
      columns.
    * (mma_c4) M is a multiple of 16, N of 8, K of 16 (8 for f32).
    * (mma_c5) The result of an `async` product is used by `mma_wait`, or as the
      accumulator of one further `async` product in the same block: nothing is in
      flight over the back edge of a loop.
  }];
  let arguments = (ins Arg<Tile_Operand, "", [MemRead]>:$a, Arg<Tile_Smem, "", [MemRead]>:$b,
    Tile_Fragment:$acc, DefaultValuedAttr<I64Attr, "1">:$terms, UnitAttr:$async);
  let results = (outs Tile_Fragment:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $acc (`terms` `=` $terms^)? (`async` $async^)? attr-dict
    `:` type($a) `,` type($b) `,` type($acc)
  }];
  let hasVerifier = 1;
}

def Tile_MmaWaitOp : Tile_Op<"mma_wait", [AllTypesMatch<["products", "results"]>]> {
  let summary = "waits for products in the background";
  let description = [{
    Gives the values of `async` products once they are done; the products issued
    after the latest of them may go on.

    Example: `%o = tile.mma_wait %p : tensor<64x64xf32, #tile.acc<warps = 4>>`

    Constraints:

    * (mma_wait_c1) Each operand is the result of an `async` mma.
  }];
  let arguments = (ins Variadic<Tile_Fragment>:$products);
  let results = (outs Variadic<Tile_Fragment>:$results);
  let assemblyFormat = "$products attr-dict `:` type($results)";
  let hasVerifier = 1;
}

def Tile_UnitLowerInverseOp : Tile_Op<"unit_lower_inverse", [
    TypesMatchWith<"result has the type of the matrix", "matrix", "result", "$_self">]> {
  let summary = "(I - A)^-1 of a strictly lower triangular A";
  let description = [{
    What stands on and above the diagonal of A is not read; the result is unit lower
    triangular. Diagonal blocks of 16 by forward substitution in f32, blocks left of
    them by products with operands split in two terms, so that close keys cost no
    accuracy (`terms = 1`: rounded to f16 once, for entries that are known to be at
    most 1). All warps work on it; they exchange blocks through the scratch tile.

    Example:

    ```mlir
    %t = tile.unit_lower_inverse %a scratch(%s) : tensor<64x64xf32, #tile.acc<warps = 4>>, !tile.smem<18432xi8>
    ```

    Constraints:

    * (unit_lower_inverse_c1) The matrix is square in f32 and `acc`, of 16, 32, 64
      or 128 rows.
    * (unit_lower_inverse_c2) The scratch is a whole tile of i8 with at least
      `getScratchBytes` bytes.
    * (unit_lower_inverse_c3) terms is 1 or 2.
  }];
  let arguments = (ins Tile_Fragment:$matrix, Arg<Tile_Smem, "", [MemRead, MemWrite]>:$scratch,
    DefaultValuedAttr<I64Attr, "2">:$terms);
  let results = (outs Tile_Fragment:$result);
  let assemblyFormat = [{
    $matrix `scratch` `(` $scratch `)` (`terms` `=` $terms^)? attr-dict
    `:` type($matrix) `,` type($scratch)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Bytes of scratch for n rows on these warps.
    static int64_t getScratchBytes(int64_t n, int64_t warps, int64_t terms = 2);
  }];
}

def Tile_UnitLowerSolveOp : Tile_Op<"unit_lower_solve", [AttrSizedOperandSegments,
    RangedTypesMatchWith<"results have the types of the right sides", "sides", "results", "$_self">]> {
  let summary = "a unit lower triangular system for each row";
  let description = [{
    Row n of the results, with the rates r of that row, solves

      u_i[n, t] = side_i[n, t] + sum_m r_m[n, t] sum_s A_m[t, s] u_j[n, s]

    in f32, over the matrices m with `readers` i and `writers` j: s < t, and s = t
    too where j < i, for a token's unknowns come one after another. The rates differ
    by row, so that there is no inverse that all rows could share. What else stands
    in A is not read. Blocks of 8 tokens go one after another, what is left of them
    by products in three tf32 terms. Each warp solves its own rows.

    Without `rows` there is one right side.

    Example:

    ```mlir
    %u = tile.unit_lower_solve %rhs rates(%b : tensor<64x32xf32, #tile.acc<warps = 4>>)
        matrices(%a : !tile.smem<32x32xf32, swizzle = 128>) : tensor<64x32xf32, #tile.acc<warps = 4>>
    ```

    Constraints:

    * (unit_lower_solve_c1) Right sides and rates are of one type, [N, C] in f32 and
      `acc` with one part of columns.
    * (unit_lower_solve_c2) There are as many matrices as rates, at least one.
    * (unit_lower_solve_c3) Each matrix is [C, C] in f32, not transposed.
    * (unit_lower_solve_c4) Each matrix has a reader and a writer, a number of a
      right side.
  }];
  let arguments = (ins Variadic<Tile_Fragment>:$sides, Variadic<Tile_Fragment>:$rates,
    Arg<Variadic<Tile_Smem>, "", [MemRead]>:$matrices,
    DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$readers,
    DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$writers);
  let results = (outs Variadic<Tile_Fragment>:$results);
  let assemblyFormat = [{
    $sides `rates` `(` ($rates^ `:` type($rates))? `)`
    `matrices` `(` ($matrices^ `:` type($matrices))? `)`
    (`rows` $readers^ `from` $writers)? attr-dict `:` type($sides)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The numbers of the right sides that a matrix leads to and comes from.
    int64_t getReader(unsigned matrix) { return getReaders().empty() ? 0 : getReaders()[matrix]; }
    int64_t getWriter(unsigned matrix) { return getWriters().empty() ? 0 : getWriters()[matrix]; }
  }];
}

def Tile_DecayMmaOp : Tile_Op<"decay_mma", [AttrSizedOperandSegments]> {
  let summary = "products of rows with all that decays between them";
  let description = [{
    For each x of `xs`, with a = e^g of log decays g that are clamped at -10000:

      p[i, j] = sum_k x[i, k] y[j, k] prod_{t between} a[t, k]   for j < i, else 0

    where decay t is between if it comes after event y of row j and before event x of
    row i: j < t < i always, t = i if `x_positions` is 1 (x comes after its row's
    decay), t = j if `y_position` is 0 (y comes before it). `inclusive` adds the
    diagonal, for a y that comes before x in its row.

    No decay is divided by and no sums are subtracted: each factor is a product of
    decays, at most 1, so that the result is right for every gate and an entry depends
    on no gate of a later row. Inside 16 rows, pairs whose rows first differ in bit b
    meet between two halves of 2^b rows: x times the decays since its half began, y
    times those until its half ends, for b = 0 to 3, each an mma of the warp's own
    registers. Other pairs meet between tiles of 16 rows: y times what is left of its
    tile, x times all since then. Operands are rounded to `element` once (f32: three
    tf32 products).

    Rows stand on a warp for each 16 of them; warps exchange through the scratch.

    What the same decays make of single rows is written on the way: `targets` are
    tiles in `element`, and `target_of` says of which rows. For n less than the number
    of xs, x_n times all decays before its event; for n equal to it, y times all
    decays after its event. `sums` is a vector of the sums of g over the rows.

    Example:

    ```mlir
    %p, %q = tile.decay_mma (%k, %q), %k decay(%g) scratch(%s) x_positions = [1, 1]
        y_position = 1 inclusive = [false, true] targets [] () in bf16
        : (!tile.smem<64x128xbf16, swizzle = 128>, !tile.smem<64x128xbf16, swizzle = 128>),
          !tile.smem<64x128xbf16, swizzle = 128>, !tile.smem<64x128xf32, swizzle = 128>,
          !tile.smem<8192xi8>
        -> tensor<64x64xf32, #tile.acc<warps = 4>>, tensor<64x64xf32, #tile.acc<warps = 4>>
    ```

    Constraints:

    * (decay_mma_c1) xs, y and the decays are [C, K] with K a multiple of 16, in bf16,
      f16 or f32; one result for each x, [C, C] in f32 and `acc` with one part of
      columns, C / 16 warps or more, all alike.
    * (decay_mma_c2) Positions are 0 or 1; one position and one flag for each x.
    * (decay_mma_c3) `element` is bf16, f16 or f32.
    * (decay_mma_c4) Targets are [C, K] in `element`, not transposed; one number of rows
      for each. `sums` is [K] in f32.
    * (decay_mma_c5) The scratch is a whole tile of i8 with at least
      `getScratchBytes` bytes.
  }];
  let arguments = (ins Arg<Variadic<Tile_Smem>, "", [MemRead]>:$xs,
    Arg<Tile_Smem, "", [MemRead]>:$y, Arg<Tile_Smem, "", [MemRead]>:$decays,
    Arg<Tile_Smem, "", [MemRead, MemWrite]>:$scratch,
    Arg<Variadic<Tile_Smem>, "", [MemWrite]>:$targets,
    Arg<Optional<Tile_Smem>, "", [MemWrite]>:$sums, DenseI64ArrayAttr:$x_positions,
    I64Attr:$y_position, DenseBoolArrayAttr:$inclusive, DenseI64ArrayAttr:$target_of,
    TypeAttr:$element);
  let results = (outs Variadic<Tile_Fragment>:$results);
  let assemblyFormat = [{
    `(` $xs `)` `,` $y `decay` `(` $decays `)` `scratch` `(` $scratch `)`
    `x_positions` `=` $x_positions `y_position` `=` $y_position
    `inclusive` `=` $inclusive `targets` $target_of `(` ($targets^ `:` type($targets))? `)`
    (`sums` `(` $sums^ `:` type($sums) `)`)? `in` $element attr-dict
    `:` `(` type($xs) `)` `,` type($y) `,` type($decays) `,` type($scratch)
    `->` type($results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Bytes of scratch for C rows and operands of this type.
    static int64_t getScratchBytes(int64_t rows, ::mlir::Type element);
  }];
}

#endif // LINATTN_DIALECT_TILE_IR_PRODUCTOPS
