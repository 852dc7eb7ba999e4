//! Instructions as text: `disassemble`.

use dap::requests::DisassembleArguments;
use debug::{LinearAddress, SourceLine};
use serde_json::Value;

use crate::client::Client;
use crate::debuggee::Debuggee;
use crate::protocol::{DisassembleBody, DisassembledInstruction, Request, RequestError, body};
use crate::to_dap;

/// The most instructions in one answer. Views ask for a few hundred.
const MAX_INSTRUCTIONS: usize = 100_000;

/// Disassembles exactly as many instructions as the client asks for: views rely on the number.
pub(super) fn disassemble(
    debuggee: &mut Debuggee,
    client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    let arguments: DisassembleArguments = request.arguments()?;
    let address = instruction_address(&arguments.memory_reference, arguments.offset)?;
    let count = to_dap::count(Some(arguments.instruction_count));
    if count > MAX_INSTRUCTIONS {
        return Err(RequestError::malformed(format!(
            "{count} instructions are too many for one answer; ask for {MAX_INSTRUCTIONS} at most"
        )));
    }
    let offset = arguments.instruction_offset.unwrap_or(0);
    let found = debuggee.debugger.machine().disassemble(address, offset, count);
    let mut last: Option<SourceLine> = None;
    let mut instructions = Vec::with_capacity(found.len());
    for line in found {
        // An instruction without a location has the same one as the instruction before it.
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

/// An instruction's address from its text and an offset in bytes.
pub(super) fn instruction_address(
    reference: &str,
    offset: Option<i64>,
) -> Result<LinearAddress, RequestError> {
    let base = LinearAddress::parse(reference).ok_or_else(|| {
        RequestError::malformed(format!("{reference:?} is not an instruction's address"))
    })?;
    let moved = base.0.checked_add_signed(offset.unwrap_or(0));
    moved.map(LinearAddress).ok_or_else(|| {
        RequestError::malformed(format!("{reference} moved by its offset is not an address"))
    })
}
