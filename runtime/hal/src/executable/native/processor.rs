//! What the processor can do, as compiled dispatches ask for it: bits that IREE numbers per
//! architecture (`cpu_feature_bits.inl`). Code uses them to choose between variants of a kernel, so a
//! bit that is missing here costs speed, not correctness.

/// The processor data of an environment.
pub(super) fn data() -> [u64; 8] {
    let mut fields = [0; 8];
    fields[0] = features();
    fields
}

#[cfg(target_arch = "x86_64")]
fn features() -> u64 {
    macro_rules! bits {
        ($($bit:literal $name:tt)*) => {
            0 $(| u64::from(std::arch::is_x86_feature_detected!($name)) << $bit)*
        };
    }
    bits! {
        0 "sse3" 1 "ssse3" 2 "sse4.1" 3 "sse4.2" 4 "sse4a"
        10 "avx" 11 "fma" 14 "f16c" 15 "avx2"
        20 "avx512f" 21 "avx512cd" 22 "avx512vl" 23 "avx512dq" 24 "avx512bw" 25 "avx512ifma"
        26 "avx512vbmi" 27 "avx512vpopcntdq" 28 "avx512vnni" 29 "avx512vbmi2" 30 "avx512bitalg"
        31 "avx512bf16" 32 "avx512fp16"
    }
}

#[cfg(target_arch = "aarch64")]
fn features() -> u64 {
    macro_rules! bits {
        ($($bit:literal $name:tt)*) => {
            0 $(| u64::from(std::arch::is_aarch64_feature_detected!($name)) << $bit)*
        };
    }
    bits! {
        0 "neon" 1 "lse"
        10 "fp16" 11 "fhm" 12 "dotprod" 13 "i8mm" 14 "bf16"
        20 "sve" 21 "sve2" 23 "sve2-bitperm" 24 "f32mm" 25 "f64mm"
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn features() -> u64 {
    0
}
