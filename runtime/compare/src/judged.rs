//! Which side is wrong where two sides differ: what each has left, against the text of the dispatch
//! in float64 and exact integers. Two sides that differ accuse neither; only the text does.

use debug::{NoOpinion, TensorView};
use reference::Output;

use crate::finding::{TensorFinding, Verdict};
use crate::settings::Settings;

/// What the text of a dispatch says of what a side has left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Opinion {
    /// All of it lies within the bounds of the text.
    Right,
    /// What has a bound lies within it; other elements have none.
    RightWhereBounded,
    /// Some of it lies outside of its bound.
    Wrong,
    /// The text was not evaluated.
    Unknown,
}

/// What the text of a dispatch says of both sides.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Judged {
    /// Of each side.
    pub opinions: [Opinion; 2],
    /// What a sentence calls each side.
    pub sides: [&'static str; 2],
    /// Which text that is.
    pub by: &'static str,
    /// What is known of the side that is wrong; or why the text says nothing.
    pub remark: Option<String>,
}

/// By one text, which both sides were compiled from.
pub(crate) const BY_ITS_TEXT: &str = "by its text, evaluated in float64";

/// By two texts.
pub(crate) const BY_OWN_TEXTS: &str = "each by its own text, evaluated in float64";

impl Opinion {
    /// Its name in JSON.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::RightWhereBounded => "right_where_bounded",
            Self::Wrong => "wrong",
            Self::Unknown => "unknown",
        }
    }

    /// That of tensors which were compared with the text.
    pub(crate) fn of_findings<'f>(found: impl IntoIterator<Item = &'f TensorFinding>) -> Self {
        let (mut some, mut all) = (false, true);
        for finding in found {
            match finding.verdict {
                Verdict::Differs => return Self::Wrong,
                Verdict::NotCompared => all = false,
                Verdict::Equal | Verdict::Within => {
                    some = true;
                    all &= finding.reason.is_none();
                }
            }
        }
        match (some, all) {
            (false, _) => Self::Unknown,
            (true, true) => Self::Right,
            (true, false) => Self::RightWhereBounded,
        }
    }

    /// That of the tensors which a side has left, each with its operand.
    pub(crate) fn of_tensors(
        left: &[(usize, TensorView)],
        answer: &Result<Vec<(usize, Output)>, NoOpinion>,
    ) -> Self {
        let Ok(outputs) = answer else { return Self::Unknown };
        let settings = Settings::default();
        let found: Vec<TensorFinding> = left
            .iter()
            .map(|(index, tensor)| match outputs.iter().find(|(operand, _)| operand == index) {
                Some((_, output)) => {
                    TensorFinding::of_output(Vec::new(), tensor, output, &settings)
                }
                None => TensorFinding::not_compared(Vec::new(), String::new(), "no output"),
            })
            .collect();
        Self::of_findings(&found)
    }

    fn is_right(self) -> bool {
        matches!(self, Self::Right | Self::RightWhereBounded)
    }
}

impl Judged {
    /// Whether the text finds nothing wrong with either side.
    pub(crate) fn acquits_both(&self) -> bool {
        self.opinions == [Opinion::Right; 2]
    }

    /// Which side is wrong, in a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let [a, b] = &self.sides;
        let by = self.by;
        let bounded = |opinion: Opinion| match opinion {
            Opinion::RightWhereBounded => " (where its text has a bound)",
            _ => "",
        };
        let remark = self.remark.as_deref().map(|it| format!(": {it}")).unwrap_or_default();
        match self.opinions {
            [Opinion::Unknown, Opinion::Unknown] => {
                format!("which of both is wrong is not known{remark}")
            }
            [Opinion::Wrong, Opinion::Wrong] => format!("{by}, {a} and {b} are both wrong{remark}"),
            [Opinion::Wrong, right] if right.is_right() => {
                format!("{by}, {b} is right{}, and {a} is wrong{remark}", bounded(right))
            }
            [right, Opinion::Wrong] if right.is_right() => {
                format!("{by}, {a} is right{}, and {b} is wrong{remark}", bounded(right))
            }
            [Opinion::Wrong, _] => format!("{by}, {a} is wrong{remark}"),
            [_, Opinion::Wrong] => format!("{by}, {b} is wrong{remark}"),
            [Opinion::Right, Opinion::Right] => {
                format!("{by}, neither {a} nor {b} is wrong{remark}")
            }
            _ => format!("{by}, nothing is known to be wrong, and not all was judged{remark}"),
        }
    }
}

/// What is known of the bytecode of a dispatch that is wrong: operations of its text that this back
/// end is known to compute otherwise than MLIR says.
pub(crate) fn known_fault(text: Option<&str>) -> Option<String> {
    let text = text?;
    let rounds = ["arith.fptosi", "arith.fptoui"].into_iter().find(|it| text.contains(it))?;
    Some(format!(
        "its text has `{rounds}`, which truncates, and which VMVX is known to round to the nearest \
         integer"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_names_the_side_that_is_wrong() {
        let judged = |opinions| Judged {
            opinions,
            sides: ["the machine code", "its bytecode"],
            by: BY_ITS_TEXT,
            remark: None,
        };
        use Opinion::{Right, RightWhereBounded, Unknown, Wrong};
        for (opinions, said) in [
            ([Right, Wrong], "the machine code is right, and its bytecode is wrong"),
            ([Wrong, Right], "its bytecode is right, and the machine code is wrong"),
            ([Wrong, Wrong], "the machine code and its bytecode are both wrong"),
            ([Wrong, Unknown], "the machine code is wrong"),
            ([RightWhereBounded, Wrong], "is right (where its text has a bound), and its bytecode"),
            ([Right, Right], "neither the machine code nor its bytecode is wrong"),
            ([Unknown, Unknown], "which of both is wrong is not known"),
            ([RightWhereBounded, Right], "nothing is known to be wrong"),
        ] {
            let sentence = judged(opinions).sentence();
            assert!(sentence.contains(said), "{said}: {sentence}");
        }
    }

    #[test]
    fn known_faults_are_those_of_the_text() {
        assert!(known_fault(Some("%1 = arith.addf %a, %b : f32")).is_none());
        let known = known_fault(Some("%1 = arith.fptosi %a : f32 to i32"));
        assert!(known.is_some_and(|it| it.contains("`arith.fptosi`, which truncates")));
    }
}
