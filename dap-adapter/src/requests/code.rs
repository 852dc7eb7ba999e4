//! Texts of the program: `disassemble`, `source`.

use dap::requests::DisassembleArguments;
use dap::responses::SourceResponse;
use debug::{LinearAddress, SourceLine};
use serde_json::Value;

use super::arguments;
use crate::client::Client;
use crate::debuggee::Debuggee;
use crate::error::RequestError;
use crate::protocol::{DisassembleBody, DisassembledInstruction, Request, SourceArguments};
use crate::session::body;
use crate::sources::SourceKey;
use crate::to_dap;

/// The most instructions in one answer. Views ask for a few hundred.
const MAX_INSTRUCTIONS: usize = 100_000;

/// Exactly as many instructions as were asked for: views compute with that.
pub(super) fn disassemble(
    debuggee: &mut Debuggee,
    client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    let arguments: DisassembleArguments = arguments(request)?;
    let address = address(&arguments.memory_reference, arguments.offset)?;
    let count = to_dap::count(Some(arguments.instruction_count));
    if count > MAX_INSTRUCTIONS {
        return Err(RequestError::malformed(format!(
            "{count} instructions are too many for one answer; ask for {MAX_INSTRUCTIONS} at most"
        )));
    }
    let offset = arguments.instruction_offset.unwrap_or(0);
    let found = debuggee.debugger.disassemble(address, offset, count);
    let mut last: Option<SourceLine> = None;
    let mut instructions = Vec::with_capacity(found.len());
    for line in found {
        // A line of the view has the source of the one before it, unless it says otherwise.
        let at = line.source.as_ref().filter(|at| !is_same_line(last.as_ref(), at));
        let Debuggee { debugger, sources, .. } = &mut *debuggee;
        let place = at.and_then(|at| to_dap::source_line(at, debugger, sources, client));
        let (location, at_line, column) = match place {
            Some((source, line, column)) => (Some(source), Some(line), Some(column)),
            None => (None, None, None),
        };
        instructions.push(DisassembledInstruction {
            address: line.address.to_string(),
            instruction_bytes: line.bytes,
            instruction: line.text,
            symbol: line.symbol,
            location,
            line: at_line,
            column,
            presentation_hint: (!line.is_valid).then_some("invalid"),
        });
        last = line.source.or(last);
    }
    body(DisassembleBody { instructions })
}

fn is_same_line(last: Option<&SourceLine>, at: &SourceLine) -> bool {
    last.is_some_and(|last| last.file == at.file && last.line == at.line)
}

/// An instruction's address from its printed form and a distance in bytes.
pub(super) fn address(reference: &str, offset: Option<i64>) -> Result<LinearAddress, RequestError> {
    let base = LinearAddress::parse(reference).ok_or_else(|| {
        RequestError::malformed(format!("{reference:?} is not an instruction's address"))
    })?;
    let moved = base.0.checked_add_signed(offset.unwrap_or(0));
    moved.map(LinearAddress).ok_or_else(|| {
        RequestError::malformed(format!("{reference} moved by its offset is not an address"))
    })
}

/// The text of a source that is not a file: a disassembly, or a source held in memory.
pub(super) fn source(
    debuggee: &mut Debuggee,
    client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    let arguments: SourceArguments = arguments(request)?;
    let Debuggee { debugger, sources, .. } = debuggee;
    let source = arguments.source.unwrap_or_default();
    let number = source.source_reference.or(arguments.source_reference).filter(|it| *it != 0);
    let key = match number {
        Some(number) => sources.numbered(number).cloned(),
        None => Some(sources.identify(&source, debugger, client)),
    };
    let text = match &key {
        Some(SourceKey::Listing(module)) => debugger.listing(*module).map(str::to_owned),
        Some(SourceKey::File(file)) => debugger.source_text(file),
        Some(SourceKey::Unknown(_)) | None => None,
    };
    let name = || source.name.or(source.path).unwrap_or_else(|| "that source".into());
    let content = text.ok_or_else(|| {
        RequestError::stale(format!("the debugger does not hold the text of {}", name()))
    })?;
    let mime_type = match key {
        Some(SourceKey::Listing(_)) => Some("text/x-vmasm".into()),
        _ => Some("text/x-mlir".into()),
    };
    body(SourceResponse { content, mime_type })
}
