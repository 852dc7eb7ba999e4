//! The words of enumerations, as the installed compiler's Python package has them: a file per
//! dialect, `_NAME_enum_gen.py`, with a class per enumeration and the builders of its attributes.

use std::collections::HashMap;

/// The words of each kind of attribute.
#[derive(Debug, Default)]
pub(super) struct Enumerations {
    /// By the name of a builder, such as `Arith_CmpIPredicateAttr`.
    by_kind: HashMap<String, Vec<String>>,
    /// By what stands before the parameters of an attribute, such as `arith.fastmath`.
    by_attribute: HashMap<String, Vec<String>>,
}

impl Enumerations {
    /// Reads the enumerations of a dialect.
    pub(super) fn read(&mut self, text: &str) {
        let mut classes: Vec<(&str, Vec<String>)> = Vec::new();
        for class in text.split("\nclass ").skip(1) {
            let (body, builders) = class.split_once("\n@").unwrap_or((class, ""));
            let name = body.split(['(', ':']).next().unwrap_or_default();
            let words = words(body);
            // The first builder makes an integer of this class.
            if let Some(kind) = quoted(builders) {
                self.by_kind.insert(kind.to_owned(), words.clone());
            }
            classes.push((name, words));
        }
        for builder in text.split("register_attribute_builder(").skip(1) {
            let Some((_, attribute)) = builder.split_once("parse(f'#") else { continue };
            let (Some(kind), Some((attribute, _))) = (quoted(builder), attribute.split_once('<'))
            else {
                continue;
            };
            // `arith.Arith_FastMathAttr` holds `FastMathFlags`.
            let kind = kind.rsplit('.').next().unwrap_or(kind);
            let plain = kind.strip_suffix("Attr").unwrap_or(kind);
            let plain = plain.rsplit('_').next().unwrap_or(plain);
            let of_class = |(name, _): &&(&str, Vec<String>)| {
                !plain.is_empty() && (name.starts_with(plain) || plain.ends_with(name))
            };
            let mut found = classes.iter().filter(of_class);
            if let (Some((_, words)), None) = (found.next(), found.next()) {
                self.by_kind.insert(kind.to_owned(), words.clone());
                self.by_attribute.insert(attribute.to_owned(), words.clone());
            }
        }
    }

    /// Adds the words of an attribute, by its name.
    pub(super) fn add(&mut self, attribute: &str, words: Vec<String>) {
        self.by_attribute.insert(attribute.to_owned(), words);
    }

    /// The words of each attribute, by its name.
    pub(super) fn by_attribute(&self) -> impl Iterator<Item = (&str, &Vec<String>)> {
        self.by_attribute.iter().map(|(attribute, words)| (attribute.as_str(), words))
    }

    /// The words of a kind of attribute; of a list, those of its elements.
    pub(super) fn of_kind(&self, kind: &str) -> Option<&[String]> {
        let element = || self.by_kind.get(kind.strip_suffix("ArrayAttr")?);
        self.by_kind.get(kind).or_else(element).map(Vec::as_slice)
    }

    /// The words of an attribute by its name: `arith.fastmath`, or `fastmath` where only one
    /// dialect has that.
    pub(super) fn of_attribute(&self, name: &str) -> Option<&[String]> {
        if let Some(words) = self.by_attribute.get(name) {
            return Some(words);
        }
        let is_same = |full: &str| full.split_once('.').is_some_and(|(_, last)| last == name);
        let mut all = self.by_attribute.iter().filter(|(full, _)| is_same(full));
        let (_, words) = all.next()?;
        all.all(|(_, other)| other == words).then_some(words)
    }
}

/// What the class says that its cases are in text.
fn words(class: &str) -> Vec<String> {
    let (_, shown) = class.split_once("def __str__").unwrap_or(("", ""));
    let returned = shown.split("return \"").skip(1).filter_map(|rest| rest.split('"').next());
    let words = returned.filter(|word| !matches!(word.trim(), "" | ","));
    // The generator writes `_false` where a word of its own would be `False`.
    words.map(|word| if is_python(word) { &word[1..] } else { word }.to_owned()).collect()
}

fn is_python(word: &str) -> bool {
    matches!(word, "_false" | "_true" | "_none")
}

fn quoted(text: &str) -> Option<&str> {
    text.split('"').nth(1)
}

#[cfg(test)]
mod tests {
    use super::Enumerations;

    const TABLE: &str = r#"
class KnotKind(IntEnum):
    """which knot"""

    Bowline = 0

    def __str__(self):
        if self is KnotKind.Bowline:
            return "bowline"
        if self is KnotKind.Reef:
            return "reef"
        raise ValueError("Unknown KnotKind enum entry.")

@register_attribute_builder("KnotKindEnum", allow_existing=True)
def _knotkind(x, context):
    return _ods_ir.IntegerAttr.get(_ods_ir.IntegerType.get_signless(32, context=context), int(x))

@register_attribute_builder("knots.Knots_KnotKindAttr")
def _knots_knotkindattr(x, context):
    return _ods_ir.Attribute.parse(f'#knots.kind<{str(x)}>', context=context)
"#;

    #[test]
    fn words_by_kind_and_by_attribute() {
        let mut read = Enumerations::default();
        read.read(TABLE);
        let words = ["bowline".to_owned(), "reef".to_owned()];
        assert_eq!(read.of_kind("KnotKindEnum"), Some(&words[..]));
        assert_eq!(read.of_kind("Knots_KnotKindAttr"), Some(&words[..]));
        assert_eq!(read.of_attribute("knots.kind"), Some(&words[..]));
        assert_eq!(read.of_attribute("kind"), Some(&words[..]));
        assert_eq!(read.of_kind("StrAttr"), None);
    }
}
