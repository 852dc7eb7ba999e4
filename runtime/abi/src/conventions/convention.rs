//! [`Convention`]: the list of conventions, and parsing and printing signatures in any of them.

use crate::conventions::cconv_layout;
use crate::conventions::mlir::function as mlir_function;
use crate::conventions::mlir::types::ArrayKeyword;
use crate::conventions::raw::RawSignature;
use crate::conventions::sip::SipSignature;
use crate::conventions::{iree_abi, mlir, raw, sip, tvm};
use crate::signature::{Function, Printed, Slot, Type, Unrepresentable};
use crate::text::cursor::{SyntaxError, excerpt};

/// A calling convention with a text form for signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Convention {
    /// The VM's calling convention: `0rii_r`.
    Cconv,
    /// `iree.abi`, as JSON or as `iree.abi.declaration`.
    Iree,
    /// The raw function ABI of 2019 to 2021: `I15!B11!d10d128d64R1!`.
    Raw,
    /// Structured index paths over it: `I12!S9!k0_0k1_1R3!_0`.
    Sip,
    /// TVM FFI's type schemas.
    Tvm,
    /// MLIR's functions and memrefs: `(memref<?xf32>) -> f32`.
    Memref,
}

impl Convention {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Cconv, Self::Iree, Self::Raw, Self::Sip, Self::Tvm, Self::Memref];

    /// The name on command lines.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cconv => "cconv",
            Self::Iree => "iree",
            Self::Raw => "raw",
            Self::Sip => "sip",
            Self::Tvm => "tvm",
            Self::Memref => "memref",
        }
    }

    /// Reads a signature.
    ///
    /// # Errors
    /// At the byte where the text is wrong.
    pub fn parse(self, text: &str) -> Result<Function, SyntaxError> {
        match self {
            Self::Cconv => match cconv_layout::parse_any_age(text) {
                Ok((signature, _)) => Ok(cconv_layout::to_function(&signature)),
                Err(error) => Err(SyntaxError::at(error.position, error.kind.to_string())),
            },
            Self::Iree if is_declaration(text) => Ok(mlir_function::parse(text)?.function),
            Self::Iree => Ok(iree_abi::parse(text)?.function),
            Self::Raw => Ok(RawSignature::parse(text)?.to_function()),
            Self::Sip => SipSignature::parse(text.as_bytes())?
                .to_function(None)
                .map_err(|error| SyntaxError::at(0, error.to_string())),
            Self::Tvm => Ok(tvm::schema::Schema::parse(text)?.to_function()),
            Self::Memref => Ok(parse_memref(text)?.function),
        }
    }

    /// Reads a signature, and whether calls of it have fences.
    ///
    /// # Errors
    /// At the byte where the text is wrong.
    pub fn parse_call(self, text: &str) -> Result<ParsedCall, SyntaxError> {
        if self == Self::Iree && is_declaration(text) {
            let declaration = mlir_function::parse(text)?;
            let has_fences = declaration.is_async == Some(true);
            return Ok(ParsedCall { function: declaration.function, has_fences });
        }
        Ok(ParsedCall { function: self.parse(text)?, has_fences: false })
    }

    /// Writes a signature whose calls may have fences: a wait fence and a signal fence, which
    /// follow the arguments.
    ///
    /// # Errors
    /// A type that the convention cannot describe.
    pub fn print_call(
        self,
        function: &Function,
        has_fences: bool,
    ) -> Result<Printed, Unrepresentable> {
        if !has_fences {
            return self.print(function);
        }
        if self == Self::Cconv {
            return self.print(&with_fences(function));
        }
        let mut printed = self.print(function)?;
        printed.notes.push(match self {
            Self::Iree => "the fences are stated beside it: iree.abi.model = coarse-fences".into(),
            _ => "a wait fence and a signal fence follow the arguments; they are lost".into(),
        });
        Ok(printed)
    }

    /// Writes a signature.
    ///
    /// # Errors
    /// A type that the convention cannot describe.
    pub fn print(self, function: &Function) -> Result<Printed, Unrepresentable> {
        match self {
            Self::Cconv => {
                let (signature, notes) = cconv_layout::lower(function)?;
                Ok(Printed { text: signature.to_cconv(), notes })
            }
            Self::Iree => iree_abi::print(function),
            Self::Raw => raw::print(function),
            Self::Sip => sip::print(function),
            Self::Tvm => tvm::schema::print(function),
            Self::Memref => mlir::function::print_type(function, ArrayKeyword::Memref),
        }
    }
}

/// A signature as it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParsedCall {
    /// Arguments and results, without fences.
    pub function: Function,
    /// Whether a wait fence and a signal fence follow the arguments.
    pub has_fences: bool,
}

/// The function with its wait fence and its signal fence as arguments.
pub(crate) fn with_fences(function: &Function) -> Function {
    let fence = Slot::of(Type::Reference(Some("!hal.fence".to_owned())));
    let mut function = function.clone();
    function.arguments.extend([fence.clone(), fence]);
    function
}

/// Whether text is an `iree.abi.declaration` instead of JSON.
#[must_use]
pub fn is_declaration(text: &str) -> bool {
    let text = text.trim_start();
    ["sync ", "async ", "func", "util.func"].iter().any(|start| text.starts_with(start))
}

/// Parses a function of memrefs. Tensors are refused: they have no memory until they are
/// bufferized.
///
/// # Errors
/// At the byte where the text is wrong.
pub fn parse_memref(text: &str) -> Result<mlir_function::Declaration, SyntaxError> {
    let declaration = mlir_function::parse(text)?;
    let mut from = 0;
    while let Some(found) = text[from..].find("tensor<") {
        let at = from + found;
        let before = text[..at].chars().next_back();
        if !before.is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$')) {
            return Err(SyntaxError::at(
                at,
                format!(
                    "`{}`: tensors have no form in memory; bufferize the function, or write memref",
                    excerpt(&text[at..])
                ),
            ));
        }
        from = at + 1;
    }
    Ok(declaration)
}

/// A name that is no convention's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is no convention; they are {}", Convention::ALL.map(Convention::name).join(", "))]
pub struct UnknownConvention {
    /// The name.
    pub name: String,
}

impl std::str::FromStr for Convention {
    type Err = UnknownConvention;

    fn from_str(text: &str) -> Result<Self, UnknownConvention> {
        let found = Self::ALL.into_iter().find(|convention| convention.name() == text);
        found.ok_or_else(|| UnknownConvention { name: text.to_owned() })
    }
}
