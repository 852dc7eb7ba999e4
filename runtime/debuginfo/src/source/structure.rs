//! Which operations of a source follow which: functions, regions and blocks, from the syntax tree.
//!
//! A line without code of its own stands for the next operation of its block that has code: when
//! control reaches the line, it reaches that operation too. Operations of other blocks may run when
//! the line does not, or more often.

use std::sync::{Arc, Mutex, PoisonError};

use syntax::{
    ChunkKind, ChunkTable, IN_FUNCTION, Language, NodeId, NodeKind, OpClass, Placed, Shape, Source,
    Tree,
};

use super::lines::Lines;

/// The most operations after a line that are considered.
const MOST: usize = 4096;

/// The chunks of a text and its lines. Chunks are parsed when they are needed.
#[derive(Debug)]
pub(crate) struct Structure {
    lines: Lines,
    pub(super) chunks: ChunkTable,
    /// The chunks that were parsed last: queries about one chunk come in runs.
    last: Mutex<Vec<Arc<Chunk>>>,
    /// The number of chunks that were parsed.
    #[cfg(test)]
    read: std::sync::atomic::AtomicUsize,
}

/// A parsed chunk.
#[derive(Debug)]
struct Chunk {
    start: usize,
    tree: Tree,
    lines: Vec<u32>,
    outermost: Vec<NodeId>,
}

/// The most chunks that are kept parsed. A query needs the chunk of its line and the next one.
const KEPT: usize = 4;

/// The role of a line in its function.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct LinePlace {
    /// If the line continues an operation: the line on which that operation begins.
    pub(crate) continues: Option<u32>,
    /// The lines of the operations that follow in the same block, in order.
    pub(crate) following: Vec<u32>,
}

impl Structure {
    #[cfg(test)]
    fn of(text: &str) -> Self {
        Self::with_lines(text, Lines::of(text))
    }

    /// The structure of a text whose lines are known.
    pub(super) fn with_lines(text: &str, lines: Lines) -> Self {
        Self {
            lines,
            chunks: ChunkTable::scan(text),
            last: Mutex::default(),
            #[cfg(test)]
            read: Default::default(),
        }
    }

    /// The role of a line; `None` outside of functions.
    pub(super) fn place(&self, text: &str, line: u32) -> Option<LinePlace> {
        let (chunk, offset) = self.chunk_of(text, line)?;
        let read = self.read(text, &chunk);
        let part = Part { structure: self, chunk: &read };
        let mut place = part.place(offset, line);
        let is_cut = chunk.chunk.depth & IN_FUNCTION != 0 && chunk.chunk.kind == ChunkKind::Part;
        if is_cut && place.continues.is_none() && part.is_outermost(offset) {
            let next = self.chunks.iter_from(chunk.range().end).next()?;
            let read = self.read(text, &next);
            let part = Part { structure: self, chunk: &read };
            place.following.extend(read.outermost.iter().map(|id| part.line(*id)));
        }
        place.following.truncate(MOST);
        Some(place)
    }

    /// If a line continues an operation: the line on which that operation begins.
    pub(super) fn continues(&self, text: &str, line: u32) -> Option<u32> {
        let (chunk, offset) = self.chunk_of(text, line)?;
        let read = self.read(text, &chunk);
        Part { structure: self, chunk: &read }.continues(offset, line)
    }

    /// The chunk of a function around a line, and the offset of the line's first word.
    fn chunk_of(&self, text: &str, line: u32) -> Option<(Placed, usize)> {
        let start = self.offset_of(line)?;
        let end = self.offset_of(line + 1).unwrap_or(text.len());
        // The beginning of the line is enough to find its first word.
        let begin = text.slice(start..end.min(start + 4096));
        let blank = begin.len() - begin.trim_start().len();
        let offset = if blank < begin.len() { start + blank } else { start };
        let chunk = self.chunks.at(offset)?;
        let Placed { chunk: it, .. } = &chunk;
        let is_inside = is_in_function(it.kind, it.depth, it.class) && offset >= chunk.op_start();
        is_inside.then_some((chunk, offset))
    }

    fn read(&self, text: &str, chunk: &Placed) -> Arc<Chunk> {
        // A poisoned lock is fine: the list is complete after every statement below.
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(read) = last.iter().find(|read| read.start == chunk.start) {
            return Arc::clone(read);
        }
        let read = Arc::new(self.parse(text, chunk));
        last.insert(0, Arc::clone(&read));
        last.truncate(KEPT);
        read
    }

    fn parse(&self, text: &str, chunk: &Placed) -> Chunk {
        #[cfg(test)]
        self.read.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let shape = Shape::of(chunk.chunk.kind);
        let tree = Tree::parse(text, chunk.range(), Language::Mlir, shape);
        let (lines, outermost) = (Vec::new(), outermost(&tree));
        let mut read = Chunk { start: chunk.start, tree, lines, outermost };
        let mut lines = vec![0; read.tree.operations().last().map_or(0, |id| id as usize + 1)];
        for id in read.tree.operations() {
            lines[id as usize] = Part { structure: self, chunk: &read }.position(id).0;
        }
        read.lines = lines;
        read
    }

    /// The line and column of the only return of the function whose operation is on a line; `None`
    /// if it has several.
    pub(super) fn only_return(&self, text: &str, line: u32) -> Option<(u32, u32)> {
        let start = self.offset_of(line)?;
        let begin = text.slice(start..start + 4096);
        let offset = start + begin.len() - begin.trim_start().len();
        let mut chunk = self.chunks.at(offset)?;
        if chunk.chunk.is_long_function() {
            let mut inside = self.chunks.iter_from(chunk.range().end);
            let last = inside.find(|it| it.chunk.kind != ChunkKind::Part)?;
            let before = text.as_bytes().get(chunk.start..last.start)?;
            if memchr::memmem::find_iter(before, b"return ").any(|at| begins_line(before, at)) {
                return None;
            }
            chunk = last;
        }
        let read = self.parse(text, &chunk);
        let (tree, part) = (&read.tree, Part { structure: self, chunk: &read });
        let is_return = |id: &NodeId| {
            let name = tree.op_name(text, chunk.start, *id);
            name == "return" || name.ends_with(".return")
        };
        let mut returns = tree.operations().filter(is_return);
        let only = returns.next()?;
        returns.next().is_none().then(|| part.position(only))
    }

    fn offset_of(&self, line: u32) -> Option<usize> {
        self.lines.start(line)
    }

    fn line_of(&self, offset: usize) -> u32 {
        self.lines.line(offset)
    }
}

/// Whether the word at an offset is the first on its line, except for a dialect's prefix.
fn begins_line(text: &[u8], at: usize) -> bool {
    let start = memchr::memrchr(b'\n', &text[..at]).map_or(0, |newline| newline + 1);
    text[start..at].iter().all(|byte| byte.is_ascii_whitespace() || b"func.util".contains(byte))
}

/// Whether a chunk is a function or a part of one.
fn is_in_function(kind: ChunkKind, depth: u16, class: OpClass) -> bool {
    depth & IN_FUNCTION != 0
        || (matches!(kind, ChunkKind::Item | ChunkKind::Open) && class == OpClass::Function)
}

/// The operations of a tree that are not nested in another one of it.
fn outermost(tree: &Tree) -> Vec<NodeId> {
    let is_outermost = |id: &NodeId| {
        let parent = tree.node(*id).parent;
        tree.operation_of(parent).filter(|_| *id != 0).is_none()
    };
    tree.operations().filter(is_outermost).collect()
}

/// A chunk in its text.
struct Part<'t> {
    structure: &'t Structure,
    chunk: &'t Chunk,
}

impl Part<'_> {
    fn tree(&self) -> &Tree {
        &self.chunk.tree
    }

    /// Where the chunk begins.
    fn base(&self) -> usize {
        self.chunk.start
    }

    /// The innermost operation, block or region around an offset.
    fn around(&self, offset: usize) -> Option<(NodeId, NodeKind)> {
        let inner = self.tree().node_at(offset.saturating_sub(self.base()));
        let mut around = self.tree().ancestors(inner).map(|id| (id, self.tree().node(id).kind));
        around.find(|(_, kind)| {
            matches!(kind, NodeKind::Operation | NodeKind::Block | NodeKind::Region)
        })
    }

    fn continues(&self, offset: usize, line: u32) -> Option<u32> {
        match self.around(offset)? {
            (id, NodeKind::Operation) if self.first_line(id) != line => Some(self.line(id)),
            _ => None,
        }
    }

    fn place(&self, offset: usize, line: u32) -> LinePlace {
        match self.around(offset) {
            // It begins on this line, so the operations after it follow.
            Some((id, NodeKind::Operation)) if self.first_line(id) == line => LinePlace {
                continues: None,
                following: self.following(self.outermost_on(id, line), offset),
            },
            Some((id, NodeKind::Operation)) => {
                LinePlace { continues: Some(self.line(id)), following: Vec::new() }
            }
            Some((id, NodeKind::Block)) => {
                LinePlace { continues: None, following: self.operations_after(id, offset) }
            }
            // A comment before a block, or the brace that ends the region.
            Some((id, _)) => {
                let is_ahead =
                    |block: &NodeId| self.base() + self.tree().range(*block).start > offset;
                if let Some(block) = self.tree().children(id).find(is_ahead) {
                    let following = self.operations_after(block, offset);
                    return LinePlace { continues: None, following };
                }
                let operation = self.tree().operation_of(id);
                let following = operation.map(|it| self.following(it, offset)).unwrap_or_default();
                LinePlace { continues: None, following }
            }
            None => LinePlace::default(),
        }
    }

    /// Of an operation and those around it that begin on a line, the outermost.
    fn outermost_on(&self, id: NodeId, line: u32) -> NodeId {
        let around = self.tree().ancestors(id);
        let is_here = |id: &NodeId| {
            self.tree().node(*id).kind == NodeKind::Operation && self.first_line(*id) == line
        };
        around.filter(is_here).last().unwrap_or(id)
    }

    /// The lines of the operations after an operation in its block.
    fn following(&self, operation: NodeId, offset: usize) -> Vec<u32> {
        let parent = self.tree().node(operation).parent;
        match self.tree().node(parent).kind {
            NodeKind::Block => {
                let end = self.base() + self.tree().range(operation).end;
                self.operations_after(parent, end.max(offset).saturating_sub(1))
            }
            NodeKind::Root if self.structure.is_cut(self.base()) => {
                let start = self.tree().range(operation).start;
                let outermost = self.chunk.outermost.iter();
                let later = outermost.filter(|id| self.tree().range(**id).start > start);
                later.map(|id| self.line(*id)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn operations_after(&self, block: NodeId, offset: usize) -> Vec<u32> {
        let later = self.tree().children(block).filter(|id| {
            self.tree().node(*id).kind == NodeKind::Operation
                && self.base() + self.tree().range(*id).start > offset
        });
        later.map(|id| self.line(id)).collect()
    }

    fn is_outermost(&self, offset: usize) -> bool {
        let inner = self.tree().node_at(offset.saturating_sub(self.base()));
        let operation = self.tree().operation_of(inner);
        operation.is_none_or(|id| self.chunk.outermost.binary_search(&id).is_ok())
    }

    /// The line on which an operation begins, results included.
    fn first_line(&self, id: NodeId) -> u32 {
        self.structure.line_of(self.base() + self.tree().range(id).start)
    }

    /// The line of an operation's name, which is its line in locations.
    fn line(&self, id: NodeId) -> u32 {
        let known = self.chunk.lines.get(id as usize).copied().filter(|line| *line > 0);
        known.unwrap_or_else(|| self.position(id).0)
    }

    fn position(&self, id: NodeId) -> (u32, u32) {
        let name = self.tree().child(id, NodeKind::Name).unwrap_or(id);
        let offset = self.base() + self.tree().range(name).start;
        let line = self.structure.line_of(offset);
        let start = self.structure.offset_of(line).unwrap_or(offset);
        (line, u32::try_from(offset - start + 1).unwrap_or(u32::MAX))
    }
}

impl Structure {
    /// Whether the chunk that begins at an offset is a part of a function.
    fn is_cut(&self, start: usize) -> bool {
        self.chunks.iter_from(start).next().is_some_and(|it| it.chunk.depth & IN_FUNCTION != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "// a comment
module {
  func.func @f(%c: i1, %n: index) -> i32 {
    %a = arith.constant 1 : i32

    %b = scf.if %c -> (i32) {
      // in the branch
      %d = arith.constant 2 : i32
      %e = arith.addi %d, %a : i32
      scf.yield %e : i32
    } else {
      scf.yield %a : i32
    }
    %g = \"t.long\"(%a,
        %b) {k = 1 : i32,
      l = 2 : i32} : (i32, i32) -> i32
    return %g : i32
  }

  func.func @blocks(%c: i1) {
    cf.cond_br %c, ^a, ^b
  ^a:
    %x = arith.constant 1 : i32
    return
  ^b:
    return
  }
}
";

    fn place(line: u32) -> Option<LinePlace> {
        Structure::of(TEXT).place(TEXT, line)
    }

    #[test]
    fn what_follows_is_in_the_same_block() {
        let following = |line| place(line).map(|it| it.following);
        for outside in [1, 2, 19, 28, 400] {
            assert_eq!(following(outside), None, "{outside}");
        }
        assert_eq!(following(4), Some(vec![6, 14, 17]));
        assert_eq!(following(5), Some(vec![6, 14, 17]));
        assert_eq!(following(6), Some(vec![14, 17]));
        assert_eq!(following(7), Some(vec![8, 9, 10]));
        assert_eq!(following(8), Some(vec![9, 10]));
        assert_eq!(following(10), Some(vec![]));
        assert_eq!(following(11), Some(vec![14, 17]));
        assert_eq!(following(13), Some(vec![14, 17]));
        assert_eq!(following(17), Some(vec![]));
        assert_eq!(following(18), Some(vec![]));
        assert_eq!(following(23), Some(vec![24]));
    }

    #[test]
    fn lines_may_continue_operations() {
        for line in [15, 16] {
            assert_eq!(place(line).and_then(|it| it.continues), Some(14), "{line}");
        }
        assert_eq!(place(14).and_then(|it| it.continues), None);
    }

    #[test]
    fn functions_that_return_once() {
        let structure = Structure::of(TEXT);
        assert_eq!(structure.only_return(TEXT, 3), Some((17, 5)));
        assert_eq!(structure.only_return(TEXT, 20), None);
    }

    #[test]
    fn long_functions_are_read_in_parts() {
        use std::fmt::Write as _;
        let mut text = "func.func @f() {\n".to_owned();
        for line in 0..30_000 {
            let _ = writeln!(text, "  %{line} = arith.constant {line} : i32");
        }
        text += "  return\n}\n";
        let structure = Structure::of(&text);
        assert!(structure.chunks.len() > 3, "the function is cut");
        for line in [2, 9_000, 29_999] {
            let following = structure.place(&text, line).map(|it| it.following);
            assert_eq!(following.and_then(|it| it.first().copied()), Some(line + 1));
        }
        assert_eq!(structure.only_return(&text, 1), Some((30_002, 3)));
    }

    #[test]
    fn each_part_of_a_long_function_is_read_once() {
        const COUNT: u32 = 8_000;
        let mut text = "func.func @main(%v0: i32) -> i32 {\n".to_owned();
        for index in 0..COUNT {
            text += &format!("  %v{} = arith.addi %v{index}, %v0 : i32\n", index + 1);
        }
        text += &format!("  return %v{COUNT} : i32\n}}\n");
        let structure = Structure::of(&text);
        let chunks = structure.chunks.iter_from(0).count();
        assert!(chunks > KEPT, "{chunks}");
        for line in 2..COUNT + 2 {
            let place = structure.place(&text, line).unwrap();
            assert_eq!((place.continues, place.following.first()), (None, Some(&(line + 1))));
            assert_eq!(structure.continues(&text, line), None);
        }
        let read = structure.read.load(std::sync::atomic::Ordering::Relaxed);
        assert!(read <= chunks, "{read} of {chunks}");
    }
}
