//! The lines of fused multiply-adds.
//!
//! The compiler gives `a * b + c` the locations of what has made `a` and `c`, not those of the
//! product and the sum. So the sum is looked for in the source: the only one of a product of such
//! values and such a value. Where there is none, the instruction has no line of its own, and
//! belongs to the statement before it.

use std::collections::{BTreeSet, HashMap};

use mlir::{FloatBinary, IntegerBinary, Meaning, Numbers};
use vmfb::Op;

use super::parts::{CodePlace, FunctionInfo, FusedLine};
use super::tables::DebugInfo;
use crate::locations::{LocationId, SourcePosition, walk};
use crate::source::functions::{
    LineColumn, OperationIndex, SourceFunction, SourceOperation, ValueIndex,
};

/// The dialects of operations on single numbers, and of what leads to them. A multiply-add that
/// comes from another operation, as from a product of matrices, is on the line of that operation.
const SCALAR_DIALECTS: [&str; 7] = ["arith", "math", "scf", "cf", "func", "index", "util"];

impl DebugInfo {
    /// The line of an instruction, if it may be a fused multiply-add.
    pub(super) fn fused_line(&self, info: &FunctionInfo, index: usize) -> FusedLine {
        let lines = self.fused_lines(info);
        lines.get(&index).copied().unwrap_or(FusedLine::AsLocated)
    }

    /// The instruction before another one in its block that has a line.
    pub(super) fn statement_before(&self, info: &FunctionInfo, index: usize) -> Option<usize> {
        let begins = |at: &usize| info.code.instructions[*at].begins_block;
        let first = (0..=index).rev().find(begins)?;
        let has_line = |at: &usize| match self.fused_line(info, *at) {
            FusedLine::AsLocated => info.rows[*at].position.is_some(),
            FusedLine::Sum(_) => true,
            FusedLine::Unknown => false,
        };
        (first..index).rev().find(has_line)
    }

    /// Whether an instruction is on the line that its location has.
    pub(super) fn is_as_located(&self, place: &CodePlace) -> bool {
        let Some(info) = self.function(place.function) else { return true };
        let index = info.code.index_of(place.offset);
        index.is_none_or(|index| self.fused_line(info, index) == FusedLine::AsLocated)
    }

    /// The lines of a function's fused multiply-adds, by instruction.
    pub(super) fn fused_lines<'i>(&self, info: &'i FunctionInfo) -> &'i HashMap<usize, FusedLine> {
        info.fused.get_or_init(|| {
            let instructions = info.code.instructions.iter().zip(&info.rows).enumerate();
            let lines = instructions.filter_map(|(index, (it, row))| {
                let fused = sum_of(it.op)?;
                Some((index, self.line_of_sum(row.location?, fused)?))
            });
            lines.collect()
        })
    }

    /// The line of a fused multiply-add with a location; `None` if that is the location's.
    fn line_of_sum(&self, location: LocationId, fused: Fused) -> Option<FusedLine> {
        let first = *walk::call_chain(&self.table, location).first()?;
        let source = self.source(first.file).filter(|_| first.is_written())?;
        let function = source.function_read(first.line)?;
        let alternatives = walk::alternatives(&self.table, location);
        let is_elsewhere = alternatives.iter().any(|it| it.file != first.file);
        let places: Vec<LineColumn> = alternatives.iter().map(|it| (it.line, it.column)).collect();
        let made_by = function.operation_at((first.line, first.column));
        let is_scalar = made_by.is_none_or(|it| is_scalar(&function.operations[it].name));
        if is_elsewhere || !is_scalar {
            return None;
        }
        let sums = Sums::new(&function, fused);
        let found = sums.of(&places, Constants::InPlace);
        // The compiler merges and moves constants.
        let found = if found.is_empty() { sums.of(&places, Constants::Moved) } else { found };
        let is_sum = |it: OperationIndex| sums.parts(it).next().is_some();
        let mut found = found.into_iter();
        Some(match (found.next(), found.next()) {
            (Some((line, column)), None) => {
                FusedLine::Sum(SourcePosition { line, column, ..first })
            }
            // A compiler that gives it the location of the sum.
            (None, _) if made_by.is_some_and(is_sum) => return None,
            _ => FusedLine::Unknown,
        })
    }
}

/// What the two operations do that became one.
#[derive(Clone, Copy)]
struct Fused {
    product: Numbers,
    sum: Numbers,
    /// Whether their numbers have 64 bits.
    is_wide: bool,
}

/// Where constants may stand that a sum is recognised by.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Constants {
    /// Where the source has them.
    InPlace,
    /// Anywhere.
    Moved,
}

fn sum_of(op: Op) -> Option<Fused> {
    let is_wide = matches!(op, Op::FMAI64 | Op::FMAF64);
    let (product, sum) = match op {
        Op::FMAI32 | Op::FMAI64 => (
            Numbers::IntegerBinary(IntegerBinary::Multiply),
            Numbers::IntegerBinary(IntegerBinary::Add),
        ),
        Op::FMAF32 | Op::FMAF64 => {
            (Numbers::FloatBinary(FloatBinary::Multiply), Numbers::FloatBinary(FloatBinary::Add))
        }
        _ => return None,
    };
    Some(Fused { product, sum, is_wide })
}

fn is_scalar(name: &str) -> bool {
    name.split_once('.').is_some_and(|(dialect, _)| SCALAR_DIALECTS.contains(&dialect))
}

/// The sums of products in a function.
struct Sums<'f> {
    function: &'f SourceFunction,
    fused: Fused,
    /// How often each value is used.
    uses: Vec<usize>,
    /// What declares each argument.
    declared: HashMap<ValueIndex, LineColumn>,
}

impl<'f> Sums<'f> {
    fn new(function: &'f SourceFunction, fused: Fused) -> Self {
        let mut uses = vec![0; function.values.len()];
        let mut declared = HashMap::new();
        for operation in &function.operations {
            operation.operands.iter().for_each(|it| uses[*it] += 1);
            let blocks = operation.regions.iter().flat_map(|region| &region.blocks);
            let arguments = blocks.flat_map(|block| block.arguments.iter().copied());
            let arguments = arguments.chain(operation.initial.iter().map(|(it, _)| *it));
            declared.extend(arguments.map(|it| (it, operation.place)));
        }
        Self { function, fused, uses, declared }
    }

    /// The places of the sums whose operands are made at places: a factor and the summand.
    fn of(&self, places: &[LineColumn], constants: Constants) -> BTreeSet<LineColumn> {
        let is_free = |it| constants == Constants::Moved && self.is_constant(it);
        let fits = |(product, summand): (OperationIndex, ValueIndex)| {
            let factors = &self.function.operations[product].operands;
            let factors: Vec<_> = factors.iter().flat_map(|it| self.places_of(*it)).collect();
            let summand_places = self.places_of(summand);
            let all =
                |place: &LineColumn| factors.contains(place) || summand_places.contains(place);
            let has = |some: &[LineColumn]| some.iter().any(|it| places.contains(it));
            places.iter().all(all) && has(&factors) && (has(&summand_places) || is_free(summand))
        };
        let operations = 0..self.function.operations.len();
        let sums = operations.filter(move |it| self.parts(*it).any(fits));
        sums.map(|it| self.function.operations[it].place).collect()
    }

    /// For a sum: its operands that are products and used by nothing else, each with the other
    /// operand.
    fn parts(&self, sum: OperationIndex) -> impl Iterator<Item = (OperationIndex, ValueIndex)> {
        let function = self.function;
        let operation = &function.operations[sum];
        let operands = match operation.operands[..] {
            [one, other] if self.is_sum(operation) => vec![(one, other), (other, one)],
            _ => Vec::new(),
        };
        let product = Meaning::Numbers(self.fused.product);
        operands.into_iter().filter_map(move |(value, other)| {
            let (made_by, _) = function.values[value].definition?;
            let is_product = mlir::meaning(&function.operations[made_by].name) == Some(product);
            (is_product && self.uses[value] == 1).then_some((made_by, other))
        })
    }

    /// Whether an operation is a sum of the width of the instruction.
    fn is_sum(&self, operation: &SourceOperation) -> bool {
        let result = operation.results.first().and_then(|it| self.function.values.get(*it));
        let type_text = result.and_then(|it| it.type_text.as_deref());
        let is_wide = type_text.map(|it| matches!(it, "i64" | "index" | "f64"));
        let sum = Meaning::Numbers(self.fused.sum);
        mlir::meaning(&operation.name) == Some(sum)
            && is_wide.is_none_or(|it| it == self.fused.is_wide)
    }

    /// Where a value is made: its operation, or for an argument its name and what declares it.
    fn places_of(&self, value: ValueIndex) -> Vec<LineColumn> {
        let operations = &self.function.operations;
        let written = &self.function.values[value];
        if let Some((made_by, _)) = written.definition {
            return vec![operations[made_by].place];
        }
        let declares = self.declared.get(&value).copied();
        [written.place].into_iter().chain(declares).collect()
    }

    fn is_constant(&self, value: ValueIndex) -> bool {
        let made_by = self.function.values[value].definition;
        let is_it = |name: &str| mlir::meaning(name) == Some(Meaning::Constant);
        made_by.is_some_and(|(it, _)| is_it(&self.function.operations[it].name))
    }
}
