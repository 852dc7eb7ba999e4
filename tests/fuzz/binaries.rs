//! Binary files other than modules: archives of parameters, NumPy files, machine code, code of
//! graphics processors, none of which runs.

use hal::Parameters;

use crate::files;
use crate::random::Random;
use crate::samples::Samples;

/// The most bytes of a parameter that are read: its length is only a claim.
const READ: u64 = 1 << 16;

/// Reads a damaged archive and, if it is still one, every entry that it names.
pub(crate) fn archive(samples: &Samples, random: &mut Random, kept: &mut Vec<u8>) -> bool {
    let (extension, bytes) = random.choose::<(&'static str, Vec<u8>)>(&samples.archives);
    *kept = spliced(&files::damage(bytes, random), random);
    if *extension == "npy" {
        // A file may hold several arrays in a row.
        let mut rest = &kept[..];
        while let Ok((tensor, length)) = abi::npy::read(rest) {
            assert!(length > 0, "it does not get on");
            let again = abi::npy::write(&tensor).ok().map(|bytes| abi::npy::read(&bytes));
            assert!(again.is_none_or(|again| again.is_ok()), "what was written is read");
            rest = &rest[length..];
        }
    }
    let path = samples.folder.path().join(format!("damaged.{extension}"));
    std::fs::write(&path, &kept[..]).expect("it is a scratch folder");
    let Ok(parameters) = Parameters::open(&[format!("s={}", path.display())]) else { return false };
    let _ = parameters.table();
    let index = parameters.scope("s").expect("it was opened for it");
    for entry in index.entries() {
        let length = entry.length.min(READ);
        let _ = entry.bytes(0, length);
        let _ = entry.mapped(0, length).map(|buffer| buffer.map(|it| it.read(0, it.len().min(64))));
        assert!(entry.bytes(entry.length, 1).is_err(), "it is read beyond its end");
        let _ = entry.bytes(u64::MAX, 1).is_err();
    }
    true
}

/// Loads a damaged shared object. Most damage hits its headers, its dynamic section and its
/// relocations.
pub(crate) fn elf(samples: &Samples, random: &mut Random, kept: &mut Vec<u8>) -> bool {
    let bytes = random.choose::<Vec<u8>>(&samples.elf);
    *kept = if random.chance(2) {
        let (head, tail) = bytes.split_at(bytes.len().min(0x400));
        [&files::damage(head, random), tail].concat()
    } else {
        files::damage(bytes, random)
    };
    hal::examine_machine_code(kept).is_ok()
}

/// Reads a damaged executable for a graphics processor.
pub(crate) fn gpu_code(samples: &Samples, random: &mut Random, kept: &mut Vec<u8>) -> bool {
    let whole = random.choose(&samples.gpu_code);
    *kept = spliced(&files::damage(whole, random), random);
    hal::examine_gpu_code(kept).is_ok()
}

/// The bytes of a file with, now and then, a piece duplicated or removed.
fn spliced(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let (from, to) = (random.below(bytes.len()), random.below(bytes.len()));
    let (from, to) = (from.min(to), from.max(to));
    match random.below(8) {
        0 => [&bytes[..to], &bytes[from..]].concat(),
        1 => [&bytes[..from], &bytes[to..]].concat(),
        _ => bytes.to_vec(),
    }
}
