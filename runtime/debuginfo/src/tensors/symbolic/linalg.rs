//! What the named operations of `linalg` compute: their loops, and the step of a loop.

use super::index::Index;

/// A named operation.
pub(crate) struct Named {
    /// For each operand, outputs last, its index over the loops.
    pub(crate) maps: Vec<Vec<Index>>,
    pub(crate) loops: usize,
    pub(crate) step: Step,
}

/// What a step adds to the output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// The product of both inputs.
    MultiplyAdd,
    /// The first input.
    Add,
    Maximum,
    Minimum,
}

/// Loops by letters: `mk,kn->mn`. `(hi)` is a window: stride times `h` plus dilation times `i`.
const CONTRACTIONS: &[(&str, &str)] = &[
    ("linalg.matmul", "mk,kn->mn"),
    ("linalg.matmul_transpose_a", "km,kn->mn"),
    ("linalg.matmul_transpose_b", "mk,nk->mn"),
    ("linalg.batch_matmul", "bmk,bkn->bmn"),
    ("linalg.batch_matmul_transpose_a", "bkm,bkn->bmn"),
    ("linalg.batch_matmul_transpose_b", "bmk,bnk->bmn"),
    ("linalg.batch_reduce_matmul", "bmk,bkn->mn"),
    ("linalg.matvec", "mk,k->m"),
    ("linalg.vecmat", "k,kn->n"),
    ("linalg.batch_matvec", "bmk,bk->bm"),
    ("linalg.batch_vecmat", "bk,bkn->bn"),
    ("linalg.dot", "k,k->"),
    ("linalg.conv_1d", "(hi),i->h"),
    ("linalg.conv_2d", "(hi)(wj),ij->hw"),
    ("linalg.conv_1d_ncw_fcw", "nc(hi),fci->nfh"),
    ("linalg.conv_1d_nwc_wcf", "n(hi)c,icf->nhf"),
    ("linalg.conv_2d_nchw_fchw", "nc(hi)(wj),fcij->nfhw"),
    ("linalg.conv_2d_nhwc_hwcf", "n(hi)(wj)c,ijcf->nhwf"),
    ("linalg.conv_2d_nhwc_fhwc", "n(hi)(wj)c,fijc->nhwf"),
    ("linalg.conv_2d_ngchw_fgchw", "ngc(hi)(wj),fgcij->ngfhw"),
    ("linalg.conv_2d_ngchw_gfchw", "ngc(hi)(wj),gfcij->ngfhw"),
    ("linalg.conv_2d_nhwgc_gfhwc", "n(hi)(wj)gc,gfijc->nhwgf"),
    ("linalg.conv_3d_ncdhw_fcdhw", "nc(ek)(hi)(wj),fckij->nfehw"),
    ("linalg.conv_3d_ndhwc_dhwcf", "n(ek)(hi)(wj)c,kijcf->nehwf"),
    ("linalg.depthwise_conv_1d_nwc_wc", "n(hi)c,ic->nhc"),
    ("linalg.depthwise_conv_1d_ncw_cw", "nc(hi),ci->nch"),
    ("linalg.depthwise_conv_2d_nhwc_hwc", "n(hi)(wj)c,ijc->nhwc"),
    ("linalg.depthwise_conv_2d_nchw_chw", "nc(hi)(wj),cij->nchw"),
    ("linalg.depthwise_conv_2d_nhwc_hwcm", "n(hi)(wj)c,ijcm->nhwcm"),
];

const POOLINGS: &[(&str, &str)] = &[
    ("nchw", "nc(hi)(wj),ij->nchw"),
    ("nhwc", "n(hi)(wj)c,ij->nhwc"),
    ("ncw", "nc(hi),i->nch"),
    ("nwc", "n(hi)c,i->nhc"),
    ("ndhwc", "n(ek)(hi)(wj)c,kij->nehwc"),
];

/// A named operation, with the strides and dilations of its windows.
pub(crate) fn named(name: &str, strides: &[i64], dilations: &[i64]) -> Option<Named> {
    if let Some((_, loops)) = CONTRACTIONS.iter().find(|(it, _)| *it == name) {
        return read(loops, strides, dilations, Step::MultiplyAdd);
    }
    let pooling = name.strip_prefix("linalg.pooling_")?;
    let (layout, kind) = pooling.split_once('_')?;
    let step = match kind {
        "sum" => Step::Add,
        "max" => Step::Maximum,
        "min" => Step::Minimum,
        _ => return None,
    };
    let (_, loops) = POOLINGS.iter().find(|(it, _)| *it == layout)?;
    read(loops, strides, dilations, step)
}

fn read(loops: &str, strides: &[i64], dilations: &[i64], step: Step) -> Option<Named> {
    let (inputs, output) = loops.split_once("->")?;
    // The loops are numbered by the output first.
    let mut letters: Vec<char> = output.chars().collect();
    for letter in inputs.chars().filter(char::is_ascii_lowercase) {
        if !letters.contains(&letter) {
            letters.push(letter);
        }
    }
    let loop_of = |letter: char| -> Option<Index> {
        let at = letters.iter().position(|it| *it == letter)?;
        Some(Index::variable(u32::try_from(at).ok()?))
    };
    let mut maps = Vec::new();
    for operand in inputs.split(',').chain([output]) {
        let mut map = Vec::new();
        let mut windows = 0;
        let mut characters = operand.chars();
        while let Some(letter) = characters.next() {
            if letter != '(' {
                map.push(loop_of(letter)?);
                continue;
            }
            let (place, tap) = (characters.next()?, characters.next()?);
            characters.next();
            let of = |list: &[i64]| list.get(windows).copied().unwrap_or(1);
            let (stride, dilation) = (of(strides), of(dilations));
            map.push(loop_of(place)?.times(stride).add(&loop_of(tap)?.times(dilation)));
            windows += 1;
        }
        maps.push(map);
    }
    Some(Named { maps, loops: letters.len(), step })
}

/// The scalar operation of a named elementwise operation, for floats and for integers.
pub(crate) fn elementwise(name: &str, is_float: bool) -> Option<&'static str> {
    let (float, integer) = match name.strip_prefix("linalg.")? {
        "add" => ("arith.addf", "arith.addi"),
        "sub" => ("arith.subf", "arith.subi"),
        "mul" => ("arith.mulf", "arith.muli"),
        "div" => ("arith.divf", "arith.divsi"),
        "max" => ("arith.maximumf", "arith.maxsi"),
        "min" => ("arith.minimumf", "arith.minsi"),
        "negf" => ("arith.negf", ""),
        "exp" => ("math.exp", ""),
        "log" => ("math.log", ""),
        "abs" => ("math.absf", ""),
        "ceil" => ("math.ceil", ""),
        "floor" => ("math.floor", ""),
        "round" => ("math.round", ""),
        "sqrt" => ("math.sqrt", ""),
        "rsqrt" => ("math.rsqrt", ""),
        "tanh" => ("math.tanh", ""),
        "erf" => ("math.erf", ""),
        "powf" => ("math.powf", ""),
        _ => return None,
    };
    Some(if is_float { float } else { integer }).filter(|it| !it.is_empty())
}
