//! Two sides before they run: what they call, which dispatches they have, and what is said of them.

use std::collections::HashMap;

use debug::DispatchEntry;

use crate::alignment::Alignment;
use crate::dispatch_key;
use crate::errors::CompareError;
use crate::side::Side;

/// The most names of tensors in a note.
const MOST_NAMED: usize = 8;

/// The dispatches that can run, and what each of them is.
pub(super) fn listed(side: &Side) -> (Vec<DispatchEntry>, Vec<Option<String>>) {
    let mut dispatches = side.debugger.machine().dispatch_list();
    dispatches.retain(|it| it.can_run);
    let program = side.debugger.program();
    for dispatch in &mut dispatches {
        let line =
            dispatch.source.as_ref().and_then(|it| program.line_of_source(&it.file, it.line));
        let line = line.as_deref().map(str::trim).unwrap_or_default();
        for operand in dispatch.operands.iter_mut().filter(|it| it.node.is_none()) {
            // Numbers are given anew with each change of a source: `%5` is the same as another one
            // only in the same line.
            let name = operand.name.as_ref().filter(|name| is_numbered(name));
            operand.name = name.map(|it| format!("{it}\n{line}")).or_else(|| operand.name.take());
        }
    }
    let texts = program.flow_texts();
    let known: HashMap<&str, String> =
        texts.iter().flatten().flat_map(|text| dispatch_key::keys(text)).collect();
    let keys = dispatches.iter().map(|it| known.get(it.name.as_deref()?).cloned()).collect();
    (dispatches, keys)
}

/// Whether a name is only a number: `%5`.
fn is_numbered(name: &str) -> bool {
    let number = name.trim_start_matches('%');
    number.bytes().all(|it| it.is_ascii_digit())
}

/// The function that both sides call.
pub(super) fn same_function(a: &Side, b: &Side) -> Result<String, CompareError> {
    let [a, b] = [a, b].map(|side| {
        let name = side.debugger.program().entry_name().to_owned();
        let signature = side.debugger.export(&name).map(|(_, signature)| signature);
        (name, signature)
    });
    if a.0 != b.0 {
        return Err(CompareError::OtherFunction { a: a.0, b: b.0 });
    }
    if a.1 != b.1 {
        return Err(CompareError::OtherSignature(a.0));
    }
    Ok(a.0)
}

/// What is said of both sides before they run.
pub(super) fn notes(alignment: &Alignment, a: &Side, b: &Side) -> Vec<String> {
    let of = |side: &Side, name: &str| {
        let notes = side.debugger.program().notes().iter();
        notes.map(|note| format!("side {name}: {note}")).collect::<Vec<_>>()
    };
    let mut notes = of(a, "A");
    notes.extend(of(b, "B"));
    if alignment.is_by_place {
        return notes;
    }
    notes.push("the sides have different dispatches: tensors are aligned by their names".into());
    if alignment.unproven() > 0 {
        notes.push(
            "dispatches whose tensors have no name on both sides are aligned by their text and \
             shapes, or by their place between others, and compared if both read the same bytes"
                .into(),
        );
    }
    for (side, only) in ["A", "B"].iter().zip(&alignment.only) {
        if only.is_empty() {
            continue;
        }
        let names = only.iter().map(|it| it.lines().next().unwrap_or_default());
        let shown = names.take(MOST_NAMED).collect::<Vec<_>>().join(", ");
        let more = only.len().saturating_sub(MOST_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        notes.push(format!("by name, only side {side} has {shown}{more}"));
    }
    notes
}
