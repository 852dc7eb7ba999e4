//! The runs of iree-compile. Usually two: one makes the module and prints all phases, the other
//! prints the companion of one of them, which takes a fraction of the time. A compiler that cannot
//! print its phases compiles three times.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;

use debuginfo::bytecode_counts;

use crate::elide_constants::copy_without_constants;
use crate::error::{CompileError, NoCompanion};
use crate::flags::{self, COMPANION, Elision, Flags};
use crate::flow_constants;
use crate::phases::{NamedText, Phases, TARGETS, VM, printed_after_pass};
use crate::process::{Ended, Running, Starter};
use crate::repair::Repair;
use crate::resources::{RESOURCE, name_at, with_values};

/// The runs of one compilation.
pub(crate) struct Runs<'a> {
    pub(crate) starter: Starter<'a>,
    pub(crate) input: &'a Path,
    pub(crate) flags: Flags,
    /// The directory for all that is written.
    pub(crate) scratch: &'a Path,
    /// The directory for the texts of phases.
    pub(crate) phases: PathBuf,
}

/// What was printed.
pub(crate) struct Printed {
    /// The companion, or why there is none.
    pub(crate) companion: Result<Vec<u8>, NoCompanion>,
    /// The phase `executable-sources`.
    pub(crate) sources: Option<String>,
    /// The text after [`debuginfo::DispatchInterfaces::OUTLINING_PASS`].
    pub(crate) outlined: Option<String>,
    pub(crate) flow: Option<String>,
    pub(crate) input: Option<NamedText>,
    /// What the compiler calls itself.
    pub(crate) version: Option<String>,
    /// How many workgroups bytecode has that stands beside other variants of dispatches.
    pub(crate) counts: Option<String>,
    /// Constants with more elements are left out of phases.
    pub(crate) elided_above: Option<u64>,
}

/// Flags of ours that a compiler does not know.
#[derive(Default)]
struct Refused {
    /// What it says of one that prints.
    printing: Option<String>,
    /// Those among the defaults.
    defaults: Vec<String>,
}

impl Refused {
    fn is_some(&self) -> bool {
        self.printing.is_some() || !self.defaults.is_empty()
    }
}

impl Runs<'_> {
    /// The path of the module.
    pub(crate) fn module(&self) -> PathBuf {
        self.scratch.join("module.vmfb")
    }

    /// Makes the module and all that is kept.
    pub(crate) fn run(&mut self, on_line: &mut dyn FnMut(&str)) -> Result<Printed, CompileError> {
        let version = self.starter.start(&["--version".to_owned()], Stdio::piped())?;
        let mut printed = self.compile(on_line)?;
        let input = printed.input.as_ref().map(|it| it.text.as_str());
        if self.flags.untile(printed.flow.as_deref(), input) {
            on_line(&format!(
                "iree-dbg: this iree-compile lays out tensors in tiles by default, in which they \
                 have no names; compiled again with {}",
                flags::UNTILED
            ));
            // What is left of the first compilation would be read with the second.
            let _ = std::fs::remove_dir_all(self.scratch.join("outlined"));
            printed = self.compile(on_line)?;
        }
        printed.version = version_of(version);
        Ok(printed)
    }

    fn compile(&mut self, on_line: &mut dyn FnMut(&str)) -> Result<Printed, CompileError> {
        let elision = Elision::of(&self.flags);
        let (phases, outlined) = (self.phases.clone(), self.scratch.join("outlined"));
        let printing = elision.flags().into_iter().chain(flags::phases(&phases));
        let printing: Vec<String> = printing.collect();
        let outlining = flags::outlined(&outlined);
        let both = [&printing[..], &outlining[..]].concat();
        // An old compiler refuses what it does not know before it does anything else.
        let mut refused = self.module_with(&both, on_line)?;
        if !refused.defaults.is_empty() {
            let names = refused.defaults.join(", ");
            on_line(&format!("iree-dbg: this iree-compile does not know {names}: left out"));
            self.flags.drop_refused(&refused.defaults);
            if refused.printing.is_none() {
                refused = self.module_with(&both, on_line)?;
            }
        }
        let refused = match refused.printing {
            Some(refused) if !refused.contains(flags::PHASES) => {
                self.module_with(&printing, on_line)?.printing
            }
            refused => refused,
        };
        if let Some(refused) = refused {
            on_line(&format!(
                "iree-dbg: this iree-compile cannot print its phases ({refused}), so it compiles \
                 three times, and tensors of the program have no names"
            ));
            return self.compile_thrice(on_line);
        }
        let found = Phases::in_directory(&phases);
        self.write_listing(&found)?;
        let companion = match found.for_companion() {
            Some((phase, path)) => {
                let last = found.text(VM).unwrap_or_default();
                self.companion_from(phase, &path, &last)?
            }
            // Not every program takes all phases: one of the VM's dialect takes none.
            None => self.companion_of_source()?,
        };
        let input = found.text("input").map(|it| self.input_with_names(it)).transpose()?;
        let flow = found.text("flow").map(|it| match &input {
            Some(input) => with_values(&it, &input.values),
            None => it,
        });
        let flow = flow.map(|it| self.flow_with_names(it)).transpose()?;
        Ok(Printed {
            companion,
            sources: found.text("executable-sources"),
            counts: found.text(TARGETS).and_then(|text| bytecode_counts(&text)),
            outlined: printed_after_pass(&outlined),
            flow,
            input,
            version: None,
            elided_above: Some(elision.elements()),
        })
    }

    /// Makes the module with these flags more, unless the compiler does not know some flag of
    /// ours.
    fn module_with(
        &self,
        more: &[String],
        on_line: &mut dyn FnMut(&str),
    ) -> Result<Refused, CompileError> {
        let mut refused = Refused::default();
        let mut pass_on = |line: &str| {
            if let Some(flag) = self.flags.refused_default(line) {
                refused.defaults.push(flag.to_owned());
            } else if flags::is_refusal_of(line, more) {
                if refused.printing.is_none() || line.contains(flags::PHASES) {
                    refused.printing = Some(flags::refusal(line));
                }
            } else if !(refused.is_some() && line.contains("Did you mean")) {
                on_line(line);
            }
        };
        let mut arguments = self.arguments(more);
        arguments.extend(["-o".to_owned(), self.module().display().to_string()]);
        let ended = self.starter.run(&arguments, &mut pass_on)?;
        match refused.is_some() {
            _ if ended.status.success() => Ok(Refused::default()),
            true => Ok(refused),
            false => Err(self.failed(&ended)),
        }
    }

    fn failed(&self, ended: &Ended) -> CompileError {
        let (input, message) = (self.input.to_owned(), ended.first_error());
        CompileError::Failed { input, status: ended.status, message }
    }

    /// The companion, printed from a phase.
    fn companion_from(
        &self,
        phase: &str,
        path: &Path,
        last: &str,
    ) -> Result<Result<Vec<u8>, NoCompanion>, CompileError> {
        let listing = self.scratch.join("listing.mlir");
        let mut arguments = vec![path.display().to_string()];
        arguments.extend(flags::to_continue(&self.flags, phase, &listing));
        let printed = self.print(&arguments, &COMPANION)?;
        Ok(printed.map(|text| {
            let listing = (&*listing, flags::listing(&self.flags));
            Repair { phase: path, last, listing }.repaired(text)
        }))
    }

    /// Writes the user's listing again: printing phases puts locations into it, too.
    fn write_listing(&self, phases: &Phases<'_>) -> Result<(), CompileError> {
        let Some(listing) = flags::listing(&self.flags) else { return Ok(()) };
        let mut arguments = match phases.path(VM) {
            Some(path) => {
                let flags = flags::to_continue(&self.flags, VM, Path::new(listing));
                [vec![path.display().to_string()], flags].concat()
            }
            None => self.arguments(&[]),
        };
        let unused = self.scratch.join("unused.vmfb").display().to_string();
        arguments.extend(["-o".to_owned(), unused]);
        // If this fails, the listing has more in it than the user asked for; nothing else is lost.
        self.starter.run(&arguments, &mut |_| {}).map(drop)
    }

    /// The companion, printed by a whole compilation.
    fn companion_of_source(&self) -> Result<Result<Vec<u8>, NoCompanion>, CompileError> {
        let listing = self.scratch.join("listing.mlir");
        let mut arguments = vec![self.input.display().to_string()];
        arguments.extend(flags::with_listing(&self.flags, &listing));
        let printed = self.print(&arguments, &COMPANION)?;
        let listing = (&*listing, flags::listing(&self.flags));
        let repair = Repair { phase: self.input, last: "", listing };
        Ok(printed.map(|text| repair.with_listing(text)))
    }

    /// As before compilers printed phases: the module, its companion, the sources of dispatches.
    fn compile_thrice(&self, on_line: &mut dyn FnMut(&str)) -> Result<Printed, CompileError> {
        let mut arguments = self.arguments(&[]);
        arguments.extend(["-o".to_owned(), self.module().display().to_string()]);
        let ended = self.starter.run(&arguments, on_line)?;
        if !ended.status.success() {
            return Err(self.failed(&ended));
        }
        let companion = self.companion_of_source()?;
        let sources = self.print(&self.arguments(&[]), &flags::DISPATCHES)?.ok();
        let sources = sources.and_then(|text| String::from_utf8(text).ok());
        let (outlined, flow, input, version) = (None, None, None, None);
        let counts = None;
        Ok(Printed {
            companion,
            sources,
            counts,
            outlined,
            flow,
            input,
            version,
            elided_above: None,
        })
    }

    fn arguments(&self, more: &[String]) -> Vec<String> {
        let input = self.input.display().to_string();
        [input].into_iter().chain(self.flags.iter().chain(more).cloned()).collect()
    }

    /// What a compiler prints, without constants, or why it printed nothing. One that crashes is
    /// started once more.
    fn print(
        &self,
        arguments: &[String],
        more: &[&str],
    ) -> Result<Result<Vec<u8>, NoCompanion>, CompileError> {
        let more = more.iter().map(|&flag| flag.to_owned());
        let arguments: Vec<String> = arguments.iter().cloned().chain(more).collect();
        let path = self.scratch.join("printed.mlir");
        let (mut ended, mut copied) = self.print_to(&path, &arguments)?;
        if ended.has_crashed() {
            (ended, copied) = self.print_to(&path, &arguments)?;
        }
        if !ended.status.success() {
            let status = ended.status;
            return Ok(Err(match ended.has_crashed() {
                true => NoCompanion::Crashed { status },
                false => NoCompanion::Failed { status, said: ended.first_error() },
            }));
        }
        let read = copied.and_then(|()| std::fs::read(&path));
        Ok(read.map_err(|source| NoCompanion::NotWritten { path, source }))
    }

    /// The phase `input`, with names in the place of constants that are left out, by which the
    /// source has them; and its resources, with such names. It is printed again for that.
    fn input_with_names(&self, text: String) -> Result<NamedText, CompileError> {
        if !text.contains(RESOURCE) {
            return Ok(NamedText::plain(text));
        }
        let directory = self.scratch.join("input");
        let mut arguments = self.arguments(&flags::phases(&directory));
        arguments.extend(flags::only("input", &self.scratch.join("unused.mlir")));
        let ended = self.starter.run(&arguments, &mut |_| {})?;
        let named = Phases::in_directory(&directory).text_with_names("input");
        let is_it = |named: &str| ended.status.success() && is_same_but_for_names(named, &text);
        Ok(match named.filter(|named| is_it(&named.text)) {
            Some(named) => named,
            None => NamedText::plain(text),
        })
    }

    /// The phase `flow`, with names in the place of constants that globals have and that are left
    /// out. It is printed again for that.
    fn flow_with_names(&self, text: String) -> Result<String, CompileError> {
        if !flow_constants::leaves_out(&text) {
            return Ok(text);
        }
        let path = self.scratch.join("flow.mlir");
        let ended = self.starter.run(&self.arguments(&flags::only("flow", &path)), &mut |_| {})?;
        let read = || flow_constants::read_constants(File::open(&path)?);
        let constants = if ended.status.success() { read().ok() } else { None };
        let _ = std::fs::remove_file(&path);
        Ok(match constants {
            Some(constants) => flow_constants::with_constants(&text, &constants),
            None => text,
        })
    }

    /// Runs a compiler to its end; copies what it prints, without constants, to a file.
    fn print_to(
        &self,
        path: &Path,
        arguments: &[String],
    ) -> Result<(Ended, std::io::Result<()>), CompileError> {
        let mut running = self.starter.start(arguments, Stdio::piped())?;
        let not_written = |source| CompileError::NotWritten { path: path.to_owned(), source };
        let file = File::create(path).map_err(not_written)?;
        let stdout = running.stdout();
        let copy = thread::spawn(move || match stdout {
            Some(stdout) => copy_without_constants(stdout, BufWriter::new(file)),
            None => Ok(()),
        });
        let ended = self.starter.follow(running, &mut |_| {})?;
        let copied = copy.join().unwrap_or_else(|_| Err(std::io::Error::other("the copy failed")));
        Ok((ended, copied))
    }
}

/// Whether a text is another one with names in the place of constants that are left out.
fn is_same_but_for_names(named: &str, other: &str) -> bool {
    let mut rest = named;
    for (at, part) in other.split(RESOURCE).enumerate() {
        let mut part = part;
        if at > 0 {
            // One whose elements are no whole bytes is left out of both.
            let is_named = rest.strip_prefix("dense<").and_then(|it| it.split_once('>'));
            match (is_named, rest.strip_prefix(RESOURCE), name_at(part)) {
                (Some((_, after)), _, Some((_, after_name))) => (rest, part) = (after, after_name),
                (None, Some(after), _) => rest = after,
                _ => return false,
            }
        }
        match rest.strip_prefix(part) {
            Some(after) => rest = after,
            None => return false,
        }
    }
    rest.is_empty()
}

/// What a compiler calls itself: `3.13.0rc20261016 @ 89ece87…`.
pub(crate) fn version_of(mut running: Running) -> Option<String> {
    let text = std::io::read_to_string(running.stdout()?).ok()?;
    let named = text.lines().find_map(|line| line.trim().split_once("compiler version "));
    named.map(|(_, version)| version.to_owned())
}
