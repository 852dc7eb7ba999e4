//! The text of `help`.

use crate::mistake::Mistake;
use crate::parse::with_row;
use crate::table::{Row, TABLE};

/// The list of all commands.
pub(crate) fn all() -> String {
    let mut text = String::new();
    for group in TABLE {
        text.push_str(&format!("{}:\n", group.title));
        for row in group.rows {
            let left = format!("{} {}", row.names[0], row.arguments);
            let short = row.names.get(1).filter(|name| !name.contains(' ')).copied();
            let short = short.unwrap_or("");
            text.push_str(&format!("  {left:<22} {short:<6} {}\n", row.help));
        }
    }
    text.push_str(
        "`help COMMAND` says more about one. Names may be cut where that is unambiguous; lldb's\n\
         words (`breakpoint set -n NAME`, `thread step-over`, `frame variable`) are understood.\n",
    );
    text
}

/// More about one command.
pub(crate) fn of(name: &str) -> Result<String, Mistake> {
    let (row, _) = with_row(name)?;
    let Row { names, arguments, help, example, .. } = row;
    let mut text = format!("{} {arguments}", names[0]).trim_end().to_owned();
    text.push_str(&format!("\n  {help}\n"));
    if let [_, others @ ..] = names
        && !others.is_empty()
    {
        text.push_str(&format!("  also: {}\n", others.join(", ")));
    }
    text.push_str(&format!("  example: {example}\n"));
    Ok(text)
}
