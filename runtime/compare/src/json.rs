//! A report as JSON. Programs read it: add keys, never change one.

use serde_json::{Value, json};

use crate::finding::{Far, Figures, TensorFinding};
use crate::kept::Kept;
use crate::report::{DispatchFinding, KeptIn, Report};

impl Report {
    /// The report as JSON.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let dispatches: Vec<Value> = self.dispatches.iter().map(dispatch).collect();
        let results = self.results.iter().enumerate();
        let results = results.map(|(index, it)| tensor(it, &Place::Result(index)));
        let results: Vec<Value> = results.collect();
        let failures: Vec<Value> = self
            .failures
            .iter()
            .map(|(side, message)| json!({"side": side, "message": message}))
            .collect();
        let (compared, all) = self.coverage();
        let own: Vec<Value> = self
            .own
            .iter()
            .enumerate()
            .map(|(index, it)| {
                json!({"reader": it.reader, "tensor": tensor(&it.tensor, &Place::Own(index))})
            })
            .collect();
        json!({
            "schema_version": 1,
            "verdict": self.verdict().key(),
            "mode": self.mode.key(),
            "function": self.function,
            "sides": self.sides,
            "first_bad": self.first_bad().map(|it| it.number),
            "uncompared_before_first_bad": self.uncompared_before_first_bad(),
            "compared": {
                "dispatches": compared,
                "of": all,
                "required": self.required,
                "is_enough": self.is_enough(),
            },
            "own": own,
            "dispatches": dispatches,
            "results": results,
            "failures": failures,
            "notes": self.notes,
            "kept": self.kept_in.as_ref().map(|it| self.kept(it)),
            "culprits": self.culprits.as_ref().map(|it| json!({
                "dispatches": it.dispatches,
                "runs": it.runs,
                "sentence": it.sentence,
            })),
        })
    }
}

/// Names in names of files have at most so many characters.
const LONGEST_NAME: usize = 48;

impl Report {
    /// The files of what is kept, with their names, as the JSON has them.
    pub fn kept_files(&self) -> impl Iterator<Item = (String, &[u8])> {
        let files = self.placed().filter_map(|(finding, place)| match &finding.kept {
            Kept::Pair(pair) => Some((file_names(finding, &place), pair.files())),
            Kept::No | Kept::LeftOut(_) => None,
        });
        files.flat_map(|(names, files)| names.into_iter().zip(files.iter().map(Vec::as_slice)))
    }

    /// How many tensors were to be kept and are left out.
    #[must_use]
    pub fn left_out(&self) -> usize {
        self.placed().filter(|(finding, _)| matches!(finding.kept, Kept::LeftOut(_))).count()
    }

    /// All tensors, with their places.
    fn placed(&self) -> impl Iterator<Item = (&TensorFinding, Place)> {
        let of_dispatches = self.dispatches.iter().flat_map(|it| {
            let left = it.tensors.iter().enumerate();
            let left = left.map(|(index, tensor)| (tensor, Place::Left(it.number, index)));
            let read = it.inputs.iter().enumerate();
            left.chain(read.map(|(index, tensor)| (tensor, Place::Read(it.number, index))))
        });
        let results = self.results.iter().enumerate();
        let results = results.map(|(index, tensor)| (tensor, Place::Result(index)));
        let own = self.own.iter().enumerate();
        let own = own.map(|(index, it)| (&it.tensor, Place::Own(index)));
        of_dispatches.chain(results).chain(own)
    }

    fn kept(&self, place: &KeptIn) -> Value {
        json!({
            "directory": place.directory.display().to_string(),
            "most_bytes": place.most,
            "bytes": self.kept_files().map(|(_, file)| file.len()).sum::<usize>(),
            "left_out": self.left_out(),
        })
    }
}

/// Which tensor of a report one is; names of files are made of it.
enum Place {
    /// What the command with a number has left, and its index there.
    Left(u64, usize),
    /// What it has read.
    Read(u64, usize),
    Result(usize),
    Own(usize),
}

/// The files of both sides of a tensor.
fn file_names(finding: &TensorFinding, place: &Place) -> [String; 2] {
    let name = finding.names.first().map_or("tensor", |it| it.trim_matches(['%', '"']));
    let fits = |it: char| it.is_ascii_alphanumeric() || "_-.".contains(it);
    let name = name.chars().map(|it| if fits(it) { it } else { '_' });
    let name: String = name.take(LONGEST_NAME).collect();
    let stem = match place {
        Place::Left(number, index) => format!("{number:06}.{index}.{name}"),
        Place::Read(number, index) => format!("{number:06}.read{index}.{name}"),
        Place::Result(index) => format!("result{index}"),
        Place::Own(index) => format!("own{index}.{name}"),
    };
    ["a", "b"].map(|side| format!("{stem}.{side}.npy"))
}

/// By how much the worst element may be apart; none, where no number says so.
fn allowed(figures: &Figures, finding: &TensorFinding) -> Option<f64> {
    let [a, b] = figures.worst.values;
    let most = finding.tolerance.as_ref()?.most(a, b);
    // What its text allows after all is allowed by no number.
    let is_so = figures.beyond > 0 || figures.worst.difference <= most;
    Some(most).filter(|most| is_so && most.is_finite())
}

pub(crate) fn dispatch(finding: &DispatchFinding) -> Value {
    let number = finding.number;
    let tensors = finding.tensors.iter().enumerate();
    let tensors = tensors.map(|(index, it)| tensor(it, &Place::Left(number, index)));
    let inputs = finding.inputs.iter().enumerate();
    let inputs = inputs.map(|(index, it)| tensor(it, &Place::Read(number, index)));
    json!({
        "number": finding.number,
        "name": finding.names.0,
        "name_b": finding.names.1,
        "node": finding.node,
        "source": finding.source.as_ref().map(|it| json!({
            "file": it.file,
            "line": it.line,
            "column": it.column,
            "text": finding.source_text,
        })),
        "verdict": finding.verdict().key(),
        "reason": finding.why_not(),
        "tensors": tensors.collect::<Vec<_>>(),
        "inputs": inputs.collect::<Vec<_>>(),
        "compared_with": finding.compared_with,
        "judged": finding.judged.as_ref().map(|it| json!({
            "a": it.opinions[0].key(),
            "b": it.opinions[1].key(),
            "sentence": it.sentence(),
        })),
    })
}

fn tensor(finding: &TensorFinding, place: &Place) -> Value {
    json!({
        "names": finding.names,
        "type": finding.tensor_type,
        "verdict": finding.verdict.key(),
        "reason": finding.reason,
        "tolerance": finding.tolerance.as_ref().map(|it| json!({
            "absolute": it.absolute,
            "relative": it.relative,
            "reason": it.reason,
        })),
        "differences": finding.figures.as_ref().map(|it| figures(it, finding)),
        "kept": match &finding.kept {
            Kept::No => Value::Null,
            Kept::Pair(_) => {
                let [a, b] = file_names(finding, place);
                json!({"a": a, "b": b})
            }
            Kept::LeftOut(reason) => json!({"left_out": reason}),
        },
    })
}

fn far(far: &Far) -> Value {
    json!({"index": far.index, "value": far.value})
}

fn figures(figures: &Figures, finding: &TensorFinding) -> Value {
    let worst = &figures.worst;
    let histogram: Vec<Value> = figures
        .decades
        .iter()
        .map(|(decade, count)| json!({"decade": decade, "count": count}))
        .collect();
    json!({
        "elements": figures.count,
        "different": figures.different,
        "beyond": figures.beyond,
        "nan_on_one_side": figures.nans,
        "infinite_on_one_side": figures.infinities,
        "worst": {
            "index": worst.index,
            "a": worst.texts[0],
            "b": worst.texts[1],
            // NaN and infinities have no number in JSON: they are null.
            "difference": worst.difference,
            "ulps": worst.ulps,
            "allowed": allowed(figures, finding),
        },
        "largest": {
            "absolute": far(&figures.largest.absolute),
            "relative": far(&figures.largest.relative),
            "ulps": figures.largest.ulps.as_ref().map(far),
        },
        "histogram": histogram,
        "pattern": figures.pattern,
    })
}
