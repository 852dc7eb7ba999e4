//! Positions for locations that only have a name.
//!
//! A text that some tool has printed may give its operations names instead of positions:
//! `loc("layer1/add")`. The compiler then knows no line of it. Where a name is that of one
//! operation of the source, the position of that operation is written beside the name in what the
//! compiler has printed, `loc("layer1/add"("model.mlir":3:10))`, so that all readers find it.

use std::borrow::Cow;
use std::collections::HashMap;

use super::SourceText;
use super::functions::LineColumn;
use super::node_names::labels;
use crate::mlir_text::Cursor;

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
        if !labels::are_in(text) {
            return Self::default();
        }
        let mut places: HashMap<String, Option<LineColumn>> = HashMap::new();
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
    pub fn written_into<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.places.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut written = String::new();
        let mut copied = 0;
        let file = self.file.replace('\\', "\\\\").replace('"', "\\22");
        self.each_name(text.as_bytes(), |end, (line, column)| {
            written += &text[copied..end];
            written += &format!("(\"{file}\":{line}:{column})");
            copied = end;
        });
        Cow::Owned(written + &text[copied..])
    }

    /// Where names end that stand in locations without a position, and the positions for them.
    fn each_name(&self, text: &[u8], mut found: impl FnMut(usize, LineColumn)) {
        let mut cursor = Cursor::new(text);
        while let Some(before) = memchr::memmem::find(cursor.rest(), b"loc(") {
            cursor.jump(cursor.at() + before + "loc(".len());
            let mut open = 1_usize;
            while let Some(byte) = cursor.peek().filter(|it| open > 0 && *it != b'\n') {
                match byte {
                    b'"' => {
                        let Ok(name) = cursor.string() else { return };
                        let place = self.places.get(&*name).copied().flatten();
                        if let Some(place) = place
                            && !matches!(cursor.peek(), Some(b':' | b'('))
                        {
                            found(cursor.at(), place);
                        }
                        continue;
                    }
                    b'(' => open += 1,
                    b')' => open -= 1,
                    _ => {}
                }
                cursor.bump();
            }
        }
    }
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
        let text = |name: &str| {
            let text = format!("x loc(\"{name}\")\n#l = y");
            places.written_into(&text).into_owned()
        };
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
