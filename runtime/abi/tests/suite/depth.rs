//! Texts may nest to any depth: reading them ends, in reasonable time, on a small stack.

use std::fmt::Debug;
use std::thread;

const LEVELS: usize = 100_000;

/// The stack of a server's thread.
const STACK: usize = 2 << 20;

fn nested(before: &str, open: &str, middle: &str, close: &str, after: &str) -> String {
    format!("{before}{}{middle}{}{after}", open.repeat(LEVELS), close.repeat(LEVELS))
}

/// Reads a text on a small stack. The result does not matter.
fn survives<T: Debug>(text: String, read: impl FnOnce(&str) -> T + Send + 'static) {
    let start = text.get(..40).unwrap_or(&text).to_owned();
    let thread = thread::Builder::new().stack_size(STACK).spawn(move || drop(read(&text)));
    assert!(thread.expect("a thread").join().is_ok(), "{start}");
}

#[test]
fn nothing_overflows() {
    survives(nested("0", "C", "i", "D", "_v"), abi::cconv::Signature::parse);
    survives(nested("0", "C", "", "", ""), abi::cconv::Signature::parse);
    survives(nested("0", "[", "i", "]", ".r"), abi::cconv_layout::parse_any_age);
    for (open, close) in [("S6!", ""), ("S3!S1!", ""), ("S", "")] {
        survives(nested("I6!", open, "", close, ""), abi::raw::RawSignature::parse);
    }
    survives(nested("", "[", "1", "]", ""), |text| abi::json::Json::parse(text).is_ok());
    survives(nested("", "{\"a\":", "1", "}", ""), |text| abi::json::Json::parse(text).is_ok());
    survives(nested("{\"v\":1,\"a\":", "[\"slist\",", "1", "]", "}"), abi::iree_abi::parse);
    for (open, close) in [
        ("tensor<", ">"),
        ("tuple<", ">"),
        ("memref<4x", ">"),
        ("vector<4x", ">"),
        ("complex<", ">"),
        ("!a.b<", ">"),
        ("(", ") -> i32"),
        ("() -> ", ""),
        ("(", ")"),
    ] {
        survives(nested("", open, "f32", close, ""), abi::mlir::types::parse);
        let declaration = nested("sync func @f(%x: ", open, "f32", close, ") -> ()");
        survives(declaration, abi::mlir::function::parse);
    }
    for open in ["(", "-", "d0 + (", "(d0 * "] {
        let close = if open.contains('(') { ")" } else { "" };
        let map = nested("memref<4xf32, affine_map<(d0) -> (", open, "d0", close, ")>>");
        survives(map, abi::mlir::types::parse);
    }
    survives(nested("memref<4xf32, ", "[", "1", "]", ">"), abi::mlir::types::parse);
    survives(nested("func.func @f(%x: i32 {a = ", "[", "1", "]", "})"), abi::mlir::function::parse);
    for (open, close) in [("Array[", "]"), ("Tuple[", "]"), ("(", ") -> int"), ("list[int | ", "]")]
    {
        survives(nested("", open, "int", close, ""), abi::tvm::schema::Schema::parse);
    }
    let json = nested("", "{\"type\":\"Array\",\"args\":[", "{\"type\":\"int\"}", "]}", "");
    survives(json, abi::tvm::schema::Schema::parse);
}
