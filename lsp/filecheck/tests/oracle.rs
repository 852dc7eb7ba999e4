//! The real FileCheck as the judge: texts, outputs and thousands of their mutations get the same
//! verdict.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use filecheck::{CheckFile, Options, compare};

/// Options, directives, output, and whether it is right.
const CASES: &[(&str, &str, &str, bool)] = &[
    ("", "CHECK: a\nCHECK-NEXT: b\n", "x a\nb\n", true),
    ("", "CHECK: a\nCHECK-NEXT: b\n", "x a\nc\nb\n", false),
    ("", "CHECK: a\nCHECK-NEXT: b\n", "a b\nb\n", false),
    ("", "CHECK: a\nCHECK-SAME: b\n", "a c b\n", true),
    ("", "CHECK: a\nCHECK-SAME: b\n", "a\nb\n", false),
    ("", "CHECK-DAG: a\nCHECK-DAG: b\nCHECK: c\n", "b\na\nc\n", true),
    ("", "CHECK-DAG: a\nCHECK-DAG: a\n", "a\n", false),
    ("", "CHECK-DAG: a\nCHECK-DAG: a b\n", "a b\na\n", false),
    ("", "CHECK-DAG: a b\nCHECK-DAG: a\n", "a b\na\n", true),
    ("", "CHECK: x\nCHECK-NOT: b\nCHECK: c\n", "x\na\nc\nb\n", true),
    ("", "CHECK: x\nCHECK-NOT: b\nCHECK: c\n", "x\nb\nc\n", false),
    ("", "CHECK-DAG: a\nCHECK-NOT: n\nCHECK-DAG: b\n", "a\nb\n", true),
    ("", "CHECK-DAG: a\nCHECK-NOT: n\nCHECK-DAG: b\n", "a\nn\nb\n", false),
    ("", "CHECK: a\nCHECK-NOT: n\n", "a\nb\n", true),
    ("", "CHECK: a\nCHECK-NOT: n\n", "a\nb n\n", false),
    ("", "CHECK-LABEL: f\nCHECK: x\nCHECK-LABEL: g\nCHECK: y\n", "f\nx\ng\ny\n", true),
    ("", "CHECK-LABEL: f\nCHECK: x\nCHECK-LABEL: g\nCHECK: y\n", "f\ng\nx\ny\n", false),
    ("", "CHECK: a\nCHECK-EMPTY:\nCHECK-NEXT: b\n", "a\n\nb\n", true),
    ("", "CHECK: a\nCHECK-EMPTY:\n", "a\nb\n\n", false),
    ("", "CHECK-COUNT-3: a\nCHECK-NOT: a\n", "a\na a\n", true),
    ("", "CHECK-COUNT-3: a\n", "a\na\n", false),
    ("", "CHECK: %[[A:.+]] = f(%[[A]])\n", "%1 = f(%2)\n%3 = f(%3)\n", true),
    ("", "CHECK: %[[A:.+]] = f\nCHECK: g(%[[A]])\n", "%1 = f\ng(%1)\n", true),
    ("", "CHECK: %[[A:.+]] = f\nCHECK: g(%[[A]])\n", "%1 = f\ng(%2)\n", false),
    ("", "CHECK: {{a|ab}}[[X:c|bcd]]{{d*}}\nCHECK: =[[X]]=\n", "abcd\n=c=\n", true),
    ("", "CHECK: [[X:a.*]][[Y:b.*]]c\nCHECK: =[[X]]=[[Y]]=\n", "aabbc\n=aab=b=\n", true),
    ("", "CHECK: a   b\n", "a\t b\n", true),
    ("--strict-whitespace", "CHECK: a   b\n", "a b\n", false),
    ("--match-full-lines", "CHECK: a[[X:.]]\nCHECK-NEXT: b[[X]]\n", "  a1  \nb1\n", true),
    ("--match-full-lines", "CHECK: a\n", "a b\n", false),
    ("", "CHECK: x[[#N:]]\nCHECK: y[[#N+2]]\n", "x7\ny9\n", true),
    ("", "CHECK: x[[#N:]]\nCHECK: y[[#N+2]]\n", "x7\ny8\n", false),
    ("", "CHECK: x[[#%x,N:]]\nCHECK: y[[#N+1]]\n", "x9\nya\n", true),
    ("", "CHECK: l[[@LINE]]\nCHECK: l[[#@LINE+1]]\n", "l1\nl3\n", true),
    ("", "CHECK: a{LITERAL}\nCHECK{LITERAL}: [[x]]\n", "a{LITERAL}\n[[x]]\n", true),
    (
        "--enable-var-scope",
        "CHECK-LABEL: f\nCHECK: [[$A:x]] [[B:y]]\nCHECK-LABEL: g\nCHECK: [[$A]]\n",
        "f\nx y\ng\nx\n",
        true,
    ),
    (
        "--enable-var-scope",
        "CHECK-LABEL: f\nCHECK: [[$A:x]] [[B:y]]\nCHECK-LABEL: g\nCHECK: [[B]]\n",
        "f\nx y\ng\ny\n",
        false,
    ),
    ("--check-prefixes=A,B-C", "A: x\nB-C: y\nCHECK: z\nXA: q\n", "x\ny\n", true),
    ("--check-prefix=A", "CHECK: z\n", "z\n", false),
    ("", "CHECK-NEXT: z\n", "z\n", false),
    ("", "CHECK-LABEL: [[A:z]]\n", "z\n", false),
    ("", "RUN: x CHECK: no\nCOM: CHECK: no\nCHECK: z\n", "z\n", true),
    ("--implicit-check-not=n", "CHECK: a\nCHECK: b\n", "a\nb\n", true),
    ("--implicit-check-not=n", "CHECK: a\nCHECK: b\n", "a\nn\nb\n", false),
    ("--implicit-check-not=n", "CHECK: a\nCHECK: b\n", "a\nb\nn\n", false),
    ("-DX=q", "CHECK: [[X]]\n", "q\n", true),
    ("", "CHECK: a\n", "", false),
    ("", "CHECK: [[X]]\n", "a\n", false),
    ("", "CHECK: a{{$}}\nCHECK-NEXT: {{^}}b\n", "a\nb\n", true),
    ("", "CHECK: a{{[[:space:]]+}}b\n", "a\n b\n", true),
    ("", "CHECK: a\nCHECK-NOT: {{.}}\n", "a\n", true),
    ("", "CHECK: {{.*}}b{{.*}}\nCHECK-NEXT: c\n", "a b\nc\n", true),
    (
        "",
        "CHECK: x\n  // CHECK-LABEL: @f(\n//   CHECK-SAME: %[[A:[a-z0-9]+]]: i32, %[[B:.+]]: i32\n//      CHECK: add %[[A]], %[[B]]\n",
        "x\nfunc @f(%a0: i32, %b: i32) {\n  add %a0, %b\n",
        true,
    ),
];

/// Our verdict; the error says what was refused.
fn ours(options: &str, checks: &str, output: &str) -> Result<bool, Box<dyn std::error::Error>> {
    let arguments: Vec<String> = options.split_whitespace().map(str::to_owned).collect();
    let (options, _) = Options::read(&arguments)?;
    let file = CheckFile::read(checks, &options)?;
    Ok(compare(&file, &options, output).is_right())
}

fn filecheck() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.extend((14..25).map(|version| format!("/usr/lib/llvm-{version}/bin").into()));
    let found = folders.into_iter().map(|folder| folder.join("FileCheck"));
    let found = found.into_iter().find(|program| program.is_file());
    found.expect("FileCheck is not installed; run: apt-get install llvm-16-tools")
}

fn theirs(program: &Path, folder: &Path, options: &str, checks: &str, output: &str) -> bool {
    let (file, input) = (folder.join("checks"), folder.join("output"));
    std::fs::write(&file, checks).expect("a file");
    std::fs::write(&input, output).expect("a file");
    let input = std::fs::File::open(input).expect("the file");
    let status = Command::new(program)
        .args(options.split_whitespace())
        .arg(&file)
        .stdin(input)
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .env_remove("FILECHECK_OPTS")
        .status();
    status.expect("FileCheck to run").success()
}

#[test]
fn stated_verdicts() {
    let program = filecheck();
    let folder = tempfile::tempdir().expect("a folder");
    for &(options, checks, output, expected) in CASES {
        let found = ours(options, checks, output);
        assert_eq!(
            matches!(found, Ok(true)),
            expected,
            "{options} {checks:?} {output:?}: {found:?}"
        );
        let real = theirs(&program, folder.path(), options, checks, output);
        assert_eq!(real, expected, "FileCheck: {options} {checks:?} {output:?}");
    }
}

/// Numbers that are always the same.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }
}

/// A text with one small fault.
fn mutated(text: &str, numbers: &mut Numbers) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if lines.is_empty() {
        return text.to_owned();
    }
    let (at, other) = (numbers.below(lines.len()), numbers.below(lines.len()));
    match numbers.below(7) {
        0 => drop(lines.remove(at)),
        1 => lines.swap(at, other),
        2 => lines.insert(at, lines[other].clone()),
        3 => lines.insert(at, String::new()),
        4 => {
            let words: Vec<&str> = lines[at].split(' ').collect();
            let left = numbers.below(words.len());
            let kept = words.iter().enumerate().filter(|(index, _)| *index != left);
            lines[at] = kept.map(|(_, word)| *word).collect::<Vec<_>>().join(" ");
        }
        5 => {
            let kinds = [":", "-NEXT:", "-SAME:", "-NOT:", "-DAG:", "-LABEL:", "-COUNT-2:"];
            let (from, to) = (numbers.below(kinds.len()), numbers.below(kinds.len()));
            let (from, to) = (format!("CHECK{}", kinds[from]), format!("CHECK{}", kinds[to]));
            lines[at] = lines[at].replace(&from, &to);
        }
        _ => {
            let characters: Vec<char> = lines[at].chars().collect();
            let left = numbers.below(characters.len());
            let kept = characters.iter().enumerate().filter(|(index, _)| *index != left);
            lines[at] = kept.map(|(_, c)| *c).collect();
        }
    }
    lines.join("\n") + "\n"
}

#[test]
fn mutations_get_the_verdict_of_filecheck() {
    let program = filecheck();
    let folder = tempfile::tempdir().expect("a folder");
    let rounds = std::env::var("MUTATIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(12);
    let mut numbers = Numbers(std::env::var("SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(7));
    let (mut right, mut wrong, mut refused) = (0, 0, 0);
    for &(options, checks, output, _) in CASES {
        for _ in 0..rounds {
            let mut checks = checks.to_owned();
            let mut output = output.to_owned();
            for _ in 0..=numbers.below(2) {
                if numbers.below(2) == 0 {
                    checks = mutated(&checks, &mut numbers);
                } else {
                    output = mutated(&output, &mut numbers);
                }
            }
            let real = theirs(&program, folder.path(), options, &checks, &output);
            let found = ours(options, &checks, &output);
            refused += usize::from(found.is_err());
            right += usize::from(real);
            wrong += usize::from(!real);
            assert_eq!(
                matches!(found, Ok(true)),
                real,
                "FileCheck says {real}: {options} {checks:?} {output:?}: {found:?}"
            );
        }
    }
    println!("{right} right, {wrong} wrong, of these {refused} refused");
    assert!(right > 100 && wrong > 100);
}
