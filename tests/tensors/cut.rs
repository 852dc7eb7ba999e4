//! A source that returns all of its tensors, and their values as iree-run-module computes them.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use conformance::tools::{finish, iree};

use crate::models::Model;

/// Elements, as numbers.
pub(crate) type Elements = Vec<f64>;

/// The tensors of a source by name.
pub(crate) type Values = BTreeMap<String, Elements>;

/// The name of each tensor that the model's function defines, and its type.
fn tensors(model: &Model) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for line in model.text.lines().skip_while(|line| !line.contains("func.func @")) {
        let Some(rest) = line.strip_prefix("    %") else { continue };
        let Some((name, operation)) = rest.split_once(" = ") else { continue };
        if name.contains([',', ':'])
            || operation.starts_with("tensor.empty")
            || operation.starts_with("tensor.dim")
        {
            continue;
        }
        let after = |mark: &str| operation.rfind(mark).map(|at| &operation[at + mark.len()..]);
        let written = match operation.split(' ').next() {
            Some("linalg.transpose" | "linalg.broadcast" | "linalg.reduce") => operation
                .split_once("outs(")
                .and_then(|(_, it)| it.split_once(" : ")?.1.split_once(')').map(|it| it.0)),
            Some("tensor.collapse_shape" | "tensor.expand_shape" | "tensor.insert_slice") => {
                after(" into ")
            }
            _ => after("-> ").or_else(|| after(" : ")).map(|it| match it.split_once(" to ") {
                Some((_, target)) => target,
                None => it,
            }),
        };
        let Some(written) = written.map(str::trim) else { continue };
        let is_vector = written.starts_with("tensor<") || written.starts_with("!torch.vtensor<[");
        if is_vector && !written.contains("xi1>") && !written.contains(",i1>") {
            found.push((format!("%{name}"), written.to_owned()));
        }
    }
    found
}

/// The text of the model with its function returning all tensors.
fn cut(model: &Model, tensors: &[(String, String)]) -> String {
    let names: Vec<&str> = tensors.iter().map(|it| it.0.as_str()).collect();
    let types: Vec<&str> = tensors.iter().map(|it| it.1.as_str()).collect();
    let (names, types) = (names.join(", "), types.join(", "));
    let mut text = String::new();
    let (mut is_inside, mut has_ended) = (false, false);
    for line in model.text.lines() {
        let head = line.trim_start();
        if !is_inside && !has_ended && head.starts_with("func.func @") {
            is_inside = true;
            let (arguments, rest) = line.split_once(") -> ").unwrap_or((line, ""));
            // What ONNX says about its version.
            let attributes = rest.find(" attributes {").map_or(" {", |at| &rest[at..]);
            text += &format!("{arguments}) -> ({types}){attributes}\n");
        } else if is_inside && line.starts_with("    return ") {
            text += &format!("    return {names} : {types}\n");
            (is_inside, has_ended) = (false, true);
        } else {
            text += line;
            text.push('\n');
        }
    }
    text
}

/// Computes all tensors of a model.
pub(crate) fn values(folder: &Path, model: &Model) -> Result<Values, String> {
    std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    let tensors = tensors(model);
    let (source, module) = (folder.join("cut.mlir"), folder.join("cut.vmfb"));
    std::fs::write(&source, cut(model, &tensors)).map_err(|error| error.to_string())?;
    let run = |command: &mut Command| {
        let finished = finish(command)?;
        match finished.status {
            Some(0) => Ok(()),
            _ => Err(format!("{command:?}: {}", finished.stderr)),
        }
    };
    // Without optimisations that the model under test has.
    let mut compile = Command::new(iree("iree-compile")?);
    compile.arg(&source).arg("-o").arg(&module).args([
        "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-llvmcpu-target-cpu=generic",
        "--iree-opt-level=O0",
    ]);
    run(&mut compile)?;
    let mut execute = Command::new(iree("iree-run-module")?);
    execute.arg(format!("--module={}", module.display()));
    execute.arg(format!("--function={}", model.function()));
    execute.arg("--device=local-sync");
    execute.args(model.inputs.iter().map(|it| format!("--input={it}")));
    let path = |index: usize| folder.join(format!("{index}.npy"));
    execute.args((0..tensors.len()).map(|it| format!("--output=@{}", path(it).display())));
    run(&mut execute)?;
    let values = tensors.into_iter().enumerate().map(|(index, (name, _))| {
        let bytes = std::fs::read(path(index)).map_err(|error| format!("{name}: {error}"))?;
        Ok((name.clone(), elements(&bytes).ok_or_else(|| format!("{name}: not understood"))?))
    });
    values.collect()
}

/// The elements of an `.npy` file.
pub(crate) fn elements(bytes: &[u8]) -> Option<Elements> {
    let length = usize::from(u16::from_le_bytes([*bytes.get(8)?, *bytes.get(9)?]));
    let header = std::str::from_utf8(bytes.get(10..10 + length)?).ok()?;
    let data = bytes.get(10 + length..)?;
    let kind = header.split_once("'descr': '")?.1.split_once('\'')?.0;
    let read = |width: usize, one: fn(&[u8]) -> f64| data.chunks_exact(width).map(one).collect();
    let eight = |it: &[u8]| -> [u8; 8] { std::array::from_fn(|at| it[at]) };
    Some(match kind {
        "<f4" => read(4, |it| f64::from(f32::from_le_bytes([it[0], it[1], it[2], it[3]]))),
        "<i4" => read(4, |it| f64::from(i32::from_le_bytes([it[0], it[1], it[2], it[3]]))),
        "<i8" => data.chunks_exact(8).map(|it| i64::from_le_bytes(eight(it)) as f64).collect(),
        "<f8" => data.chunks_exact(8).map(|it| f64::from_le_bytes(eight(it))).collect(),
        _ => return None,
    })
}
