//! A whole text, line by line.

use super::cursor::{Cursor, Mismatch};
use super::directive::{self, Line};
use super::lines::{self, Lines};
use super::listing::{ExportLine, FunctionLines, Item, Listing, Span};
use crate::diagnostic::{Diagnostic, Severity};

/// After so many diagnostics, the text is something else, or the first ones suffice.
const MAXIMUM_DIAGNOSTICS: usize = 1000;

const OMITTED_RODATA: &str = "the bytes of this segment were left out when the text was printed; \
    `iree-dbg dump --output=disassembly --rodata=full` prints them";

/// Reads a whole text.
pub(crate) fn parse<'s>(source: &'s [u8], diagnostics: &mut Vec<Diagnostic>) -> Listing<'s> {
    let mut parser = Parser { listing: Listing::default(), function: None, diagnostics };
    let mut lines = Lines::new(source);
    while let Some(line) = lines.next()
        && parser.diagnostics.len() < MAXIMUM_DIAGNOSTICS
    {
        let in_function = parser.function.is_some();
        match read(&mut lines, &line, in_function) {
            Ok(Some(line)) => parser.line(line),
            Ok(None) => {}
            Err(mismatch) => parser.mismatch(&line, mismatch),
        }
    }
    let end = source.len()..source.len();
    if let Some(function) = &parser.function {
        let message = format!("function @{} is not closed; expected `}}`", function.name.text);
        parser.error(end, message);
        parser.close_function(source.len());
    }
    parser.listing
}

/// Reads one line in the first way that succeeds; `None` for an empty line.
fn read<'s>(
    lines: &mut Lines<'s>,
    line: &lines::SourceLine<'s>,
    in_function: bool,
) -> Result<Option<Line<'s>>, Mismatch> {
    let stripped = line.without_comment();
    if stripped.is_empty() {
        return Ok(None);
    }
    let first = match directive::line(Cursor::new(stripped), in_function) {
        Ok(Line::Rodata { ordinal, bytes, span })
            if bytes.is_empty() && line.leaves_out_bytes() =>
        {
            return Ok(Some(Line::OmittedRodata { ordinal, span }));
        }
        Ok(mut read) => {
            let whole = line.whole();
            if whole.text.len() > stripped.text.len() && read.has_free_name() {
                read.note_comment(directive::line(Cursor::new(whole), in_function).ok());
            }
            return Ok(Some(read));
        }
        Err(mismatch) => mismatch,
    };
    let whole = line.whole();
    if whole.text.len() > stripped.text.len()
        && let Ok(read) = directive::line(Cursor::new(whole), in_function)
    {
        return Ok(Some(read));
    }
    if line.ends_in_string() {
        for (joined, after) in lines.joined_with_next(line) {
            if let Ok(read) = directive::line(Cursor::new(joined), in_function) {
                lines.skip_to(after);
                return Ok(Some(read));
            }
        }
    }
    Err(first)
}

struct Parser<'s, 'd> {
    listing: Listing<'s>,
    /// The function whose body is being read.
    function: Option<FunctionLines<'s>>,
    diagnostics: &'d mut Vec<Diagnostic>,
}

impl<'s> Parser<'s, '_> {
    fn error(&mut self, span: Span, message: impl Into<String>) {
        let message = message.into();
        self.diagnostics.push(Diagnostic { severity: Severity::Error, span, message });
    }

    /// Reports a line that cannot be read. The body of a function whose header is wrong is read all
    /// the same, for its own mistakes.
    fn mismatch(&mut self, line: &lines::SourceLine<'s>, mismatch: Mismatch) {
        self.error(mismatch.span, mismatch.message);
        let text = line.without_comment();
        if let Some(function) = &mut self.function {
            function.is_damaged = true;
        } else if text.text.starts_with(b"vm.func") && text.text.ends_with(b"{") {
            self.function = Some(directive::damaged_header(text));
        }
    }

    fn line(&mut self, line: Line<'s>) {
        if self.function.is_some() && !line.is_in_function() {
            let (name, at) =
                self.function.as_ref().map_or(("", 0), |it| (it.name.text, line.span().start));
            let message = format!("function @{name} is not closed; expected `}}` before this line");
            self.error(line.span(), message);
            self.close_function(at);
        }
        match line {
            Line::Module(name, version) => {
                if self.listing.module.is_some() {
                    return self.error(name.span, "the module has a name already");
                }
                self.listing.module = Some((name, version));
            }
            Line::Type(name) => self.listing.types.push(name),
            Line::Import(import) => self.listing.imports.push(import),
            Line::Rodata { ordinal, bytes, span } => {
                self.rodata_in_order(ordinal, span);
                self.listing.rodata.push(bytes);
            }
            Line::OmittedRodata { ordinal, span } => {
                self.error(span.clone(), OMITTED_RODATA);
                self.rodata_in_order(ordinal, span);
                // An empty segment in its place keeps the ones after it in order.
                self.listing.rodata.push(Vec::new());
            }
            Line::Global(global) => self.listing.globals.push(global),
            Line::Export { text, with_comment } => {
                let before = self.listing.functions.len();
                self.listing.exports.push(ExportLine { text, with_comment, before });
            }
            Line::Function(header) => self.function = Some(*header),
            Line::End(span) => self.close_function(span.start),
            Line::Label(label) => self.item(Item::Block(label)),
            Line::Instruction(instruction) => self.item(Item::Instruction(instruction)),
        }
    }

    fn rodata_in_order(&mut self, ordinal: u32, span: Span) {
        let next = self.listing.rodata.len();
        if ordinal as usize != next {
            let message = format!("expected vm.rodata[{next}]: segments come in order");
            self.error(span, message);
        }
    }

    fn item(&mut self, item: Item<'s>) {
        if let Some(function) = &mut self.function {
            function.items.push(item);
        }
    }

    fn close_function(&mut self, end: usize) {
        if let Some(mut function) = self.function.take() {
            function.end = end;
            self.listing.functions.push(function);
        }
    }
}
