//! [`Reader`]: a function, its regions, and the names of its values. Each family of operations has
//! a file of its own.

use std::collections::HashMap;

use crate::operations::{Function, Id, Kind, Operation, Region, Size, Slice};
use crate::refusal::{Refusal, Result};
use crate::text::cursor::{Cursor, MOST_NESTED};
use crate::text::module::ModuleText;
use crate::text::module::map_of;
use crate::text::types;
use mlir::Map;
use mlir::{Element, Type};

/// What an operation does, and the types of its results.
pub(crate) type Read = (Kind, Vec<Type>);

/// Reads an operation after its name, whatever its family.
pub(crate) type Families = for<'t, 'm> fn(&mut Reader<'t, 'm>, &'t str) -> Result<Read>;

/// Reads one function.
pub(crate) struct Reader<'t, 'm> {
    pub(crate) cursor: Cursor<'t>,
    module: &'m ModuleText<'t>,
    families: Families,
    types: Vec<Type>,
    names: HashMap<String, Id>,
    /// The operations of the regions that are open.
    open: Vec<Vec<Operation>>,
}

impl<'t, 'm> Reader<'t, 'm> {
    /// Reads the function with this name.
    pub(crate) fn function(
        module: &'m ModuleText<'t>,
        name: &str,
        families: Families,
    ) -> Result<Function> {
        let mut reader = Self {
            cursor: module.function(name)?,
            module,
            families,
            types: Vec::new(),
            names: HashMap::new(),
            open: Vec::new(),
        };
        let line = reader.cursor.line();
        reader.cursor.word();
        while !reader.cursor.sees("@") {
            if reader.cursor.word().is_empty() {
                return reader.cursor.error("expected the name of a function");
            }
        }
        let name = reader.cursor.symbol()?;
        reader.cursor.expect("(")?;
        let mut parameters = Vec::new();
        while !reader.cursor.eat(")") {
            parameters.push(reader.argument()?);
            if reader.cursor.sees("{") {
                reader.cursor.skip_group()?;
                reader.cursor.skip_location()?;
            }
            if !reader.cursor.eat(",") {
                reader.cursor.expect(")")?;
                break;
            }
        }
        // Results, attributes; the body begins at the last `{` of the line.
        if reader.cursor.eat("->") && !reader.cursor.sees("(") {
            types::read(&mut reader.cursor)?;
        }
        loop {
            reader.cursor.skip();
            if reader.cursor.sees("(") {
                reader.cursor.skip_group()?;
            } else if reader.cursor.eat("attributes") {
                reader.cursor.skip();
                reader.cursor.skip_group()?;
            } else {
                break;
            }
        }
        let mut body = reader.region()?;
        body.arguments.clone_from(&parameters);
        let (types, imaginary) = (reader.types, HashMap::new());
        Ok(Function { name, line, parameters, body, types, imaginary })
    }

    /// Reads `%name: type loc(…)`.
    fn argument(&mut self) -> Result<Id> {
        let name = self.cursor.value()?;
        self.cursor.expect(":")?;
        let type_ = types::read(&mut self.cursor)?;
        self.cursor.skip_location()?;
        Ok(self.define(name.to_owned(), type_))
    }

    /// Reads `(%a: f32, %b: f32)`, or nothing.
    pub(crate) fn arguments(&mut self) -> Result<Vec<Id>> {
        let mut arguments = Vec::new();
        if self.cursor.eat("(") && !self.cursor.eat(")") {
            loop {
                arguments.push(self.argument()?);
                if !self.cursor.eat(",") {
                    self.cursor.expect(")")?;
                    break;
                }
            }
        }
        Ok(arguments)
    }

    /// Reads `{ … }`, with or without the head of its block.
    pub(crate) fn region(&mut self) -> Result<Region> {
        self.cursor.expect("{")?;
        if self.open.len() > MOST_NESTED {
            return self.cursor.error("these regions nest too deep");
        }
        let mut region = Region::default();
        if self.cursor.eat("^") {
            self.cursor.word();
            region.arguments = self.arguments()?;
            self.cursor.expect(":")?;
        }
        self.open.push(Vec::new());
        let yields = self.block();
        region.operations = self.open.pop().unwrap_or_default();
        region.yields = yields?;
        Ok(region)
    }

    /// Reads operations up to the `}` of their block, and what the last one yields.
    fn block(&mut self) -> Result<Vec<Id>> {
        let mut yields = Vec::new();
        loop {
            if self.cursor.eat("}") {
                return Ok(yields);
            }
            if self.cursor.sees("^") {
                let line = self.cursor.line();
                return Err(Refusal::unsupported(line, "branches between blocks"));
            }
            let word = self.cursor.peek_word();
            if !mlir::ends_block(word) {
                self.operation()?;
                continue;
            }
            self.cursor.word();
            while self.cursor.sees("%") {
                yields.push(self.operand()?);
                self.cursor.eat(",");
            }
            if self.cursor.eat(":") {
                types::read(&mut self.cursor)?;
                while self.cursor.eat(",") {
                    types::read(&mut self.cursor)?;
                }
            }
            self.cursor.skip_location()?;
            self.cursor.expect("}")?;
            return Ok(yields);
        }
    }

    fn operation(&mut self) -> Result<()> {
        let mut names: Vec<String> = Vec::new();
        if self.cursor.sees("%") {
            loop {
                let name = self.cursor.value()?;
                // `%5:2` are `%5#0` and `%5#1`.
                if self.cursor.peek() == Some(b':') {
                    self.cursor.bump(1);
                    let count = self.cursor.integer()?;
                    if !(1..=1000).contains(&count) {
                        return self.cursor.error(format!("an operation with {count} results"));
                    }
                    names.extend((0..count).map(|at| format!("{name}#{at}")));
                } else {
                    names.push(name.to_owned());
                }
                if !self.cursor.eat(",") {
                    break;
                }
            }
            self.cursor.expect("=")?;
        }
        self.cursor.skip();
        let line = self.cursor.line();
        if self.cursor.sees("\"") {
            let name = self.cursor.string()?;
            let refusal = Refusal::unsupported(line, "the generic notation is not read");
            return Err(refusal.in_operation(&name, line));
        }
        let name = self.cursor.word();
        if name.is_empty() {
            return self.cursor.error("expected an operation");
        }
        let read = self.families;
        let (kind, types) = read(self, name).map_err(|it| it.in_operation(name, line))?;
        self.cursor.skip_location()?;
        if types.len() != names.len() {
            let reason = format!("{} results of which {} have names", types.len(), names.len());
            return Err(Refusal::malformed(line, reason).in_operation(name, line));
        }
        let mut results = Vec::new();
        for (name, type_) in names.into_iter().zip(types) {
            results.push(self.define(name, type_));
        }
        self.push(Operation { name: name.to_owned(), line, results, kind });
        Ok(())
    }

    /// Adds an operation that no text names.
    pub(crate) fn emit(&mut self, name: &str, kind: Kind, type_: Type) -> Id {
        let id = self.fresh(type_);
        let line = self.cursor.line();
        self.push(Operation { name: name.to_owned(), line, results: vec![id], kind });
        id
    }

    fn push(&mut self, operation: Operation) {
        if let Some(operations) = self.open.last_mut() {
            operations.push(operation);
        }
    }

    /// Makes a region of operations that no text has.
    pub(crate) fn build(
        &mut self,
        arguments: &[Type],
        make: impl FnOnce(&mut Self, &[Id]) -> Result<Vec<Id>>,
    ) -> Result<Region> {
        let arguments: Vec<Id> = arguments.iter().map(|type_| self.fresh(type_.clone())).collect();
        self.open.push(Vec::new());
        let yields = make(self, &arguments);
        let operations = self.open.pop().unwrap_or_default();
        Ok(Region { arguments, operations, yields: yields? })
    }

    pub(crate) fn fresh(&mut self, type_: Type) -> Id {
        self.types.push(type_);
        Id(self.types.len() - 1)
    }

    pub(crate) fn define(&mut self, name: String, type_: Type) -> Id {
        let id = self.fresh(type_);
        self.names.insert(name, id);
        id
    }

    /// Reads a value that is defined above.
    pub(crate) fn operand(&mut self) -> Result<Id> {
        let name = self.cursor.value()?;
        match self.names.get(name) {
            Some(id) => Ok(*id),
            None => self.cursor.error(format!("`%{name}` is not defined")),
        }
    }

    /// Reads values up to and with `end`.
    pub(crate) fn operands(&mut self, end: &str) -> Result<Vec<Id>> {
        let mut operands = Vec::new();
        if self.cursor.eat(end) {
            return Ok(operands);
        }
        loop {
            operands.push(self.operand()?);
            if self.cursor.eat(end) {
                return Ok(operands);
            }
            self.cursor.expect(",")?;
        }
    }

    /// Reads a list of numbers and values in brackets.
    pub(crate) fn sizes(&mut self, begin: &str, end: &str) -> Result<Vec<Size>> {
        self.cursor.expect(begin)?;
        let mut sizes = Vec::new();
        if self.cursor.eat(end) {
            return Ok(sizes);
        }
        loop {
            sizes.push(if self.cursor.sees("%") {
                Size::Value(self.operand()?)
            } else {
                Size::Fixed(self.cursor.integer()?)
            });
            if self.cursor.eat(end) {
                return Ok(sizes);
            }
            self.cursor.expect(",")?;
        }
    }

    /// Reads `offsets = […], sizes = […], strides = […]`.
    pub(crate) fn named_slice(&mut self) -> Result<Slice> {
        let mut parts = Vec::new();
        for name in ["offsets", "sizes", "strides"] {
            self.cursor.eat(",");
            self.cursor.expect(name)?;
            self.cursor.expect("=")?;
            parts.push(self.sizes("[", "]")?);
        }
        let strides = parts.pop().unwrap_or_default();
        let sizes = parts.pop().unwrap_or_default();
        Ok(Slice { offsets: parts.pop().unwrap_or_default(), sizes, strides })
    }

    /// Reads `[offsets] [sizes] [strides]`.
    pub(crate) fn slice(&mut self) -> Result<Slice> {
        let offsets = self.sizes("[", "]")?;
        let sizes = self.sizes("[", "]")?;
        Ok(Slice { offsets, sizes, strides: self.sizes("[", "]")? })
    }

    pub(crate) fn type_of(&self, id: Id) -> Type {
        self.types[id.0].clone()
    }

    pub(crate) fn element_of(&self, id: Id) -> Element {
        self.types[id.0].element()
    }

    pub(crate) fn read_type(&mut self) -> Result<Type> {
        types::read(&mut self.cursor)
    }

    /// Reads `#map` or `affine_map<…>`.
    pub(crate) fn map_at(&self, cursor: &mut Cursor<'t>) -> Result<Map> {
        if cursor.sees("#") {
            let alias = cursor.alias()?;
            let line = cursor.line();
            return self.module.map(alias, line);
        }
        cursor.expect("affine_map")?;
        let text = cursor.skip_group()?;
        match text.get(1..text.len().saturating_sub(1)) {
            Some(inside) => map_of(inside, cursor.line()),
            None => cursor.error("expected `<` after `affine_map`"),
        }
    }

    /// An error at the current position: the operation is not evaluated.
    pub(crate) fn unsupported<T>(&mut self, reason: impl Into<String>) -> Result<T> {
        let line = self.cursor.line();
        Err(Refusal::unsupported(line, reason))
    }
}
