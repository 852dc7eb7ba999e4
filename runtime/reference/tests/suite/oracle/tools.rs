//! Compiling and running with IREE's tools, and comparing what they compute with an evaluation.

use std::path::{Path, PathBuf};
use std::process::Command;

use abi::element_type::ElementType;
use abi::tensor::{Tensor, TensorType};
use reference::{Elements, Output};

/// A compiled module, in a folder of its own.
pub(crate) struct Compiled {
    folder: tempfile::TempDir,
}

/// The two back ends, with the flags of each.
pub(crate) const BACK_ENDS: [(&str, &str); 2] =
    [("llvm-cpu", "--iree-llvmcpu-target-cpu=generic"), ("vmvx", "--iree-opt-level=O2")];

/// A tool of IREE, in the virtual environment of the tests or on the PATH.
fn tool(name: &str) -> PathBuf {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/bin").join(name);
    if repository.is_file() { repository } else { PathBuf::from(name) }
}

impl Compiled {
    /// Compiles a text for one back end.
    pub(crate) fn new(text: &str, (name, flag): (&str, &str)) -> Result<Self, String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("in.mlir"), text).unwrap();
        let compile = Command::new(tool("iree-compile"))
            .current_dir(folder.path())
            .args(["in.mlir", "-o", "out.vmfb", "--iree-hal-target-device=local", flag])
            .arg(format!("--iree-hal-local-target-device-backends={name}"))
            .arg("--iree-input-demote-f64-to-f32=false")
            .output()
            .expect("IREE's tools are installed");
        if compile.status.success() {
            Ok(Self { folder })
        } else {
            Err(String::from_utf8_lossy(&compile.stderr).into_owned())
        }
    }

    /// Runs a function; the bytes of its results.
    pub(crate) fn run(&self, function: &str, inputs: &[Tensor], results: usize) -> Vec<Vec<u8>> {
        let mut run = Command::new(tool("iree-run-module"));
        run.current_dir(self.folder.path());
        run.args(["--device=local-sync", "--module=out.vmfb"]);
        run.arg(format!("--function={function}"));
        for (at, input) in inputs.iter().enumerate() {
            let file = format!("in{at}.bin");
            std::fs::write(self.folder.path().join(&file), &input.bytes).unwrap();
            let type_ = TensorType {
                shape: input.shape.clone(),
                // Booleans are bytes.
                element_type: as_bytes(input.element_type),
            };
            run.arg(format!("--input={type_}=@{file}"));
        }
        for at in 0..results {
            run.arg(format!("--output=@out{at}.bin"));
        }
        let output = run.output().expect("IREE's tools are installed");
        assert!(output.status.success(), "{function}: {}", String::from_utf8_lossy(&output.stderr));
        let read = |at| std::fs::read(self.folder.path().join(format!("out{at}.bin"))).unwrap();
        (0..results).map(read).collect()
    }
}

fn as_bytes(element_type: ElementType) -> ElementType {
    if element_type.to_string() == "i1" { "i8".parse().unwrap() } else { element_type }
}

/// The text of a program in the phase in which its dispatches are whole.
pub(crate) fn flow(text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("in.mlir"), text).unwrap();
    let compile = Command::new(tool("iree-compile"))
        .current_dir(folder.path())
        .args(["in.mlir", "-o", "-", "--compile-to=flow", "--iree-hal-target-device=local"])
        .arg("--iree-hal-local-target-device-backends=vmvx")
        .output()
        .expect("IREE's tools are installed");
    assert!(compile.status.success(), "{}", String::from_utf8_lossy(&compile.stderr));
    String::from_utf8(compile.stdout).unwrap()
}

/// Checks what a tool computed against an evaluation: the greatest share of its bound that an
/// element is away, and how many elements have no opinion.
pub(crate) fn check(output: &Output, bytes: &[u8]) -> Result<(f64, usize), String> {
    let count = output.values.len();
    let element = as_bytes(output.element_type);
    if Some(bytes.len()) != element.packed_byte_count(count) {
        return Err(format!("{} bytes for {count} elements", bytes.len()));
    }
    let mut most = 0.0_f64;
    for at in 0..count {
        let mut wide = [0; 8];
        let size = element.byte_count();
        wide[..size].copy_from_slice(&bytes[at * size..(at + 1) * size]);
        let bound = output.bound(at);
        match &output.values {
            Elements::Floats(values) => {
                let found = element.float_value(&wide).unwrap();
                let value = values[at];
                if !output.agrees_float(at, found) {
                    let away = (found - value).abs();
                    let reason = &output.reason;
                    return Err(format!(
                        "element {at} is {found}, expected {value} ± {bound:e}, {away:e} away \
                         ({reason})"
                    ));
                }
                if bound.is_finite() && bound > 0.0 && found.is_finite() {
                    most = most.max((found - value).abs() / bound);
                }
            }
            Elements::Integers(values) => {
                let unused = 64 - 8 * size as u32;
                let found = i64::from_le_bytes(wide) << unused >> unused;
                if !output.agrees_integer(at, found) {
                    let value = values[at];
                    return Err(format!("element {at} is {found}, expected {value} ± {bound}"));
                }
            }
        }
    }
    Ok((most, output.unstable()))
}

/// Numbers that are always the same for a seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 33) as usize % limit
    }

    /// From -1 to 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    /// A tensor of moderate numbers.
    pub(crate) fn tensor(&mut self, text: &str) -> Tensor {
        let type_ = TensorType::parse(text).unwrap();
        let count = type_.element_count().unwrap();
        let mut bytes = Vec::new();
        for _ in 0..count {
            bytes.extend(self.element(type_.element_type));
        }
        Tensor { shape: type_.shape, element_type: type_.element_type, bytes }
    }

    fn element(&mut self, element: ElementType) -> Vec<u8> {
        let value = self.unit() * 4.0;
        match element.to_string().as_str() {
            "f64" => value.to_le_bytes().to_vec(),
            "cf64" => [value, self.unit() * 4.0].map(|it| (it as f32).to_le_bytes()).concat(),
            "f32" => (value as f32).to_le_bytes().to_vec(),
            "f16" => half::f16::from_f64(value).to_le_bytes().to_vec(),
            "bf16" => half::bf16::from_f64(value).to_le_bytes().to_vec(),
            "i1" => vec![u8::from(value > 0.0)],
            "i8" => vec![self.next() as u8],
            "i16" => (self.next() as i16).to_le_bytes().to_vec(),
            // Small enough to be indices and sizes, and of both signs.
            "i32" => ((value * 50.0) as i32).to_le_bytes().to_vec(),
            "i64" => ((value * 50.0) as i64).to_le_bytes().to_vec(),
            other => panic!("no random {other}"),
        }
    }
}
