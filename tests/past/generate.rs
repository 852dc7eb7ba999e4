//! Random programs of tensors with many dispatches, in which memory is written more than once: in
//! place, in parts, in loops, and with what was there.

use std::fmt::Write;

use crate::random::Random;

/// A program with one function, `main`.
pub(crate) struct Program {
    pub(crate) text: String,
    pub(crate) inputs: Vec<String>,
    /// The names of its tensors, with their shapes.
    pub(crate) names: Vec<(String, Vec<usize>)>,
    /// The line of its return.
    pub(crate) last_line: u32,
}

struct Body<'a> {
    random: &'a mut Random,
    text: String,
    names: Vec<(String, Vec<usize>)>,
    /// The square tensors that operations take.
    pool: Vec<String>,
    made: usize,
    size: usize,
    is_float: bool,
}

/// A program from random choices.
pub(crate) fn program(random: &mut Random) -> Program {
    let (size, is_float) = (*random.choose(&[4, 8, 8, 16]), !random.chance(3));
    let mut body = Body {
        random,
        text: String::new(),
        names: Vec::new(),
        pool: ["%x", "%y", "%z"].map(str::to_owned).to_vec(),
        made: 0,
        size,
        is_float,
    };
    let whole = vec![size, size];
    body.names.extend(body.pool.iter().map(|name| (name.clone(), whole.clone())));
    body.begin();
    for _ in 0..5 + body.random.below(9) {
        let depth = 0;
        body.operation(depth);
    }
    let results: Vec<String> = (0..3).map(|_| body.any()).collect();
    let (t, last) = (body.t(), body.pool[body.pool.len() - 1].clone());
    let results = [&results[..], &[last]].concat().join(", ");
    let arguments = ["%x", "%y", "%z"].map(|name| format!("{name}: {t}")).join(", ");
    let types = [t.as_str(); 4].join(", ");
    let head = format!("module @m {{\n  func.func @main({arguments}) -> ({types}) {{\n");
    let text = format!("{head}{}    return {results} : {types}\n  }}\n}}\n", body.text);
    let last_line = text.lines().position(|line| line.starts_with("    return ")).unwrap_or(0) + 1;
    let inputs = (0..3).map(|_| body.argument()).collect();
    Program { inputs, names: body.names, last_line: last_line as u32, text }
}

impl Body<'_> {
    fn element(&self) -> &'static str {
        if self.is_float { "f32" } else { "i32" }
    }

    fn of(&self, rows: usize, columns: usize) -> String {
        format!("tensor<{rows}x{columns}x{}>", self.element())
    }

    fn t(&self) -> String {
        self.of(self.size, self.size)
    }

    fn number(&mut self) -> String {
        let number = self.random.below(9) as f64 - 4.0;
        if self.is_float { format!("{:.1}", number / 2.0) } else { format!("{number}") }
    }

    fn argument(&mut self) -> String {
        let numbers: Vec<String> = (0..self.size * self.size).map(|_| self.number()).collect();
        format!("{0}x{0}x{1}={2}", self.size, self.element(), numbers.join(","))
    }

    fn begin(&mut self) {
        let (element, t) = (self.element(), self.t());
        for index in 0..4 {
            self.line(0, &format!("%c{index} = arith.constant {index} : index"));
        }
        let zero = if self.is_float { "0.0" } else { "0" };
        self.line(0, &format!("%zero = arith.constant {zero} : {element}"));
        self.line(0, &format!("%empty = tensor.empty() : {t}"));
        let fill = format!("linalg.fill ins(%zero : {element}) outs(%empty : {t}) -> {t}");
        self.line(0, &format!("%zeros = {fill}"));
    }

    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.text, "{:1$}{text}", "", 4 + 2 * depth);
    }

    /// A tensor, mostly one of the last ones.
    fn any(&mut self) -> String {
        let count = self.pool.len();
        let back =
            if self.random.chance(2) { self.random.below(3) } else { self.random.below(count) };
        self.pool[count - 1 - back.min(count - 1)].clone()
    }

    /// Adds an operation that makes a tensor of these sizes; returns its name.
    fn add(&mut self, depth: usize, sizes: &[usize], operation: &str) -> String {
        self.made += 1;
        let name = format!("%v{}", self.made);
        self.line(depth, &format!("{name} = {operation}"));
        self.names.push((name.clone(), sizes.to_vec()));
        name
    }

    fn keep(&mut self, depth: usize, operation: &str) {
        let (t, whole) = (self.t(), [self.size; 2]);
        let mut name = self.add(depth, &whole, operation);
        // What comes after it is in a dispatch of its own.
        if self.random.chance(2) {
            name = self.add(depth, &whole, &format!("util.optimization_barrier {name} : {t}"));
        }
        self.pool.push(name);
    }

    fn operation(&mut self, depth: usize) {
        let t = self.t();
        let (one, other) = (self.any(), self.any());
        match self.random.below(if depth == 0 { 12 } else { 9 }) {
            0 | 1 => {
                let names = if self.is_float {
                    ["addf", "mulf", "subf", "maximumf"]
                } else {
                    ["addi", "muli", "xori", "maxsi"]
                };
                let name = *self.random.choose(&names);
                self.keep(depth, &format!("arith.{name} {one}, {other} : {t}"));
            }
            2 if self.is_float => {
                let name = *self.random.choose(&["absf", "tanh", "ceil"]);
                self.keep(depth, &format!("math.{name} {one} : {t}"));
            }
            2 => self.keep(depth, &format!("math.absi {one} : {t}")),
            3 => self.matmul(depth, &one, &other, "%zeros"),
            4 => {
                let into = self.any();
                self.matmul(depth, &one, &other, &into);
            }
            5 => {
                let outs = format!("outs(%empty : {t}) permutation = [1, 0]");
                self.keep(depth, &format!("linalg.transpose ins({one} : {t}) {outs}"));
            }
            6 => self.reduction(depth, &one),
            7 => self.insertion(depth, &one, &other),
            8 => self.in_place(depth, &one, &other),
            _ => self.repetition(),
        }
    }

    fn matmul(&mut self, depth: usize, one: &str, other: &str, into: &str) {
        let t = self.t();
        let text =
            format!("linalg.matmul ins({one}, {other} : {t}, {t}) outs({into} : {t}) -> {t}");
        self.keep(depth, &text);
    }

    /// A sum over one axis, spread over the other.
    fn reduction(&mut self, depth: usize, of: &str) {
        let (t, size, element) = (self.t(), self.size, self.element());
        let (axis, add) = (self.random.below(2), if self.is_float { "addf" } else { "addi" });
        let line = format!("tensor<{size}x{element}>");
        let empty = self.add(depth, &[size], &format!("tensor.empty() : {line}"));
        self.names.pop();
        let fill = format!("linalg.fill ins(%zero : {element}) outs({empty} : {line}) -> {line}");
        let fill = self.add(depth, &[size], &fill);
        let sum = format!(
            "linalg.reduce {{ arith.{add} }} ins({of} : {t}) outs({fill} : {line}) dimensions = \
             [{axis}]"
        );
        let sum = self.add(depth, &[size], &sum);
        let spread = format!(
            "linalg.broadcast ins({sum} : {line}) outs(%empty : {t}) dimensions = [{axis}]"
        );
        self.keep(depth, &spread);
    }

    /// A part of one tensor, or a fill, written into another one.
    fn insertion(&mut self, depth: usize, of: &str, into: &str) {
        let (t, size, element) = (self.t(), self.size, self.element());
        let (rows, columns) = (1 + self.random.below(size - 1), 1 + self.random.below(size - 1));
        let part = self.of(rows, columns);
        let mut at = || {
            format!("[{}, {}]", self.random.below(size - rows), self.random.below(size - columns))
        };
        let (from, to) = (at(), at());
        let sizes = format!("[{rows}, {columns}] [1, 1]");
        let slice = if self.random.chance(3) {
            let number = self.number();
            let number = format!("arith.constant {number} : {element}");
            let number = self.add(depth, &[], &number);
            self.names.pop();
            let empty = self.add(depth, &[], &format!("tensor.empty() : {part}"));
            self.names.pop();
            format!("linalg.fill ins({number} : {element}) outs({empty} : {part}) -> {part}")
        } else {
            format!("tensor.extract_slice {of}{from} {sizes} : {t} to {part}")
        };
        let slice = self.add(depth, &[rows, columns], &slice);
        self.keep(
            depth,
            &format!("tensor.insert_slice {slice} into {into}{to} {sizes} : {part} into {t}"),
        );
    }

    /// The greater of an element that is there and another one, written where it was.
    fn in_place(&mut self, depth: usize, of: &str, into: &str) {
        let (t, element) = (self.t(), self.element());
        let most = if self.is_float { "maximumf" } else { "maxsi" };
        let map = "affine_map<(d0, d1) -> (d0, d1)>";
        self.keep(
            depth,
            &format!(
                "linalg.generic {{indexing_maps = [{map}, {map}], iterator_types = [\"parallel\", \
                 \"parallel\"]}} ins({of} : {t}) outs({into} : {t}) {{ ^bb0(%new: {element}, %old: \
                 {element}): %most = arith.{most} %new, %old : {element} linalg.yield %most : \
                 {element} }} -> {t}"
            ),
        );
    }

    /// A loop that carries a tensor, whose rows or whole it writes.
    fn repetition(&mut self) {
        let (t, size) = (self.t(), self.size);
        let (first, row) = (self.any(), self.of(1, size));
        self.made += 1;
        let (id, count) = (self.made, 2 + self.random.below(2));
        let carried = format!("%acc{id}");
        self.line(
            0,
            &format!(
                "%loop{id} = scf.for %i{id} = %c0 to %c{count} step %c1 iter_args({carried} = \
                 {first}) -> ({t}) {{"
            ),
        );
        let whole = vec![size, size];
        self.names.push((carried.clone(), whole.clone()));
        let outside = self.pool.len();
        let of = self.any();
        self.pool.push(carried.clone());
        if self.random.chance(2) {
            // The same row again, or the next one.
            let from = if self.random.chance(2) { "%c1".to_owned() } else { format!("%i{id}") };
            let to = if self.random.chance(2) { "%c2".to_owned() } else { format!("%i{id}") };
            let sizes = format!("[1, {size}] [1, 1]");
            let slice = format!("tensor.extract_slice {of}[{from}, 0] {sizes} : {t} to {row}");
            let slice = self.add(1, &[1, size], &slice);
            let insert = format!(
                "tensor.insert_slice {slice} into {carried}[{to}, 0] {sizes} : {row} into {t}"
            );
            self.keep(1, &insert);
        }
        for _ in 0..self.random.below(3) {
            self.operation(1);
        }
        let last = self.pool[self.pool.len() - 1].clone();
        self.line(1, &format!("scf.yield {last} : {t}"));
        self.line(0, "}");
        self.pool.truncate(outside);
        self.names.push((format!("%loop{id}"), whole));
        self.pool.push(format!("%loop{id}"));
    }
}
