//! A reader of MLIR text that only knows where names begin, where they end, and their types.
//!
//! It reads the sources of this suite: one operation per line, and regions whose braces end lines.

/// A name that a source defines.
#[derive(Debug)]
pub(crate) struct Name {
    pub(crate) name: String,
    /// Its type as written; empty if the reader does not find it.
    pub(crate) kind: String,
    /// The lines where it is in scope.
    pub(crate) first: u32,
    pub(crate) last: u32,
}

/// The names of a source.
pub(crate) struct Source {
    names: Vec<Name>,
    /// The lines of operations.
    pub(crate) lines: Vec<u32>,
}

impl Source {
    pub(crate) fn read(text: &str) -> Self {
        let mut reader = Reader::default();
        for (index, line) in text.lines().enumerate() {
            reader.line(index as u32 + 1, line.trim());
        }
        Self { names: reader.names, lines: reader.lines }
    }

    /// The name's types on this line; empty if it is not in scope.
    pub(crate) fn kinds(&self, name: &str, line: u32) -> Vec<&str> {
        let is_here = |it: &&Name| it.name == name && (it.first..=it.last).contains(&line);
        self.names.iter().filter(is_here).map(|it| it.kind.as_str()).collect()
    }
}

#[derive(Default)]
struct Reader {
    names: Vec<Name>,
    lines: Vec<u32>,
    /// For each open brace, the names that end with it, and the names whose type follows it.
    open: Vec<(Vec<usize>, Vec<usize>)>,
}

impl Reader {
    fn line(&mut self, number: u32, line: &str) {
        let is_end = line.starts_with('}');
        if is_end {
            self.close(number, line);
        }
        let mut made = Vec::new();
        if let Some((results, _)) = line.split_once(" = ")
            && results.starts_with('%')
        {
            for result in results.split(", ") {
                made.extend(self.results(result, line, number));
            }
        }
        if !is_end && (line.starts_with('%') || line.contains('.') || line.starts_with("return")) {
            self.lines.push(number);
        }
        let opens = line.ends_with('{');
        if opens {
            self.open.push((Vec::new(), made));
        }
        let is_function = line.contains("func.func") || line.contains("util.func");
        if line.starts_with('^') || is_function {
            let inside = line.split_once('(').map_or("", |(_, inside)| inside);
            self.arguments(inside, number);
        }
    }

    /// Reads the names of `%x` or `%x:2`.
    fn results(&mut self, result: &str, line: &str, number: u32) -> Vec<usize> {
        let kind = if line.ends_with('{') { String::new() } else { type_at_end(line).to_owned() };
        let names = match result.split_once(':') {
            None => vec![result.to_owned()],
            Some((name, count)) => {
                let count = count.parse().unwrap_or(0);
                (0..count).map(|index| format!("{name}#{index}")).collect()
            }
        };
        let is_one = names.len() == 1;
        let added = names.into_iter().map(|name| {
            let kind = if is_one { kind.clone() } else { String::new() };
            self.define(Name { name, kind, first: number + 1, last: u32::MAX })
        });
        added.collect()
    }

    fn define(&mut self, name: Name) -> usize {
        self.names.push(name);
        let index = self.names.len() - 1;
        if let Some((names, _)) = self.open.last_mut() {
            names.push(index);
        }
        index
    }

    /// `%a: type {attributes}, %b: type) …`
    fn arguments(&mut self, text: &str, number: u32) {
        for part in text.split('%').skip(1) {
            let Some((name, rest)) = part.split_once(':') else { continue };
            let kind = upto_comma(rest.trim());
            let name = format!("%{}", name.trim());
            self.define(Name { name, kind: kind.to_owned(), first: number, last: u32::MAX });
        }
    }

    fn close(&mut self, number: u32, line: &str) {
        let Some((ended, awaiting)) = self.open.pop() else { return };
        for name in ended {
            self.names[name].last = number;
        }
        for name in awaiting {
            self.names[name].first = number + 1;
            if let [name] = [name]
                && let Some((_, kind)) = line.rsplit_once("-> ")
            {
                kind.clone_into(&mut self.names[name].kind);
            }
        }
    }
}

/// The text before a comma or bracket that is not inside other brackets.
fn upto_comma(text: &str) -> &str {
    let mut depth = 0;
    for (at, letter) in text.char_indices() {
        match letter {
            '<' | '(' | '[' => depth += 1,
            '>' | ']' => depth -= 1,
            ')' if depth == 0 => return text[..at].trim(),
            ')' => depth -= 1,
            ',' | '{' if depth == 0 => return text[..at].trim(),
            _ => {}
        }
    }
    text
}

/// The type of an operation's result: after its last arrow, else after its last colon.
fn type_at_end(line: &str) -> &str {
    let line = line.split(" loc(").next().unwrap_or(line);
    match line.rsplit_once(" -> ") {
        Some((_, kind)) => kind.trim_matches(['(', ')']).trim(),
        None => {
            let kind = line.rsplit_once(" : ").map_or("", |(_, kind)| kind);
            kind.rsplit_once(" to ").map_or(kind, |(_, kind)| kind).trim()
        }
    }
}

/// An element type and a shape; an unknown size is `None`.
#[derive(PartialEq, Debug)]
pub(crate) struct Shape {
    pub(crate) sizes: Vec<Option<u64>>,
    pub(crate) element: String,
}

/// `tensor<?x16xf32>`, `!torch.vtensor<[?,16],f32>`.
pub(crate) fn shape(kind: &str) -> Option<Shape> {
    let size = |text: &str| text.trim().parse().ok();
    if let Some(inside) = kind.strip_prefix("!torch.vtensor<[") {
        let (sizes, element) = inside.strip_suffix('>')?.split_once("],")?;
        let sizes = sizes.split(',').filter(|it| !it.is_empty()).map(size).collect();
        return Some(Shape { sizes, element: element.replace(['s', 'u'], "") });
    }
    let inside = kind.strip_prefix("tensor<")?.strip_suffix('>')?;
    let mut parts: Vec<&str> = inside.split('x').collect();
    let element = parts.pop()?.to_owned();
    Some(Shape { sizes: parts.into_iter().map(size).collect(), element })
}
