//! Structured index paths (attributes `abi` = `sip`, `sip`): the places of the raw function's
//! arguments and results in nested sequences and dictionaries.
//!
//! ```text
//! signature = "I" span of value? "R" span of value?         see `tagged` for spans and integers
//! value     = "_" index                                      the raw argument or result with this index
//!           | "S" span of ( "k" integer value )*             a sequence; keys may leave gaps
//!           | "D" span of ( "K" span of bytes  value )*      a dictionary
//! ```
//!
//! This parser is stricter than the original, which accepted nonsense: there is one root, keys are
//! of the right kind and unique, and no index is negative.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use crate::conventions::raw::RawSignature;
use crate::conventions::tagged::{Body, Reader, inputs_and_results, write_integer, write_span};
use crate::signature::{Function, NoForm, Printed, SequenceForm, Slot, Type, Unrepresentable};
use crate::text::cursor::{SyntaxError, check_depth};

/// A tree of raw indices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree {
    /// The raw argument or result with this index.
    Leaf(u32),
    /// Values by number.
    Sequence(BTreeMap<i32, Tree>),
    /// Values by name.
    Dictionary(BTreeMap<Vec<u8>, Tree>),
}

/// One step of an index path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// Into a sequence.
    Index(i32),
    /// Into a dictionary.
    Name(Vec<u8>),
}

/// `[0]`, `["x"]`
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(index) => write!(f, "[{index}]"),
            Self::Name(name) => write!(f, "[{:?}]", String::from_utf8_lossy(name)),
        }
    }
}

/// Why a value cannot be put at a path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{problem}", path.iter().map(|key| format!("{key}: ")).collect::<String>())]
pub struct InsertError {
    /// The path up to the place where it fails.
    pub path: Vec<Key>,
    /// What is there.
    pub problem: InsertProblem,
}

/// What is at a place where a value cannot be put.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InsertProblem {
    /// Another value.
    #[error("a value is there already")]
    Occupied,
    /// A value that the path leads through.
    #[error("a value is there, not a structure")]
    ThroughValue,
    /// A structure with keys of the other kind.
    #[error("integer and string keys in one structure")]
    MixedKeys,
}

/// Why index paths describe no structure of a raw function's values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// A path ends at a value that the raw function does not have.
    #[error("raw index {index} is out of range: the raw signature has {count}")]
    OutOfRange {
        /// The index.
        index: u32,
        /// The number of values.
        count: usize,
    },
    /// A key that is less than 0.
    #[error("the key {0} of a sequence is negative")]
    NegativeKey(i32),
    /// Keys so far apart that a sequence would be mostly empty.
    #[error("the key {key} of a sequence leaves more than {MOST_GAPS} gaps")]
    TooManyGaps {
        /// The key after the gaps.
        key: usize,
    },
    /// No path ends at an argument.
    #[error("the raw argument {0} has no place in the structure")]
    NoPlace(usize),
    /// Several paths end at an argument.
    #[error("the raw argument {0} has several places in the structure")]
    SeveralPlaces(usize),
}

impl From<InsertError> for NoForm {
    fn from(error: InsertError) -> Self {
        Self::Path(error.to_string())
    }
}

/// A structured signature; a side without values has no tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SipSignature {
    /// The tree of the arguments.
    pub inputs: Option<Tree>,
    /// The tree of the results.
    pub results: Option<Tree>,
}

/// How a structured call is spread over the raw function beneath it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spread {
    /// The function as it is called; each leaf is the [`Type::Position`] of its raw value.
    pub structure: Function,
    /// The raw function.
    pub raw: Function,
}

/// The most gaps between the keys of sequences that are filled, in total.
const MOST_GAPS: usize = 1 << 16;

impl SipSignature {
    /// Parses the value of the attribute `sip`.
    ///
    /// # Errors
    /// At the byte where it stops being a signature.
    pub fn parse(text: &[u8]) -> Result<Self, SyntaxError> {
        let (inputs, results) = inputs_and_results(text, "struct")?;
        Ok(Self { inputs: parse_root(inputs)?, results: parse_root(results)? })
    }

    /// The text, with keys in order, as the original wrote it.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for (tag, root) in [(b'I', &self.inputs), (b'R', &self.results)] {
            let mut contents = Vec::new();
            if let Some(tree) = root {
                tree.write(&mut contents);
            }
            write_span(&mut out, tag, &contents);
        }
        out
    }

    /// Converts to the model: a root sequence holds the arguments, a root dictionary the arguments
    /// passed by name. With the raw signature the leaves have types, otherwise they are positions.
    ///
    /// # Errors
    /// [`PathError`]: an index that the raw signature does not have, or keys too far apart.
    pub fn to_function(&self, raw: Option<&RawSignature>) -> Result<Function, PathError> {
        let mut gaps = MOST_GAPS;
        let inputs: Option<Vec<Type>> = raw
            .map(|raw| raw.inputs.iter().map(crate::conventions::raw::RawType::to_type).collect());
        let results: Option<Vec<Type>> = raw
            .map(|raw| raw.results.iter().map(crate::conventions::raw::RawType::to_type).collect());
        let arguments = match &self.inputs {
            None => Vec::new(),
            Some(Tree::Dictionary(fields)) => fields
                .iter()
                .map(|(name, tree)| {
                    let ty = tree.to_type(inputs.as_deref(), &mut gaps)?;
                    let mut slot = Slot::of(ty).named(String::from_utf8_lossy(name));
                    slot.keyword = true;
                    Ok(slot)
                })
                .collect::<Result<_, PathError>>()?,
            Some(tree) => match tree.to_type(inputs.as_deref(), &mut gaps)? {
                Type::Sequence(_, items) => items.into_iter().map(Slot::of).collect(),
                other => vec![Slot::of(other)],
            },
        };
        let results = match &self.results {
            None => Vec::new(),
            Some(tree) => vec![Slot::of(tree.to_type(results.as_deref(), &mut gaps)?).owned()],
        };
        Ok(Function { name: None, arguments, results })
    }
}

impl Spread {
    /// The places of a raw function's values in a structure.
    ///
    /// # Errors
    /// [`PathError`]: the raw function does not have such a value, or has an argument with no place
    /// or with two.
    pub fn new(signature: &SipSignature, raw: &RawSignature) -> Result<Self, PathError> {
        signature.to_function(Some(raw))?;
        let mut places = vec![0; raw.inputs.len()];
        for (_, index) in signature.inputs.iter().flat_map(Tree::paths) {
            places[index as usize] += 1;
        }
        if let Some((index, count)) = places.iter().enumerate().find(|(_, count)| **count != 1) {
            let is_missing = *count == 0;
            return Err(if is_missing { PathError::NoPlace } else { PathError::SeveralPlaces }(
                index,
            ));
        }
        Ok(Self { structure: signature.to_function(None)?, raw: raw.to_function() })
    }
}

fn parse_root(mut reader: Reader<'_>) -> Result<Option<Tree>, SyntaxError> {
    if reader.bytes().is_empty() {
        return Ok(None);
    }
    let tree = parse_value(&mut reader, 0)?;
    if reader.bytes().is_empty() {
        return Ok(Some(tree));
    }
    Err(SyntaxError::at(reader.position(), "a second root: inputs and results are one value each"))
}

fn parse_value(reader: &mut Reader<'_>, depth: usize) -> Result<Tree, SyntaxError> {
    let at = reader.position();
    check_depth(depth, at)?;
    let Some(component) = reader.next()? else {
        return Err(SyntaxError::at(at, "a key without its value"));
    };
    match (component.tag, component.body) {
        (b'_', Body::Integer(index)) => u32::try_from(index)
            .map(Tree::Leaf)
            .map_err(|_| SyntaxError::at(at, format!("the raw index {index} is negative"))),
        (b'S', Body::Span(mut items)) => {
            let mut fields = BTreeMap::new();
            let mut last = (0, 0);
            loop {
                let at = items.position();
                let Some(key) = items.next()? else {
                    let (key, at) = last;
                    if key > fields.len() + MOST_GAPS {
                        let error = PathError::TooManyGaps { key };
                        return Err(SyntaxError::at(at, error.to_string()));
                    }
                    return Ok(Tree::Sequence(fields));
                };
                let (b'k', Body::Integer(key)) = (key.tag, key.body) else {
                    return Err(not_a_key(at, key.tag, "a sequence has integer keys (`k`)"));
                };
                let Ok(number) = usize::try_from(key) else {
                    return Err(SyntaxError::at(at, PathError::NegativeKey(key).to_string()));
                };
                last = last.max((number, at));
                let value = parse_value(&mut items, depth + 1)?;
                if fields.insert(key, value).is_some() {
                    return Err(SyntaxError::at(at, format!("the key {key} a second time")));
                }
            }
        }
        (b'D', Body::Span(mut items)) => {
            let mut fields = BTreeMap::new();
            loop {
                let at = items.position();
                let Some(key) = items.next()? else { return Ok(Tree::Dictionary(fields)) };
                let (b'K', Body::Span(key)) = (key.tag, key.body) else {
                    return Err(not_a_key(at, key.tag, "a dictionary has string keys (`K`)"));
                };
                let value = parse_value(&mut items, depth + 1)?;
                if fields.insert(key.bytes().to_vec(), value).is_some() {
                    return Err(SyntaxError::at(at, "a key a second time"));
                }
            }
        }
        (b'k' | b'K', _) => {
            Err(SyntaxError::at(at, "Struct key not allowed here: expected a value"))
        }
        (tag, _) => Err(SyntaxError::at(
            at,
            format!(
                "Unrecognized tag `{}`; a value is `_` (raw index), S (sequence) or D (dictionary)",
                char::from(tag)
            ),
        )),
    }
}

fn not_a_key(at: usize, tag: u8, rule: &str) -> SyntaxError {
    let what = match tag {
        b'_' | b'S' | b'D' => "Value not allowed here".to_owned(),
        b'k' | b'K' => "a key of the other kind".to_owned(),
        tag => format!("Unrecognized tag `{}`", char::from(tag)),
    };
    SyntaxError::at(at, format!("{what}: {rule}"))
}

impl Tree {
    /// Puts a value at a path, mostly a raw index.
    ///
    /// # Errors
    /// [`InsertError`]: a value is there, or the path leads through one, or through keys of the
    /// other kind.
    pub fn insert(root: &mut Option<Self>, path: &[Key], value: Self) -> Result<(), InsertError> {
        let fail = |path: &[Key], problem| Err(InsertError { path: path.to_vec(), problem });
        let Some((key, rest)) = path.split_first() else {
            if root.is_some() {
                return fail(&[], InsertProblem::Occupied);
            }
            *root = Some(value);
            return Ok(());
        };
        let tree = root.get_or_insert_with(|| match key {
            Key::Index(_) => Self::Sequence(BTreeMap::new()),
            Key::Name(_) => Self::Dictionary(BTreeMap::new()),
        });
        let insert_below = |below: Option<Self>| -> (Option<Self>, Result<(), InsertError>) {
            let mut below = below;
            let result = Self::insert(&mut below, rest, value).map_err(|mut error| {
                error.path.insert(0, key.clone());
                error
            });
            (below, result)
        };
        let (below, result) = match (&mut *tree, key) {
            (Self::Sequence(fields), Key::Index(at)) => insert_below(fields.remove(at)),
            (Self::Dictionary(fields), Key::Name(at)) => insert_below(fields.remove(at)),
            (Self::Leaf(_), _) => return fail(&path[..1], InsertProblem::ThroughValue),
            _ => return fail(&path[..1], InsertProblem::MixedKeys),
        };
        match (tree, key, below) {
            (Self::Sequence(fields), Key::Index(at), Some(below)) => {
                fields.insert(*at, below);
            }
            (Self::Dictionary(fields), Key::Name(at), Some(below)) => {
                fields.insert(at.clone(), below);
            }
            _ => {}
        }
        result
    }

    /// Every raw index with its path, in order.
    #[must_use]
    pub fn paths(&self) -> Vec<(Vec<Key>, u32)> {
        let mut found = Vec::new();
        self.collect_paths(&mut Vec::new(), &mut found);
        found
    }

    fn collect_paths(&self, path: &mut Vec<Key>, found: &mut Vec<(Vec<Key>, u32)>) {
        let mut below = |key: Key, tree: &Self| {
            path.push(key);
            tree.collect_paths(path, found);
            path.pop();
        };
        match self {
            Self::Leaf(index) => found.push((path.clone(), *index)),
            Self::Sequence(fields) => {
                fields.iter().for_each(|(key, tree)| below(Key::Index(*key), tree));
            }
            Self::Dictionary(fields) => {
                fields.iter().for_each(|(key, tree)| below(Key::Name(key.clone()), tree));
            }
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Leaf(index) => {
                write_integer(out, b'_', i32::try_from(*index).unwrap_or(i32::MAX));
            }
            Self::Sequence(fields) => {
                let mut contents = Vec::new();
                for (key, tree) in fields {
                    write_integer(&mut contents, b'k', *key);
                    tree.write(&mut contents);
                }
                write_span(out, b'S', &contents);
            }
            Self::Dictionary(fields) => {
                let mut contents = Vec::new();
                for (key, tree) in fields {
                    write_span(&mut contents, b'K', key);
                    tree.write(&mut contents);
                }
                write_span(out, b'D', &contents);
            }
        }
    }

    fn to_type(&self, types: Option<&[Type]>, gaps: &mut usize) -> Result<Type, PathError> {
        Ok(match self {
            Self::Leaf(index) => match types {
                None => Type::Position(*index),
                Some(types) => types
                    .get(*index as usize)
                    .cloned()
                    .ok_or(PathError::OutOfRange { index: *index, count: types.len() })?,
            },
            Self::Sequence(fields) => {
                let mut items = Vec::new();
                for (key, tree) in fields {
                    let at = usize::try_from(*key).map_err(|_| PathError::NegativeKey(*key))?;
                    let gap = at - items.len();
                    *gaps = gaps.checked_sub(gap).ok_or(PathError::TooManyGaps { key: at })?;
                    items.resize(at, Type::Null);
                    items.push(tree.to_type(types, gaps)?);
                }
                Type::Sequence(SequenceForm::List, items)
            }
            Self::Dictionary(fields) => Type::Dictionary(
                fields
                    .iter()
                    .map(|(key, tree)| {
                        Ok((String::from_utf8_lossy(key).into_owned(), tree.to_type(types, gaps)?))
                    })
                    .collect::<Result<_, PathError>>()?,
            ),
        })
    }

    /// The tree in the original's form, one line per key.
    #[must_use]
    pub fn render(&self) -> String {
        let mut out = String::new();
        self.render_at(0, &mut out);
        out
    }

    fn render_at(&self, depth: usize, out: &mut String) {
        let indent = |out: &mut String, depth: usize| out.push_str(&"  ".repeat(depth));
        let (open, close, items): (_, _, Vec<(String, &Self)>) = match self {
            Self::Leaf(index) => {
                let _ = writeln!(out, "=raw({index}),");
                return;
            }
            Self::Sequence(fields) => {
                ("[", "]", fields.iter().map(|(key, tree)| (key.to_string(), tree)).collect())
            }
            Self::Dictionary(fields) => {
                let named = |key: &Vec<u8>| String::from_utf8_lossy(key).into_owned();
                ("{", "}", fields.iter().map(|(key, tree)| (named(key), tree)).collect())
            }
        };
        let _ = writeln!(out, ":{open}");
        for (key, tree) in items {
            indent(out, depth + 1);
            out.push_str(&key);
            tree.render_at(depth + 1, out);
        }
        indent(out, depth);
        let _ = writeln!(out, "{close},");
    }
}

/// Prints the structure of a function. Values are numbered in depth-first order, which is the order
/// of the raw signature beside it.
///
/// # Errors
/// A structure that is no sequence or dictionary of a fixed shape.
pub fn print(function: &Function) -> Result<Printed, Unrepresentable> {
    let mut notes = Vec::new();
    let mut signature = SipSignature::default();
    let mut next = 0;
    let all_named =
        !function.arguments.is_empty() && function.arguments.iter().all(|slot| slot.keyword);
    for (index, slot) in function.arguments.iter().enumerate() {
        let key = match &slot.name {
            Some(name) if all_named => Key::Name(name.clone().into_bytes()),
            _ => Key::Index(index as i32),
        };
        if slot.keyword && !all_named {
            crate::signature::note(
                &mut notes,
                "positional and named arguments cannot be mixed; names are lost",
            );
        }
        insert(&mut signature.inputs, &slot.ty, &mut vec![key], &mut next)
            .map_err(|reason| reason.at(format!("args[{index}]")))?;
    }
    if function.arguments.is_empty() {
        signature.inputs = None;
    }
    next = 0;
    let single = function.results.len() == 1;
    for (index, slot) in function.results.iter().enumerate() {
        let mut path = if single { Vec::new() } else { vec![Key::Index(index as i32)] };
        insert(&mut signature.results, &slot.ty, &mut path, &mut next)
            .map_err(|reason| reason.at(format!("results[{index}]")))?;
    }
    let text = String::from_utf8_lossy(&signature.to_bytes()).into_owned();
    Ok(Printed { text, notes })
}

fn insert(
    root: &mut Option<Tree>,
    ty: &Type,
    path: &mut Vec<Key>,
    next: &mut u32,
) -> Result<(), NoForm> {
    match ty {
        Type::Sequence(_, items) if items.is_empty() => {
            Ok(Tree::insert(root, path, Tree::Sequence(BTreeMap::new()))?)
        }
        Type::Dictionary(fields) if fields.is_empty() => {
            Ok(Tree::insert(root, path, Tree::Dictionary(BTreeMap::new()))?)
        }
        Type::Sequence(_, items) => items.iter().enumerate().try_for_each(|(index, item)| {
            path.push(Key::Index(index as i32));
            insert(root, item, path, next)?;
            path.pop();
            Ok(())
        }),
        Type::Dictionary(fields) => fields.iter().try_for_each(|(name, item)| {
            path.push(Key::Name(name.clone().into_bytes()));
            insert(root, item, path, next)?;
            path.pop();
            Ok(())
        }),
        Type::Null => Ok(()),
        Type::List(_) | Type::Map(..) | Type::Variadic(_) => Err(NoForm::OpenLength),
        Type::Position(index) => Ok(Tree::insert(root, path, Tree::Leaf(*index))?),
        _ => {
            Tree::insert(root, path, Tree::Leaf(*next))?;
            *next += 1;
            Ok(())
        }
    }
}

/// The raw signature of a structured function: its values in depth-first order.
#[must_use]
pub fn flatten(function: &Function) -> Function {
    fn leaves(ty: &Type, out: &mut Vec<Type>) {
        match ty {
            Type::Sequence(_, items) => items.iter().for_each(|item| leaves(item, out)),
            Type::Dictionary(fields) => fields.iter().for_each(|(_, item)| leaves(item, out)),
            Type::Null => {}
            other => out.push(other.clone()),
        }
    }
    let flat = |slots: &[Slot]| {
        let mut out = Vec::new();
        slots.iter().for_each(|slot| leaves(&slot.ty, &mut out));
        out.into_iter().map(Slot::of).collect::<Vec<_>>()
    };
    Function {
        name: function.name.clone(),
        arguments: flat(&function.arguments),
        results: flat(&function.results).into_iter().map(Slot::owned).collect(),
    }
}
