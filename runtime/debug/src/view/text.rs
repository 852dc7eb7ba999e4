//! Values as text of one line each.
//!
//! A list or a buffer shows its first elements, as a tensor does; what is expanded shows the rest,
//! one page at a time. Lists may contain lists and tensors, so a text is bounded as a whole: an
//! inner list or tensor shows fewer elements, and very deep ones show none.

use std::ops::Range;

use abi::tensor::TensorType;
use hal::{CommandBuffer, ExecutableRef};
use vm::{Access, Buffer, List, Ref, Value};

use crate::tensor::{SHORT, TensorView, float_text};

/// How many elements of an inner list or tensor are shown.
const INNER: usize = 3;

/// How many numbers, texts and objects the text of a list shows in all.
const WHOLE: usize = 16;

/// Lists in lists in lists show their elements; deeper ones do not. A list may contain itself.
const DEEPEST: usize = 3;

/// How many bytes of a text in a buffer are shown.
const TEXT: usize = 40;

/// The text of a value.
#[must_use]
pub(crate) fn value_text(value: &Value) -> String {
    Writer::new(false).value(value)
}

/// The first elements of a part of a list; integers in hexadecimal if that is wanted.
#[must_use]
pub(crate) fn list_text(list: &List, part: Range<usize>, is_hexadecimal: bool) -> String {
    Writer::new(is_hexadecimal).list(list, part)
}

/// A buffer view as a tensor, if its buffer is large enough.
pub(crate) fn tensor_of(value: &Ref) -> Option<TensorView> {
    let view: &hal::BufferView = value.downcast()?;
    TensorView::new(view.buffer().storage(), tensor_type_of(view)?).ok()
}

/// The type of a buffer view: element type and shape.
pub(crate) fn tensor_type_of(view: &hal::BufferView) -> Option<TensorType> {
    Some(TensorType { shape: view.shape().to_vec(), element_type: view.element_type().ok()? })
}

/// Writes one value with what is inside it.
struct Writer {
    /// In how many lists the value is.
    depth: usize,
    /// How many numbers, texts and objects may still be shown.
    left: usize,
    is_hexadecimal: bool,
}

impl Writer {
    fn new(is_hexadecimal: bool) -> Self {
        Self { depth: 0, left: WHOLE, is_hexadecimal }
    }

    /// How many elements of one list, tensor or buffer are shown.
    fn most(&self) -> usize {
        if self.depth == 0 { SHORT } else { INNER }
    }

    fn value(&mut self, value: &Value) -> String {
        match value {
            Value::Ref(Ref::List(list)) => return self.list(list, 0..list.len()),
            Value::Ref(value) => {
                if let Some(tensor) = tensor_of(value) {
                    return self.tensor(&tensor);
                }
            }
            _ => {}
        }
        self.left = self.left.saturating_sub(1);
        match value {
            Value::I32(value) if self.is_hexadecimal => format!("{value:#x}"),
            Value::I64(value) if self.is_hexadecimal => format!("{value:#x}"),
            Value::I32(value) => value.to_string(),
            Value::I64(value) => value.to_string(),
            Value::F32(value) => float_text(*value),
            Value::F64(value) => float_text(*value),
            Value::Ref(Ref::Null) => "null".to_owned(),
            Value::Ref(Ref::Buffer(buffer)) => {
                let access = if buffer.access() == Access::ReadOnly { ", read-only" } else { "" };
                format!("{}{access} {}", byte_count(buffer.len()), self.bytes(buffer))
            }
            Value::Ref(value) => self.object(value),
        }
    }

    /// The elements in brackets, and how many more there are.
    fn list(&mut self, list: &List, part: Range<usize>) -> String {
        let part = part.start..part.end.min(list.len());
        if self.depth >= DEEPEST && !part.is_empty() {
            return format!("[… {} more]", part.len());
        }
        let (most, count) = (self.most(), part.len());
        self.depth += 1;
        let mut shown = Vec::new();
        for index in part {
            if shown.len() == most || self.left == 0 {
                shown.push(format!("… {} more", count - shown.len()));
                break;
            }
            shown.push(match list.get(index) {
                Some(element) => self.value(&element),
                None => "unset".to_owned(),
            });
        }
        self.depth -= 1;
        format!("[{}]", shown.join(", "))
    }

    fn tensor(&mut self, tensor: &TensorView) -> String {
        let most = self.most();
        self.left = self.left.saturating_sub(tensor.count().clamp(1, most));
        let elements = match self.is_hexadecimal {
            true => tensor.hexadecimal(most),
            false => None,
        };
        format!("{} {}", tensor.type_name(), elements.unwrap_or_else(|| tensor.first_of(most)))
    }

    /// The first bytes: a text in quotes, if they are one, and otherwise in hexadecimal.
    fn bytes(&self, buffer: &Buffer) -> String {
        if let Some(text) = text_of(buffer) {
            return text;
        }
        let first = buffer.read(0, self.most());
        let mut shown: Vec<String> = first.iter().map(|byte| format!("{byte:02X}")).collect();
        if first.len() < buffer.len() {
            shown.push("…".to_owned());
        }
        format!("[{}]", shown.join(" "))
    }

    /// A native object, in short.
    fn object(&self, value: &Ref) -> String {
        if let Some(buffer) = value.downcast::<hal::Buffer>() {
            let from = match buffer.offset() {
                0 => String::new(),
                offset => format!(" from {offset} of an allocation"),
            };
            return format!("{}{from} {}", byte_count(buffer.len()), self.bytes(&buffer.storage()));
        }
        if let Some(executable) = value.downcast::<ExecutableRef>() {
            let count = executable.0.exports().len();
            return format!("{}, {count} {}", executable.0.format(), dispatches(count));
        }
        if let Some(commands) = value.downcast::<CommandBuffer>() {
            return match commands.commands() {
                Ok(commands) => {
                    let count = commands.commands.len();
                    format!("{count} {}", plural(count, "command"))
                }
                Err(_) => "being recorded".to_owned(),
            };
        }
        if let Some(fence) = value.downcast::<hal::Fence>() {
            return match fence.is_reached() {
                Ok(true) => "reached".to_owned(),
                Ok(false) => "not reached".to_owned(),
                Err(status) => status.to_string(),
            };
        }
        if let Some(device) = value.downcast::<hal::DeviceRef>() {
            return device.0.kind().name().to_owned();
        }
        format!("{value:?}")
    }
}

/// The beginning of a buffer in quotes, if it is a text: at least two characters, all of which are
/// written as themselves.
fn text_of(buffer: &Buffer) -> Option<String> {
    let bytes = buffer.read(0, TEXT);
    let is_whole = bytes.len() == buffer.len();
    let text = match std::str::from_utf8(&bytes) {
        Ok(text) => text,
        // The end of what was read may be inside of a character.
        Err(error) if !is_whole && error.error_len().is_none() => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).ok()?
        }
        Err(_) => return None,
    };
    let is_plain = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
    if text.chars().count() < 2 || !text.chars().all(is_plain) {
        return None;
    }
    let more = if is_whole { "" } else { "…" };
    Some(format!("{text:?}{more}"))
}

fn byte_count(count: usize) -> String {
    format!("{count} {}", plural(count, "byte"))
}

fn dispatches(count: usize) -> &'static str {
    if count == 1 { "dispatch" } else { "dispatches" }
}

fn plural(count: usize, what: &str) -> String {
    if count == 1 { what.to_owned() } else { format!("{what}s") }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use vm::{ExecutionLimits, Type};

    use super::*;

    fn list(element_type: &str, elements: impl IntoIterator<Item = Value>) -> Arc<List> {
        let list = List::new(Type::parse(element_type).unwrap(), &ExecutionLimits::default());
        elements.into_iter().for_each(|it| list.push(it).unwrap());
        Arc::new(list)
    }

    fn value(list: &Arc<List>) -> Value {
        Value::Ref(Ref::List(Arc::clone(list)))
    }

    fn text(list: &Arc<List>) -> String {
        value_text(&value(list))
    }

    #[test]
    fn a_list_shows_its_first_elements_and_says_how_many_more_there_are() {
        let squares = |count: i32| list("i32", (0..count).map(|it| Value::I32(it * it)));
        assert_eq!(text(&squares(0)), "[]");
        assert_eq!(text(&squares(8)), "[0, 1, 4, 9, 16, 25, 36, 49]");
        assert_eq!(text(&squares(100)), "[0, 1, 4, 9, 16, 25, 36, 49, … 92 more]");
        assert_eq!(list_text(&squares(100), 10..13, false), "[100, 121, 144]");
        assert_eq!(list_text(&squares(100), 98..200, true), "[0x2584, 0x2649]");
        let floats = [0.1, f32::NAN, -f32::NAN, f32::NEG_INFINITY, f32::MAX, -0.0, 1e-7];
        let expected = "[0.1, NaN, NaN, -inf, 3.4028235e38, -0, 1e-7]";
        assert_eq!(text(&list("f32", floats.map(Value::F32))), expected);
    }

    #[test]
    fn lists_in_lists_are_bounded_as_a_whole() {
        let numbers = || value(&list("i64", (0..100).map(Value::I64)));
        let inner = "[0, 1, 2, … 97 more]";
        let several = |count| list("?", (0..count).map(|_| numbers()));
        assert_eq!(text(&several(2)), format!("[{inner}, {inner}]"));
        // Sixteen numbers are enough.
        let shown = [inner; 5].join(", ");
        assert_eq!(text(&several(1000)), format!("[{shown}, [0, … 99 more], … 994 more]"));
        let deep = value(&list("?", [value(&list("?", [value(&list("?", [numbers()]))]))]));
        assert_eq!(value_text(&deep), "[[[[… 100 more]]]]");
    }

    #[test]
    fn a_list_may_contain_itself() {
        let own = list("?", [Value::I32(7)]);
        own.push(value(&own)).unwrap();
        assert_eq!(text(&own), "[7, [7, [7, [… 2 more]]]]");
        own.resize(0).unwrap();
    }

    #[test]
    fn elements_are_shown_as_they_are_by_themselves() {
        let buffer = Value::Ref(Ref::Buffer(Arc::new(Buffer::from_bytes(&[1, 2, 3, 4]).unwrap())));
        let mixed = list("?", [Value::F64(0.1), Value::Ref(Ref::Null), buffer]);
        mixed.resize(4).unwrap();
        assert_eq!(text(&mixed), "[0.1, null, 4 bytes [01 02 03 …], unset]");
    }

    #[test]
    fn a_buffer_shows_its_text_or_its_first_bytes() {
        let shown = |bytes: &[u8]| {
            value_text(&Value::Ref(Ref::Buffer(Arc::new(Buffer::from_bytes(bytes).unwrap()))))
        };
        assert_eq!(shown(&[]), "0 bytes []");
        assert_eq!(shown(b"A"), "1 byte [41]");
        assert_eq!(shown(b"input0"), "6 bytes \"input0\"");
        assert_eq!(shown("a \"ü\"\n".as_bytes()), "7 bytes \"a \\\"ü\\\"\\n\"");
        assert_eq!(shown(b"input0\0"), "7 bytes [69 6E 70 75 74 30 00]");
        assert_eq!(shown(&[255; 9]), "9 bytes [FF FF FF FF FF FF FF FF …]");
        // Byte 40 is inside of a character.
        let long = format!("-{}", "ü".repeat(30));
        let expected = format!("61 bytes \"-{}\"…", "ü".repeat(19));
        assert_eq!(shown(long.as_bytes()), expected);
    }
}
