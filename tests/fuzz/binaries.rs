//! Files of bytes that are no modules: archives of parameters, tensors of NumPy, machine code as
//! far as none of it runs.

use hal::Parameters;

use crate::files;
use crate::random::Random;
use crate::samples::Samples;

/// The most that is read of a parameter: its length is a claim.
const READ: u64 = 1 << 16;

/// A damaged archive; if it is one, all that it names.
pub(crate) fn archive(samples: &Samples, random: &mut Random, kept: &mut Vec<u8>) -> bool {
    let (extension, bytes) = random.choose::<(&'static str, Vec<u8>)>(&samples.archives);
    *kept = spliced(&files::damage(bytes, random), random);
    if *extension == "npy" {
        // Several may lie behind each other in a file.
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

/// A damaged shared object: mostly its headers, its dynamic section, its relocations.
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

/// Now and then a piece of a file twice, or not at all.
fn spliced(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let (from, to) = (random.below(bytes.len()), random.below(bytes.len()));
    let (from, to) = (from.min(to), from.max(to));
    match random.below(8) {
        0 => [&bytes[..to], &bytes[from..]].concat(),
        1 => [&bytes[..from], &bytes[to..]].concat(),
        _ => bytes.to_vec(),
    }
}
