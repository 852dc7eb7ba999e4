//! Recordings that are built to harm: whole files with right checksums, whose contents no run has
//! left. Damage to a small recording does not find what these do, as what it makes is small, too:
//! many chunks, names that lead elsewhere, lists in lists, texts that become a hundred times as
//! much, launches with numbers at the edges.

use debuginfo::{Manifest, ModuleIdentity, write_debug_file};
use serde_json::{Value, json};
use vmfb::FileBytes;

use crate::files;
use crate::mutate;
use crate::program;
use crate::random::Random;
use crate::recordings;
use crate::samples::{Program, Samples};

/// Opens a recording that was built, and goes forth and back in it if it is one.
pub(crate) fn exercise(samples: &Samples, random: &mut Random, kept: &mut Vec<u8>) -> bool {
    *kept = recording(samples, random);
    recordings::opened(&samples.folder.path().join("built.run"), kept)
}

fn recording(samples: &Samples, random: &mut Random) -> Vec<u8> {
    let program = random.choose::<Program>(&samples.programs);
    let module = module(program, random);
    let mut chunks =
        vec![file("m.vmfb", &module), file("m.vmfb.debug", &debug_file(&module, program, random))];
    for _ in 0..many(random, 200) {
        let name = name(random);
        let bytes = vec![random.below(256) as u8; many(random, 1 << 16)];
        chunks.push(file(&name, &bytes));
    }
    let files = chunks.len();
    chunks.push(chunk(*b"LNCH", launch(program, files, random).to_string().as_bytes()));
    for _ in 0..many(random, 20) {
        chunks.push(chunk(*b"PART", &part(random)));
    }
    let end = json!({"failure": text_or_null(random), "lost": text_or_null(random)});
    chunks.push(chunk(*b"END ", end.to_string().as_bytes()));
    if random.chance(6) {
        let (a, b) = (random.below(chunks.len()), random.below(chunks.len()));
        chunks.swap(a, b);
    }
    let mut bytes = b"IREEDBGR\x01\0\0\0\0\0\0\0".to_vec();
    bytes.extend(chunks.concat());
    if random.chance(8) {
        bytes.truncate(random.below(bytes.len()));
    }
    bytes
}

fn chunk(tag: [u8; 4], payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u64).to_le_bytes();
    let checksum = crc32fast::hash(&[&tag[..], &length, payload].concat()).to_le_bytes();
    [&tag[..], &checksum, &length, payload].concat()
}

fn file(name: &str, bytes: &[u8]) -> Vec<u8> {
    let length = (name.len() as u32).to_le_bytes();
    chunk(*b"FILE", &[&length, name.as_bytes(), bytes].concat())
}

/// A count that is mostly small, and sometimes near the most.
fn many(random: &mut Random, most: usize) -> usize {
    match random.below(12) {
        0 => random.below(most),
        1..=3 => random.below(4),
        _ => 0,
    }
}

fn name(random: &mut Random) -> String {
    let names =
        ["a", "", "../../x", "/etc/passwd", "a=b", "@x", "\u{1b}]52;c;eA==\u{7}", ".", "x\0y"];
    let name = (*random.choose(&names)).to_owned();
    if random.chance(20) { name.repeat(2000) } else { name }
}

fn text_or_null(random: &mut Random) -> Value {
    if random.chance(2) { Value::Null } else { name(random).into() }
}

/// A module of the samples, one of random code, or no module.
fn module(program: &Program, random: &mut Random) -> Vec<u8> {
    match random.below(6) {
        0 => {
            let mut image = program::generate(random);
            mutate::mutate(&mut image, random);
            image.to_bytes().unwrap_or_default()
        }
        1 => files::damage(&program.module, random),
        _ => program.module.clone(),
    }
}

/// A debug file for the module, whose texts are long where it is small.
fn debug_file(module: &[u8], program: &Program, random: &mut Random) -> Vec<u8> {
    if random.chance(3) {
        return files::damage(&program.debug_file, random);
    }
    let Some(identity) = ModuleIdentity::of(&FileBytes::from(module.to_vec())) else {
        return Vec::new();
    };
    let members = ["companion.mlir", "dispatches.mlir", "flow.mlir", "input.mlir", "counts.mlir"];
    let texts: Vec<(&str, Vec<u8>)> =
        members.iter().map(|member| (*member, text(program, random))).collect();
    let mut bytes = std::io::Cursor::new(Vec::new());
    let texts = texts.iter().map(|(member, text)| (*member, text.as_slice()));
    match write_debug_file(&mut bytes, &Manifest::new(identity), texts) {
        Ok(_) => bytes.into_inner(),
        Err(_) => Vec::new(),
    }
}

/// A text with a line of it, or a piece of a line, again and again.
fn text(program: &Program, random: &mut Random) -> Vec<u8> {
    let known = match random.chance(2) {
        true => program.companion.as_slice(),
        false => program.dispatches.as_bytes(),
    };
    let pieces =
        ["\n", "(", "{", "<", "loc(callsite(", "%a = b.c : i1\n", "vm.br\n", "#loc = loc("];
    let at = random.below(known.len() + 1);
    let lines: Vec<&[u8]> = known.split_inclusive(|byte| *byte == b'\n').collect();
    let piece = match random.chance(2) || lines.is_empty() {
        true => random.choose::<&str>(&pieces).as_bytes(),
        false => *random.choose::<&[u8]>(&lines),
    };
    let times = many(random, (2 << 20) / piece.len().max(1));
    [&known[..at], &piece.repeat(times), &known[at..]].concat()
}

fn launch(program: &Program, files: usize, random: &mut Random) -> Value {
    let number = |random: &mut Random| match random.below(8) {
        0 => usize::MAX,
        1 => files,
        2 => random.below(files),
        _ => 1,
    };
    let module = |random: &mut Random| {
        let debug_file = if random.chance(3) { Value::Null } else { number(random).into() };
        let companion = if random.chance(12) { number(random).into() } else { Value::Null };
        let file = if random.chance(6) { number(random) } else { 0 };
        json!({"file": file, "debug_file": debug_file, "companion": companion,
               "is_in_memory": random.chance(2)})
    };
    let modules = if random.chance(10) { many(random, 20_000) } else { 1 };
    let modules: Vec<Value> = (0..modules).map(|_| module(random)).collect();
    let known = program.inputs.iter().map(|text| json!({"text": text, "file": null}));
    let mut inputs: Vec<Value> = known.collect();
    for _ in 0..many(random, 1000) {
        let file = if random.chance(2) { Value::Null } else { number(random).into() };
        inputs.push(json!({"text": input(random), "file": file}));
    }
    if random.chance(2) {
        inputs.truncate(program.inputs.len());
    }
    let devices = ["local-sync", "local-task", "cuda", ""];
    let names = |random: &mut Random, most| -> Vec<String> {
        (0..many(random, most)).map(|_| name(random)).collect()
    };
    let sources: Vec<Value> = names(random, 100)
        .into_iter()
        .map(|name| json!({"name": name, "file": number(random)}))
        .collect();
    let parameters = match random.chance(10) {
        true => json!([{"scope": name(random), "path": name(random), "length": 1, "digest": "0"}]),
        false => json!([]),
    };
    json!({
        "version": name(random), "modules": modules, "libraries": names(random, 50_000),
        "function": if random.chance(12) { name(random) } else { program.function.to_owned() },
        "inputs": inputs, "sources": sources, "parameters": parameters,
        "device": if random.chance(12) { devices[random.below(4)] } else { "local-sync" },
        "more_devices": vec!["local-task"; many(random, 1000)],
        "threads": if random.chance(4) { usize::MAX } else { 1 },
        "refuses_machine_code": random.chance(2), "imitates_narrow_calls": random.chance(2),
        "is_guarded": random.chance(2),
        "limits": {
            "steps": if random.chance(2) { Value::Null } else { u64::MAX.into() },
            "memory": if random.chance(2) { usize::MAX } else { 1 << 20 },
            "call_depth": if random.chance(2) { usize::MAX } else { 0 },
        },
    })
}

fn input(random: &mut Random) -> String {
    let texts = [
        "1",
        "4x8xf32=1",
        "999999999x999999999xf32=1",
        "@",
        "@x",
        "*x",
        "+x",
        "f32=@a=b",
        "[",
        "&1",
        "18446744073709551616xi8",
        "x".repeat(100).leak(),
        "-1xf32",
        "(null)",
        "!",
    ];
    (*random.choose::<&str>(&texts)).to_owned()
}

/// What a run has left, as postcard writes it.
fn part(random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::new();
    let left = many(random, 10_000);
    claimed(&mut bytes, left, random);
    (0..left).for_each(|_| varint(&mut bytes, random.bits() >> random.below(64)));
    let calls = many(random, 40);
    claimed(&mut bytes, calls, random);
    (0..calls).for_each(|_| call(&mut bytes, random));
    if random.chance(2) {
        bytes.push(0);
    } else {
        bytes.push(1);
        (0..4).for_each(|_| varint(&mut bytes, random.bits() >> (32 + random.below(32))));
    }
    bytes
}

fn varint(bytes: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// A length, which is now and then another.
fn claimed(bytes: &mut Vec<u8>, length: usize, random: &mut Random) {
    let length = if random.chance(5_000) { random.bits() } else { length as u64 };
    varint(bytes, length);
}

fn words(bytes: &mut Vec<u8>, text: &str) {
    varint(bytes, text.len() as u64);
    bytes.extend(text.as_bytes());
}

/// A call of a function outside: its module and name, arguments, result, writes.
fn call(bytes: &mut Vec<u8>, random: &mut Random) {
    words(bytes, "m");
    words(bytes, &name(random));
    let given = many(random, 1000);
    claimed(bytes, given, random);
    for _ in 0..given {
        // The null reference.
        varint(bytes, 4);
    }
    if random.chance(6) {
        bytes.push(1);
        words(bytes, "INTERNAL");
        words(bytes, &name(random));
    } else {
        bytes.push(0);
        let results = many(random, 100);
        claimed(bytes, results, random);
        (0..results).for_each(|_| plain(bytes, random));
    }
    let writes = many(random, 100);
    claimed(bytes, writes, random);
    for _ in 0..writes {
        place(bytes, random);
        if random.chance(2) {
            bytes.push(0);
            varint(bytes, random.bits() >> random.below(64));
            let length = many(random, 1000);
            claimed(bytes, length, random);
            bytes.resize(bytes.len() + length, 7);
        } else {
            bytes.push(1);
            let elements = many(random, 1000);
            claimed(bytes, elements, random);
            bytes.resize(bytes.len() + elements, 0);
        }
    }
    bytes.push(u8::from(random.chance(2)));
    varint(bytes, random.below(4) as u64);
}

fn place(bytes: &mut Vec<u8>, random: &mut Random) {
    varint(bytes, random.number().cast_unsigned());
    bytes.push(u8::from(random.chance(2)));
    let path = many(random, 100);
    claimed(bytes, path, random);
    (0..path).for_each(|_| varint(bytes, random.below(3) as u64));
}

/// A value; a list may have a list in it, and so on.
fn plain(bytes: &mut Vec<u8>, random: &mut Random) {
    let levels = match random.below(20) {
        0 if random.chance(20) => random.below(100_000),
        0 | 1 => random.below(60),
        _ => random.below(2),
    };
    for _ in 0..levels {
        varint(bytes, 6);
        words(bytes, "");
        bytes.extend([1, 1]);
    }
    match random.below(6) {
        0 => {
            varint(bytes, 5);
            let length = many(random, 1 << 10);
            claimed(bytes, length, random);
            bytes.resize(bytes.len() + length, 1);
        }
        1 => {
            varint(bytes, 9);
            place(bytes, random);
        }
        2 => {
            varint(bytes, 10);
            words(bytes, "!x.y");
        }
        3 => {
            varint(bytes, 0);
            varint(bytes, random.below(1 << 30) as u64);
        }
        _ => varint(bytes, 4),
    }
}
