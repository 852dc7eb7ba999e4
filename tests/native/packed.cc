// A library of packed functions, as users of TVM FFI write them.

#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/tvm_ffi.h>

namespace ffi = tvm::ffi;

// Doubles in place and returns the sum.
double DoubleAll(ffi::TensorView x) {
  if (x.ndim() != 1) TVM_FFI_THROW(ValueError) << "expected a vector, got rank " << x.ndim();
  if (x.dtype().code != kDLFloat || x.dtype().bits != 32) {
    TVM_FFI_THROW(TypeError) << "expected elements of float32";
  }
  float* data = static_cast<float*>(x.data_ptr());
  double sum = 0;
  for (int64_t i = 0; i < x.size(0); ++i) sum += data[i] *= 2;
  return sum;
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(double_all, DoubleAll);

int64_t Add(int64_t a, int64_t b) { return a + b; }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(add, Add);

ffi::Array<ffi::Any> Pair(int64_t a, double b) { return {a + 1, b * 2}; }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(pair, Pair);

void Fail(int64_t a) { TVM_FFI_THROW(IndexError) << "there is no " << a; }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(fail, Fail);

ffi::String Text() { return "a text that is not short"; }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(text, Text);

// Returns its argument, which it could also keep.
ffi::Tensor Same(ffi::Tensor x) { return x; }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(same, Same);

int64_t Address(ffi::TensorView x) { return reinterpret_cast<int64_t>(x.data_ptr()); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(address, Address);

// Counts its calls.
int64_t Tick() {
  static int64_t ticks = 0;
  return ++ticks;
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(tick, Tick);

struct Memory {
  void AllocData(DLTensor* tensor) {
    tensor->data = aligned_alloc(64, 64);
    for (int64_t i = 0; i < tensor->shape[0]; ++i) static_cast<float*>(tensor->data)[i] = i;
  }
  void FreeData(DLTensor* tensor) { free(tensor->data); }
};

// Adds to a tensor of its own, and returns it. What it returned before is the same memory.
ffi::Tensor Added(int64_t number) {
  static ffi::Tensor state = ffi::Tensor::FromNDAlloc(
      Memory(), ffi::Shape({3}), DLDataType({kDLFloat, 32, 1}), DLDevice({kDLCPU, 0}));
  for (int64_t i = 0; i < 3; ++i) static_cast<float*>(state.data_ptr())[i] += number;
  return state;
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(added, Added);

// Counts its arguments. The library has no metadata of it.
extern "C" TVM_FFI_DLL_EXPORT int __tvm_ffi_count(void*, const TVMFFIAny*, int32_t count,
                                                  TVMFFIAny* result) {
  TVM_FFI_SAFE_CALL_BEGIN();
  *reinterpret_cast<ffi::Any*>(result) = static_cast<int64_t>(count);
  TVM_FFI_SAFE_CALL_END();
}
