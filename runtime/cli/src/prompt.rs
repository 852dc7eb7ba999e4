//! The prompt of the terminal debugger: completion, and a history across sessions.
//!
//! The history is in `$XDG_STATE_HOME/iree-dbg/history`, which is `~/.local/state` if that is not
//! set.

use std::cell::RefCell;
use std::path::PathBuf;

use commands::Next;
use rustyline::completion::{Completer, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Context, Editor, Helper};

use crate::failure::Failure;
use crate::printing::Screen;
use crate::terminal::Terminal;
use crate::terminal_modes;

/// The text before a command.
pub(crate) const PROMPT: &str = "(iree-dbg) ";

/// The text before a line that is collected.
const MORE: &str = ">";

/// The most lines that the history keeps.
const MAX_HISTORY: usize = 2_000;

/// Reads commands until the user leaves.
pub(crate) fn prompt<W: Screen>(
    terminal: &mut Terminal<W>,
    keeps_history: bool,
) -> Result<(), Failure> {
    let config = Config::builder()
        .completion_type(CompletionType::List)
        .max_history_size(MAX_HISTORY)?
        .history_ignore_space(true)
        .build();
    let terminal = RefCell::new(terminal);
    let mut editor: Editor<Commands<'_, '_, W>, FileHistory> = Editor::with_config(config)?;
    editor.set_helper(Some(Commands { terminal: &terminal }));
    // Before the first line, so that what it finds is how the terminal was.
    terminal_modes::keep_from_signals()?;
    let history = history_file().filter(|_| keeps_history);
    if let Some(path) = &history {
        // The first session has none.
        let _ = editor.load_history(path);
    }
    let outcome = read_lines(&mut editor, &terminal);
    if let Some(path) = &history
        && let Err(error) = save(&mut editor, path)
    {
        errln!("note: the history cannot be kept in {}: {error}", path.display());
    }
    outcome
}

fn read_lines<W: Screen>(
    editor: &mut Editor<Commands<'_, '_, W>, FileHistory>,
    terminal: &RefCell<&mut Terminal<W>>,
) -> Result<(), Failure> {
    loop {
        let text = if terminal.borrow().collects() { MORE } else { PROMPT };
        match editor.readline(text) {
            Ok(line) => {
                if !line.trim().is_empty() {
                    editor.add_history_entry(&line)?;
                }
                if terminal.borrow_mut().execute(&line)? == Next::Quit {
                    return Ok(());
                }
            }
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

fn save<H: Helper>(editor: &mut Editor<H, FileHistory>, path: &PathBuf) -> rustyline::Result<()> {
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory)?;
    }
    // Another session may have written meanwhile, so what is new is added.
    editor.append_history(path)
}

fn history_file() -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let state = state.filter(|path| path.is_absolute());
    let state = state.or_else(|| Some(std::env::home_dir()?.join(".local").join("state")))?;
    Some(state.join("iree-dbg").join("history"))
}

/// What the prompt knows of commands.
struct Commands<'c, 't, W> {
    terminal: &'c RefCell<&'t mut Terminal<W>>,
}

impl<W: Screen> Completer for Commands<'_, '_, W> {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        cursor: usize,
        _context: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let mut found = self.terminal.borrow().completions(line, cursor);
        // The prompt shows them as they are, and a name of a file may have any character.
        found.retain(|it| it.text.chars().all(|it| !it.is_control()));
        // All candidates of one line replace the same part of it.
        let start = found.iter().map(|it| it.replaces.start).min().unwrap_or(cursor);
        let pairs = found.into_iter().map(|it| Pair {
            display: it.text.clone(),
            replacement: format!("{}{}", &line[start..it.replaces.start], it.text),
        });
        Ok((start, pairs.collect()))
    }
}

impl<W: Screen> Hinter for Commands<'_, '_, W> {
    type Hint = String;
}

impl<W: Screen> Highlighter for Commands<'_, '_, W> {}
impl<W: Screen> Validator for Commands<'_, '_, W> {}
impl<W: Screen> Helper for Commands<'_, '_, W> {}
