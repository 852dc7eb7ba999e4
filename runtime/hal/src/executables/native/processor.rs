//! The features of the processor, for compiled dispatches and programs: bits that IREE numbers per
//! architecture (`cpu_feature_bits.inl`). Code uses them to choose between variants of a kernel, so
//! a bit that is missing here costs speed, not correctness.

/// A feature: its bit in the first field of the processor data, its name, whether the processor has
/// it.
type Feature = (u32, &'static str, bool);

/// The answer to a program's question about a feature (`avx2`): 1 if the processor has it, 0 if
/// not; `None` if there is no such feature.
#[must_use]
pub(crate) fn processor_feature(name: &str) -> Option<i64> {
    feature(name).map(i64::from)
}

/// The processor data that dispatches get in their environment.
pub(super) fn data() -> [u64; 8] {
    let present = features().into_iter().filter(|(_, _, is_present)| *is_present);
    let mut fields = [0; 8];
    fields[0] = present.fold(0, |bits, (bit, _, _)| bits | 1_u64 << bit);
    fields
}

/// Whether the processor has a feature (`avx2`); `None` if there is no such feature.
fn feature(name: &str) -> Option<bool> {
    let found = features().into_iter().find(|(_, known, _)| *known == name);
    found.map(|(_, _, is_present)| is_present)
}

#[cfg(target_arch = "x86_64")]
fn features() -> impl IntoIterator<Item = Feature> {
    macro_rules! features {
        ($($bit:literal $name:tt)*) => {
            [$(($bit, $name, std::arch::is_x86_feature_detected!($name)),)*]
        };
    }
    features! {
        0 "sse3" 1 "ssse3" 2 "sse4.1" 3 "sse4.2" 4 "sse4a"
        10 "avx" 11 "fma" 14 "f16c" 15 "avx2"
        20 "avx512f" 21 "avx512cd" 22 "avx512vl" 23 "avx512dq" 24 "avx512bw" 25 "avx512ifma"
        26 "avx512vbmi" 27 "avx512vpopcntdq" 28 "avx512vnni" 29 "avx512vbmi2" 30 "avx512bitalg"
        31 "avx512bf16" 32 "avx512fp16"
    }
}

#[cfg(target_arch = "aarch64")]
fn features() -> impl IntoIterator<Item = Feature> {
    macro_rules! features {
        ($($bit:literal $name:literal $detected:tt)*) => {
            [$(($bit, $name, std::arch::is_aarch64_feature_detected!($detected)),)*]
        };
    }
    features! {
        0 "fp-armv8" "neon" 1 "lse" "lse"
        10 "fullfp16" "fp16" 11 "fp16fml" "fhm" 12 "dotprod" "dotprod" 13 "i8mm" "i8mm"
        14 "bf16" "bf16" 20 "sve" "sve" 21 "sve2" "sve2" 23 "sve2-bitperm" "sve2-bitperm"
        24 "f32mm" "f32mm" 25 "f64mm" "f64mm"
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn features() -> impl IntoIterator<Item = Feature> {
    []
}
