//! Named operations of linalg, as MLIR's documents define them: the indices that each operand is
//! read at, and what is done with the elements.

use crate::affine::{Expression, Map};
use crate::operations::{
    FloatBinary as B, FloatUnary as U, Id, IntegerBinary as I, IntegerUnary, Iterator, Kind, Scalar,
};
use crate::refusal::Result;
use crate::text::affine;
use crate::text::cursor::Cursor;
use crate::text::linalg::{self, Operands};
use crate::text::reader::{Read, Reader};
use crate::types::{Element, Type};

/// What a contraction does with its elements, after it has converted them to the output's type.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Body {
    /// `out + a * b`
    MultiplyAdd,
    /// `out + (a - zero of a) * (b - zero of b)`
    Quantized,
    /// `out + a`
    Sum,
    Maximum,
    Minimum,
    MaximumUnsigned,
    MinimumUnsigned,
}
use Body::{Maximum, MaximumUnsigned, Minimum, MinimumUnsigned, MultiplyAdd, Quantized, Sum};

/// Name, loops, indices of operands, body. Loops that the output does not name reduce. `s` is a
/// stride, `t` a dilation.
const TABLE: [(&str, &str, &[&str], Body); 56] = [
    ("matmul", "m,n,k", &["m,k", "k,n", "m,n"], MultiplyAdd),
    ("matmul_transpose_a", "m,n,k", &["k,m", "k,n", "m,n"], MultiplyAdd),
    ("matmul_transpose_b", "m,n,k", &["m,k", "n,k", "m,n"], MultiplyAdd),
    ("batch_matmul", "b,m,n,k", &["b,m,k", "b,k,n", "b,m,n"], MultiplyAdd),
    ("batch_matmul_transpose_a", "b,m,n,k", &["b,k,m", "b,k,n", "b,m,n"], MultiplyAdd),
    ("batch_matmul_transpose_b", "b,m,n,k", &["b,m,k", "b,n,k", "b,m,n"], MultiplyAdd),
    ("batch_reduce_matmul", "m,n,b,k", &["b,m,k", "b,k,n", "m,n"], MultiplyAdd),
    ("matvec", "m,k", &["m,k", "k", "m"], MultiplyAdd),
    ("vecmat", "n,k", &["k", "k,n", "n"], MultiplyAdd),
    ("batch_matvec", "b,m,k", &["b,m,k", "b,k", "b,m"], MultiplyAdd),
    ("batch_vecmat", "b,n,k", &["b,k", "b,k,n", "b,n"], MultiplyAdd),
    ("dot", "k", &["k", "k", ""], MultiplyAdd),
    ("mmt4d", "m,n,k,p,q,r", &["m,k,p,r", "n,k,q,r", "m,n,p,q"], MultiplyAdd),
    ("batch_mmt4d", "b,m,n,k,p,q,r", &["b,m,k,p,r", "b,n,k,q,r", "b,m,n,p,q"], MultiplyAdd),
    ("quantized_matmul", "m,n,k", &["m,k", "k,n", "", "", "m,n"], Quantized),
    ("quantized_batch_matmul", "b,m,n,k", &["b,m,k", "b,k,n", "", "", "b,m,n"], Quantized),
    ("conv_1d", "ow,kw", &["ow+kw", "kw", "ow"], MultiplyAdd),
    ("conv_2d", "oh,ow,kh,kw", &["oh+kh,ow+kw", "kh,kw", "oh,ow"], MultiplyAdd),
    ("conv_3d", "od,oh,ow,kd,kh,kw", &["od+kd,oh+kh,ow+kw", "kd,kh,kw", "od,oh,ow"], MultiplyAdd),
    ("conv_1d_nwc_wcf", "n,ow,f,kw,c", &["n,ow*s0+kw*t0,c", "kw,c,f", "n,ow,f"], MultiplyAdd),
    ("conv_1d_ncw_fcw", "n,f,ow,c,kw", &["n,c,ow*s0+kw*t0", "f,c,kw", "n,f,ow"], MultiplyAdd),
    (
        "conv_2d_nhwc_hwcf",
        "n,oh,ow,f,kh,kw,c",
        &["n,oh*s0+kh*t0,ow*s1+kw*t1,c", "kh,kw,c,f", "n,oh,ow,f"],
        MultiplyAdd,
    ),
    (
        "conv_2d_nhwc_hwcf_q",
        "n,oh,ow,f,kh,kw,c",
        &["n,oh*s0+kh*t0,ow*s1+kw*t1,c", "kh,kw,c,f", "", "", "n,oh,ow,f"],
        Quantized,
    ),
    (
        "conv_2d_nhwc_fhwc",
        "n,oh,ow,f,kh,kw,c",
        &["n,oh*s0+kh*t0,ow*s1+kw*t1,c", "f,kh,kw,c", "n,oh,ow,f"],
        MultiplyAdd,
    ),
    (
        "conv_2d_nhwc_fhwc_q",
        "n,oh,ow,f,kh,kw,c",
        &["n,oh*s0+kh*t0,ow*s1+kw*t1,c", "f,kh,kw,c", "", "", "n,oh,ow,f"],
        Quantized,
    ),
    (
        "conv_2d_nchw_fchw",
        "n,f,oh,ow,c,kh,kw",
        &["n,c,oh*s0+kh*t0,ow*s1+kw*t1", "f,c,kh,kw", "n,f,oh,ow"],
        MultiplyAdd,
    ),
    (
        "conv_2d_nchw_fchw_q",
        "n,f,oh,ow,c,kh,kw",
        &["n,c,oh*s0+kh*t0,ow*s1+kw*t1", "f,c,kh,kw", "", "", "n,f,oh,ow"],
        Quantized,
    ),
    (
        "conv_2d_ngchw_fgchw",
        "n,g,f,oh,ow,c,kh,kw",
        &["n,g,c,oh*s0+kh*t0,ow*s1+kw*t1", "f,g,c,kh,kw", "n,g,f,oh,ow"],
        MultiplyAdd,
    ),
    (
        "conv_2d_ngchw_gfchw",
        "n,g,f,oh,ow,c,kh,kw",
        &["n,g,c,oh*s0+kh*t0,ow*s1+kw*t1", "g,f,c,kh,kw", "n,g,f,oh,ow"],
        MultiplyAdd,
    ),
    (
        "conv_2d_nhwgc_gfhwc",
        "n,oh,ow,g,f,kh,kw,c",
        &["n,oh*s0+kh*t0,ow*s1+kw*t1,g,c", "g,f,kh,kw,c", "n,oh,ow,g,f"],
        MultiplyAdd,
    ),
    (
        "conv_3d_ndhwc_dhwcf",
        "n,od,oh,ow,f,kd,kh,kw,c",
        &["n,od*s0+kd*t0,oh*s1+kh*t1,ow*s2+kw*t2,c", "kd,kh,kw,c,f", "n,od,oh,ow,f"],
        MultiplyAdd,
    ),
    (
        "conv_3d_ncdhw_fcdhw",
        "n,f,od,oh,ow,c,kd,kh,kw",
        &["n,c,od*s0+kd*t0,oh*s1+kh*t1,ow*s2+kw*t2", "f,c,kd,kh,kw", "n,f,od,oh,ow"],
        MultiplyAdd,
    ),
    ("depthwise_conv_1d_nwc_wc", "n,ow,c,kw", &["n,ow*s0+kw*t0,c", "kw,c", "n,ow,c"], MultiplyAdd),
    ("depthwise_conv_1d_ncw_cw", "n,c,ow,kw", &["n,c,ow*s0+kw*t0", "c,kw", "n,c,ow"], MultiplyAdd),
    (
        "depthwise_conv_1d_nwc_wcm",
        "n,ow,c,m,kw",
        &["n,ow*s0+kw*t0,c", "kw,c,m", "n,ow,c,m"],
        MultiplyAdd,
    ),
    (
        "depthwise_conv_2d_nhwc_hwc",
        "n,oh,ow,c,kh,kw",
        &["n,oh*s0+kh*t0,ow*s1+kw*t1,c", "kh,kw,c", "n,oh,ow,c"],
        MultiplyAdd,
    ),
    (
        "depthwise_conv_2d_nhwc_hwc_q",
        "n,oh,ow,c,kh,kw",
        &["n,oh*s0+kh*t0,ow*s1+kw*t1,c", "kh,kw,c", "", "", "n,oh,ow,c"],
        Quantized,
    ),
    (
        "depthwise_conv_2d_nchw_chw",
        "n,c,oh,ow,kh,kw",
        &["n,c,oh*s0+kh*t0,ow*s1+kw*t1", "c,kh,kw", "n,c,oh,ow"],
        MultiplyAdd,
    ),
    (
        "depthwise_conv_2d_nhwc_hwcm",
        "n,oh,ow,c,m,kh,kw",
        &["n,oh*s0+kh*t0,ow*s1+kw*t1,c", "kh,kw,c,m", "n,oh,ow,c,m"],
        MultiplyAdd,
    ),
    (
        "depthwise_conv_3d_ndhwc_dhwc",
        "n,od,oh,ow,c,kd,kh,kw",
        &["n,od*s0+kd*t0,oh*s1+kh*t1,ow*s2+kw*t2,c", "kd,kh,kw,c", "n,od,oh,ow,c"],
        MultiplyAdd,
    ),
    (
        "pooling_nhwc_sum",
        "n,oh,ow,c,kh,kw",
        &["n,oh*s0+kh*t0,ow*s1+kw*t1,c", "kh,kw", "n,oh,ow,c"],
        Sum,
    ),
    (
        "pooling_nhwc_max",
        "n,oh,ow,c,kh,kw",
        &["n,oh*s0+kh*t0,ow*s1+kw*t1,c", "kh,kw", "n,oh,ow,c"],
        Maximum,
    ),
    (
        "pooling_nhwc_min",
        "n,oh,ow,c,kh,kw",
        &["n,oh*s0+kh*t0,ow*s1+kw*t1,c", "kh,kw", "n,oh,ow,c"],
        Minimum,
    ),
    (
        "pooling_nhwc_max_unsigned",
        "n,oh,ow,c,kh,kw",
        &["n,oh*s0+kh*t0,ow*s1+kw*t1,c", "kh,kw", "n,oh,ow,c"],
        MaximumUnsigned,
    ),
    (
        "pooling_nhwc_min_unsigned",
        "n,oh,ow,c,kh,kw",
        &["n,oh*s0+kh*t0,ow*s1+kw*t1,c", "kh,kw", "n,oh,ow,c"],
        MinimumUnsigned,
    ),
    (
        "pooling_nchw_sum",
        "n,c,oh,ow,kh,kw",
        &["n,c,oh*s0+kh*t0,ow*s1+kw*t1", "kh,kw", "n,c,oh,ow"],
        Sum,
    ),
    (
        "pooling_nchw_max",
        "n,c,oh,ow,kh,kw",
        &["n,c,oh*s0+kh*t0,ow*s1+kw*t1", "kh,kw", "n,c,oh,ow"],
        Maximum,
    ),
    ("pooling_nwc_sum", "n,ow,c,kw", &["n,ow*s0+kw*t0,c", "kw", "n,ow,c"], Sum),
    ("pooling_nwc_max", "n,ow,c,kw", &["n,ow*s0+kw*t0,c", "kw", "n,ow,c"], Maximum),
    ("pooling_nwc_min", "n,ow,c,kw", &["n,ow*s0+kw*t0,c", "kw", "n,ow,c"], Minimum),
    ("pooling_ncw_sum", "n,c,ow,kw", &["n,c,ow*s0+kw*t0", "kw", "n,c,ow"], Sum),
    ("pooling_ncw_max", "n,c,ow,kw", &["n,c,ow*s0+kw*t0", "kw", "n,c,ow"], Maximum),
    (
        "pooling_ndhwc_sum",
        "n,od,oh,ow,c,kd,kh,kw",
        &["n,od*s0+kd*t0,oh*s1+kh*t1,ow*s2+kw*t2,c", "kd,kh,kw", "n,od,oh,ow,c"],
        Sum,
    ),
    (
        "pooling_ndhwc_max",
        "n,od,oh,ow,c,kd,kh,kw",
        &["n,od*s0+kd*t0,oh*s1+kh*t1,ow*s2+kw*t2,c", "kd,kh,kw", "n,od,oh,ow,c"],
        Maximum,
    ),
    (
        "pooling_ndhwc_min",
        "n,od,oh,ow,c,kd,kh,kw",
        &["n,od*s0+kd*t0,oh*s1+kh*t1,ow*s2+kw*t2,c", "kd,kh,kw", "n,od,oh,ow,c"],
        Minimum,
    ),
    ("contract", "", &["", "", ""], MultiplyAdd),
];

/// Reads a named operation after `linalg.NAME`.
pub(crate) fn read<'t>(reader: &mut Reader<'t, '_>, name: &'t str) -> Result<Read> {
    let Some((_, loops, indices, body)) = TABLE.iter().find(|(it, ..)| *it == name) else {
        return elementwise(reader, name);
    };
    let operands = Operands::read(reader)?;
    let is_signed = !operands
        .attributes
        .get("cast")
        .is_some_and(|value| value.rest().starts_with("#linalg.type_fn<cast_unsigned>"));
    if operands.inputs.len() + operands.outputs.len() != indices.len() {
        return reader.cursor.error(format!("{} operands are needed", indices.len()));
    }
    let maps = match operands.maps(reader)? {
        Some(maps) => maps,
        None if loops.is_empty() => return reader.cursor.error("no `indexing_maps`"),
        None => maps_of(reader, &operands, loops, indices)?,
    };
    let output = &maps[maps.len() - 1];
    let is_parallel = |at| output.results.contains(&Expression::Operand(at));
    let kind = |at| if is_parallel(at) { Iterator::Parallel } else { Iterator::Reduction };
    let iterators = (0..output.operands).map(kind).collect();
    let arguments: Vec<Type> = operands
        .inputs
        .iter()
        .chain(&operands.outputs)
        .map(|id| Type::Scalar(reader.element_of(*id)))
        .collect();
    let region = reader.build(&arguments, |reader, ids| {
        let out = ids[ids.len() - 1];
        Ok(vec![contraction(reader, *body, ids, out, is_signed)])
    })?;
    let types = operands.results(reader)?;
    linalg::finish(reader, operands, maps, iterators, region, types)
}

/// The maps of the table, with strides and dilations in them.
fn maps_of(
    reader: &mut Reader<'_, '_>,
    operands: &Operands<'_>,
    loops: &str,
    indices: &[&str],
) -> Result<Vec<Map>> {
    let mut numbers = Vec::new();
    for name in ["strides", "dilations"] {
        let mut given = operands.attributes.integers(name, 3)?.unwrap_or_default();
        given.resize(3, 1);
        numbers.extend(given);
    }
    let count = loops.split(',').count();
    let line = reader.cursor.line();
    let maps = indices.iter().map(|indices| {
        let text = format!("({loops})[s0,s1,s2,t0,t1,t2] -> ({indices})");
        let map = affine::map_body(&mut Cursor::new(&text, line))?;
        let results = map.results.into_iter().map(|it| substitute(it, count, &numbers)).collect();
        Ok(Map { operands: count, results })
    });
    maps.collect()
}

/// An expression with numbers in the place of symbols.
fn substitute(expression: Expression, dimensions: usize, numbers: &[i64]) -> Expression {
    let both = |a: Expression, b: Expression| {
        let a = Box::new(substitute(a, dimensions, numbers));
        (a, Box::new(substitute(b, dimensions, numbers)))
    };
    match expression {
        Expression::Operand(at) if at >= dimensions => {
            Expression::Constant(numbers.get(at - dimensions).copied().unwrap_or(1))
        }
        Expression::Add(a, b) => {
            let (a, b) = both(*a, *b);
            Expression::Add(a, b)
        }
        Expression::Multiply(a, b) => {
            let (a, b) = both(*a, *b);
            Expression::Multiply(a, b)
        }
        other => other,
    }
}

/// A float operation, or the integer operation that it is for integers.
fn either(element: Element, float: B, integer: I) -> Scalar {
    if element.is_float() {
        Scalar::FloatBinary(float, element)
    } else {
        Scalar::IntegerBinary(integer, element.width())
    }
}

fn contraction(
    reader: &mut Reader<'_, '_>,
    body: Body,
    ids: &[Id],
    out: Id,
    is_signed: bool,
) -> Id {
    let element = reader.element_of(out);
    let apply = |reader: &mut Reader<'_, '_>, what: Scalar, a: Id, b: Id| {
        reader.emit("linalg.body", Kind::Scalar(what, vec![a, b]), Type::Scalar(element))
    };
    let is_signed = is_signed && !matches!(body, MaximumUnsigned | MinimumUnsigned);
    let a = linalg::cast(reader, ids[0], element, is_signed);
    match body {
        Sum => apply(reader, either(element, B::Add, I::Add), out, a),
        Maximum => apply(reader, either(element, B::Maximum, I::MaximumSigned), out, a),
        Minimum => apply(reader, either(element, B::Minimum, I::MinimumSigned), out, a),
        MaximumUnsigned => apply(reader, either(element, B::Maximum, I::MaximumUnsigned), out, a),
        MinimumUnsigned => apply(reader, either(element, B::Minimum, I::MinimumUnsigned), out, a),
        MultiplyAdd | Quantized => {
            let b = linalg::cast(reader, ids[1], element, is_signed);
            let (mut a, mut b) = (a, b);
            if body == Quantized {
                let zero_of_a = linalg::cast(reader, ids[2], element, is_signed);
                let zero_of_b = linalg::cast(reader, ids[3], element, is_signed);
                let subtract = either(element, B::Subtract, I::Subtract);
                a = apply(reader, subtract.clone(), a, zero_of_a);
                b = apply(reader, subtract, b, zero_of_b);
            }
            // For booleans, `or` and `and`, which are what sums and products of them stand for.
            let (times, plus) = if element == Element::Integer(1) {
                (Scalar::IntegerBinary(I::And, 1), Scalar::IntegerBinary(I::Or, 1))
            } else {
                (either(element, B::Multiply, I::Multiply), either(element, B::Add, I::Add))
            };
            let product = apply(reader, times, a, b);
            apply(reader, plus, out, product)
        }
    }
}

/// What an element-wise operation does, by its name.
fn what_of(name: &str, element: Element) -> Option<Scalar> {
    let float = |which| element.is_float().then_some(Scalar::FloatUnary(which, element));
    Some(match name {
        "add" => either(element, B::Add, I::Add),
        "sub" => either(element, B::Subtract, I::Subtract),
        "mul" => either(element, B::Multiply, I::Multiply),
        "div" => either(element, B::Divide, I::DivideSigned),
        "div_unsigned" => either(element, B::Divide, I::DivideUnsigned),
        "max" | "max_signed" => either(element, B::Maximum, I::MaximumSigned),
        "min" | "min_signed" => either(element, B::Minimum, I::MinimumSigned),
        "max_unsigned" => either(element, B::Maximum, I::MaximumUnsigned),
        "min_unsigned" => either(element, B::Minimum, I::MinimumUnsigned),
        "powf" if element.is_float() => Scalar::FloatBinary(B::Power, element),
        "abs" if element.is_float() => Scalar::FloatUnary(U::Absolute, element),
        "abs" => Scalar::IntegerUnary(IntegerUnary::Absolute, element.width()),
        "select" if element.is_float() => Scalar::SelectFloat,
        "select" => Scalar::SelectInteger,
        "exp" => float(U::Exp)?,
        "log" => float(U::Log)?,
        "ceil" => float(U::Ceil)?,
        "floor" => float(U::Floor)?,
        "negf" => float(U::Negate)?,
        "round" => float(U::Round)?,
        "sqrt" => float(U::Sqrt)?,
        "rsqrt" => float(U::Rsqrt)?,
        "tanh" => float(U::Tanh)?,
        "erf" => float(U::Erf)?,
        "square" => either(element, B::Multiply, I::Multiply),
        "copy" | "fill" => Scalar::Same,
        _ => return None,
    })
}

fn elementwise<'t>(reader: &mut Reader<'t, '_>, name: &'t str) -> Result<Read> {
    if what_of(name, Element::Index).is_none()
        && what_of(name, Element::Float(crate::types::Format::F32)).is_none()
    {
        return reader.unsupported("is not evaluated");
    }
    let operands = Operands::read(reader)?;
    let output = operands.outputs.first().map(|id| reader.type_of(*id));
    let Some((rank, element)) =
        output.as_ref().and_then(Type::tensor).map(|it| (it.dimensions.len(), it.element))
    else {
        return reader.cursor.error("expected one tensor as output");
    };
    let Some(what) = what_of(name, element) else {
        return reader.unsupported(format!("elements of {element}"));
    };
    let mut maps = Vec::new();
    for id in operands.inputs.iter().chain(&operands.outputs) {
        let is_tensor = reader.type_of(*id).tensor().is_some();
        maps.push(if is_tensor {
            Map::identity(rank)
        } else {
            Map { operands: rank, results: Vec::new() }
        });
    }
    let count = match what {
        Scalar::FloatBinary(..) | Scalar::IntegerBinary(..) => 2,
        Scalar::SelectFloat | Scalar::SelectInteger => 3,
        _ => 1,
    };
    if operands.outputs.len() != 1
        || operands.inputs.len() != if name == "square" { 1 } else { count }
    {
        return reader.cursor.error("another number of operands");
    }
    let arguments: Vec<Type> = operands
        .inputs
        .iter()
        .chain(&operands.outputs)
        .map(|id| Type::Scalar(reader.element_of(*id)))
        .collect();
    let body = reader.build(&arguments, |reader, ids| {
        let mut inputs = Vec::new();
        for (at, id) in ids[..ids.len() - 1].iter().enumerate() {
            let is_condition = name == "select" && at == 0;
            inputs.push(if is_condition { *id } else { linalg::cast(reader, *id, element, true) });
        }
        if name == "square" {
            inputs.push(inputs[0]);
        }
        if what == Scalar::Same {
            return Ok(inputs);
        }
        let kind = Kind::Scalar(what.clone(), inputs);
        Ok(vec![reader.emit(name, kind, Type::Scalar(element))])
    })?;
    let types = operands.results(reader)?;
    linalg::finish(reader, operands, maps, vec![Iterator::Parallel; rank], body, types)
}
