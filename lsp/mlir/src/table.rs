//! The table of operations: a row an operation, with what it means. Every reading of MLIR (terms,
//! samples, float64 with bounds, counts, edits) looks an operation up here, and none knows its
//! name. A new operation is a row, and a test of each reading that it is for.

use crate::element::Element;
use crate::linalg::{Body, Loops};
use crate::scalar::{
    Cast, FloatBinary as F, FloatTest as T, FloatUnary as U, IntegerBinary as I, IntegerUnary as N,
    Numbers, Scalar,
};

/// What an operation means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Meaning {
    /// A constant.
    Constant,
    /// A function of numbers; on tensors, of each element.
    Numbers(Numbers),
    /// Two results, each a function of the same integers, in this order.
    Extended(I, I),
    /// A float between two others.
    Clamp,
    /// A function of complex numbers; on tensors, of each element.
    Complex(Complex),
    /// Results of an affine map: its only one, or the least or greatest of several.
    Affine(Affine),
    /// Loops over the elements of operands.
    Loops(Loops),
    /// The index of a loop around it.
    LoopIndex,
    /// An operation on whole tensors.
    Tensor(Tensor),
    /// The operands themselves: it tells the compiler something of them.
    Alias,
    /// Control flow.
    Control(Control),
    /// Loops with an order that matters, of IREE.
    Extension(Extension),
    /// A state of the program.
    Global(Global),
}

/// A function of complex numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Complex {
    /// One of two floats.
    Create,
    /// The real part.
    Real,
    /// The imaginary part.
    Imaginary,
    /// With the other sign.
    Negate,
    /// With the other sign of the imaginary part.
    Conjugate,
    /// The sum.
    Add,
    /// The difference.
    Subtract,
    /// The product.
    Multiply,
    /// The quotient.
    Divide,
    /// Whether both parts are equal.
    Equal,
    /// Whether a part differs.
    NotEqual,
    /// The distance from zero.
    Absolute,
    /// The angle, from -π to π.
    Angle,
    /// The exponential.
    Exp,
    /// The logarithm, with an angle from -π to π.
    Log,
}

/// What is taken of the results of an affine map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Affine {
    /// The only one.
    Apply,
    /// The least.
    Minimum,
    /// The greatest.
    Maximum,
}

impl Affine {
    /// The one of a map's results that the operation gives.
    #[must_use]
    pub fn of(self, results: Vec<i64>) -> Option<i64> {
        match self {
            Self::Apply => results.first().copied(),
            Self::Minimum => results.into_iter().min(),
            Self::Maximum => results.into_iter().max(),
        }
    }
}

/// An operation on whole tensors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tensor {
    /// One with elements that have no value yet.
    Empty,
    /// A number in every element.
    Splat,
    /// One of these scalars.
    FromElements,
    /// One whose elements a region computes from their indices.
    Generate,
    /// An element.
    Extract,
    /// The tensor with another element.
    Insert,
    /// A part.
    ExtractSlice,
    /// The tensor with another part.
    InsertSlice,
    /// A part: `%t[offsets for sizes]`.
    PartAt,
    /// The tensor with another part: `%part, %t[offsets]`.
    WithPartAt,
    /// The tensor with more elements around it.
    Pad,
    /// A dimension becomes several.
    ExpandShape,
    /// Dimensions become one.
    CollapseShape,
    /// The same elements, in a shape that a tensor holds.
    Reshape,
    /// The same elements, in a shape that the type says.
    ReshapeToType,
    /// The same tensor, of a type that says more or less of its shape.
    Cast,
    /// The same bits as elements of another type.
    Bitcast,
    /// A size.
    Dimension,
    /// The number of dimensions.
    Rank,
    /// Tensors side by side.
    Concat,
    /// Tiles one after the other, each with its elements together.
    Pack,
    /// The tensor of which these are the tiles.
    Unpack,
    /// The same tensor, or another layout of its bytes: its elements stay.
    Same,
    /// What a dispatch reads of a tensor that it is bound to.
    Load,
    /// What it writes of one.
    Store,
    /// A bound tensor with its dynamic sizes.
    TieShape,
    /// A number that the count of workgroups is computed from.
    Ordinal,
    /// A copy of a tensor.
    Clone,
    /// A tensor of a buffer view that the caller gave.
    Import,
    /// A buffer view of a tensor, for the caller.
    Export,
}

/// Control flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Control {
    /// Counts.
    For,
    /// Runs while a condition holds.
    While,
    /// One of two regions.
    If,
    /// One of many regions, by an integer.
    IndexSwitch,
    /// A region once for each index, in any order.
    Forall,
    /// A region, once.
    ExecuteRegion,
    /// A function.
    Call,
    /// Ends a region with its values.
    Yield,
    /// Ends a function with its results.
    Return,
    /// Ends the head of a `While`, with its condition first.
    Condition,
    /// Fails unless a condition holds.
    Assert,
    /// Goes to a block.
    Branch,
    /// Goes to one of two blocks.
    ConditionalBranch,
    /// Goes to one of many blocks.
    Switch,
    /// A dispatch of a kernel.
    Dispatch,
}

/// Operations of `iree_linalg_ext`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extension {
    /// Sorts all operands together.
    Sort,
    /// `softmax(Q · Kᵀ · scale + mask) · V`.
    Attention,
    /// The best element of each row, and where it is.
    ArgCompare,
    /// The best elements of each row.
    TopK,
    /// Writes at indices that are data.
    Scatter,
    /// Reads at indices that are data.
    Gather,
    /// Keeps what it has accumulated at each step.
    Scan,
    /// One stage of a fast Fourier transform.
    Fft,
}

/// The state of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Global {
    /// Reads a global.
    Load,
    /// Writes a global.
    Store,
}

const fn unary(function: U) -> Meaning {
    Meaning::Numbers(Numbers::FloatUnary(function))
}

const fn binary(function: F) -> Meaning {
    Meaning::Numbers(Numbers::FloatBinary(function))
}

const fn integer(function: I) -> Meaning {
    Meaning::Numbers(Numbers::IntegerBinary(function))
}

const fn bits(function: N) -> Meaning {
    Meaning::Numbers(Numbers::IntegerUnary(function))
}

const fn cast(cast: Cast) -> Meaning {
    Meaning::Numbers(Numbers::Cast(cast))
}

const fn test(test: T) -> Meaning {
    Meaning::Numbers(Numbers::FloatTest(test))
}

/// Loops that are known by their letters: see [`crate::linalg`].
const fn loops(letters: &'static str, body: Body) -> Meaning {
    Meaning::Loops(Loops::Named(letters, body))
}

/// An operation on each element: of floats, of integers.
const fn each(float: Option<Numbers>, integer: Option<Numbers>) -> Meaning {
    Meaning::Loops(Loops::Elementwise { float, integer })
}

const fn each_float(function: U) -> Meaning {
    each(Some(Numbers::FloatUnary(function)), None)
}

const fn each_pair(float: F, integer: I) -> Meaning {
    each(Some(Numbers::FloatBinary(float)), Some(Numbers::IntegerBinary(integer)))
}

use Affine::{Apply, Maximum, Minimum};
use Body::{MultiplyAdd, Quantized};
use Meaning::{Alias, Constant, Extended, LoopIndex, Numbers as Of};

/// The rows, in the order of their names.
const TABLE: &[(&str, Meaning)] = &[
    ("affine.apply", Meaning::Affine(Apply)),
    ("affine.max", Meaning::Affine(Maximum)),
    ("affine.min", Meaning::Affine(Minimum)),
    ("arith.addf", binary(F::Add)),
    ("arith.addi", integer(I::Add)),
    ("arith.addui_extended", Extended(I::Add, I::AddCarry)),
    ("arith.andi", integer(I::And)),
    ("arith.bitcast", cast(Cast::Bits)),
    ("arith.ceildivsi", integer(I::CeilDivideSigned)),
    ("arith.ceildivui", integer(I::CeilDivideUnsigned)),
    ("arith.cmpf", Of(Numbers::CompareFloats)),
    ("arith.cmpi", Of(Numbers::CompareIntegers)),
    ("arith.constant", Constant),
    ("arith.divf", binary(F::Divide)),
    ("arith.divsi", integer(I::DivideSigned)),
    ("arith.divui", integer(I::DivideUnsigned)),
    ("arith.extf", cast(Cast::Float)),
    ("arith.extsi", cast(Cast::Signed)),
    ("arith.extui", cast(Cast::Unsigned)),
    ("arith.floordivsi", integer(I::FloorDivideSigned)),
    ("arith.fptosi", cast(Cast::ToSigned)),
    ("arith.fptoui", cast(Cast::ToUnsigned)),
    ("arith.index_cast", cast(Cast::Signed)),
    ("arith.index_castui", cast(Cast::Unsigned)),
    // Before LLVM 18.
    ("arith.maxf", binary(F::Maximum)),
    ("arith.maximumf", binary(F::Maximum)),
    ("arith.maximumnumf", binary(F::MaximumNumber)),
    ("arith.maxnumf", binary(F::MaximumNumber)),
    ("arith.maxsi", integer(I::MaximumSigned)),
    ("arith.maxui", integer(I::MaximumUnsigned)),
    ("arith.minf", binary(F::Minimum)),
    ("arith.minimumf", binary(F::Minimum)),
    ("arith.minimumnumf", binary(F::MinimumNumber)),
    ("arith.minnumf", binary(F::MinimumNumber)),
    ("arith.minsi", integer(I::MinimumSigned)),
    ("arith.minui", integer(I::MinimumUnsigned)),
    ("arith.mulf", binary(F::Multiply)),
    ("arith.muli", integer(I::Multiply)),
    ("arith.mulsi_extended", Extended(I::Multiply, I::MultiplyHighSigned)),
    ("arith.mului_extended", Extended(I::Multiply, I::MultiplyHighUnsigned)),
    ("arith.negf", unary(U::Negate)),
    ("arith.ori", integer(I::Or)),
    ("arith.remf", binary(F::Remainder)),
    ("arith.remsi", integer(I::RemainderSigned)),
    ("arith.remui", integer(I::RemainderUnsigned)),
    ("arith.select", Of(Numbers::Select)),
    ("arith.shli", integer(I::ShiftLeft)),
    ("arith.shrsi", integer(I::ShiftRightSigned)),
    ("arith.shrui", integer(I::ShiftRightUnsigned)),
    ("arith.sitofp", cast(Cast::FromSigned)),
    ("arith.subf", binary(F::Subtract)),
    ("arith.subi", integer(I::Subtract)),
    ("arith.truncf", cast(Cast::Float)),
    ("arith.trunci", cast(Cast::Unsigned)),
    ("arith.uitofp", cast(Cast::FromUnsigned)),
    ("arith.xori", integer(I::Xor)),
    ("call", Meaning::Control(Control::Call)),
    ("cf.assert", Meaning::Control(Control::Assert)),
    ("cf.br", Meaning::Control(Control::Branch)),
    ("cf.cond_br", Meaning::Control(Control::ConditionalBranch)),
    ("cf.switch", Meaning::Control(Control::Switch)),
    ("complex.abs", Meaning::Complex(Complex::Absolute)),
    ("complex.add", Meaning::Complex(Complex::Add)),
    ("complex.angle", Meaning::Complex(Complex::Angle)),
    ("complex.conj", Meaning::Complex(Complex::Conjugate)),
    ("complex.constant", Constant),
    ("complex.create", Meaning::Complex(Complex::Create)),
    ("complex.div", Meaning::Complex(Complex::Divide)),
    ("complex.eq", Meaning::Complex(Complex::Equal)),
    ("complex.exp", Meaning::Complex(Complex::Exp)),
    ("complex.im", Meaning::Complex(Complex::Imaginary)),
    ("complex.log", Meaning::Complex(Complex::Log)),
    ("complex.mul", Meaning::Complex(Complex::Multiply)),
    ("complex.neg", Meaning::Complex(Complex::Negate)),
    ("complex.neq", Meaning::Complex(Complex::NotEqual)),
    ("complex.re", Meaning::Complex(Complex::Real)),
    ("complex.sub", Meaning::Complex(Complex::Subtract)),
    ("flow.dispatch", Meaning::Control(Control::Dispatch)),
    ("flow.dispatch.tensor.load", Meaning::Tensor(Tensor::Load)),
    ("flow.dispatch.tensor.store", Meaning::Tensor(Tensor::Store)),
    ("flow.dispatch.tie_shape", Meaning::Tensor(Tensor::TieShape)),
    ("flow.dispatch.workload.ordinal", Meaning::Tensor(Tensor::Ordinal)),
    ("flow.return", Meaning::Control(Control::Yield)),
    ("flow.tensor.barrier", Meaning::Tensor(Tensor::Same)),
    ("flow.tensor.bitcast", Meaning::Tensor(Tensor::Bitcast)),
    ("flow.tensor.clone", Meaning::Tensor(Tensor::Clone)),
    ("flow.tensor.constant", Constant),
    ("flow.tensor.empty", Meaning::Tensor(Tensor::Empty)),
    ("flow.tensor.encode", Meaning::Tensor(Tensor::Same)),
    ("flow.tensor.load", Meaning::Tensor(Tensor::Extract)),
    ("flow.tensor.reshape", Meaning::Tensor(Tensor::ReshapeToType)),
    ("flow.tensor.slice", Meaning::Tensor(Tensor::PartAt)),
    ("flow.tensor.splat", Meaning::Tensor(Tensor::Splat)),
    ("flow.tensor.tie_shape", Meaning::Tensor(Tensor::Same)),
    ("flow.tensor.transfer", Meaning::Tensor(Tensor::Same)),
    ("flow.tensor.update", Meaning::Tensor(Tensor::WithPartAt)),
    ("func.call", Meaning::Control(Control::Call)),
    ("func.return", Meaning::Control(Control::Return)),
    ("hal.tensor.export", Meaning::Tensor(Tensor::Export)),
    ("hal.tensor.import", Meaning::Tensor(Tensor::Import)),
    ("index.add", integer(I::Add)),
    ("index.and", integer(I::And)),
    ("index.bool.constant", Constant),
    ("index.casts", cast(Cast::Signed)),
    ("index.castu", cast(Cast::Unsigned)),
    ("index.ceildivs", integer(I::CeilDivideSigned)),
    ("index.ceildivu", integer(I::CeilDivideUnsigned)),
    ("index.cmp", Of(Numbers::CompareIntegers)),
    ("index.constant", Constant),
    ("index.divs", integer(I::DivideSigned)),
    ("index.divu", integer(I::DivideUnsigned)),
    ("index.floordivs", integer(I::FloorDivideSigned)),
    ("index.maxs", integer(I::MaximumSigned)),
    ("index.maxu", integer(I::MaximumUnsigned)),
    ("index.mins", integer(I::MinimumSigned)),
    ("index.minu", integer(I::MinimumUnsigned)),
    ("index.mul", integer(I::Multiply)),
    ("index.or", integer(I::Or)),
    ("index.rems", integer(I::RemainderSigned)),
    ("index.remu", integer(I::RemainderUnsigned)),
    ("index.shl", integer(I::ShiftLeft)),
    ("index.shrs", integer(I::ShiftRightSigned)),
    ("index.shru", integer(I::ShiftRightUnsigned)),
    ("index.sub", integer(I::Subtract)),
    ("index.xor", integer(I::Xor)),
    ("iree_encoding.set_encoding", Meaning::Tensor(Tensor::Same)),
    ("iree_encoding.unset_encoding", Meaning::Tensor(Tensor::Same)),
    ("iree_linalg_ext.arg_compare", Meaning::Extension(Extension::ArgCompare)),
    ("iree_linalg_ext.attention", Meaning::Extension(Extension::Attention)),
    ("iree_linalg_ext.dequantize_affine", Meaning::Loops(Loops::Quantized { quantizes: false })),
    ("iree_linalg_ext.fft", Meaning::Extension(Extension::Fft)),
    ("iree_linalg_ext.gather", Meaning::Extension(Extension::Gather)),
    ("iree_linalg_ext.quantize_affine", Meaning::Loops(Loops::Quantized { quantizes: true })),
    ("iree_linalg_ext.scan", Meaning::Extension(Extension::Scan)),
    ("iree_linalg_ext.scatter", Meaning::Extension(Extension::Scatter)),
    ("iree_linalg_ext.sort", Meaning::Extension(Extension::Sort)),
    ("iree_linalg_ext.topk", Meaning::Extension(Extension::TopK)),
    ("iree_linalg_ext.yield", Meaning::Control(Control::Yield)),
    ("iree_tensor_ext.compute_barrier.end", Alias),
    ("iree_tensor_ext.compute_barrier.start", Alias),
    ("iree_tensor_ext.dispatch.tensor.load", Meaning::Tensor(Tensor::Load)),
    ("iree_tensor_ext.dispatch.tensor.store", Meaning::Tensor(Tensor::Store)),
    ("iree_tensor_ext.dispatch.workload.ordinal", Meaning::Tensor(Tensor::Ordinal)),
    (
        "linalg.abs",
        each(Some(Numbers::FloatUnary(U::Absolute)), Some(Numbers::IntegerUnary(N::Absolute))),
    ),
    ("linalg.add", each_pair(F::Add, I::Add)),
    ("linalg.batch_matmul", loops("bmk,bkn->bmn", MultiplyAdd)),
    ("linalg.batch_matmul_transpose_a", loops("bkm,bkn->bmn", MultiplyAdd)),
    ("linalg.batch_matmul_transpose_b", loops("bmk,bnk->bmn", MultiplyAdd)),
    ("linalg.batch_matvec", loops("bmk,bk->bm", MultiplyAdd)),
    ("linalg.batch_mmt4d", loops("bmkpr,bnkqr->bmnpq", MultiplyAdd)),
    ("linalg.batch_reduce_matmul", loops("bmk,bkn->mn", MultiplyAdd)),
    ("linalg.batch_vecmat", loops("bk,bkn->bn", MultiplyAdd)),
    ("linalg.broadcast", Meaning::Loops(Loops::Broadcast)),
    ("linalg.ceil", each_float(U::Ceil)),
    // Its loops are written with it.
    ("linalg.contract", loops("", MultiplyAdd)),
    ("linalg.conv_1d", loops("(hi),i->h", MultiplyAdd)),
    ("linalg.conv_1d_ncw_fcw", loops("nc(hi),fci->nfh", MultiplyAdd)),
    ("linalg.conv_1d_nwc_wcf", loops("n(hi)c,icf->nhf", MultiplyAdd)),
    ("linalg.conv_2d", loops("(hi)(wj),ij->hw", MultiplyAdd)),
    ("linalg.conv_2d_nchw_fchw", loops("nc(hi)(wj),fcij->nfhw", MultiplyAdd)),
    ("linalg.conv_2d_nchw_fchw_q", loops("nc(hi)(wj),fcij,,->nfhw", Quantized)),
    ("linalg.conv_2d_ngchw_fgchw", loops("ngc(hi)(wj),fgcij->ngfhw", MultiplyAdd)),
    ("linalg.conv_2d_ngchw_gfchw", loops("ngc(hi)(wj),gfcij->ngfhw", MultiplyAdd)),
    ("linalg.conv_2d_ngchw_gfchw_q", loops("ngc(hi)(wj),gfcij,,->ngfhw", Quantized)),
    ("linalg.conv_2d_nhwc_fhwc", loops("n(hi)(wj)c,fijc->nhwf", MultiplyAdd)),
    ("linalg.conv_2d_nhwc_fhwc_q", loops("n(hi)(wj)c,fijc,,->nhwf", Quantized)),
    ("linalg.conv_2d_nhwc_hwcf", loops("n(hi)(wj)c,ijcf->nhwf", MultiplyAdd)),
    ("linalg.conv_2d_nhwc_hwcf_q", loops("n(hi)(wj)c,ijcf,,->nhwf", Quantized)),
    ("linalg.conv_2d_nhwgc_gfhwc", loops("n(hi)(wj)gc,gfijc->nhwgf", MultiplyAdd)),
    ("linalg.conv_2d_nhwgc_gfhwc_q", loops("n(hi)(wj)gc,gfijc,,->nhwgf", Quantized)),
    ("linalg.conv_3d", loops("(ek)(hi)(wj),kij->ehw", MultiplyAdd)),
    ("linalg.conv_3d_ncdhw_fcdhw", loops("nc(ek)(hi)(wj),fckij->nfehw", MultiplyAdd)),
    ("linalg.conv_3d_ndhwc_dhwcf", loops("n(ek)(hi)(wj)c,kijcf->nehwf", MultiplyAdd)),
    ("linalg.conv_3d_ndhwc_dhwcf_q", loops("n(ek)(hi)(wj)c,kijcf,,->nehwf", Quantized)),
    ("linalg.copy", Meaning::Loops(Loops::Copy)),
    ("linalg.depthwise_conv_1d_ncw_cw", loops("nc(hi),ci->nch", MultiplyAdd)),
    ("linalg.depthwise_conv_1d_nwc_wc", loops("n(hi)c,ic->nhc", MultiplyAdd)),
    ("linalg.depthwise_conv_1d_nwc_wcm", loops("n(hi)c,icm->nhcm", MultiplyAdd)),
    ("linalg.depthwise_conv_2d_nchw_chw", loops("nc(hi)(wj),cij->nchw", MultiplyAdd)),
    ("linalg.depthwise_conv_2d_nhwc_hwc", loops("n(hi)(wj)c,ijc->nhwc", MultiplyAdd)),
    ("linalg.depthwise_conv_2d_nhwc_hwc_q", loops("n(hi)(wj)c,ijc,,->nhwc", Quantized)),
    ("linalg.depthwise_conv_2d_nhwc_hwcm", loops("n(hi)(wj)c,ijcm->nhwcm", MultiplyAdd)),
    ("linalg.depthwise_conv_2d_nhwc_hwcm_q", loops("n(hi)(wj)c,ijcm,,->nhwcm", Quantized)),
    ("linalg.depthwise_conv_3d_ncdhw_cdhw", loops("nc(ek)(hi)(wj),ckij->ncehw", MultiplyAdd)),
    ("linalg.depthwise_conv_3d_ndhwc_dhwc", loops("n(ek)(hi)(wj)c,kijc->nehwc", MultiplyAdd)),
    ("linalg.depthwise_conv_3d_ndhwc_dhwcm", loops("n(ek)(hi)(wj)c,kijcm->nehwcm", MultiplyAdd)),
    ("linalg.div", each_pair(F::Divide, I::DivideSigned)),
    ("linalg.div_unsigned", each_pair(F::Divide, I::DivideUnsigned)),
    ("linalg.dot", loops("k,k->", MultiplyAdd)),
    ("linalg.erf", each_float(U::Erf)),
    ("linalg.exp", each_float(U::Exp)),
    ("linalg.fill", Meaning::Loops(Loops::Copy)),
    ("linalg.floor", each_float(U::Floor)),
    ("linalg.generic", Meaning::Loops(Loops::Generic)),
    ("linalg.index", LoopIndex),
    ("linalg.log", each_float(U::Log)),
    ("linalg.map", Meaning::Loops(Loops::Map)),
    ("linalg.matmul", loops("mk,kn->mn", MultiplyAdd)),
    ("linalg.matmul_transpose_a", loops("km,kn->mn", MultiplyAdd)),
    ("linalg.matmul_transpose_b", loops("mk,nk->mn", MultiplyAdd)),
    ("linalg.matvec", loops("mk,k->m", MultiplyAdd)),
    ("linalg.max", each_pair(F::Maximum, I::MaximumSigned)),
    ("linalg.max_signed", each_pair(F::Maximum, I::MaximumSigned)),
    ("linalg.max_unsigned", each_pair(F::Maximum, I::MaximumUnsigned)),
    ("linalg.min", each_pair(F::Minimum, I::MinimumSigned)),
    ("linalg.min_signed", each_pair(F::Minimum, I::MinimumSigned)),
    ("linalg.min_unsigned", each_pair(F::Minimum, I::MinimumUnsigned)),
    ("linalg.mmt4d", loops("mkpr,nkqr->mnpq", MultiplyAdd)),
    ("linalg.mul", each_pair(F::Multiply, I::Multiply)),
    ("linalg.negf", each_float(U::Negate)),
    ("linalg.pack", Meaning::Tensor(Tensor::Pack)),
    ("linalg.pooling_nchw_max", loops("nc(hi)(wj),ij->nchw", Body::Maximum)),
    ("linalg.pooling_nchw_sum", loops("nc(hi)(wj),ij->nchw", Body::Sum)),
    ("linalg.pooling_ncw_max", loops("nc(hi),i->nch", Body::Maximum)),
    ("linalg.pooling_ncw_sum", loops("nc(hi),i->nch", Body::Sum)),
    ("linalg.pooling_ndhwc_max", loops("n(ek)(hi)(wj)c,kij->nehwc", Body::Maximum)),
    ("linalg.pooling_ndhwc_min", loops("n(ek)(hi)(wj)c,kij->nehwc", Body::Minimum)),
    ("linalg.pooling_ndhwc_sum", loops("n(ek)(hi)(wj)c,kij->nehwc", Body::Sum)),
    ("linalg.pooling_nhwc_max", loops("n(hi)(wj)c,ij->nhwc", Body::Maximum)),
    ("linalg.pooling_nhwc_max_unsigned", loops("n(hi)(wj)c,ij->nhwc", Body::MaximumUnsigned)),
    ("linalg.pooling_nhwc_min", loops("n(hi)(wj)c,ij->nhwc", Body::Minimum)),
    ("linalg.pooling_nhwc_min_unsigned", loops("n(hi)(wj)c,ij->nhwc", Body::MinimumUnsigned)),
    ("linalg.pooling_nhwc_sum", loops("n(hi)(wj)c,ij->nhwc", Body::Sum)),
    ("linalg.pooling_nwc_max", loops("n(hi)c,i->nhc", Body::Maximum)),
    ("linalg.pooling_nwc_max_unsigned", loops("n(hi)c,i->nhc", Body::MaximumUnsigned)),
    ("linalg.pooling_nwc_min", loops("n(hi)c,i->nhc", Body::Minimum)),
    ("linalg.pooling_nwc_min_unsigned", loops("n(hi)c,i->nhc", Body::MinimumUnsigned)),
    ("linalg.pooling_nwc_sum", loops("n(hi)c,i->nhc", Body::Sum)),
    ("linalg.powf", each(Some(Numbers::FloatBinary(F::Power)), None)),
    ("linalg.quantized_batch_matmul", loops("bmk,bkn,,->bmn", Quantized)),
    ("linalg.quantized_matmul", loops("mk,kn,,->mn", Quantized)),
    ("linalg.reduce", Meaning::Loops(Loops::Reduce)),
    ("linalg.round", each_float(U::Round)),
    ("linalg.rsqrt", each_float(U::Rsqrt)),
    ("linalg.select", each(Some(Numbers::Select), Some(Numbers::Select))),
    ("linalg.softmax", Meaning::Loops(Loops::Softmax)),
    ("linalg.sqrt", each_float(U::Sqrt)),
    ("linalg.square", Meaning::Loops(Loops::Square)),
    ("linalg.sub", each_pair(F::Subtract, I::Subtract)),
    ("linalg.tanh", each_float(U::Tanh)),
    ("linalg.transpose", Meaning::Loops(Loops::Transpose)),
    ("linalg.unpack", Meaning::Tensor(Tensor::Unpack)),
    ("linalg.vecmat", loops("k,kn->n", MultiplyAdd)),
    ("linalg.yield", Meaning::Control(Control::Yield)),
    ("math.absf", unary(U::Absolute)),
    ("math.absi", bits(N::Absolute)),
    ("math.acos", unary(U::Acos)),
    ("math.acosh", unary(U::Acosh)),
    ("math.asin", unary(U::Asin)),
    ("math.asinh", unary(U::Asinh)),
    ("math.atan", unary(U::Atan)),
    ("math.atan2", binary(F::Atan2)),
    ("math.atanh", unary(U::Atanh)),
    ("math.cbrt", unary(U::Cbrt)),
    ("math.ceil", unary(U::Ceil)),
    ("math.clampf", Meaning::Clamp),
    ("math.copysign", binary(F::CopySign)),
    ("math.cos", unary(U::Cos)),
    ("math.cosh", unary(U::Cosh)),
    ("math.ctlz", bits(N::LeadingZeros)),
    ("math.ctpop", bits(N::CountOnes)),
    ("math.cttz", bits(N::TrailingZeros)),
    ("math.erf", unary(U::Erf)),
    ("math.erfc", unary(U::Erfc)),
    ("math.exp", unary(U::Exp)),
    ("math.exp2", unary(U::Exp2)),
    ("math.expm1", unary(U::ExpM1)),
    ("math.floor", unary(U::Floor)),
    ("math.fma", Of(Numbers::FusedMultiplyAdd)),
    ("math.fpowi", Of(Numbers::PowerOfInteger)),
    ("math.ipowi", integer(I::Power)),
    ("math.isfinite", test(T::Finite)),
    ("math.isinf", test(T::Infinite)),
    ("math.isnan", test(T::Nan)),
    ("math.isnormal", test(T::Normal)),
    ("math.log", unary(U::Log)),
    ("math.log10", unary(U::Log10)),
    ("math.log1p", unary(U::Log1p)),
    ("math.log2", unary(U::Log2)),
    ("math.powf", binary(F::Power)),
    ("math.round", unary(U::Round)),
    ("math.roundeven", unary(U::RoundEven)),
    ("math.rsqrt", unary(U::Rsqrt)),
    ("math.sin", unary(U::Sin)),
    ("math.sinh", unary(U::Sinh)),
    ("math.sqrt", unary(U::Sqrt)),
    ("math.tan", unary(U::Tan)),
    ("math.tanh", unary(U::Tanh)),
    ("math.trunc", unary(U::Truncate)),
    ("return", Meaning::Control(Control::Return)),
    ("scf.condition", Meaning::Control(Control::Condition)),
    ("scf.execute_region", Meaning::Control(Control::ExecuteRegion)),
    ("scf.for", Meaning::Control(Control::For)),
    ("scf.forall", Meaning::Control(Control::Forall)),
    ("scf.if", Meaning::Control(Control::If)),
    ("scf.index_switch", Meaning::Control(Control::IndexSwitch)),
    ("scf.while", Meaning::Control(Control::While)),
    ("scf.yield", Meaning::Control(Control::Yield)),
    ("tensor.bitcast", Meaning::Tensor(Tensor::Bitcast)),
    ("tensor.cast", Meaning::Tensor(Tensor::Cast)),
    ("tensor.collapse_shape", Meaning::Tensor(Tensor::CollapseShape)),
    ("tensor.concat", Meaning::Tensor(Tensor::Concat)),
    ("tensor.dim", Meaning::Tensor(Tensor::Dimension)),
    ("tensor.empty", Meaning::Tensor(Tensor::Empty)),
    ("tensor.expand_shape", Meaning::Tensor(Tensor::ExpandShape)),
    ("tensor.extract", Meaning::Tensor(Tensor::Extract)),
    ("tensor.extract_slice", Meaning::Tensor(Tensor::ExtractSlice)),
    ("tensor.from_elements", Meaning::Tensor(Tensor::FromElements)),
    ("tensor.generate", Meaning::Tensor(Tensor::Generate)),
    ("tensor.insert", Meaning::Tensor(Tensor::Insert)),
    ("tensor.insert_slice", Meaning::Tensor(Tensor::InsertSlice)),
    ("tensor.pad", Meaning::Tensor(Tensor::Pad)),
    ("tensor.parallel_insert_slice", Meaning::Tensor(Tensor::InsertSlice)),
    ("tensor.rank", Meaning::Tensor(Tensor::Rank)),
    ("tensor.reshape", Meaning::Tensor(Tensor::Reshape)),
    ("tensor.splat", Meaning::Tensor(Tensor::Splat)),
    ("tensor.yield", Meaning::Control(Control::Yield)),
    ("util.assume.int", Alias),
    ("util.call", Meaning::Control(Control::Call)),
    ("util.global.load", Meaning::Global(Global::Load)),
    ("util.global.store", Meaning::Global(Global::Store)),
    ("util.optimization_barrier", Alias),
    ("util.return", Meaning::Control(Control::Return)),
    ("vm.br", Meaning::Control(Control::Branch)),
    ("vm.cond_br", Meaning::Control(Control::ConditionalBranch)),
];

/// Whether the operation with this name only gives an integer another type.
#[must_use]
pub fn is_integer_cast(name: &str) -> bool {
    matches!(meaning(name), Some(Meaning::Numbers(Numbers::Cast(Cast::Signed | Cast::Unsigned))))
}

/// The control flow that the operation with this name is, if it is.
#[must_use]
pub fn control(name: &str) -> Option<Control> {
    match meaning(name)? {
        Meaning::Control(control) => Some(control),
        _ => None,
    }
}

/// What the operation with this name means; `None` if it is not in the table.
#[must_use]
pub fn meaning(name: &str) -> Option<Meaning> {
    let at = TABLE.binary_search_by_key(&name, |(name, _)| name).ok()?;
    Some(TABLE[at].1)
}

/// The function of numbers that an operation of this name is, for operands of a type and a result.
/// `predicate` is that of a comparison.
#[must_use]
pub fn scalar(name: &str, from: Element, to: Element, predicate: &str) -> Option<Scalar> {
    match meaning(name)? {
        Meaning::Numbers(numbers) => numbers.of(from, to, predicate),
        _ => None,
    }
}

/// The names in the table.
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_order() {
        let out_of_order = TABLE.windows(2).find(|rows| rows[0].0 >= rows[1].0);
        assert_eq!(out_of_order, None);
    }

    #[test]
    fn operations_by_name_and_types() {
        let f32 = Element::Float(crate::element::Format::F32);
        let index = Element::Index;
        assert_eq!(scalar("arith.addf", f32, f32, ""), Some(Scalar::FloatBinary(F::Add, f32)));
        assert_eq!(scalar("arith.addf", index, index, ""), None);
        assert_eq!(scalar("arith.addi", f32, f32, ""), None);
        let narrow = Scalar::Narrow { to: 32 };
        assert_eq!(scalar("arith.index_cast", index, Element::Integer(32), ""), Some(narrow));
        assert_eq!(scalar("arith.trunci", index, Element::Integer(32), ""), Some(narrow));
        assert_eq!(scalar("linalg.add", f32, f32, ""), None);
        assert_eq!(scalar("mine.add", f32, f32, ""), None);
    }
}
