//! The outline: the symbols of a document, nested like their containers.

use syntax::{ChunkKind, Language, OpClass, Symbol, TextRange};

use crate::{Document, calling};

/// A symbol in the outline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlineItem {
    /// The symbol's name, or the operation's if it has none.
    pub name: String,
    /// Its operation, and its type if that is short.
    pub detail: String,
    /// Its class.
    pub class: OpClass,
    /// The whole symbol.
    pub range: TextRange,
    /// Its name.
    pub selection: TextRange,
    /// The symbols inside it.
    pub children: Vec<OutlineItem>,
}

/// The outline of a document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outline {
    /// The top-level symbols.
    pub items: Vec<OutlineItem>,
    /// How many symbols the limit left out.
    pub left_out: usize,
}

/// The outline, with at most `limit` symbols: editors need seconds for a hundred thousand.
pub fn outline(document: &Document, limit: usize) -> Outline {
    let mut builder = Builder { open: vec![Vec::new()], containers: Vec::new(), end: 0 };
    let (mut listed, mut left_out) = (0, 0);
    for placed in document.chunks().iter() {
        match placed.chunk.kind {
            ChunkKind::Item | ChunkKind::Open => {
                let item = if listed < limit { item(document, &placed) } else { None };
                let is_symbol = placed.chunk.name != 0 || item.is_some();
                listed += usize::from(is_symbol && listed < limit);
                left_out += usize::from(is_symbol && item.is_none());
                if placed.chunk.kind == ChunkKind::Open {
                    builder.open(item);
                } else if let Some(item) = item {
                    builder.add(item, document.language() == Language::Vmasm);
                }
            }
            ChunkKind::Close => builder.close(placed.range().end),
            ChunkKind::Separator => builder.close_all(placed.start),
            ChunkKind::Part | ChunkKind::Trivia => {}
        }
        builder.end = placed.range().end;
    }
    let end = builder.end;
    builder.close_all(end);
    Outline { items: builder.open.pop().unwrap_or_default(), left_out }
}

struct Builder {
    /// The lists being filled, outermost first. There is one more than `containers`.
    open: Vec<Vec<OutlineItem>>,
    containers: Vec<Option<OutlineItem>>,
    end: usize,
}

impl Builder {
    fn open(&mut self, item: Option<OutlineItem>) {
        self.containers.push(item);
        self.open.push(Vec::new());
    }

    /// In `.vmasm` the module is a line, not a region, so the rest of the file belongs to it.
    fn add(&mut self, item: OutlineItem, is_vmasm: bool) {
        if is_vmasm && item.class == OpClass::Module {
            self.close_all(item.range.start);
            self.open(Some(item));
        } else if let Some(list) = self.open.last_mut() {
            list.push(item);
        }
    }

    fn close(&mut self, end: usize) {
        let Some(container) = self.containers.pop() else { return };
        let children = self.open.pop().unwrap_or_default();
        let Some(list) = self.open.last_mut() else { return };
        match container {
            Some(mut item) => {
                item.range.end = end;
                item.children = children;
                list.push(item);
            }
            // A hidden container passes its contents to its parent.
            None => list.extend(children),
        }
    }

    fn close_all(&mut self, end: usize) {
        while !self.containers.is_empty() {
            self.close(end);
        }
    }
}

fn item(document: &Document, placed: &syntax::Placed) -> Option<OutlineItem> {
    let text = document.text();
    let Some(symbol) = Symbol::read(text, placed) else {
        let is_shown = matches!(placed.chunk.class, OpClass::Module | OpClass::Initializer);
        let op = syntax::Lexer::new(text, placed.op_start()).next()?;
        return is_shown.then(|| OutlineItem {
            name: op.name(text),
            detail: String::new(),
            class: placed.chunk.class,
            range: placed.op_start()..placed.range().end,
            selection: op.range,
            children: Vec::new(),
        });
    };
    Some(OutlineItem {
        detail: detail(&symbol),
        name: symbol.name,
        class: symbol.class,
        range: symbol.range,
        selection: symbol.name_range,
        children: Vec::new(),
    })
}

const LONGEST_DETAIL: usize = 100;

/// The detail of a symbol: `func.func (i32) -> (f32)`, `vm.import 0ii_i`, `vm.export → @f`.
fn detail(symbol: &Symbol) -> String {
    let mut detail = symbol.op.clone();
    if let Some(function_type) = &symbol.function_type {
        let shown = calling::type_line(function_type);
        if shown.len() <= LONGEST_DETAIL {
            detail = format!("{detail} {shown}");
        }
    }
    if let Some((text, _)) = &symbol.calling_convention {
        detail = format!("{detail} {text}");
    }
    if let Some((target, _)) = &symbol.target {
        detail = format!("{detail} → @{target}");
    }
    detail
}
