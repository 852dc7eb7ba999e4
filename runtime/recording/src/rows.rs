//! The table of a run in its file: the rows of a part of it, as postcard.
//!
//! Names and types are in a list of their own, since most of them come again and again.

use std::sync::Arc;

use debug::{CommandKind, CommandRow, Extent, ModuleIndex, Number, Position, WrittenTensor};
use serde::{Deserialize, Serialize};
use vm::FunctionId;
use vmfb::{BytecodeOffset, FunctionOrdinal};

/// Rows that follow each other.
#[derive(Serialize, Deserialize, Debug, Default)]
pub(crate) struct Rows {
    /// What the rows name by numbers.
    texts: Vec<String>,
    rows: Vec<Row>,
}

/// See [`CommandRow`].
#[derive(Serialize, Deserialize, Debug)]
struct Row {
    number: u64,
    kind: Kind,
    name: u32,
    module: u32,
    function: u32,
    offset: u32,
    written: Vec<Written>,
    changed: Option<u64>,
}

#[derive(Serialize, Deserialize, Debug)]
enum Kind {
    Fill,
    Copy,
    Update,
    Dispatch,
}

/// See [`WrittenTensor`].
#[derive(Serialize, Deserialize, Debug)]
struct Written {
    operand: Option<u32>,
    tensor_type: Option<u32>,
    length: u64,
    hash: u64,
    extent: Option<Range>,
}

/// See [`Extent`].
#[derive(Serialize, Deserialize, Debug)]
struct Range {
    least: Option<Value>,
    most: Option<Value>,
    nans: u64,
    infinities: u64,
}

#[derive(Serialize, Deserialize, Debug)]
enum Value {
    Signed(i64),
    Unsigned(u64),
    Float(f64),
}

/// The texts of rows that are written.
#[derive(Default)]
struct Texts(Vec<String>);

impl Texts {
    fn number(&mut self, text: &str) -> u32 {
        let known = self.0.iter().position(|it| it == text);
        let index = known.unwrap_or_else(|| {
            self.0.push(text.to_owned());
            self.0.len() - 1
        });
        u32::try_from(index).unwrap_or(u32::MAX)
    }
}

impl Rows {
    /// These rows as a file has them.
    pub(crate) fn of(rows: &[Arc<CommandRow>]) -> Self {
        let mut texts = Texts::default();
        let rows = rows.iter().map(|row| Row {
            number: row.number,
            kind: match row.kind {
                CommandKind::Fill => Kind::Fill,
                CommandKind::Copy => Kind::Copy,
                CommandKind::Update => Kind::Update,
                CommandKind::Dispatch => Kind::Dispatch,
            },
            name: texts.number(&row.name),
            module: row.recorded_at.function.module.0,
            function: row.recorded_at.function.function.0,
            offset: row.recorded_at.offset.0,
            written: row.written.iter().map(|it| Written::of(it, &mut texts)).collect(),
            changed: row.changed,
        });
        let rows = rows.collect();
        Self { texts: texts.0, rows }
    }

    /// The rows; `None`: one names a text that is not there.
    pub(crate) fn into_rows(self) -> Option<Vec<Arc<CommandRow>>> {
        let texts: Vec<Arc<str>> = self.texts.into_iter().map(Arc::from).collect();
        let text = |number: u32| texts.get(usize::try_from(number).ok()?).cloned();
        let rows = self.rows.into_iter().map(|row| {
            let written = row.written.into_iter().map(|it| it.into_tensor(&text));
            Some(Arc::new(CommandRow {
                number: row.number,
                kind: match row.kind {
                    Kind::Fill => CommandKind::Fill,
                    Kind::Copy => CommandKind::Copy,
                    Kind::Update => CommandKind::Update,
                    Kind::Dispatch => CommandKind::Dispatch,
                },
                name: text(row.name)?,
                recorded_at: Position {
                    function: FunctionId {
                        module: ModuleIndex(row.module),
                        function: FunctionOrdinal(row.function),
                    },
                    offset: BytecodeOffset(row.offset),
                },
                written: written.collect::<Option<_>>()?,
                changed: row.changed,
            }))
        });
        rows.collect()
    }
}

impl Written {
    fn of(tensor: &WrittenTensor, texts: &mut Texts) -> Self {
        let WrittenTensor { operand, tensor_type, length, hash, extent } = tensor;
        Self {
            operand: operand.and_then(|it| u32::try_from(it).ok()),
            tensor_type: tensor_type.as_deref().map(|it| texts.number(it)),
            length: *length,
            hash: *hash,
            extent: extent.map(|it| Range {
                least: it.least.map(Value::of),
                most: it.most.map(Value::of),
                nans: it.nans,
                infinities: it.infinities,
            }),
        }
    }

    fn into_tensor(self, text: &impl Fn(u32) -> Option<Arc<str>>) -> Option<WrittenTensor> {
        let Self { operand, tensor_type, length, hash, extent } = self;
        let tensor_type = match tensor_type {
            Some(number) => Some(text(number)?),
            None => None,
        };
        let extent = extent.map(|it| Extent {
            least: it.least.map(Value::number),
            most: it.most.map(Value::number),
            nans: it.nans,
            infinities: it.infinities,
        });
        let operand = operand.and_then(|it| usize::try_from(it).ok());
        Some(WrittenTensor { operand, tensor_type, length, hash, extent })
    }
}

impl Value {
    /// An element of a tensor has no more than 64 bits.
    fn of(number: Number) -> Self {
        match number {
            Number::Float(value) => Self::Float(value),
            Number::Integer(value) => match (i64::try_from(value), u64::try_from(value)) {
                (Ok(value), _) => Self::Signed(value),
                (_, Ok(value)) => Self::Unsigned(value),
                _ => Self::Float(value as f64),
            },
        }
    }

    fn number(self) -> Number {
        match self {
            Self::Signed(value) => Number::Integer(value.into()),
            Self::Unsigned(value) => Number::Integer(value.into()),
            Self::Float(value) => Number::Float(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(least: Number, most: Number) -> WrittenTensor {
        let extent = Extent { least: Some(least), most: Some(most), nans: 2, infinities: 1 };
        let tensor_type = Some("2x3xf32".into());
        WrittenTensor { operand: Some(1), tensor_type, length: 24, hash: 7, extent: Some(extent) }
    }

    #[test]
    fn what_is_written_is_read() {
        let integer = |value| Number::Integer(value);
        let row = |number, kind, written, changed| {
            let function =
                FunctionId { module: ModuleIndex(3), function: FunctionOrdinal(number as u32) };
            let recorded_at = Position { function, offset: BytecodeOffset(9) };
            let name = "main_dispatch_0".into();
            Arc::new(CommandRow { number, kind, name, recorded_at, written, changed })
        };
        let plain =
            WrittenTensor { operand: None, tensor_type: None, extent: None, length: 0, hash: 1 };
        let rows = vec![
            row(1, CommandKind::Fill, vec![plain], None),
            row(2, CommandKind::Copy, vec![], None),
            row(3, CommandKind::Update, vec![tensor(integer(-5), integer(u64::MAX.into()))], None),
            row(4, CommandKind::Dispatch, vec![tensor(Number::Float(-0.5), integer(1))], Some(8)),
        ];
        let bytes = postcard::to_allocvec(&Rows::of(&rows)).expect("memory");
        let read: Rows = postcard::from_bytes(&bytes).expect("rows");
        assert_eq!(read.into_rows(), Some(rows));
        let mut nameless = Rows::of(&[row(1, CommandKind::Fill, vec![], None)]);
        nameless.texts.clear();
        assert_eq!(nameless.into_rows(), None);
    }
}
