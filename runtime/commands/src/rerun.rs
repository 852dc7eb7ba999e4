//! `rerun`: the dispatch at which the program stands runs again. What it leaves is compared with
//! what it had left; that is told where the program stops next, as text, and as data for scripts
//! and editors.

use std::fmt::{self, Write};

use debug::{Differences, DispatchRerun, RerunResult};
use serde_json::{Map, Value, json};

use crate::session::{Action, Performer, Problem, Run};

impl Performer<'_> {
    pub(crate) fn rerun(&mut self) -> Result<(), Problem> {
        self.needs_frame()?;
        self.debugger.may_rerun()?;
        self.action = Some(Action::Run(Run::Again));
        Ok(())
    }

    /// Tells how a dispatch that has run again compares with before.
    pub(crate) fn tell_rerun(&mut self) -> fmt::Result {
        let Some(rerun) = self.debugger.take_rerun() else { return Ok(()) };
        self.out.put("rerun", data(&rerun));
        writeln!(self.out, "{rerun}")
    }
}

fn data(rerun: &DispatchRerun) -> Value {
    let DispatchRerun { export, number, source, results, is_same, differs_elsewhere } = rerun;
    let source = source.as_ref().map(|at| json!({ "file": at.file, "line": at.line }));
    json!({
        "command": number,
        "dispatch": export,
        "source": source,
        "isSame": is_same,
        "differsElsewhere": differs_elsewhere,
        "results": results.iter().map(result).collect::<Value>(),
        "text": rerun.to_string(),
    })
}

fn result(result: &RerunResult) -> Value {
    let RerunResult { name, expression, type_name, differences, worst_at } = result;
    let mut data = Map::new();
    data.insert("name".to_owned(), json!(name));
    data.insert("expression".to_owned(), json!(expression));
    data.insert("type".to_owned(), json!(type_name));
    if let Some(Differences { count, different, nans, worst, worst_ulps, .. }) = differences {
        data.insert("elements".to_owned(), json!(count));
        data.insert("different".to_owned(), json!(different));
        data.insert("differentInNaN".to_owned(), json!(nans));
        let worst = worst.as_ref().zip(worst_at.as_ref()).map(|(worst, at)| {
            let [now, before] = &worst.texts;
            // JSON has no NaN and no infinity.
            let difference = Some(worst.difference).filter(|it| it.is_finite());
            json!({ "index": at, "now": now, "before": before, "difference": difference })
        });
        data.insert("largest".to_owned(), json!(worst));
        let ulps = worst_ulps.as_ref().and_then(|it| it.ulps);
        data.insert("ulps".to_owned(), json!(ulps));
    }
    Value::Object(data)
}
