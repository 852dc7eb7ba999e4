//! Rename of values, blocks, symbols and aliases. A new name that is already visible there is
//! refused.

use syntax::TextRange;

use crate::Document;
use crate::resolve::{
    Entity, Named, Reference, VariableNotRenamed, alias_definition, check_variable, entity_at,
    resolve_symbol, usages,
};
use crate::text::{block_elsewhere, chunks_sharing_values, hash};

/// A name that can be changed: the text to edit, without sigil and quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renamable {
    /// Where the name stands.
    pub range: TextRange,
    /// The current name.
    pub name: String,
}

/// The edits of a rename.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renaming {
    /// The places to edit, sigils included.
    pub ranges: Vec<TextRange>,
    /// The new text for each, sigil included.
    pub text: String,
}

/// Why a name is not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotRenamed {
    /// The place has no name that can be changed.
    #[error("nothing here has a name that can be changed")]
    NoName,
    /// It is the name of an operation.
    #[error("`{0}` is an operation of its dialect")]
    Operation(String),
    /// It is a number.
    #[error("this names a function by its number")]
    Number,
    /// Its definition is in no open text.
    #[error("`{0}` is not defined in this file")]
    Undefined(String),
    /// It is a variable of a directive, and that is why.
    #[error(transparent)]
    Variable(#[from] VariableNotRenamed),
    /// The new name is none.
    #[error("`{0}` is no name: expected letters, digits, `_`, `$`, `.` or `-`, or a number")]
    NotAName(String),
    /// The new name of a symbol is empty.
    #[error("a symbol needs a name")]
    Empty,
    /// The new name of a symbol has characters that no text shows.
    #[error("a symbol's name cannot hold control characters")]
    Control,
    /// Something else that is visible there has the new name.
    #[error("`{name}` is already {what}")]
    Taken {
        /// The new name, with its sigil.
        name: String,
        /// What has it.
        what: &'static str,
    },
}

/// The name to change at `offset`.
///
/// # Errors
/// [`NotRenamed`]: why it cannot be changed.
pub fn prepare_rename(document: &Document, offset: usize) -> Result<Renamable, NotRenamed> {
    if let Some(variable) = check_variable(document, offset) {
        variable.renamed(&variable.name)?;
        return Ok(Renamable { range: variable.range, name: variable.name });
    }
    let named = renamable(document, offset)?;
    let text = document.text().slice(named.range.clone()).into_owned();
    let quoted = text[1..].starts_with('"');
    let range = if quoted {
        named.range.start + 2..named.range.end - 1
    } else {
        named.range.start + 1..named.range.end
    };
    let name = document.text().slice(range.clone()).into_owned();
    Ok(Renamable { range, name })
}

fn renamable(document: &Document, offset: usize) -> Result<Named, NotRenamed> {
    let named = entity_at(document, offset).ok_or(NotRenamed::NoName)?;
    match &named.entity {
        Entity::Operation { name, .. } => Err(NotRenamed::Operation(name.to_string())),
        Entity::Symbol(reference) if reference.ordinal.is_some() => Err(NotRenamed::Number),
        Entity::Symbol(reference) if resolve_symbol(document, reference, offset).is_none() => {
            Err(NotRenamed::Undefined(reference.shown().to_string()))
        }
        Entity::Alias(name) if alias_definition(document, name, offset).is_none() => {
            Err(NotRenamed::Undefined(name.to_string()))
        }
        _ => Ok(named),
    }
}

/// Renames the entity at `offset`. The new name may have its sigil or not.
///
/// # Errors
/// [`NotRenamed`]: the name cannot be changed, or the new name is malformed or taken.
pub fn rename(document: &Document, offset: usize, new_name: &str) -> Result<Renaming, NotRenamed> {
    if let Some(variable) = check_variable(document, offset) {
        let text = variable.renamed(new_name)?;
        let ranges = variable.usages.into_iter().map(|usage| usage.range).collect();
        return Ok(Renaming { ranges, text });
    }
    let named = renamable(document, offset)?;
    let sigil = document.text().slice(named.range.start..named.range.start + 1).into_owned();
    let bare = new_name.strip_prefix(&*sigil).unwrap_or(new_name);
    let bare = bare.strip_prefix('"').and_then(|name| name.strip_suffix('"')).unwrap_or(bare);
    let text = match &named.entity {
        Entity::Symbol(_) => format!("@{}", symbol_text(bare)?),
        _ => format!("{sigil}{}", name_text(bare)?),
    };
    if let Some(what) = conflict(document, &named, bare, &text) {
        return Err(NotRenamed::Taken { name: text, what });
    }
    let ranges: Vec<TextRange> =
        usages(document, &named).into_iter().map(|usage| usage.range).collect();
    // In generic form a string defines a symbol, and a register may be moved as `%R0`; see
    // `text_for`.
    Ok(Renaming { ranges, text })
}

impl Renaming {
    /// The text that replaces `range`. A string stays a string.
    pub fn text_for(&self, document: &Document, range: &TextRange) -> String {
        let old = document.text().slice(range.start..range.end);
        if old.starts_with('"') {
            let bare = self.text.trim_start_matches('@').trim_matches('"');
            return format!("\"{bare}\"");
        }
        self.text.clone()
    }
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.' | '-')
}

fn name_text(name: &str) -> Result<String, NotRenamed> {
    let digits = name.bytes().all(|byte| byte.is_ascii_digit());
    let valid = !name.is_empty()
        && name.chars().all(is_name_char)
        && (digits || !name.starts_with(|c: char| c.is_ascii_digit()));
    if valid && !name.ends_with('-') {
        return Ok(name.to_owned());
    }
    Err(NotRenamed::NotAName(name.to_owned()))
}

/// A symbol's name as written; quotes allow any name.
fn symbol_text(name: &str) -> Result<String, NotRenamed> {
    if name.is_empty() {
        return Err(NotRenamed::Empty);
    }
    let plain = name.chars().all(is_name_char)
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && !name.ends_with('-');
    if plain {
        return Ok(name.to_owned());
    }
    if name.chars().any(char::is_control) {
        return Err(NotRenamed::Control);
    }
    Ok(format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\"")))
}

/// What has the new name already.
fn conflict(document: &Document, named: &Named, bare: &str, text: &str) -> Option<&'static str> {
    let old = document.text().slice(named.range.clone());
    if old == text {
        return None;
    }
    match &named.entity {
        Entity::Value(found) => {
            let names = &found.analysed.analysis.names;
            let value = &names.values[found.index as usize];
            let wanted = hash(text);
            let clash = names.values.iter().any(|other| {
                other.hash == wanted
                    && (names.sees(other.scope, value.scope)
                        || names.sees(value.scope, other.scope))
            });
            let elsewhere = clash
                || names.value_uses.iter().any(|used| used.hash == wanted)
                || chunks_sharing_values(document, &found.analysed.placed)
                    .iter()
                    .filter(|placed| placed.index != found.analysed.placed.index)
                    .any(|placed| {
                        let other = document.analysis(placed);
                        other.analysis.names.values.iter().any(|value| value.hash == wanted)
                    });
            elsewhere.then_some("a value of this function")
        }
        Entity::Block(found) => {
            let names = &found.analysed.analysis.names;
            let block = &names.blocks[found.index as usize];
            let wanted = hash(text);
            let taken =
                names.blocks.iter().any(|other| other.hash == wanted && other.scope == block.scope)
                    || block_elsewhere(document, &found.analysed, wanted).is_some();
            taken.then_some("a block of this region")
        }
        Entity::Symbol(reference) => {
            let mut path = reference.path.clone();
            if let Some(last) = path.last_mut() {
                *last = bare.to_owned();
            }
            let wanted = Reference { path, ordinal: None, range: reference.range.clone() };
            let taken = resolve_symbol(document, &wanted, named.range.start);
            taken.map(|_| "a symbol here")
        }
        Entity::Alias(_) => alias_definition(document, text, named.range.start).map(|_| "an alias"),
        Entity::Operation { .. } => None,
    }
}
