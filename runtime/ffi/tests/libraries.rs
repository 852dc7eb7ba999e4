//! Native libraries, compiled here: a faulty declaration affects only its own function.

use std::path::{Path, PathBuf};
use std::process::Command;

use ffi::memref::{Library, LibraryError};
use hal::{Config, Host, NativeLibrary};
use vm::{Context, FunctionId, Invocation, ModuleIndex, Outcome, Value};

const CODE: &str = "int _mlir_ciface_two(int a, int b) { return a + 10 * b; }\n\
                    int _mlir_ciface_cplx(int a) { return a; }\n\
                    int _mlir_ciface_torn(int a) { return a; }\n";

fn compiled(folder: &Path, text: &str) -> PathBuf {
    let (source, library) = (folder.join("k.c"), folder.join("libk.so"));
    std::fs::write(&source, CODE).expect("the code is written");
    std::fs::write(folder.join("libk.mlir"), text).expect("the text is written");
    let status = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .status()
        .expect("a C compiler, which Rust needs too");
    assert!(status.success());
    library
}

fn call(library: &Library, name: &str, imports: &[(&str, &str)], values: Vec<Value>) -> Outcome {
    let host = Host::new(&Config::default());
    let module = library.module(&host, imports);
    let mut context: Context = host.context().add_native(module).link().expect("it links");
    let found: Option<FunctionId> = context.lookup(&format!("k.{name}"));
    let function = found.expect("the function is there");
    assert_eq!(function.module, ModuleIndex(0));
    let invocation = Invocation::new(&context, function, values);
    invocation.expect("it can be called").run(&mut context)
}

#[test]
fn a_function_that_cannot_be_called_spoils_no_other() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = compiled(
        folder.path(),
        "func.func @cplx(%a: complex<f32>) -> i32\n\
         func.func @two(%a: i32, %b: i32) -> i32\n\
         func.func @torn(%a: i32 ->\n\
         func.func @absent(%a: i32) -> i32\n",
    );
    let library = Library::open(&path, &[]).expect("it has a function that can be called");
    let outcome = call(&library, "two", &[], vec![Value::I32(3), Value::I32(4)]);
    assert!(
        matches!(&outcome, Outcome::Completed(it) if matches!(**it, [Value::I32(43)])),
        "{outcome:?}"
    );

    let unusable: Vec<&str> = library.unusable().iter().map(|(name, _)| &**name).collect();
    assert_eq!(unusable, ["cplx", "torn"]);
    let outcome = call(&library, "cplx", &[("cplx", "0i_i")], vec![Value::I32(1)]);
    let Outcome::Failed(failure) = outcome else { panic!("{outcome:?}") };
    let message = failure.status.to_string();
    assert!(message.contains("@cplx: ") && message.contains("complex<f32>"), "{message}");
}

#[test]
fn a_library_of_nothing_that_can_be_called_says_why() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = compiled(folder.path(), "func.func @cplx(%a: complex<f32>) -> i32\n");
    let error = Library::open(&path, &[]).expect_err("there is nothing to call");
    assert!(matches!(&error, LibraryError::Function { name, .. } if name == "cplx"), "{error}");
    let nameless = ["func.func (%a: i32".to_owned()];
    let error = Library::open(&path, &nameless).expect_err("a declaration without a name");
    assert!(matches!(&error, LibraryError::Declaration { .. }), "{error}");
}
