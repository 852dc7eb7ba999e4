//! Values in and out: `--input`, `--output` and `--expected_output` for every element type and
//! every form. iree-run-module is the oracle. Both tools run a module that returns its arguments,
//! and output, exit status, kind of failure and written files must be equal.
//!
//! Values that IREE's tool cannot print, or compares wrongly (packed elements, scalars), are tested
//! in the crates `abi` and `values`.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;

use conformance::runner::{self, Case};
use conformance::tools::{Finished, finish, iree, iree_dbg, repository, status_code};

/// Calls of a function with one argument.
const INPUTS: &[&str] = &[
    // Shapes, and ways to write values.
    "4xf32=1,2,3,4",
    "2x2xi32=[[1 2][3 4]]",
    "2x2x1xi32=1 2, 3,4",
    "4xf32=7",
    "4xf32",
    "4xf32=",
    "f32=3",
    "i32",
    "0xf32",
    "0xf32=1",
    "0x3xf32",
    "3x0xf32",
    "3x0x2xf32=",
    "1x1x1x1x1x1xi8=5",
    "\"2xf32=1 2\"",
    " 2xf32 = 1 2 ",
    "(null)",
    "(ignored)",
    "&4xf32=1",
    "&16xi8",
    // Integers.
    "5xi8=-128 127 255 0x10 010",
    "3xsi8=-128 127 0",
    "3xui8=0 255 7",
    "3xi16=-32768 65535 1",
    "2xsi16=-32768 32767",
    "2xui16=65535 0",
    "4xi32=-2147483648 2147483647 4294967295 1.5",
    "2xsi32=-1 1",
    "3xui32=4294967295 0 -1",
    "3xi64=-9223372036854775808 9223372036854775807 0x7f",
    "2xsi64=-1 1",
    "2xui64=18446744073709551615 -1",
    "2xi32=12abc 3",
    // Bytes.
    "2xi1=01 00",
    "2xi1",
    "2xcf64=0000803F00000040",
    "1xcf128=000000000000F03F0000000000000040",
    "2x*8=1F",
    "2x*24=ABCDEF",
    "2xf8=12",
    "2xi24=ABCDEF 010203",
    // Floats.
    "8xf32=0 -0 1e-45 3.4028235e38 inf -inf nan -nan",
    "6xf32=1e-5 0.0001 123456 1234567 0.1 1e10",
    "5xf32=0x1p3 .5 5. 1e+2 Infinity",
    "6xf64=0 -0 5e-324 1.7976931348623157e308 nan -inf",
    "3xf64=0.1 1e100 123456789",
    "8xf16=0 -0 65504 65520 1e9 6e-5 nan -nan",
    "4xf16=0.1 3.14159 -2 inf",
    "8xbf16=0 -0 3.38e38 3.4e38 1e-38 nan -nan 1.00390625",
    "8xf8E5M2=0 -0 57344 61440 1e9 1.1 nan -inf",
    "8xf8E4M3FN=0 -0 448 464 480 1.0625 nan inf",
    "8xf8E5M2FNUZ=0 -0 57344 1e9 1.1 nan 0.001 -3",
    "8xf8E4M3FNUZ=0 -0 240 247 1e9 1.1 nan -3",
    "8xf8E8M0FNU=0 -1 1 1.4 1.5 3 1e30 nan",
    // Mistakes.
    "",
    "5",
    "x",
    "2x=3",
    "=1",
    "4x",
    "4xg32=1",
    "ax2xf32",
    "-1xf32",
    "2xi256",
    "2xf0=1",
    "2 x f32=1",
    "2xi32=1,b",
    "2xf32=1 b",
    "1xf32=abc",
    "1xi8=256",
    "1xui8=-1",
    "1xui16=65536",
    "1xsi16=32768",
    "4xi1=1",
    "2xcf64=1",
    "4xf32=1 2",
    "2xf32=1 2 3",
    "4294967296x4294967296xf32=1",
    "1000000000000xf32",
    "1xi64=99999999999999999999",
    "@missing.npy",
    "4xf32=@missing.bin",
    "@x.txt",
    "*4=12",
];

/// Other calls: flags, in a folder with the files of [`write_files`]. They may write `out.npy` and
/// `out.bin`, which are compared.
const CALLS: &[&[&str]] = &[
    // Several values from one file.
    &["--function=two", "--input=@three.npy", "--input=+three.npy"],
    &["--function=two", "--input=@three.npy", "--input=@three.npy"],
    &["--function=two", "--input=+three.npy", "--input=+three.npy"],
    &["--function=three", "--input=*three.npy"],
    &["--function=three", "--input=@three.npy", "--input=*three.npy"],
    &["--function=three", "--input=*three.npy", "--input=+three.npy"],
    &["--function=two", "--input=*three.npy"],
    &["--function=two", "--input=2x2xi16=@six.bin", "--input=2xi16=+six.bin"],
    &["--function=two", "--input=2x2xi16=@six.bin", "--input=2x2xi16=+six.bin"],
    &["--function=two", "--input=2xi16=@six.bin", "--input=2xui8=@six.bin"],
    &["--function=one", "--input=&2xi16=@six.bin"],
    &["--function=one", "--input=cf64=@six.bin"],
    &["--function=one", "--input=@cut.npy"],
    &["--function=one", "--input=@fortran.npy"],
    &["--function=one", "--input=@empty.npy"],
    &["--function=one", "--input=*empty.npy"],
    &["--function=one", "--input=@bool.npy"],
    &["--function=one", "--input=@half.npy"],
    &["--function=one", "--input=@complex.npy"],
    &["--function=one", "--input=@void.npy"],
    &["--function=one", "--input=@big_endian.npy"],
    // Wrong numbers of values.
    &["--function=mixed", "--input=5", "--input=2xi8=1", "--input=2.5"],
    &["--function=mixed", "--input=(null)", "--input=(null)", "--input=(null)"],
    &["--function=mixed", "--input=@three.npy", "--input=2xi8=1", "--input=2.5"],
    &["--function=mixed", "--input=5", "--input=2xi8=1"],
    &["--function=one", "--input=2xi8=1", "--input=2xi8=1"],
    // Limits of the output.
    &["--function=one", "--input=4x4xi32=3", "--output_max_element_count=6"],
    &["--function=one", "--input=4x4xi32=3", "--output_max_element_count=0"],
    &["--function=one", "--input=2000xi8=3"],
    &["--function=one", "--input=i8=3", "--output_max_element_count=0"],
    // Destinations of results.
    &["--function=one", "--input=2x3xf32=1 2 3 4 5 6", "--output=@out.npy"],
    &["--function=one", "--input=2x3xf32=1 2 3 4 5 6", "--output=@out.bin"],
    &["--function=one", "--input=2x3xf32=1", "--output=-"],
    &["--function=one", "--input=2x3xf32=1", "--output="],
    &["--function=one", "--input=2x3xf32=1", "--output=out.npy"],
    &["--function=one", "--input=2x3xf32=1", "--output=-", "--output=-"],
    &["--function=one", "--input=&2x3xf32=1", "--output=@out.npy"],
    &["--function=one", "--input=(null)", "--output=@out.npy"],
    &["--function=one", "--input=2xi1=01", "--output=@out.npy"],
    &["--function=one", "--input=2xcf64", "--output=@out.npy"],
    &["--function=one", "--input=3xf16=1 2 3", "--output=@out.npy"],
    &["--function=one", "--input=si64=-3", "--output=@out.npy"],
    &["--function=one", "--input=0x3xui16", "--output=@out.npy"],
    &["--function=one", "--input=2x*16=ABCD", "--output=@out.npy"],
    &["--function=one", "--input=2xi8=1", "--output=@missing/out.npy"],
    &[
        "--function=three",
        "--input=*three.npy",
        "--output=@out.npy",
        "--output=+out.npy",
        "--output=+out.bin",
    ],
    &[
        "--function=mixed",
        "--input=5",
        "--input=2xi8=1",
        "--input=2.5",
        "--output=@out.npy",
        "--output=+out.npy",
        "--output=+out.npy",
    ],
    // Expected results.
    &["--function=one", "--input=2xf32=1 2", "--expected_output=2xf32=1 2"],
    &["--function=one", "--input=2xf32=1 2", "--expected_output=2xf32=1 2.00005"],
    &["--function=one", "--input=2xf32=1 2", "--expected_output=2xf32=1 3"],
    &["--function=one", "--input=2xf32=1 2", "--expected_output=2xf64=1 2"],
    &["--function=one", "--input=2xf32=1 2", "--expected_output=1x2xf32=1 2"],
    &["--function=one", "--input=2xf32=1 2", "--expected_output=(ignored)"],
    &["--function=one", "--input=2xf32=1 2", "--expected_output=@three.npy"],
    &["--function=one", "--input=2xf32=nan inf", "--expected_output=2xf32=-nan inf"],
    &["--function=one", "--input=2xf32=nan inf", "--expected_output=2xf32=1 -inf"],
    &["--function=one", "--input=2xi32=1 2", "--expected_output=2xi32=1 3"],
    &["--function=one", "--input=2xf16=1 2", "--expected_output=2xf16=1 2.002"],
    &["--function=one", "--input=2xbf16=1 2", "--expected_output=2xbf16=1 2.01"],
    &["--function=one", "--input=2xbf16=1 2", "--expected_output=2xbf16=1 2.1"],
    &["--function=one", "--input=2xf8E5M2=1 2", "--expected_output=2xf8E5M2=1 2.5"],
    &["--function=one", "--input=&2xi8=1", "--expected_output=2xi8=1"],
    &["--function=one", "--input=2xi8=1", "--expected_output=&2xi8=1"],
    &["--function=one", "--input=(null)", "--expected_output=2xi8=1"],
    &["--function=one", "--input=2xi8=1", "--expected_output=x"],
    &["--function=one", "--input=2xi8=1", "--expected_output=2xi8=1", "--expected_output=2xi8=1"],
    &["--function=two", "--input=2xi8=1", "--input=2xi8=1", "--expected_output=2xi8=1"],
    &[
        "--function=one",
        "--input=f32=1",
        "--expected_output=f32=1.05",
        "--expected_f32_threshold=0.1",
    ],
    &["--function=one", "--input=f32=1", "--expected_output=f32=1.05", "--expected_rtol=0.1"],
    &["--function=one", "--input=f64=1", "--expected_output=f64=1.00001", "--equality_mode=exact"],
];

fn main() -> ExitCode {
    let setup = match Setup::new() {
        Ok(setup) => Arc::new(setup),
        Err(error) => {
            println!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    let inputs =
        INPUTS.iter().map(|input| vec!["--function=one".to_owned(), format!("--input={input}")]);
    let calls = CALLS.iter().map(|call| call.iter().map(|flag| (*flag).to_owned()).collect());
    let cases: Vec<Case> = inputs
        .chain(calls)
        .map(|flags: Vec<String>| {
            let setup = setup.clone();
            Case::new(flags.join(" "), move || setup.compare(&flags))
        })
        .collect();
    runner::run(&cases)
}

/// The files that a call wrote, if any.
type Files = [Option<Vec<u8>>; 2];

/// The shared setup of all cases.
struct Setup {
    folder: tempfile::TempDir,
    their_tool: PathBuf,
    our_tool: PathBuf,
}

impl Setup {
    fn new() -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let source = repository().join("tests/values/echo.vmasm");
        let output = format!("--output={}", folder.path().join("echo.vmfb").display());
        let assembled = finish(Command::new(iree("iree-as-module")?).arg(source).arg(output))?;
        if assembled.status != Some(0) {
            return Err(format!("echo.vmasm does not assemble: {}", assembled.stderr));
        }
        Ok(Self { folder, their_tool: iree("iree-run-module")?, our_tool: iree_dbg()? })
    }

    /// Runs both tools with the flags, each in its own folder.
    fn compare(&self, flags: &[String]) -> Result<(), String> {
        let [theirs, ours] = [
            self.run(Command::new(&self.their_tool), flags)?,
            self.run(Command::new(&self.our_tool).arg("run"), flags)?,
        ];
        let ((their_run, their_files), (our_run, our_files)) = (theirs, ours);
        let same = their_run.stdout == our_run.stdout
            && their_run.status == our_run.status
            && status_code(&their_run.stderr) == status_code(&our_run.stderr)
            && their_files == our_files;
        if same {
            return Ok(());
        }
        Err(format!(
            "theirs:\n{}\nours:\n{}",
            report(&their_run, &their_files),
            report(&our_run, &our_files)
        ))
    }

    fn run(
        &self,
        mut command: impl std::borrow::BorrowMut<Command>,
        flags: &[String],
    ) -> Result<(Finished, Files), String> {
        let folder = tempfile::tempdir_in(self.folder.path()).map_err(|error| error.to_string())?;
        write_files(folder.path()).map_err(|error| error.to_string())?;
        let module = format!("--module={}", self.folder.path().join("echo.vmfb").display());
        let command = command.borrow_mut().current_dir(&folder).arg(module).args(flags);
        let finished = finish(command)?;
        let files = ["out.npy", "out.bin"].map(|name| std::fs::read(folder.path().join(name)).ok());
        Ok((finished, files))
    }
}

fn report(run: &Finished, files: &Files) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).escape_debug().to_string();
    let files: Vec<String> = files.iter().flatten().map(|bytes| text(bytes)).collect();
    format!(
        "  exit status {:?}\n  {}\n  {}\n  files {files:?}",
        run.status,
        text(&run.stdout),
        run.stderr.trim_end()
    )
}

/// The files that calls read.
fn write_files(folder: &Path) -> std::io::Result<()> {
    let floats = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let first: Vec<u8> = floats(&[1.0, 2.0]);
    let three = [
        array("<f4", "(2,)", &first),
        array("|u1", "(1, 3)", &[3, 4, 5]),
        array("<i8", "()", &[6, 0, 0, 0, 0, 0, 0, 0]),
    ];
    let files: [(&str, Vec<u8>); 9] = [
        ("three.npy", three.concat()),
        ("six.bin", (1..=6_u16).flat_map(u16::to_le_bytes).collect()),
        ("cut.npy", array("<f4", "(3,)", &first)),
        ("empty.npy", Vec::new()),
        ("bool.npy", array("|b1", "(2,)", &[1, 0])),
        ("half.npy", array("<f2", "(2, 1)", &[0, 0x3C, 0, 0x7C])),
        ("complex.npy", array("<c8", "(1,)", &[0, 0, 0x80, 0x3F, 0, 0, 0, 0x40])),
        ("void.npy", array("<V2", "(1,)", &[1, 2])),
        ("big_endian.npy", array(">f4", "(2,)", &first)),
    ];
    for (name, bytes) in files {
        std::fs::write(folder.join(name), bytes)?;
    }
    let header = "{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2), }";
    std::fs::write(folder.join("fortran.npy"), with_header(header, &first))
}

/// An array in the format of `numpy.save`.
fn array(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    with_header(&header, data)
}

fn with_header(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    bytes.extend(format!("{header:<117}\n").as_bytes());
    bytes.extend(data);
    bytes
}
