//! Where lines begin: the columns of a chunk's tokens.
//!
//! An operation is indented by two columns for each region around it, a label by two fewer. A line
//! that continues an operation stays where the author has put it relative to the operation, if that
//! is one of the places in use: two or four columns in, below the content of its bracket, or below
//! a token of the line above. Otherwise it goes where the lines of the same bracket are.
//!
//! Each choice is such that the result is a choice of the author's that stays, so that formatting
//! twice is formatting once.

use std::collections::HashMap;

use syntax::{NodeId, NodeKind, TokenKind};

use super::chunk_view::ChunkView;
use super::spacing::spacing;

/// What precedes a chunk.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Before {
    /// The end of the last token.
    pub(super) end: usize,
    /// The column after it.
    pub(super) column: usize,
    /// The indentation of its line, old and new.
    pub(super) line: Indent,
    /// That of the last line that begins with code.
    pub(super) code_line: Indent,
}

/// The indentation of a line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Indent {
    pub(super) old: usize,
    pub(super) new: usize,
}

/// Where a token stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// Its column.
    pub(super) column: usize,
    /// Whether it is the first of its line.
    pub(super) begins_line: bool,
    /// The first token of its line, if that is in its chunk.
    first: Option<usize>,
    /// The indentation of its line.
    line: Indent,
}

/// The tokens of a chunk, laid out.
pub(super) struct Layout {
    pub(super) places: Vec<Place>,
    /// The white space before each token.
    pub(super) gaps: Vec<String>,
    /// What precedes the next chunk.
    pub(super) after: Before,
}

/// The farthest column to which lines are aligned without the author's having done so.
const FAR: usize = 60;

/// Lays out a chunk. `breaks` says before which tokens a line begins that the author does not have;
/// `keeps_lines`, that no blank lines may go.
pub(super) fn lay_out(
    view: &ChunkView<'_>,
    whole: &str,
    before: Before,
    breaks: &[bool],
    keeps_lines: bool,
) -> Layout {
    let mut layout = Writer {
        view,
        whole,
        before,
        breaks,
        places: Vec::with_capacity(view.tokens().len()),
        first_columns: HashMap::new(),
        state: before,
        last_code: None,
    };
    let mut gaps = Vec::with_capacity(view.tokens().len());
    for token in 0..view.tokens().len() {
        gaps.push(layout.place(token, keeps_lines));
    }
    Layout { places: layout.places, gaps, after: layout.state }
}

struct Writer<'v, 't> {
    view: &'v ChunkView<'t>,
    whole: &'t str,
    before: Before,
    breaks: &'v [bool],
    places: Vec<Place>,
    /// The column of the first line that begins in a bracket, or in an operation outside brackets.
    first_columns: HashMap<NodeId, usize>,
    state: Before,
    /// The last token that was placed and is no comment.
    last_code: Option<usize>,
}

impl<'t> Writer<'_, 't> {
    /// The white space before a token in the text.
    fn gap(&self, token: usize) -> &'t str {
        let end = match token.checked_sub(1) {
            Some(before) => self.view.range(before).end,
            None => self.before.end,
        };
        &self.whole[end..self.view.range(token).start]
    }

    /// The column of the first token of a line in the text; `None` where tabs make it uncertain, or
    /// the line is a new one.
    fn old_column(&self, token: usize) -> Option<usize> {
        let gap = self.gap(token);
        let begins = gap.contains('\n') || self.is_first_of_text(token);
        let indent = gap.rsplit('\n').next().unwrap_or_default();
        (begins && !indent.contains('\t')).then_some(indent.len())
    }

    fn is_first_of_text(&self, token: usize) -> bool {
        token == 0 && self.before.end == 0
    }

    /// Places a token and answers the white space before it.
    fn place(&mut self, token: usize, keeps_lines: bool) -> String {
        let gap = self.gap(token);
        let is_verbatim = self.view.is_verbatim(token) && token > 0;
        let begins_line = gap.contains('\n') || self.breaks[token] || self.is_first_of_text(token);
        let text = if is_verbatim {
            gap.to_owned()
        } else if begins_line {
            self.new_line(token, gap, keeps_lines)
        } else {
            spacing(self.view, token, gap).to_owned()
        };
        if begins_line {
            let new = text.rsplit('\n').next().unwrap_or_default().chars().count();
            let old = self.old_column(token).unwrap_or(new);
            self.state.line = Indent { old, new };
            self.state.column = new;
            if !self.view.is_comment(token) {
                self.state.code_line = self.state.line;
            }
        } else {
            self.state.column += text.chars().count();
        }
        let column = self.state.column;
        let above = token.checked_sub(1).and_then(|before| self.places[before].first);
        let first = if begins_line { Some(token) } else { above };
        self.places.push(Place { column, begins_line, first, line: self.state.line });
        self.state.column += self.view.width(token);
        if !self.view.is_comment(token) {
            self.last_code = Some(token);
        }
        self.state.end = self.view.range(token).end;
        text
    }

    /// The ends of lines and the indentation before a token.
    fn new_line(&mut self, token: usize, gap: &str, keeps_lines: bool) -> String {
        if self.view.is_separator(token) {
            let indent = gap.rsplit('\n').next().unwrap_or_default();
            return self.line_ends(token, gap, keeps_lines) + indent;
        }
        let indent =
            if self.view.is_comment(token) { self.comment(token) } else { self.indentation(token) };
        self.line_ends(token, gap, keeps_lines) + &" ".repeat(indent)
    }

    /// At most one blank line, unless lines are counted.
    fn line_ends(&self, token: usize, gap: &str, keeps_lines: bool) -> String {
        let count = gap.matches('\n').count();
        let count = if keeps_lines { count } else { count.min(2) };
        if self.is_first_of_text(token) {
            return if keeps_lines { line_end(gap).repeat(count) } else { String::new() };
        }
        let end = if count == 0 { line_end(self.whole) } else { line_end(gap) };
        end.repeat(count.max(1))
    }

    /// Comments stay beside what they are beside: the line below, or the line above. Those at the
    /// margin, or aligned with a region around them, stay.
    fn comment(&mut self, token: usize) -> usize {
        let next = self.view.code_from(token);
        let below = match next {
            Some(next) => self.indentation(next),
            None => 2 * self.view.nesting,
        };
        let Some(column) = self.old_column(token) else { return below };
        if next.is_some_and(|next| self.old_column(next) == Some(column)) {
            return below;
        }
        let above = self.state.code_line;
        if column == above.old {
            return above.new;
        }
        let regions = self.view.regions(self.view.node_of[next.unwrap_or(token)]);
        let is_in_use = column.is_multiple_of(2) && column <= 2 * regions;
        if is_in_use { column } else { below }
    }

    /// The column of a token of code that begins a line.
    fn indentation(&mut self, token: usize) -> usize {
        let view = self.view;
        let starts =
            |kind| matches!(kind, NodeKind::Operation | NodeKind::Alias | NodeKind::Resources);
        if let Some(node) = view.begins(token, starts) {
            // The brace that closes a container is a chunk of its own.
            let closes = usize::from(view.tokens()[token].is(b'}'));
            return 2 * view.regions(node).saturating_sub(closes);
        }
        if let Some(label) = view.begins(token, |kind| kind == NodeKind::Label) {
            return 2 * view.regions(label).saturating_sub(1);
        }
        let node = view.node_of[token];
        if view.tree.node(node).kind == NodeKind::Region && view.closes(token, node) {
            return 2 * view.regions(node).saturating_sub(1);
        }
        self.continued(token)
    }

    /// The column of a line that continues an operation, an alias or a label.
    fn continued(&mut self, token: usize) -> usize {
        let view = self.view;
        let is_owner = |&id: &NodeId| {
            matches!(
                view.tree.node(id).kind,
                NodeKind::Operation | NodeKind::Alias | NodeKind::Label
            )
        };
        let Some(owner) = view.tree.ancestors(view.node_of[token]).find(is_owner) else {
            return self.old_column(token).unwrap_or_default();
        };
        let first = view.tree.node(owner).first as usize;
        let line = self.places[first].line;
        // Where the author has it, relative to the first line.
        let author = self.old_column(token).map(|old| (old + line.new).saturating_sub(line.old));
        let group = view.group_of(token, owner);
        if let Some(group) = group.filter(|&group| view.closes(token, group)) {
            let open = view.tree.node(group).first as usize;
            let below = self.places[open].column;
            return if author == Some(below) { below } else { self.margin(open, owner) };
        }
        let column = match author {
            Some(column) if self.is_in_use(token, column, owner, group) => column,
            _ => self.usual(token, owner, group),
        };
        *self.first_columns.entry(group.unwrap_or(owner)).or_insert(column) = column;
        column
    }

    /// Whether a continued line may stand at a column.
    fn is_in_use(&self, token: usize, column: usize, owner: NodeId, group: Option<NodeId>) -> bool {
        let view = self.view;
        let first = view.tree.node(owner).first as usize;
        let base = self.places[first].line.new;
        if column == base && group.is_none() {
            return self.may_be_beside(token);
        }
        if column <= base {
            return false;
        }
        if column == base + 2 || column == base + 4 {
            return true;
        }
        let open = group.map(|group| view.tree.node(group).first as usize);
        if let Some(open) = open {
            let of_line = self.margin(open, owner);
            if column == of_line + 2 || column == of_line + 4 {
                return true;
            }
            if self.content_column(open) == Some(column) {
                return true;
            }
        }
        // Below a token of the line above.
        let last = self.last_code.map_or(first, |last| last + 1);
        let code = (first..last).rev().filter(|&token| !view.is_comment(token));
        let mut has_begun = false;
        let mut line = code.take_while(|&token| {
            !std::mem::replace(&mut has_begun, self.places[token].begins_line)
        });
        line.any(|token| self.places[token].column == column)
    }

    /// The column of what follows an opening bracket on its line.
    fn content_column(&self, open: usize) -> Option<usize> {
        let next = self.places.get(open + 1)?;
        (!next.begins_line && !self.view.is_comment(open + 1)).then_some(next.column)
    }

    /// Whether a line may begin in the column of its operation: `case 1 {`, `else {`, `{`.
    fn may_be_beside(&self, token: usize) -> bool {
        let view = self.view;
        let follows_region =
            token.checked_sub(1).is_some_and(|before| view.tokens()[before].is(b'}'));
        let is_keyword =
            view.tokens()[token].kind == TokenKind::Word && !view.text(token).contains('.');
        let opens = view.begins(token, |kind| kind == NodeKind::Region).is_some();
        follows_region || is_keyword || opens
    }

    /// Where a continued line goes whose own column is not in use.
    fn usual(&self, token: usize, owner: NodeId, group: Option<NodeId>) -> usize {
        let view = self.view;
        if let Some(&column) = self.first_columns.get(&group.unwrap_or(owner)) {
            return column;
        }
        let base = self.places[view.tree.node(owner).first as usize].line.new;
        let Some(group) = group else {
            let follows_region =
                token.checked_sub(1).is_some_and(|before| view.tokens()[before].is(b'}'));
            return if follows_region { base } else { base + 4 };
        };
        let open = view.tree.node(group).first as usize;
        let margin = self.margin(open, owner);
        let is_paren = view.tree.node(group).kind == NodeKind::Paren;
        match self.content_column(open) {
            Some(content) if content <= FAR => content,
            None if !is_paren => margin + 2,
            _ => margin + 4,
        }
    }

    /// The column from which the content of a bracket is indented: where its line begins, or the
    /// operation, if the line begins with the rest of an earlier bracket.
    fn margin(&self, open: usize, owner: NodeId) -> usize {
        let view = self.view;
        let place = self.places[open];
        let rest = place.first.and_then(|first| view.group_of(first, owner));
        let is_around = |group: NodeId| view.tree.node(group).last as usize > open;
        if rest.is_none_or(is_around) {
            return place.line.new;
        }
        self.places[view.tree.node(owner).first as usize].line.new
    }
}

/// How the lines of a text end.
pub(super) fn line_end(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}
