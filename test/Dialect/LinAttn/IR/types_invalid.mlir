// RUN: linattn-opt %s -split-input-file -verify-diagnostics

// state: K from 1
// expected-error@+1 {{a state is KxV with K and V from 1 to 1024, got 0x4}}
func.func private @f(!linattn.state<0x4xf32>)

// -----

// state: V to 1024
// expected-error@+1 {{a state is KxV with K and V from 1 to 1024, got 4x1025}}
func.func private @f(!linattn.state<4x1025xf32>)

// -----

// state: one dimension
// expected-error@+1 {{a state is KxV, got 1 dimension(s)}}
func.func private @f(!linattn.state<4xf32>)

// -----

// state: three dimensions
// expected-error@+1 {{a state is KxV, got 3 dimension(s)}}
func.func private @f(!linattn.state<4x4x4xf32>)

// -----

// state: no dimension
// expected-error@+1 {{a state is KxV, got 0 dimension(s)}}
func.func private @f(!linattn.state<f32>)

// -----

// state: a dynamic dimension
// expected-error@+1 {{expected static shape}}
func.func private @f(!linattn.state<?x4xf32>)

// -----

// state: an integer element
// expected-error@+1 {{the element type of a state is f16, bf16, f32 or f64, got 'i8'}}
func.func private @f(!linattn.state<4x4xi8>)

// -----

// state: an element of 8 bits
// expected-error@+1 {{the element type of a state is f16, bf16, f32 or f64, got 'f8E4M3FN'}}
func.func private @f(!linattn.state<4x4xf8E4M3FN>)

// -----

// state: a vector element
// expected-error@+1 {{the element type of a state is f16, bf16, f32 or f64, got 'vector<2xf32>'}}
func.func private @f(!linattn.state<4x4xvector<2xf32>>)

// -----

// state: too large for 64 bits
// expected-error@+1 {{invalid dimension}}
func.func private @f(!linattn.state<99999999999999999999x4xf32>)

// -----

// an unknown type
// expected-error@+1 {{unknown  type `stat` in dialect `linattn`}}
func.func private @f(!linattn.stat<4x4xf32>)

// -----

// state: no parameters
// expected-error@+1 {{expected '<'}}
func.func private @f(!linattn.state)

// -----

// precision: an unknown type
// expected-error@+2 {{expected ::linattn::MmaPrecision to be one of: f32, tf32x3, bf16, f16, bf16x2}}
// expected-error@+1 {{failed to parse LinAttn_PrecisionAttr parameter 'mma' which is to be a `::linattn::MmaPrecision`}}
#p = #linattn.precision<mma = fp8, solve = f32>

// -----

// precision: a missing parameter
// expected-error@+1 {{expected ','}}
#p = #linattn.precision<mma = bf16>

// -----

// precision: twice the same
// expected-error@+1 {{duplicate or unknown struct parameter name: mma}}
#p = #linattn.precision<mma = bf16, mma = bf16>

// -----

// an unknown attribute
// expected-error@+1 {{unknown attribute `precisions` in dialect `linattn`}}
#p = #linattn.precisions<mma = bf16>

// -----

// an empty name
// expected-error@+1 {{'func.func' op argument 0: 'linattn.name' is a non-empty string, got ""}}
func.func private @f(f32 {linattn.name = ""})

// -----

// not a string
// expected-error@+1 {{'func.func' op argument 0: 'linattn.name' is a non-empty string, got 3 : i64}}
func.func private @f(f32 {linattn.name = 3})

// -----

// an unknown kind
// expected-error@+1 {{'func.func' op argument 0: 'linattn.sample' is one of log_gate, linear_gate, rate, rate2, unit_key, value, weight, a_log, raw, raw_gate, state, got "gate"}}
func.func private @f(f32 {linattn.sample = "gate"})

// -----

// no kind
// expected-error@+1 {{'func.func' op argument 0: 'linattn.sample' is one of log_gate, linear_gate, rate, rate2, unit_key, value, weight, a_log, raw, raw_gate, state, got unit}}
func.func private @f(f32 {linattn.sample})

// -----

// too few names
// expected-error@+1 {{'func.func' op argument 0: 'linattn.dims' names each dimension of a ranked operand, got ["B", "T"]}}
func.func private @f(tensor<?x?x4xf32> {linattn.dims = ["B", "T"]})

// -----

// not a string
// expected-error@+1 {{'func.func' op argument 0: 'linattn.dims' names each dimension of a ranked operand, got ["B", 3]}}
func.func private @f(tensor<?x?xf32> {linattn.dims = ["B", 3]})

// -----

// a scalar has no dimensions
// expected-error@+1 {{'func.func' op argument 0: 'linattn.dims' names each dimension of a ranked operand, got ["B"]}}
func.func private @f(f32 {linattn.dims = ["B"]})

// -----

// an unranked tensor has no dimensions to name
// expected-error@+1 {{'func.func' op argument 0: 'linattn.dims' names each dimension of a ranked operand, got ["B"]}}
func.func private @f(tensor<*xf32> {linattn.dims = ["B"]})

// -----

// an unknown attribute
// expected-error@+1 {{'func.func' op argument 0: unknown attribute 'linattn.smaple'}}
func.func private @f(f32 {linattn.smaple = "rate"})
