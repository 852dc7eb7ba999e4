//! A report as JSON. Programs read it: add keys, never change one.

use serde_json::{Value, json};

use crate::finding::{Figures, TensorFinding};
use crate::report::{DispatchFinding, Report};

impl Report {
    /// The report as JSON.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let dispatches: Vec<Value> = self.dispatches.iter().map(dispatch).collect();
        let results: Vec<Value> = self.results.iter().map(tensor).collect();
        let failures: Vec<Value> = self
            .failures
            .iter()
            .map(|(side, message)| json!({"side": side, "message": message}))
            .collect();
        let (compared, all) = self.coverage();
        let own: Vec<Value> = self
            .own
            .iter()
            .map(|it| json!({"reader": it.reader, "tensor": tensor(&it.tensor)}))
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
            "culprits": self.culprits.as_ref().map(|it| json!({
                "dispatches": it.dispatches,
                "runs": it.runs,
                "sentence": it.sentence,
            })),
        })
    }
}

pub(crate) fn dispatch(finding: &DispatchFinding) -> Value {
    let tensors: Vec<Value> = finding.tensors.iter().map(tensor).collect();
    let inputs: Vec<Value> = finding.inputs.iter().map(tensor).collect();
    json!({
        "number": finding.number,
        "name": finding.names.0,
        "name_b": finding.names.1,
        "source": finding.source.as_ref().map(|it| json!({
            "file": it.file,
            "line": it.line,
            "column": it.column,
            "text": finding.source_text,
        })),
        "verdict": finding.verdict().key(),
        "reason": finding.why_not(),
        "tensors": tensors,
        "inputs": inputs,
        "compared_with": finding.compared_with,
        "judged": finding.judged.as_ref().map(|it| json!({
            "a": it.opinions[0].key(),
            "b": it.opinions[1].key(),
            "sentence": it.sentence(),
        })),
    })
}

fn tensor(finding: &TensorFinding) -> Value {
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
        "differences": finding.figures.as_ref().map(figures),
    })
}

fn figures(figures: &Figures) -> Value {
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
        },
        "histogram": histogram,
        "pattern": figures.pattern,
    })
}
