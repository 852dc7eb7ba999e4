//! Source names: what the user called a value that the companion knows by a made-up name.
//!
//! Positions give a name back (see [`crate::source`]), but one operation of the source may become
//! several of the VM, and only one of them makes its value. A name is given only where it is clear
//! which; a missing name is better than a wrong one.

use crate::companion::{CompanionFunction, Definition, Value};
use crate::frames;
use crate::location::{LocationTable, SourcePosition};
use crate::source::SourceText;

/// Finds the source name of values of one function.
pub(crate) struct SourceNames<'a> {
    pub(crate) function: &'a CompanionFunction,
    pub(crate) table: &'a LocationTable,
}

impl SourceNames<'_> {
    /// Where a value was written.
    pub(crate) fn position(&self, value: &Value) -> Option<SourcePosition> {
        if frames::is_generated(self.table, value.location) {
            return None;
        }
        frames::call_chain(self.table, value.location).first().copied()
    }

    /// The user's name of a value, given the text of the file that [`SourceNames::position`] names.
    pub(crate) fn name(&self, value: &Value, source: &SourceText) -> Option<String> {
        let SourcePosition { line, column, .. } = self.position(value)?;
        match value.definition {
            Definition::Argument { index } => self.argument(source, line, column, index),
            Definition::BlockArgument { .. } => self.block_argument(value, source, line, column),
            Definition::Result { .. } => self.result(value, source, line, column),
        }
    }

    /// An argument has its own position, or in a wrapper around the user's function that of the function.
    fn argument(&self, source: &SourceText, line: u32, column: u32, index: u32) -> Option<String> {
        if let Some(name) = source.name_at(line, column) {
            return Some(name.to_owned());
        }
        let names = source.argument_names(line, column);
        (names.len() == self.function.arguments().count())
            .then(|| names.get(index as usize).cloned())?
    }

    /// Loop variables have their own positions; the values that an `scf.if` yields have that of the `if`.
    fn block_argument(
        &self,
        value: &Value,
        source: &SourceText,
        line: u32,
        column: u32,
    ) -> Option<String> {
        if let Some(name) = source.name_at(line, column) {
            return Some(name.to_owned());
        }
        let siblings: Vec<&Value> = self
            .function
            .values
            .iter()
            .filter(|other| is_same_block(other, value) && other.location == value.location)
            .collect();
        let names = source.result_names(line, column);
        let index = siblings.iter().position(|sibling| sibling.name == value.name)?;
        (names.len() == siblings.len()).then(|| names.get(index).cloned())?
    }

    fn result(&self, value: &Value, source: &SourceText, line: u32, column: u32) -> Option<String> {
        let Definition::Result { operation, index } = value.definition else { return None };
        let written = source.operation_at(line, column)?;
        if is_loop(written) {
            return None;
        }
        let names = source.result_names(line, column);
        let mut makers = self.makers(value);
        if makers.len() > 1 {
            makers
                .retain(|maker| is_same_kind(&self.function.operations[*maker].mnemonic, written));
        }
        let own = self.function.operations.get(operation as usize)?;
        let result_count = own.results.end - own.results.start;
        let is_maker = makers == [operation as usize] && names.len() == result_count as usize;
        is_maker.then(|| names.get(index as usize).cloned())?
    }

    /// The operations with results that come from the same place as a value.
    fn makers(&self, value: &Value) -> Vec<usize> {
        let operations = self.function.operations.iter().enumerate();
        operations
            .filter(|(_, operation)| {
                operation.location == value.location && !operation.results.is_empty()
            })
            .map(|(index, _)| index)
            .collect()
    }
}

fn is_same_block(left: &Value, right: &Value) -> bool {
    match (left.definition, right.definition) {
        (
            Definition::BlockArgument { block: left, .. },
            Definition::BlockArgument { block: right, .. },
        ) => left == right,
        _ => false,
    }
}

/// The results of a loop are block arguments in the VM; what has the loop's position counts and compares.
fn is_loop(operation: &str) -> bool {
    matches!(operation, "scf.for" | "scf.while" | "scf.forall" | "scf.parallel" | "affine.for")
}

/// Whether an operation of the VM does what one of the source does, going by their names: `vm.add.i32`
/// and `arith.addi`, `vm.trunc.i64.i32` and `arith.index_cast`.
fn is_same_kind(mnemonic: &str, written: &str) -> bool {
    const CASTS: [&str; 4] = ["trunc", "ext", "cast", "bitcast"];
    let last = written.rsplit('.').next().unwrap_or(written);
    let mut parts = mnemonic.trim_start_matches("vm.").split('.');
    let is_cast = last.contains("cast")
        || last.starts_with("ext")
        || last.starts_with("trunc")
        || last.contains("to");
    if is_cast && parts.clone().next().is_some_and(|first| CASTS.contains(&first)) {
        return true;
    }
    parts.any(|part| {
        part.len() > 1 && !part.bytes().any(|byte| byte.is_ascii_digit()) && last.starts_with(part)
    })
}

#[cfg(test)]
mod tests {
    use super::is_same_kind;

    #[test]
    fn kinds() {
        for (mnemonic, written) in [
            ("vm.add.i32", "arith.addi"),
            ("vm.const.i32.zero", "arith.constant"),
            ("vm.trunc.i64.i32", "arith.index_cast"),
            ("vm.cast.si32.f32", "arith.sitofp"),
            ("vm.cmp.lt.i64.s", "arith.cmpi"),
            ("vm.global.load.ref", "util.global.load"),
            ("vm.call", "func.call"),
            ("vm.select.i32", "arith.select"),
        ] {
            assert!(is_same_kind(mnemonic, written), "{mnemonic} {written}");
        }
        for (mnemonic, written) in
            [("vm.fma.i32", "arith.index_cast"), ("vm.const.i64", "arith.addi")]
        {
            assert!(!is_same_kind(mnemonic, written), "{mnemonic} {written}");
        }
    }
}
