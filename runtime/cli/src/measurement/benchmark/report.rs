//! Where reports go: standard output in one format, and a file in another.

use std::io::{self, Stdout, Write};

use vmfb::WholeFile;

use super::console::{self, Console};
use super::context::MachineContext;
use super::flags::{BenchmarkFlags, Color, Format};
use super::json;
use super::row::Row;
use crate::printing::Door;

/// The reports of a run.
pub(crate) struct Report {
    display: Output,
    file: Option<Output>,
}

/// One report.
struct Output {
    to: Sink,
    format: Format,
    console: Console,
    /// Whether rows of single repetitions are left out, where there are several.
    aggregates_only: bool,
    has_dispatches: bool,
    rows: usize,
}

/// Where a report goes.
enum Sink {
    Shown(Door<Stdout>),
    File(WholeFile),
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Shown(door) => door.write(bytes),
            Self::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Shown(door) => door.flush(),
            Self::File(file) => file.flush(),
        }
    }
}

impl Report {
    /// Begins the reports on benchmarks of these names.
    ///
    /// # Errors
    /// The file cannot be made, or a report cannot be written.
    pub(crate) fn begin(
        names: &[String],
        flags: &BenchmarkFlags,
        has_dispatches: bool,
    ) -> io::Result<Self> {
        let context = MachineContext::read();
        if flags.format != Format::Json {
            err!("{}", console::machine(&context, flags));
        }
        let is_colored = match flags.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                crate::printing::output().is_terminal()
                    && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            }
        };
        let mut shown = crate::printing::output();
        if is_colored {
            shown = shown.own();
        }
        let output = |to: Sink, format, is_colored, aggregates_only| Output {
            to,
            format,
            console: Console::new(names.iter().map(String::as_str), flags, is_colored),
            aggregates_only,
            has_dispatches,
            rows: 0,
        };
        let quiet = flags.repetitions() > 1 && flags.report_aggregates_only;
        let quiet_display = quiet || (flags.repetitions() > 1 && flags.display_aggregates_only);
        let mut report = Self {
            display: output(Sink::Shown(shown), flags.format, is_colored, quiet_display),
            file: match &flags.out {
                Some(path) => {
                    let file = WholeFile::create(path).map_err(|error| {
                        io::Error::new(error.kind(), format!("{}: {error}", path.display()))
                    })?;
                    Some(output(Sink::File(file), flags.out_format, false, quiet))
                }
                None => None,
            },
        };
        for output in report.outputs() {
            match output.format {
                Format::Console => {}
                Format::Json => output.to.write_all(json::begin(&context, flags).as_bytes())?,
                Format::Csv => {
                    let header = json::csv_header(output.has_dispatches);
                    output.to.write_all(header.as_bytes())?;
                }
            }
        }
        Ok(report)
    }

    /// Adds a row.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn add(&mut self, row: &Row) -> io::Result<()> {
        for output in self.outputs() {
            output.add(row)?;
        }
        Ok(())
    }

    /// Ends the reports.
    ///
    /// # Errors
    /// They cannot be written.
    pub(crate) fn end(mut self) -> io::Result<()> {
        for output in self.outputs() {
            if output.format == Format::Json {
                output.to.write_all(json::END.as_bytes())?;
            }
            output.to.flush()?;
        }
        match self.file.map(|output| output.to) {
            Some(Sink::File(file)) => file.finish(),
            _ => Ok(()),
        }
    }

    fn outputs(&mut self) -> impl Iterator<Item = &mut Output> {
        std::iter::once(&mut self.display).chain(&mut self.file)
    }
}

impl Output {
    fn add(&mut self, row: &Row) -> io::Result<()> {
        if self.aggregates_only && row.repetitions > 1 && !row.is_aggregate() {
            return Ok(());
        }
        let text = match self.format {
            Format::Console => self.console.row(row),
            Format::Json if self.rows == 0 => json::row(row),
            Format::Json => format!(",\n{}", json::row(row)),
            Format::Csv => json::csv_row(row, self.has_dispatches),
        };
        self.rows += 1;
        self.to.write_all(text.as_bytes())?;
        self.to.flush()
    }
}
