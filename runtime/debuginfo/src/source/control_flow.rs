//! The blocks of a function, and where control goes from each.

use super::SourceText;

/// A block of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlBlock {
    /// Its label with its arguments, `^bb1(%i: i32):`; empty where the text has none.
    pub label: String,
    /// The lines on which its operations begin, without indentation.
    pub lines: Vec<String>,
    /// Where control may go next, by index, in the order of its terminator.
    pub successors: Vec<usize>,
}

impl SourceText {
    /// The blocks of the function around a line, the entry first. `None` outside of functions, and
    /// in those that are only declared.
    #[must_use]
    pub fn control_flow(&self, line: u32) -> Option<Vec<ControlBlock>> {
        let function = self.read_function(self.written().around(line)?)?;
        let body = function.operations.first()?.regions.first()?;
        let blocks = body.blocks.iter().enumerate().map(|(index, block)| {
            let arguments = block.arguments.iter().filter_map(|it| function.values.get(*it));
            let arguments = arguments.map(|it| match &it.type_text {
                Some(declared) => format!("{}: {declared}", it.name),
                None => it.name.clone(),
            });
            let label = match (block.label.is_empty(), block.arguments.is_empty() || index == 0) {
                (true, _) => String::new(),
                (false, true) => format!("{}:", block.label),
                (false, false) => {
                    format!("{}({}):", block.label, arguments.collect::<Vec<_>>().join(", "))
                }
            };
            let places = block.operations.iter().filter_map(|it| function.operations.get(*it));
            let mut begun: Vec<u32> = places.map(|it| it.place.0).collect();
            begun.dedup();
            let lines = begun.iter().filter_map(|it| self.line(*it));
            ControlBlock {
                label,
                lines: lines.map(|it| it.trim().to_owned()).collect(),
                successors: function.successors(body, index),
            }
        });
        Some(blocks.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_lead_to_blocks() {
        let text = "module {
  func.func @f(%n: i32) -> i32 {
    %c = arith.constant 0 : i32
    cf.br ^head(%c : i32)
  ^head(%i: i32):
    %more = arith.cmpi slt, %i, %n : i32
    cf.cond_br %more, ^body, ^end
  ^body:
    %next = arith.addi %i, %n : i32
    cf.br ^head(%next : i32)
  ^end:
    return %i : i32
  }
  func.func private @g(i32)
}
";
        let text = SourceText::new(text.to_owned());
        let blocks = text.control_flow(6).unwrap();
        let labels: Vec<&str> = blocks.iter().map(|it| it.label.as_str()).collect();
        assert_eq!(labels, ["", "^head(%i: i32):", "^body:", "^end:"]);
        let next: Vec<&[usize]> = blocks.iter().map(|it| it.successors.as_slice()).collect();
        assert_eq!(next, [&[1][..], &[2, 3], &[1], &[]]);
        assert_eq!(blocks[3].lines, ["return %i : i32"]);
        assert_eq!(text.control_flow(14), None);
    }
}
