//! The LLVM signature of a function after MLIR's conversion: the calling convention is the same
//! from MLIR 13 to today.
//!
//! ```text
//! memref<…> of rank N   ─ argument ─►  ptr allocated, ptr aligned, i64 offset,
//!                                      i64 size × N, i64 stride × N
//! memref<*x…>           ─ argument ─►  i64 rank, ptr descriptor
//! any memref            ─ result ───►  the descriptor as a struct; several results: one struct
//! _mlir_ciface_f:       each memref argument is one pointer to its descriptor; a result that is a
//!                       struct is written through a pointer that comes first
//! bare pointers:        each memref is its aligned pointer; only for static shapes and layouts
//! ```

use super::llvm::Llvm;
use crate::signature::{
    Array, Function, Layout, NoForm, ScalarType, Type, Unrepresentable, each_slot,
};

/// A parameter of an LLVM function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its type.
    pub ty: Llvm,
    /// Its meaning: `args[0].allocated`, `args[1]`, `result`.
    pub role: String,
}

/// An LLVM function's type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// What it takes.
    pub parameters: Vec<Parameter>,
    /// What it returns.
    pub result: Llvm,
}

impl std::fmt::Display for Signature {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (", self.result)?;
        for (index, parameter) in self.parameters.iter().enumerate() {
            f.write_str(if index > 0 { ", " } else { "" })?;
            parameter.ty.fmt(f)?;
        }
        f.write_str(")")
    }
}

/// All forms of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lowered {
    /// The function itself, with expanded descriptors.
    pub expanded: Signature,
    /// The C interface, `_mlir_ciface_` and its name.
    pub c_interface: Signature,
    /// The function with bare pointers, or why it cannot have them.
    pub bare_pointers: Result<Signature, Unrepresentable>,
}

/// Converts a function as MLIR does.
///
/// # Errors
/// A type without a form in LLVM; MLIR does not convert such functions.
pub fn lower(function: &Function) -> Result<Lowered, Unrepresentable> {
    let (arguments, results) =
        each_slot(function, |slot, path| convert(&slot.ty).map_err(|reason| reason.at(path)))?;
    let result = packed(results);
    let mut expanded = Vec::new();
    let mut c_interface = Vec::new();
    let returns_struct = matches!(result, Llvm::Struct(_));
    if returns_struct {
        c_interface.push(Parameter { ty: Llvm::PTR, role: "result".to_owned() });
    }
    for (index, (slot, ty)) in function.arguments.iter().zip(arguments).enumerate() {
        let role = format!("args[{index}]");
        match &slot.ty {
            Type::Array(array) => {
                expanded.extend(expand(array, &role));
                c_interface.push(Parameter { ty: Llvm::PTR, role });
            }
            _ => {
                expanded.push(Parameter { ty: ty.clone(), role: role.clone() });
                c_interface.push(Parameter { ty, role });
            }
        }
    }
    let c_result = if returns_struct { Llvm::Void } else { result.clone() };
    Ok(Lowered {
        expanded: Signature { parameters: expanded, result },
        c_interface: Signature { parameters: c_interface, result: c_result },
        bare_pointers: bare_pointers(function),
    })
}

/// No result, the only one, or a struct of all.
fn packed(mut results: Vec<Llvm>) -> Llvm {
    match results.len() {
        0 => Llvm::Void,
        1 => results.remove(0),
        _ => Llvm::Struct(results),
    }
}

fn expand(array: &Array, role: &str) -> Vec<Parameter> {
    let parameter = |ty, part: String| Parameter { ty, role: format!("{role}.{part}") };
    let Some(shape) = &array.shape else {
        return vec![
            parameter(Llvm::I64, "rank".to_owned()),
            parameter(Llvm::PTR, "descriptor".to_owned()),
        ];
    };
    let pointer = Llvm::Pointer(address_space(array).unwrap_or(0));
    let mut parameters = vec![
        parameter(pointer.clone(), "allocated".to_owned()),
        parameter(pointer, "aligned".to_owned()),
        parameter(Llvm::I64, "offset".to_owned()),
    ];
    for part in ["sizes", "strides"] {
        parameters
            .extend((0..shape.len()).map(|index| parameter(Llvm::I64, format!("{part}[{index}]"))));
    }
    parameters
}

/// The LLVM address space of an array. Those of GPUs are those of both NVVM and ROCDL, where these
/// agree.
fn address_space(array: &Array) -> Result<u32, NoForm> {
    let Some(space) = array.memory_space.as_deref() else { return Ok(0) };
    match space {
        "#gpu.address_space<global>" => Ok(1),
        "#gpu.address_space<workgroup>" => Ok(3),
        "#gpu.address_space<private>" => Err(NoForm::AmbiguousSpace(space.to_owned())),
        space => space.parse().map_err(|_| NoForm::MemorySpace(space.to_owned())),
    }
}

/// The LLVM type of a value; memrefs as descriptors.
///
/// # Errors
/// [`NoForm`]: why there is none.
pub fn convert(ty: &Type) -> Result<Llvm, NoForm> {
    Ok(match ty {
        Type::Scalar(scalar) => convert_scalar(scalar)?,
        Type::Vector(vector) => {
            let Some(((length, scalable), outer)) = vector.dimensions.split_last() else {
                let element = Box::new(convert(&vector.element)?);
                return Ok(Llvm::Vector { length: 1, scalable: false, element });
            };
            if outer.iter().any(|(_, scalable)| *scalable) {
                return Err(NoForm::OuterScalable);
            }
            let element = Box::new(convert(&vector.element)?);
            let innermost = Llvm::Vector { length: *length, scalable: *scalable, element };
            outer
                .iter()
                .rev()
                .fold(innermost, |inner, (length, _)| Llvm::Array(*length, Box::new(inner)))
        }
        Type::Array(array) => {
            if let Layout::Other(text) = &array.layout {
                return Err(NoForm::Layout(text.clone()));
            }
            convert(&array.element)?;
            let space = address_space(array)?;
            match &array.shape {
                None => Llvm::Struct(vec![Llvm::I64, Llvm::PTR]),
                Some(shape) => descriptor(shape.len(), space),
            }
        }
        Type::Function(Some(function)) => match lower(function) {
            Ok(_) => Llvm::PTR,
            Err(error) => return Err(NoForm::Inner(Box::new(error))),
        },
        Type::Function(None) => Llvm::PTR,
        Type::Reference(Some(name)) if name == "!llvm.ptr" => Llvm::PTR,
        Type::Reference(Some(name)) if name.starts_with("!llvm.ptr<") => {
            let inside = name.trim_start_matches("!llvm.ptr<").trim_end_matches('>');
            Llvm::Pointer(inside.rsplit(',').next().unwrap_or("").trim().parse().unwrap_or(0))
        }
        Type::Sequence(..) => return Err(NoForm::Tuple),
        Type::Null => return Err(NoForm::Llvm("none".to_owned())),
        other => return Err(NoForm::Llvm(format!("`{other}`"))),
    })
}

/// The struct of a memref of this rank.
#[must_use]
pub fn descriptor(rank: usize, space: u32) -> Llvm {
    let pointer = Llvm::Pointer(space);
    let mut fields = vec![pointer.clone(), pointer, Llvm::I64];
    if rank > 0 {
        let words = Llvm::Array(rank as u64, Box::new(Llvm::I64));
        fields.extend([words.clone(), words]);
    }
    Llvm::Struct(fields)
}

fn convert_scalar(scalar: &ScalarType) -> Result<Llvm, NoForm> {
    Ok(match scalar {
        ScalarType::Index => Llvm::I64,
        ScalarType::Integer(_, bits) => Llvm::Integer(*bits),
        ScalarType::Float(bits) => Llvm::Float(match bits {
            16 => "half",
            32 => "float",
            64 => "double",
            80 => "x86_fp80",
            128 => "fp128",
            _ => return Err(NoForm::LlvmFloat(*bits)),
        }),
        ScalarType::SpecialFloat(format) => match format.name {
            "bf16" => Llvm::Float("bfloat"),
            "tf32" => return Err(NoForm::Llvm("tf32".to_owned())),
            _ => Llvm::Integer(format.bits),
        },
        ScalarType::Complex(part) => {
            let part = convert_scalar(part)?;
            Llvm::Struct(vec![part.clone(), part])
        }
        ScalarType::Opaque(_) => return Err(NoForm::Llvm(format!("`{scalar}`"))),
    })
}

fn bare_pointers(function: &Function) -> Result<Signature, Unrepresentable> {
    let (arguments, results) = each_slot(function, |slot, path| {
        let bare = match &slot.ty {
            Type::Array(array) => bare_pointer(array),
            Type::Function(Some(inner)) => match bare_pointers(inner) {
                Ok(_) => Ok(Llvm::PTR),
                Err(error) => Err(NoForm::Inner(Box::new(error))),
            },
            other => convert(other),
        };
        bare.map_err(|reason| reason.at(path))
    })?;
    let parameters = arguments.into_iter().enumerate();
    let parameters = parameters.map(|(index, ty)| Parameter { ty, role: format!("args[{index}]") });
    Ok(Signature { parameters: parameters.collect(), result: packed(results) })
}

fn bare_pointer(array: &Array) -> Result<Llvm, NoForm> {
    let is_static_layout = match &array.layout {
        Layout::RowMajor => true,
        Layout::Strided { strides, offset } => {
            offset.is_some() && strides.iter().all(Option::is_some)
        }
        Layout::Other(_) => false,
    };
    if array.is_static() && is_static_layout {
        return address_space(array).map(Llvm::Pointer);
    }
    Err(NoForm::BarePointer)
}

#[cfg(test)]
mod tests {
    use super::lower;
    use crate::conventions::mlir::function;

    #[test]
    fn memory_spaces_of_gpus() {
        let lowered = |space: &str| {
            let text = format!("(memref<4xf32, {space}>) -> ()");
            let lowered = lower(&function::parse(&text).unwrap().function);
            lowered.map(|it| it.bare_pointers.unwrap().to_string()).map_err(|it| it.to_string())
        };
        let gpu = |space: &str| lowered(&format!("#gpu.address_space<{space}>"));
        assert_eq!(gpu("global"), Ok("void (ptr addrspace(1))".to_owned()));
        assert_eq!(gpu("workgroup"), lowered("3"));
        assert!(gpu("private").is_err_and(|it| it.contains("5 with ROCDL")));
        assert!(lowered("\"local\"").is_err_and(|it| it.contains("has no LLVM address space")));
    }

    #[test]
    fn forms_of_a_function() {
        for (text, expanded, c_interface, bare) in [
            ("() -> ()", "void ()", "void ()", "void ()"),
            (
                "(memref<4xf32>) -> memref<4xf32>",
                "{ ptr, ptr, i64, [1 x i64], [1 x i64] } (ptr, ptr, i64, i64, i64)",
                "void (ptr, ptr)",
                "ptr (ptr)",
            ),
            (
                "(i32, memref<f32>, memref<*xf32>) -> (f32, i8)",
                "{ float, i8 } (i32, ptr, ptr, i64, i64, ptr)",
                "void (ptr, i32, ptr, ptr)",
                "args[2]: a bare pointer carries no sizes, so shape, strides and offset must be static",
            ),
        ] {
            let lowered = lower(&function::parse(text).unwrap().function).unwrap();
            assert_eq!(lowered.expanded.to_string(), expanded, "{text}");
            assert_eq!(lowered.c_interface.to_string(), c_interface, "{text}");
            let found = lowered.bare_pointers.map_or_else(|e| e.to_string(), |s| s.to_string());
            assert_eq!(found, bare, "{text}");
        }
    }
}
