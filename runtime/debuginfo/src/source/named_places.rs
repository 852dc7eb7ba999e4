//! Positions for locations that only have a name.
//!
//! A text that some tool has printed may give its operations names instead of positions:
//! `loc("layer1/add")`. The compiler then knows no line of it. Where a name is that of one
//! operation of the source, the position of that operation is written beside the name in what the
//! compiler has printed, `loc("layer1/add"("model.mlir":3:10))`, so that all readers find it.

use std::collections::HashMap;

use super::SourceText;
use super::functions::{LineColumn, symbol_name};
use super::node_names::labels;

/// Where the operations are that have a name and no position.
#[derive(Debug, Default)]
pub struct NamedPlaces {
    file: String,
    /// `None` for a name that several operations have.
    places: HashMap<String, Option<LineColumn>>,
}

impl NamedPlaces {
    /// Those of a source; `file` is its name, as the compiler is given it.
    #[must_use]
    pub fn of(text: &str, file: &str) -> Self {
        let mut places: HashMap<String, Option<LineColumn>> = HashMap::new();
        if !labels::are_in(text) {
            return Self::default();
        }
        let source = SourceText::new(text.to_owned());
        labels::each(&source, |it| {
            if !it.has_position {
                let known = places.entry(it.label).or_insert(Some(it.place));
                *known = known.filter(|known| *known == it.place);
            }
        });
        Self { file: file.to_owned(), places }
    }

    /// Writes the positions into the locations of a text of the compiler's.
    #[must_use]
    pub fn written_into(&self, text: &str) -> String {
        let mut written = String::new();
        let mut rest = text;
        let file = self.file.replace('\\', "\\\\").replace('"', "\\22");
        while let Some(at) = rest.find("loc(").filter(|_| !self.places.is_empty()) {
            let (before, mut location) = rest.split_at(at + "loc(".len());
            written += before;
            // The parentheses that are open.
            let mut depth = 1_usize;
            while let Some(next) = location.find(['"', '(', ')', '\n']).filter(|_| depth > 0) {
                let (skipped, found) = location.split_at(next);
                written += skipped;
                let is_string = found.starts_with('"');
                let length = if is_string { string_length(found) } else { 1 };
                let (token, after) = found.split_at(length);
                written += token;
                location = after;
                match token {
                    "(" => depth += 1,
                    ")" => depth -= 1,
                    "\n" => depth = 0,
                    _ if after.starts_with([':', '(']) => {}
                    _ => {
                        let place = self.places.get(&symbol_name(token)).copied().flatten();
                        if let Some((line, column)) = place {
                            written += &format!("(\"{file}\":{line}:{column})");
                        }
                    }
                }
            }
            rest = location;
        }
        written + rest
    }
}

/// The length of the string that a text begins with; of all of it, if it does not end.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_one_operation_get_its_position() {
        let source = r#"func.func @main(%a: tensor<4xf32> loc("in")) -> tensor<4xf32> {
  %0 = arith.addf %a, %a : tensor<4xf32> loc("layer \22one\22")
  %1 = arith.mulf %0, %a : tensor<4xf32> loc("twice")
  %2 = arith.subf %1, %a : tensor<4xf32> loc("twice")
  %3 = math.exp %2 : tensor<4xf32> loc("e"("model.py":4:2))
  return %3 : tensor<4xf32> loc(#loc)
} loc("main")
#loc = loc("end")
"#;
        let places = NamedPlaces::of(source, "a\"b.mlir");
        let text = |name: &str| places.written_into(&format!("x loc(\"{name}\")\n#l = y"));
        assert_eq!(
            text("layer \\22one\\22"),
            "x loc(\"layer \\22one\\22\"(\"a\\22b.mlir\":2:8))\n#l = y"
        );
        assert_eq!(text("end"), "x loc(\"end\"(\"a\\22b.mlir\":6:3))\n#l = y");
        assert_eq!(
            places.written_into("loc(callsite(fused<x>[\"end\", #loc2] at \"e\"(\"end\":1:2)))"),
            "loc(callsite(fused<x>[\"end\"(\"a\\22b.mlir\":6:3), #loc2] at \"e\"(\"end\":1:2)))"
        );
        for name in ["twice", "e", "other", "model.py\":4:2", "é", "\\"] {
            assert!(!text(name).contains("a\\22b.mlir"), "{}", text(name));
        }
        assert!(NamedPlaces::of("func.func @f() { return }", "f").places.is_empty());
    }
}
