//! Completion at places of finished files: is what the file has there among the first three?
//!
//! The rest of the line after the place is cut off, as while it is being typed; the lines after it
//! stay. Files are those of this repository, and what the installed iree-compile prints of some of
//! them after each phase. The places are chosen by a generator with a fixed seed, as many of each
//! kind; `PLACES_SEED` takes another one, `PLACES_SHOW` prints what was missed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use ide::{Document, InstalledOperations, Language, complete, installed_dialects};
use syntax::{Brackets, Lexer, OpClass, Token, TokenKind, class_of};

/// What stands at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Block,
    Operation,
    String,
    Symbol,
    Type,
    Value,
    Word,
}

/// The places of each kind.
const EACH: usize = 40;
/// Of all places, those where what the file has must be among the first three, in percent.
const WANTED: usize = 80;
/// Programs whose texts after each phase are read, too.
const COMPILED: [&str; 4] = [
    "runtime/cli/example/classifier.mlir",
    "runtime/cli/tests/device/perceptron.mlir",
    "tests/models/dynamic.mlir",
    "runtime/reference/tests/programs/attention.mlir",
];

struct Place {
    file: usize,
    kind: Kind,
    /// What is there before it is typed.
    start: usize,
    /// How much of it is typed.
    typed: usize,
    expected: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All `.mlir` files of the repository.
fn own_files() -> Vec<PathBuf> {
    let listed = Command::new("git").args(["ls-files", "*.mlir"]).current_dir(root()).output();
    let listed = String::from_utf8(listed.expect("git").stdout).expect("names");
    listed.lines().map(|line| root().join(line)).collect()
}

fn compiler() -> String {
    std::env::var("IREE_COMPILE").unwrap_or_else(|_| "iree-compile".into())
}

/// What the compiler prints after each phase of a program.
fn printed(program: &str, folder: &Path) -> Vec<PathBuf> {
    let name = Path::new(program).file_stem().expect("a name");
    let folder = folder.join(name);
    let done = Command::new(compiler())
        .args(["--iree-hal-target-backends=vmvx", "-o", "/dev/null"])
        .arg(format!("--dump-compilation-phases-to={}", folder.display()))
        .arg(root().join(program))
        .output()
        .expect("iree-compile: install it with `pip install iree-base-compiler`");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let entries = std::fs::read_dir(&folder).expect("the folder of phases");
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    found.sort();
    found
}

fn is_type_word(word: &str) -> bool {
    let number = |rest: &str| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit());
    matches!(word, "tensor" | "memref" | "vector" | "index" | "f16" | "bf16" | "f32" | "f64")
        || word.strip_prefix('i').is_some_and(number)
}

/// The whole type that begins at a token.
fn whole_type(text: &str, tokens: &[Token], at: usize) -> String {
    let start = tokens[at].range.start;
    let mut end = tokens[at].range.end;
    if tokens.get(at + 1).is_some_and(|next| next.is(b'<') && next.range.start == end) {
        let mut brackets = Brackets::default();
        for token in &tokens[at + 1..] {
            end = token.range.end;
            if matches!(token.kind, TokenKind::Punct(byte) if brackets.closes(byte)) {
                break;
            }
        }
    }
    text[start..end].to_owned()
}

/// The places of one line.
fn places_of_line(file: usize, text: &str, tokens: &[Token], found: &mut Vec<Place>) {
    let word = |at: usize| tokens.get(at).map_or("", |token| &text[token.range.clone()]);
    let Some(op) = (0..tokens.len().min(24)).find(|&at| {
        let begins = at == 0 || tokens[at - 1].is(b'=') && tokens[0].kind == TokenKind::Value;
        let is_bare = matches!(word(at), "return" | "call");
        tokens[at].kind == TokenKind::Word && begins && (word(at).contains('.') || is_bare)
    }) else {
        return;
    };
    let defines = class_of(word(op)) != OpClass::Other;
    let end = (op..tokens.len()).find(|&at| word(at) == "loc").unwrap_or(tokens.len());
    let mut push = |kind, start, typed, expected: &str| {
        found.push(Place { file, kind, start, typed, expected: expected.to_owned() });
    };
    if let Some((dialect, _)) = word(op).split_once('.') {
        push(Kind::Operation, tokens[op].range.start, dialect.len() + 1, word(op));
    }
    for at in op + 1..end {
        let (token, before) = (&tokens[at], &tokens[at - 1]);
        let next = tokens.get(at + 1);
        let start = token.range.start;
        let touches_next = next.is_some_and(|next| next.range.start == token.range.end);
        let names = next.is_some_and(|next| next.is(b'=') || next.is(b':') && touches_next)
            || word(at - 1) == "as"
            || defines;
        match token.kind {
            TokenKind::Value if !names && token.range.len() > 1 => {
                push(Kind::Value, start, 1, word(at));
            }
            TokenKind::Symbol if !defines && !before.is(b':') => {
                push(Kind::Symbol, start, 1, word(at));
            }
            TokenKind::Block => push(Kind::Block, start, 1, word(at)),
            TokenKind::String if word(at).len() > 4 && word(at).len() < 20 && before.is(b'[') => {
                push(Kind::String, start, 1, word(at));
            }
            TokenKind::Type | TokenKind::Word => {
                let is_type = token.kind == TokenKind::Type || is_type_word(word(at));
                let stands = before.is(b':')
                    || before.kind == TokenKind::Arrow
                    || matches!(word(at - 1), "to" | "into");
                if is_type && stands {
                    push(Kind::Type, start, 0, &whole_type(text, tokens, at));
                } else if token.kind == TokenKind::Word
                    && !is_type
                    && !defines
                    && !touches_next
                    && before.range.end < start
                    && word(at) != "x"
                {
                    push(Kind::Word, start, 0, word(at));
                }
            }
            _ => {}
        }
    }
}

fn places(file: usize, text: &str) -> Vec<Place> {
    let mut found = Vec::new();
    let mut line: Vec<Token> = Vec::new();
    for token in Lexer::new(text, 0) {
        if token.line_start {
            places_of_line(file, text, &line, &mut found);
            line.clear();
        }
        if token.kind != TokenKind::Comment {
            line.push(token);
        }
    }
    places_of_line(file, text, &line, &mut found);
    found
}

/// Numbers that only look random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        ((self.0 >> 33) as usize) % end.max(1)
    }
}

/// Where among the proposals the expected one is.
fn rank(text: &str, place: &Place) -> Option<usize> {
    let at = place.start + place.typed;
    let rest = text[at..].find('\n').map_or(text.len(), |line| at + line);
    let broken = format!("{}{}", &text[..at], &text[rest..]);
    let document = Document::new(Language::Mlir, None, Arc::new(broken));
    let offered = complete(&document, at);
    offered.items.iter().position(|item| item.label == place.expected)
}

#[test]
fn what_the_finished_file_has_is_among_the_first_three() {
    let dialects = installed_dialects(&compiler(), &[]).expect("iree-compile's Python package");
    let installed = InstalledOperations::read(&dialects).expect("operations");
    ide::use_installed_operations(Some(Arc::new(installed)));
    let folder = tempfile::tempdir().expect("a scratch folder");
    let mut files = own_files();
    let own = files.len();
    files.extend(COMPILED.iter().flat_map(|program| printed(program, folder.path())));
    let texts: Vec<String> = files
        .iter()
        .map(|file| std::fs::read_to_string(file).unwrap_or_default())
        .map(|text| if text.len() < 400_000 { text } else { String::new() })
        .collect();
    let mut by_kind: BTreeMap<(Kind, bool), Vec<Place>> = BTreeMap::new();
    for (file, text) in texts.iter().enumerate() {
        for place in places(file, text) {
            by_kind.entry((place.kind, file < own)).or_default().push(place);
        }
    }
    let seed = std::env::var("PLACES_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(39);
    let shows = std::env::var_os("PLACES_SHOW").is_some();
    let mut numbers = Numbers(seed);
    let mut all = [0, 0];
    for ((kind, is_own), places) in &by_kind {
        let mut found = 0;
        for _ in 0..EACH / 2 {
            let place = &places[numbers.below(places.len())];
            let rank = rank(&texts[place.file], place);
            let is_right = rank.is_some_and(|rank| rank < 3);
            found += usize::from(is_right);
            if shows && !is_right {
                let text = &texts[place.file];
                let line = text[..place.start].rfind('\n').map_or(0, |at| at + 1);
                let shown: String =
                    text[line..place.start + place.typed].chars().take(150).collect();
                println!("  {rank:?} {} {shown}|  {}", files[place.file].display(), place.expected);
            }
        }
        println!("{kind:?} {} {found} of {}", if *is_own { "own" } else { "printed" }, EACH / 2);
        all[0] += found;
        all[1] += EACH / 2;
    }
    let percent = all[0] * 100 / all[1];
    println!("all {} of {} = {percent} %", all[0], all[1]);
    assert!(percent >= WANTED, "{} of {} places = {percent} %", all[0], all[1]);
}
