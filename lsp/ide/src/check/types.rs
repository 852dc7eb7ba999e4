//! Types that disagree: of an operand and its definition, of a call and its function, of a return
//! or yield and what it ends.
//!
//! Only types that the text shows are compared, by the rules of the operations that are listed.

use std::cell::RefCell;
use std::collections::HashMap;

use mlir::structure::{Fact, has};
use syntax::{FunctionType, NodeId, NodeKind, OpClass, Symbol, TokenKind};

use super::diagnostic::Diagnostic;
use super::file_names::FileNames;
use super::reading::Reading;
use super::type_text::differ;
use super::written_types::{Group, Operand, OperandPlace, Signature, Written, signature, type_at};
use crate::operations::{Stated, TypeRule, type_rules};
use crate::resolve::{reference_at, resolve_symbol};
use crate::text::ValueKind;

/// The most chunks that are searched for a symbol whose name is not unique.
const MOST_SEARCHED: usize = 4000;

/// A longer global, in bytes, holds a constant.
const LONGEST_GLOBAL: usize = 400;

/// The faults of a chunk's types.
pub(super) fn faults(reading: &Reading, files: &FileNames, found: &mut Vec<Diagnostic>) {
    let names = &reading.analysed.analysis.names;
    let uses = names.value_uses.iter().enumerate();
    let uses = uses.map(|(index, used)| (used.span.start, index)).collect();
    let check = Check {
        reading,
        files,
        uses,
        signatures: RefCell::default(),
        types: RefCell::new(vec![None; names.values.len()]),
    };
    for (id, op) in reading.operations() {
        if reading.is_generic(id) {
            check.generic(id, op, found);
        } else {
            check.pretty(id, op, found);
        }
    }
}

struct Check<'a> {
    reading: &'a Reading<'a>,
    files: &'a FileNames,
    /// The use that begins at a byte.
    uses: HashMap<u32, usize>,
    signatures: RefCell<HashMap<NodeId, std::rc::Rc<Signature>>>,
    /// The types of values, once they were asked for.
    types: RefCell<Vec<Option<Option<String>>>>,
}

impl Check<'_> {
    fn signature(&self, id: NodeId) -> std::rc::Rc<Signature> {
        if let Some(known) = self.signatures.borrow().get(&id) {
            return known.clone();
        }
        let made = std::rc::Rc::new(signature(self.reading, id));
        self.signatures.borrow_mut().insert(id, made.clone());
        made
    }

    fn written(&self, ty: &Written) -> String {
        self.reading.span(ty.clone()).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    // ---- types of values

    /// The type of an operand, if its definition surely shows it.
    fn type_of(&self, operand: &Operand) -> Option<String> {
        let start = self.reading.tree.tokens()[operand.token].start;
        let names = &self.reading.analysed.analysis.names;
        let used = &names.value_uses[*self.uses.get(&start)?];
        self.type_of_value(used.definition?, operand.pack)
    }

    fn type_of_value(&self, index: u32, pack: usize) -> Option<String> {
        if pack == 0
            && let Some(known) = &self.types.borrow()[index as usize]
        {
            return known.clone();
        }
        let found = self.find_type(index, pack);
        if pack == 0 {
            self.types.borrow_mut()[index as usize] = Some(found.clone());
        }
        found
    }

    fn find_type(&self, index: u32, pack: usize) -> Option<String> {
        let value = &self.reading.analysed.analysis.names.values[index as usize];
        match value.kind {
            ValueKind::Result(first) => self.result_type(value.node, first as usize + pack),
            ValueKind::BlockArgument => self.argument_type(value.span.end),
            ValueKind::RegionArgument => {
                let op = self.reading.op(value.node);
                let is_function = syntax::class_of(op) == OpClass::Function;
                let sure = is_function || has(op, Fact::ShowsArguments);
                sure.then(|| self.argument_type(value.span.end)).flatten()
            }
        }
    }

    /// The type after the colon of `%a: type`.
    fn argument_type(&self, after: u32) -> Option<String> {
        let tokens = &self.reading.tokens;
        let leaves = self.reading.tree.tokens();
        let at = tokens.partition_point(|(token, _)| leaves[*token].start < after);
        let colon = &leaves[tokens.get(at)?.0];
        if !colon.is(b':') {
            return None;
        }
        Some(self.written(&type_at(self.reading, tokens.get(at + 1..)?)?))
    }

    fn result_type(&self, id: NodeId, index: usize) -> Option<String> {
        let op = self.reading.op(id);
        if self.reading.is_generic(id) {
            let (_, results) = self.function_type(id)?;
            return results.get(index).cloned();
        }
        let signature = self.signature(id);
        if signature.is_odd {
            return None;
        }
        if op.starts_with("linalg.")
            && !matches!(op, "linalg.index" | "linalg.pack" | "linalg.unpack")
        {
            let arrow = signature.arrow?;
            return Some(self.written(signature.types.get(arrow + index)?));
        }
        if op == "arith.constant" && signature.types.is_empty() {
            return self.constant_type(id);
        }
        type_rules(op).iter().find_map(|rule| match rule {
            TypeRule::Result(stated) if index == 0 => self.stated(&signature, *stated),
            TypeRule::AfterArrow => {
                Some(self.written(signature.types.get(signature.arrow? + index)?))
            }
            TypeRule::Results => Some(self.written(signature.types.get(index)?)),
            _ => None,
        })
    }

    /// The type of a constant that writes none: `true`, `5`, `0.5`.
    fn constant_type(&self, id: NodeId) -> Option<String> {
        let tree = self.reading.tree;
        let name = tree.child(id, NodeKind::Name)?;
        let literal = tree.tokens().get(tree.node(name).last as usize)?;
        let is_all = tree.node(name).last + 1 == tree.node(id).last;
        let text = self.reading.text(literal);
        let is_hexadecimal = text.starts_with("0x");
        match literal.kind {
            TokenKind::Word if matches!(text, "true" | "false") => Some("i1".into()),
            TokenKind::Number if is_all && !is_hexadecimal => {
                Some(if text.contains('.') { "f64" } else { "i64" }.into())
            }
            _ => None,
        }
    }

    /// What a rule says of the types that an operation writes.
    fn stated(&self, signature: &Signature, stated: Stated) -> Option<String> {
        stated.among(signature.types.len(), |at| self.written(&signature.types[at]))
    }

    /// The operand and result types of an operation in generic form.
    fn function_type(&self, id: NodeId) -> Option<(Vec<String>, Vec<String>)> {
        let signature = self.signature(id);
        let arrow = signature.arrow.filter(|_| !signature.is_odd)?;
        let types: Vec<_> = signature.types.iter().map(|ty| self.written(ty)).collect();
        Some((types[..arrow].to_vec(), types[arrow..].to_vec()))
    }

    // ---- checks

    fn generic(&self, id: NodeId, op: &str, found: &mut Vec<Diagnostic>) {
        let signature = self.signature(id);
        let Some(arrow) = signature.arrow.filter(|_| !signature.is_odd) else { return };
        if self.reading.tree.child(id, NodeKind::Region).is_some() {
            return;
        }
        let plain: Vec<_> = signature
            .operands
            .iter()
            .filter(|operand| operand.place == OperandPlace::InList)
            .collect();
        self.pairs(id, op, &plain, &signature.types[..arrow], found);
    }

    fn pretty(&self, id: NodeId, op: &str, found: &mut Vec<Diagnostic>) {
        let reading = self.reading;
        if reading.is_opaque(id) || op.is_empty() {
            return;
        }
        let rules = type_rules(op);
        let signature = self.signature(id);
        for group in &signature.groups {
            self.group(op, group, found);
        }
        if !signature.is_odd && !signature.types.is_empty() {
            self.by_rules(id, op, rules, &signature, found);
        }
        match op {
            "call" | "func.call" | "util.call" | "vm.call" => self.call(id, &signature, found),
            // What `vm.return` returns is not compared by anything.
            "return" | "func.return" | "util.return" => {
                self.end_of_function(id, op, &signature, found);
            }
            "scf.yield" => self.end_of_region(id, &signature, found),
            "util.global.load" | "util.global.store" => self.global(id, &signature, found),
            _ => {}
        }
    }

    /// A list of values and their types. Only after these words are there surely as many of both.
    fn group(&self, op: &str, group: &Group, found: &mut Vec<Diagnostic>) {
        let before = self.reading.tree.tokens()[group.before];
        let is_paired =
            matches!(self.reading.text(&before), "ins" | "outs") || before.kind == TokenKind::Block;
        if group.operands.len() == group.types.len() {
            for (operand, ty) in group.operands.iter().zip(&group.types) {
                self.compare(operand, &self.written(ty), found);
            }
        } else if is_paired {
            let message = format!(
                "this list of `{op}` has {} and {}",
                counted(group.operands.len(), "operand"),
                counted(group.types.len(), "type of one")
            );
            found.push(Diagnostic::error(self.reading.range(&before), "arity", message));
        }
    }

    fn by_rules(
        &self,
        id: NodeId,
        op: &str,
        rules: &[TypeRule],
        signature: &Signature,
        found: &mut Vec<Diagnostic>,
    ) {
        let outside: Vec<_> = signature
            .operands
            .iter()
            .filter(|operand| operand.place == OperandPlace::Outside)
            .collect();
        for rule in rules {
            match *rule {
                TypeRule::All(stated) => {
                    if let Some(ty) = self.stated(signature, stated) {
                        for operand in &outside {
                            self.compare(operand, &ty, found);
                        }
                    }
                }
                TypeRule::Operand(index, stated) => {
                    let operand = outside.get(usize::from(index));
                    if let (Some(operand), Some(ty)) = (operand, self.stated(signature, stated)) {
                        self.compare(operand, &ty, found);
                    }
                }
                TypeRule::Each | TypeRule::EachOutside => {
                    let all = |operand: &&Operand| {
                        operand.place == OperandPlace::Outside
                            || *rule == TypeRule::Each && operand.place == OperandPlace::InList
                    };
                    let operands: Vec<_> = signature.operands.iter().filter(all).collect();
                    let count = signature.arrow.unwrap_or(signature.types.len());
                    self.pairs(id, op, &operands, &signature.types[..count], found);
                }
                TypeRule::InBrackets(stated) => {
                    let inside = |operand: &&Operand| operand.place == OperandPlace::InBrackets;
                    if let Some(ty) = self.stated(signature, stated) {
                        for operand in signature.operands.iter().filter(inside) {
                            self.compare(operand, &ty, found);
                        }
                    }
                }
                TypeRule::Result(_) | TypeRule::AfterArrow | TypeRule::Results => {}
            }
        }
    }

    /// As many operands as types, in their order.
    fn pairs(
        &self,
        id: NodeId,
        op: &str,
        operands: &[&Operand],
        types: &[Written],
        found: &mut Vec<Diagnostic>,
    ) {
        if operands.len() != types.len() {
            let message = format!(
                "`{op}` has {} and {}",
                counted(operands.len(), "operand"),
                counted(types.len(), "type of one")
            );
            found.push(Diagnostic::error(self.reading.name_range(id), "arity", message));
            return;
        }
        for (operand, ty) in operands.iter().zip(types) {
            self.compare(operand, &self.written(ty), found);
        }
    }

    /// Reports a use whose type, as written here, is not that of the definition.
    fn compare(&self, operand: &Operand, written: &str, found: &mut Vec<Diagnostic>) {
        let Some(defined) = self.type_of(operand) else { return };
        if !differ(&defined, written) {
            return;
        }
        let leaf = self.reading.tree.tokens()[operand.token];
        let name = self.reading.text(&leaf);
        let message = format!("`{name}` is `{defined}` and is used as `{written}`");
        let names = &self.reading.analysed.analysis.names;
        let definition = self.uses.get(&leaf.start).and_then(|&at| names.value_uses[at].definition);
        let related = definition.map(|at| {
            let span = &names.values[at as usize].span;
            (self.reading.analysed.absolute(span), "defined here".to_owned())
        });
        found.push(Diagnostic {
            related: related.into_iter().collect(),
            ..Diagnostic::error(self.reading.range(&leaf), "type", message)
                .of_types(&defined, written)
        });
    }

    /// A call against its function.
    fn call(&self, id: NodeId, signature: &Signature, found: &mut Vec<Diagnostic>) {
        let tree = self.reading.tree;
        let Some(arrow) = signature.arrow.filter(|_| !signature.is_odd) else { return };
        let tokens = tree.tokens_of(id);
        let Some(callee) = tokens.iter().find(|token| token.kind == TokenKind::Symbol) else {
            return;
        };
        let range = self.reading.range(callee);
        let Some(symbol) = self.callee(&range) else { return };
        let definition = &symbol;
        let Some(function) = self.function_of(definition) else { return };
        let is_plain = |slot: &syntax::Slot| !slot.variadic && !slot.ty.is_empty();
        if !function.parameters.iter().chain(&function.results).all(is_plain) {
            return;
        }
        let (given, taken) = signature.types.split_at(arrow);
        for (what, here, there) in
            [("operand", given, &function.parameters), ("result", taken, &function.results)]
        {
            let name = &definition.name;
            if here.len() != there.len() {
                let message = format!(
                    "`@{name}` has {}, and this call has {}",
                    counted(there.len(), what),
                    here.len()
                );
                found.push(Diagnostic {
                    related: vec![(definition.name_token.clone(), "defined here".into())],
                    ..Diagnostic::error(range.clone(), "arity", message)
                });
                continue;
            }
            for (index, (ty, slot)) in here.iter().zip(there).enumerate() {
                let written = self.written(ty);
                if differ(&written, &slot.ty) {
                    let message = format!(
                        "{what} {index} of `@{name}` is `{}`, and this call has `{written}`",
                        slot.ty
                    );
                    found.push(Diagnostic {
                        related: vec![(definition.name_token.clone(), "defined here".into())],
                        ..Diagnostic::error(self.reading.analysed.absolute(ty), "type", message)
                            .of_types(&written, &slot.ty)
                    });
                }
            }
        }
    }

    /// A load or store against its global.
    fn global(&self, id: NodeId, signature: &Signature, found: &mut Vec<Diagnostic>) {
        let tokens = self.reading.tree.tokens_of(id);
        let named = tokens.iter().find(|token| token.kind == TokenKind::Symbol);
        let (Some(named), [ty], false) = (named, signature.types.as_slice(), signature.is_odd)
        else {
            return;
        };
        let Some(symbol) = self.callee(&self.reading.range(named)) else { return };
        if symbol.op != "util.global" || symbol.range.len() > LONGEST_GLOBAL {
            return;
        }
        let text = self.reading.document.text().slice(symbol.range.clone()).into_owned();
        let declared = text.lines().next().unwrap_or_default();
        let declared = declared.split(" loc(").next().unwrap_or(declared).trim_end();
        let Some((_, declared)) = declared.rsplit_once(" : ") else { return };
        let written = self.written(ty);
        if differ(&written, declared) {
            let message =
                format!("`@{}` is `{declared}`, and is used here as `{written}`", symbol.name);
            let range = self.reading.analysed.absolute(ty);
            found.push(Diagnostic {
                related: vec![(symbol.name_token, "defined here".into())],
                ..Diagnostic::error(range, "type", message).of_types(&written, declared)
            });
        }
    }

    /// The symbol that a call names. Searching all chunks takes long where there are many, so that
    /// is left to the few names that several symbols have.
    fn callee(&self, range: &syntax::TextRange) -> Option<Symbol> {
        let document = self.reading.document;
        let reference = reference_at(document, range.start + 1)?;
        let [name] = reference.path.as_slice() else { return None };
        if let Some(placed) = self.files.only_definition(range.start, name)? {
            return Symbol::read(document.text(), &placed).filter(|symbol| symbol.name == *name);
        }
        let is_small = document.chunks().len() < MOST_SEARCHED;
        let found = is_small.then(|| resolve_symbol(document, &reference, range.start))??;
        let at = found.symbol.name_token.start;
        (self.files.file_at(at) == self.files.file_at(range.start)).then_some(found.symbol)
    }

    /// The type of a function, if all of it was read: `-> i32, i32` has more than one result.
    fn function_of<'s>(&self, symbol: &'s Symbol) -> Option<&'s FunctionType> {
        let function = symbol.function_type.as_ref()?;
        let text = self.reading.document.text();
        let next = syntax::Lexer::new(text, function.range.end).next();
        (!next.is_some_and(|next| next.is(b','))).then_some(function)
    }

    /// A return against the results of its function.
    fn end_of_function(
        &self,
        id: NodeId,
        op: &str,
        signature: &Signature,
        found: &mut Vec<Diagnostic>,
    ) {
        let tree = self.reading.tree;
        let function = tree.ancestors(id).skip(1).find(|&outer| {
            tree.node(outer).kind == NodeKind::Operation
                && syntax::class_of(self.reading.op(outer)) == OpClass::Function
        });
        let Some(function) = function else { return };
        let dialect = |op: &str| op.split_once('.').map_or("func", |(d, _)| d).to_owned();
        let outer = self.reading.op(function);
        if dialect(outer) != dialect(op) || signature.is_odd || self.reading.is_generic(function) {
            return;
        }
        let symbol = Symbol::read(self.reading.document.text(), &self.reading.analysed.placed);
        let Some(symbol) = symbol.filter(|symbol| {
            symbol.name_token.start == self.name_of(function).unwrap_or(usize::MAX)
        }) else {
            return;
        };
        let Some(results) = self.function_of(&symbol).map(|function| &function.results) else {
            return;
        };
        if results.iter().any(|slot| slot.ty.is_empty()) {
            return;
        }
        self.ends(id, op, signature, results.iter().map(|slot| slot.ty.clone()), found);
    }

    /// Where the symbol in the head of an operation begins.
    fn name_of(&self, id: NodeId) -> Option<usize> {
        let tokens = self.reading.tree.tokens_of(id);
        let symbol = tokens.iter().find(|token| token.kind == TokenKind::Symbol)?;
        Some(self.reading.range(symbol).start)
    }

    /// A yield against the results of the operation around it.
    fn end_of_region(&self, id: NodeId, signature: &Signature, found: &mut Vec<Diagnostic>) {
        let tree = self.reading.tree;
        let Some(outer) = tree.operation_of(tree.node(id).parent) else { return };
        let op = self.reading.op(outer);
        if !has(op, Fact::YieldsResults) || self.reading.is_generic(outer) || signature.is_odd {
            return;
        }
        let around = self.signature(outer);
        let Some(arrow) = around.arrow.filter(|_| !around.is_odd) else { return };
        let results = around.types[arrow..].iter().map(|ty| self.written(ty));
        self.ends(id, "scf.yield", signature, results, found);
    }

    fn ends(
        &self,
        id: NodeId,
        op: &str,
        signature: &Signature,
        results: impl Iterator<Item = String>,
        found: &mut Vec<Diagnostic>,
    ) {
        let results: Vec<_> = results.collect();
        if signature.types.len() != results.len() {
            let message = format!(
                "`{op}` has {}, and what it ends has {}",
                counted(signature.types.len(), "operand"),
                counted(results.len(), "result")
            );
            found.push(Diagnostic::error(self.reading.name_range(id), "arity", message));
            return;
        }
        for (ty, result) in signature.types.iter().zip(results) {
            let written = self.written(ty);
            if differ(&written, &result) {
                let message = format!("the result is `{result}`, and `{op}` has `{written}`");
                let range = self.reading.analysed.absolute(ty);
                let fault = Diagnostic::error(range, "type", message);
                found.push(fault.of_types(&written, &result));
            }
        }
    }
}

/// `1 operand`, `2 operands`.
fn counted(count: usize, what: &str) -> String {
    let plural = what.replacen("type", "types", 1);
    match (count, what.starts_with("type")) {
        (1, _) => format!("1 {what}"),
        (_, true) => format!("{count} {plural}"),
        (_, false) => format!("{count} {what}s"),
    }
}
