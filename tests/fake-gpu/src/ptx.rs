//! PTX as data: the part of it that IREE's compiler writes.

use std::collections::HashMap;

use crate::memory;

/// An image of kernels.
#[derive(Debug, Default)]
pub(crate) struct Image {
    pub(crate) kernels: HashMap<String, Kernel>,
}

/// A kernel.
#[derive(Debug, Default)]
pub(crate) struct Kernel {
    /// The size of each parameter in bytes, and its name.
    pub(crate) parameters: Vec<(usize, String)>,
    pub(crate) instructions: Vec<Instruction>,
    pub(crate) register_count: usize,
    /// Where its variables begin in the memory that a workgroup shares.
    pub(crate) shared: HashMap<String, u64>,
    pub(crate) shared_size: usize,
    /// Where variables of the module are.
    pub(crate) globals: HashMap<String, u64>,
}

/// An instruction.
#[derive(Clone, Debug)]
pub(crate) struct Instruction {
    /// The register that it depends on, and whether it must be false.
    pub(crate) guard: Option<(usize, bool)>,
    /// Its name and its modifiers: `ld`, `global`, `b32`.
    pub(crate) words: Vec<String>,
    pub(crate) operands: Vec<Operand>,
}

/// An operand.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Operand {
    Register(usize),
    /// Its bits, as a number of the instruction's type if it is one of floats.
    Number(u64),
    /// `%tid.x` and its like.
    Special(String),
    /// `[name+4]`, `[%rd1+4]`.
    Memory(Box<Operand>, i64),
    /// `{%r1, %r2}`.
    Vector(Vec<Operand>),
    /// A variable or a parameter.
    Name(String),
    /// Where a jump leads.
    Target(usize),
}

/// Reads an image.
///
/// # Errors
/// What is not understood.
pub(crate) fn parse(text: &str) -> Result<Image, String> {
    let mut image = Image::default();
    let mut rest = text;
    // Variables of the module come before the kernels.
    let (mut shared, mut globals) = (Vec::new(), HashMap::new());
    while let Some(at) = rest.find(".entry ") {
        shared.extend(shared_variables(&rest[..at]));
        globals.extend(global_variables(&rest[..at])?);
        rest = &rest[at + ".entry ".len()..];
        let open = rest.find('(').ok_or("a kernel without parameters")?;
        let name = rest[..open].trim().to_owned();
        let close = rest.find(')').ok_or("parameters without an end")?;
        let parameters = parameters(&rest[open + 1..close])?;
        let body = rest.find("\n{").ok_or("a kernel without a body")?;
        let end = rest[body..].find("\n}").ok_or("a body without an end")? + body;
        let mut kernel = kernel(&rest[body + 2..end], &shared)?;
        kernel.parameters = parameters;
        kernel.globals.clone_from(&globals);
        image.kernels.insert(name, kernel);
        rest = &rest[end..];
    }
    Ok(image)
}

/// `.param .u64 .ptr .global .align 16 name, .param .u32 name`.
fn parameters(text: &str) -> Result<Vec<(usize, String)>, String> {
    let all = text.split(',').map(str::trim).filter(|text| !text.is_empty());
    all.map(|parameter| {
        let mut words = parameter.split_whitespace().skip(1);
        let size = size_of(words.next().unwrap_or_default().trim_start_matches('.'));
        let name = words.last().ok_or("a parameter without a name")?;
        Ok((size.ok_or("a parameter of an unknown type")?, name.to_owned()))
    })
    .collect()
}

/// `.shared .align 4 .b8 name[128];`: name, alignment and size.
fn shared_variables(text: &str) -> Vec<(String, usize, usize)> {
    let lines = text.lines().map(str::trim);
    let lines = lines.filter(|line| line.trim_start_matches(".extern ").starts_with(".shared"));
    let variables = lines.filter_map(|line| {
        let line = line.trim_end_matches(';');
        let (head, size) = line.split_once('[')?;
        let mut words = head.split_whitespace();
        let name = words.next_back()?.to_owned();
        let mut words = words.skip_while(|word| *word != ".align").skip(1);
        let alignment = words.next()?.parse().ok()?;
        Some((name, alignment, size.trim_end_matches(']').parse().unwrap_or_default()))
    });
    variables.collect()
}

/// `.global .align 4 .b8 name[8] = {1, 2, 3, 4, 5, 6, 7, 8};`, laid out in memory: name and
/// address.
fn global_variables(text: &str) -> Result<Vec<(String, u64)>, String> {
    let mut found = Vec::new();
    for line in text.split(';').map(str::trim) {
        let places = [".global .align", ".const .align"];
        let Some(at) = places.iter().find_map(|it| line.find(it)) else { continue };
        let (head, values) = line[at..].split_once('=').unwrap_or((&line[at..], ""));
        let (head, size) = head.split_once('[').ok_or("a variable that is no array")?;
        let mut words = head.split_whitespace().rev();
        let name = words.next().ok_or("a variable without a name")?;
        let kind = words.next().unwrap_or_default().trim_start_matches('.');
        let width = size_of(kind).ok_or("a variable of an unknown type")?;
        let count: usize = size.trim().trim_end_matches(']').parse().map_err(|_| "a size?")?;
        let address = memory::allocate(width * count).ok_or("no memory")?;
        let values = values.trim().trim_matches(['{', '}']).split(',').map(str::trim);
        let values = values.map(|it| it.parse::<i64>().unwrap_or_default().cast_unsigned());
        for (index, value) in values.chain(std::iter::repeat(0)).take(count).enumerate() {
            memory::write(address + (index * width) as u64, width, value).map_err(|_| "memory")?;
        }
        found.push((name.to_owned(), address));
    }
    Ok(found)
}

fn kernel(body: &str, outer: &[(String, usize, usize)]) -> Result<Kernel, String> {
    let mut kernel = Kernel::default();
    // What the launch gives lies after what the code declares.
    let (last, first): (Vec<_>, Vec<_>) =
        outer.iter().cloned().chain(shared_variables(body)).partition(|(_, _, size)| *size == 0);
    for (name, alignment, size) in first.into_iter().chain(last) {
        let offset = kernel.shared_size.next_multiple_of(alignment);
        kernel.shared.insert(name, offset as u64);
        kernel.shared_size = offset + size;
    }
    let mut labels = HashMap::new();
    let mut lines = Vec::new();
    for line in body.split([';', '\n']) {
        let line = line.split("//").next().unwrap_or_default().trim();
        if let Some((label, _)) = line.split_once(':').filter(|(it, _)| it.starts_with('$')) {
            labels.insert(label.to_owned(), lines.len());
        } else if !line.is_empty() && !line.starts_with('.') {
            lines.push(line);
        }
    }
    let mut registers = HashMap::new();
    for line in lines {
        let instruction = instruction(line, &mut registers, &labels)?;
        kernel.instructions.push(instruction);
    }
    kernel.register_count = registers.len();
    Ok(kernel)
}

fn instruction(
    line: &str,
    registers: &mut HashMap<String, usize>,
    labels: &HashMap<String, usize>,
) -> Result<Instruction, String> {
    let (guard, rest) = match line.strip_prefix('@') {
        Some(rest) => {
            let (name, rest) = rest.split_once(char::is_whitespace).ok_or("a guard alone")?;
            let (is_negated, name) = name.strip_prefix('!').map_or((false, name), |it| (true, it));
            (Some((register(name, registers), is_negated)), rest.trim())
        }
        None => (None, line),
    };
    let (name, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let words: Vec<String> = name.split('.').map(str::to_owned).collect();
    let mut operands = Vec::new();
    for text in split(rest.trim()) {
        operands.push(operand(text, registers, labels).ok_or_else(|| format!("{line}: {text}?"))?);
    }
    Ok(Instruction { guard, words, operands })
}

/// Operands at the commas outside of braces; `%p1|%p2` is two of them.
fn split(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (at, letter) in text.char_indices() {
        match letter {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            ',' | '|' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

fn register(name: &str, registers: &mut HashMap<String, usize>) -> usize {
    let next = registers.len();
    *registers.entry(name.to_owned()).or_insert(next)
}

fn operand(
    text: &str,
    registers: &mut HashMap<String, usize>,
    labels: &HashMap<String, usize>,
) -> Option<Operand> {
    if let Some(inner) = text.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
        let (base, offset) = match inner.rsplit_once('+') {
            Some((base, offset)) => (base, offset.trim().parse().ok()?),
            None => (inner, 0),
        };
        let base = operand(base.trim(), registers, labels)?;
        return Some(Operand::Memory(Box::new(base), offset));
    }
    if let Some(inner) = text.strip_prefix('{').and_then(|it| it.strip_suffix('}')) {
        let parts = split(inner).into_iter().map(|part| operand(part, registers, labels));
        return Some(Operand::Vector(parts.collect::<Option<_>>()?));
    }
    if text.starts_with("%tid") || text.starts_with("%ntid") || text.contains("ctaid") {
        return Some(Operand::Special(text.to_owned()));
    }
    if text.starts_with("%laneid") || text.starts_with("%warpid") {
        return Some(Operand::Special(text.to_owned()));
    }
    if text.starts_with('%') {
        return Some(Operand::Register(register(text, registers)));
    }
    if let Some(target) = labels.get(text) {
        return Some(Operand::Target(*target));
    }
    let hexadecimal = |digits| u64::from_str_radix(digits, 16).ok().map(Operand::Number);
    let floats = text.strip_prefix("0f").or_else(|| text.strip_prefix("0d"));
    if let Some(digits) = floats.or_else(|| text.strip_prefix("0x")) {
        return hexadecimal(digits.trim_end_matches('U'));
    }
    if let Ok(number) = text.parse::<i64>() {
        return Some(Operand::Number(number.cast_unsigned()));
    }
    let is_name = |letter: char| letter.is_alphanumeric() || "_$.".contains(letter);
    (!text.is_empty() && text.chars().all(is_name)).then(|| Operand::Name(text.to_owned()))
}

/// The size of a type in bytes.
pub(crate) fn size_of(kind: &str) -> Option<usize> {
    Some(match kind {
        "b8" | "u8" | "s8" => 1,
        "b16" | "u16" | "s16" | "f16" | "bf16" => 2,
        "b32" | "u32" | "s32" | "f32" | "f16x2" => 4,
        "b64" | "u64" | "s64" | "f64" => 8,
        _ => return None,
    })
}
