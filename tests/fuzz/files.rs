//! Damaged files: reading, printing and verifying any bytes must give a result or an error.

use debuginfo::DebugInfo;
use vmfb::Module;
use vmfb::print::{DisassemblyOptions, disassemble};

use crate::random::Random;

/// Does everything that a foreign file goes through before it runs. Returns the module, if it is
/// one.
pub(crate) fn exercise(bytes: &[u8]) -> Option<Module> {
    let module = Module::from_bytes(bytes.to_vec()).ok()?;
    let options = DisassemblyOptions { bytecode_offsets: true, ..DisassemblyOptions::default() };
    let listing = disassemble(&module, &options);
    let _ = listing.at_or_after_line(3);
    let _ = vmfb::print::metadata(&module);
    vmfb::print::flatbuffer_json(&module, std::io::sink()).expect("a sink takes everything");
    vmfb::print::model_json(&module, std::io::sink()).expect("a sink takes everything");
    let info = DebugInfo::load(&module, None);
    for (ordinal, _) in module.functions_with_ordinals() {
        for row in info.rows(ordinal) {
            let _ = info.frames_at(ordinal, row.offset);
            let _ = info.live_values(ordinal, row.offset);
        }
    }
    Some(module)
}

/// Changes one to eight places: a bit, a byte, a small number, or the length.
pub(crate) fn damage(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut damaged = bytes.to_vec();
    for _ in 0..=random.below(8) {
        let at = random.below(damaged.len());
        let Some(byte) = damaged.get_mut(at) else { break };
        match random.below(9) {
            0..=2 => *byte ^= 1 << random.below(8),
            3 | 4 => *byte = random.below(256) as u8,
            5 => *byte = *random.choose(&[0, 1, 0x7F, 0x80, 0xFF]),
            6 => damaged.iter_mut().skip(at).take(4).for_each(|byte| *byte = 0xFF),
            7 => {
                let word = (random.number() as u32).to_le_bytes();
                damaged.iter_mut().skip(at & !3).zip(word).for_each(|(byte, new)| *byte = new);
            }
            _ if random.chance(16) => damaged.truncate(at.max(1)),
            _ => {}
        }
    }
    damaged
}
