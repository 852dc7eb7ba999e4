//! `x`: memory as numbers, text or instructions. `save`: values to files.

use std::fmt::Write;
use std::fs::OpenOptions;
use std::io::Write as _;

use abi::npy;
use abi::tensor::Tensor;
use debug::{Limits, Memory, Node, Variable};

use crate::command::{Layout, SaveRequest};
use crate::session::{Performer, Problem};
use crate::show;

/// The bytes of a line of `x`.
const LINE: usize = 16;

/// The most bytes that `x` shows.
const MAX_BYTES: usize = 1 << 16;

/// What is wrong with a value that cannot be used: the reason why it has none, or else its kind.
fn without_value(expression: &str, value: &Variable, otherwise: &str) -> String {
    match &value.absent {
        Some(reason) => format!("{expression} = {reason}"),
        None => format!("{expression} {otherwise}"),
    }
}

impl Performer<'_> {
    pub(crate) fn evaluated(&mut self, text: &str) -> Result<Variable, Problem> {
        self.needs_frame()?;
        let frame = self.session.frame;
        let value = self.debugger.evaluate_in_console(frame, text, Limits::default());
        Ok(value.map_err(|error| error.with_caret(text))?)
    }

    pub(crate) fn examine(&mut self, text: Option<&str>, layout: Layout) -> Result<(), Problem> {
        if layout.format == Some('i') {
            return self.instructions(text, layout.count);
        }
        let text = text.unwrap_or_default();
        let value = self.evaluated(text)?;
        let memory = value.children.as_ref().and_then(Memory::of);
        let memory = memory.ok_or_else(|| without_value(text, &value, "has no bytes"))?;
        let Some(format) = layout.format else {
            let (_, bytes) = memory.read(0, layout.count.min(MAX_BYTES));
            self.out.put("bytes", hexadecimal(&bytes));
            for (index, line) in bytes.chunks(LINE).enumerate() {
                let hex: Vec<String> = line.iter().map(|byte| format!("{byte:02x}")).collect();
                writeln!(self.out, "{:08x}  {}", index * LINE, hex.join(" "))?;
            }
            return Ok(());
        };
        if format == 's' {
            let (_, bytes) = memory.read(0, MAX_BYTES);
            let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
            writeln!(self.out, "00000000  {:?}", String::from_utf8_lossy(&bytes[..end]))?;
            return Ok(());
        }
        let is_wide = value.type_name.contains("64");
        let default = match format {
            'c' => 1,
            _ if is_wide => 8,
            _ => 4,
        };
        let unit = layout.unit.unwrap_or(default);
        if format == 'f' && unit < 4 {
            return Err("floats of memory have the unit w (f32) or g (f64)".into());
        }
        let (_, bytes) = memory.read(0, layout.count.saturating_mul(unit).min(MAX_BYTES));
        for (index, line) in bytes.chunks(LINE.max(unit)).enumerate() {
            let whole = line.chunks_exact(unit);
            let numbers: Vec<String> = whole.map(|bytes| number(bytes, format)).collect();
            if !numbers.is_empty() {
                writeln!(self.out, "{:08x}  {}", index * LINE, numbers.join("  "))?;
            }
        }
        Ok(())
    }

    /// Instructions from a function or address on, or from where the program stands.
    fn instructions(&mut self, text: Option<&str>, count: usize) -> Result<(), Problem> {
        const MOST: usize = 10_000;
        let place = match text.filter(|text| *text != "$pc") {
            Some(text) => {
                let place = crate::arguments::read_place(text)?;
                let found = self.spec(place)?.resolve(self.debugger.program());
                found.locations.first().copied().ok_or_else(|| {
                    found.message.unwrap_or_else(|| format!("there is no code at {text}"))
                })?
            }
            None => {
                self.needs_frame()?;
                let machine = self.debugger.machine();
                let frame = machine.frame_at(self.session.selected);
                frame.and_then(|frame| frame.position).ok_or("this frame is native code")?
            }
        };
        let address = self.debugger.program().linear(place).ok_or("there is no such code")?;
        let lines = self.debugger.machine().disassemble(address, 0, count.min(MOST));
        for line in lines {
            writeln!(self.out, "{}  {}", line.address, line.text)?;
        }
        Ok(())
    }

    pub(crate) fn save(&mut self, request: &SaveRequest) -> Result<(), Problem> {
        let SaveRequest { expression, path, overwrites } = request;
        let value = self.evaluated(expression)?;
        let node = value.children.as_ref().map(|children| &children.node);
        let tensor = match node {
            Some(Node::Tensor(tensor)) => tensor.tensor(),
            Some(Node::Buffer(buffer, view)) => match view.tensor(buffer) {
                Some(tensor) => tensor.tensor(),
                None => bytes_of(&value),
            },
            _ if value.absent.is_some() => None,
            // A tensor of one number is shown as that.
            _ => {
                let machine = self.debugger.machine();
                machine.tensor_of(self.session.frame(), expression).and_then(|it| it.tensor())
            }
        };
        let tensor = tensor
            .ok_or_else(|| without_value(expression, &value, "is no tensor and no memory"))?;
        let contents = if path.ends_with(".npy") {
            npy::write(&tensor).map_err(|error| format!("{path}: {error}; .bin takes any type"))?
        } else if path.ends_with(".bin") {
            tensor.bytes.clone()
        } else if path.ends_with(".txt") {
            let mut text = show::elements(self.debugger, &value);
            text.push('\n');
            text.into_bytes()
        } else {
            return Err("the name of the file ends in .npy, .bin (bytes alone) or .txt".into());
        };
        let mut options = OpenOptions::new();
        options.write(true);
        if *overwrites {
            options.create(true).truncate(true);
        } else {
            options.create_new(true);
        }
        let written = options.open(path).and_then(|mut file| file.write_all(&contents));
        written.map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => {
                format!("{path} is there already; `save -f` overwrites it")
            }
            _ => format!("cannot write {path}: {error}"),
        })?;
        self.out.put("path", path.as_str());
        self.out.put("bytes", contents.len());
        writeln!(self.out, "{path}: {}, {} bytes", value.type_name, contents.len())?;
        Ok(())
    }
}

/// All bytes of a value.
fn bytes_of(value: &Variable) -> Option<Tensor> {
    let memory = value.children.as_ref().and_then(Memory::of)?;
    let (_, bytes) = memory.read(0, memory.len());
    let element_type = "i8".parse().ok()?;
    Some(Tensor { shape: vec![bytes.len() as u64], element_type, bytes })
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Little-endian bytes as a number.
fn number(bytes: &[u8], format: char) -> String {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    let bits = u64::from_le_bytes(word);
    let width = bytes.len() * 8;
    let signed = (bits << (64 - width)).cast_signed() >> (64 - width);
    match format {
        'd' => format!("{signed:>digits$}", digits = width / 4),
        'u' => format!("{bits:>digits$}", digits = width / 4),
        'o' => format!("0{bits:o}"),
        't' => format!("{bits:0width$b}"),
        'c' => match char::from_u32(u32::try_from(bits).unwrap_or(0)) {
            Some(c) if !c.is_control() => format!("{signed} {c:?}"),
            _ => format!("{signed}"),
        },
        'f' if width == 64 => format!("{}", f64::from_bits(bits)),
        'f' => format!("{}", f32::from_bits(bits as u32)),
        _ => format!("0x{bits:0digits$x}", digits = width / 4),
    }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn bytes_as_numbers() {
        let bytes = 1.5_f32.to_le_bytes();
        assert_eq!(number(&bytes, 'x'), "0x3fc00000");
        assert_eq!(number(&bytes, 'f'), "1.5");
        assert_eq!(number(&[0xff], 'd').trim(), "-1");
        assert_eq!(number(&[0xff], 'u').trim(), "255");
        assert_eq!(number(&[5], 't'), "00000101");
        assert_eq!(number(b"a", 'c'), "97 'a'");
        assert_eq!(number(&2.5_f64.to_le_bytes(), 'f'), "2.5");
    }
}
