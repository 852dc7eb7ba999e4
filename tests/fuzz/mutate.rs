//! Targeted damage: one operand of one instruction, or one number of one table. The rest of the
//! file stays intact, so it reaches the verifier.

use vmfb::Features;
use vmfb::FunctionOrdinal;
use vmfb::build::ModuleImage;
use vmfb::decode::instructions;

use crate::random::Random;

/// Bytes with a meaning in a calling convention.
const SIGNATURE_BYTES: &[char] = &['i', 'I', 'f', 'F', 'r', 'v', '_', 'C', 'D', '0', '1', 'x'];

/// Makes one to four changes.
pub(crate) fn mutate(image: &mut ModuleImage<'_>, random: &mut Random) {
    for _ in 0..=random.below(4) {
        if random.chance(4) {
            table(image, random);
        } else {
            operand(image, random);
        }
    }
}

fn operand(image: &mut ModuleImage<'_>, random: &mut Random) {
    let Some(function) = image.functions.get(random.below(image.functions.len())) else { return };
    let range = function.bytecode.clone();
    let Some(code) = image.bytecode.get(range.clone()) else { return };
    let starts: Vec<(usize, usize)> = instructions(code)
        .map_while(Result::ok)
        .map(|instruction| (instruction.offset.index(), instruction.end.index()))
        .collect();
    let Some(&(start, end)) = starts.get(random.below(starts.len())) else { return };
    let code = &mut image.bytecode.to_mut()[range];
    // Operands mostly; now and then the opcode.
    let first = if random.chance(8) { start } else { (start + 1).min(end - 1) };
    let at = first + random.below(end - first);
    let value: u64 = match random.below(6) {
        0 => u64::MAX,
        1 => 1 << random.below(64),
        2 => random.bits(),
        _ => random.below(40) as u64,
    };
    let width = *random.choose(&[1, 2, 2, 2, 4, 8]);
    for (index, byte) in value.to_le_bytes().into_iter().take(width).enumerate() {
        if let Some(target) = code.get_mut(at + index).filter(|_| at + index < end) {
            *target = byte;
        }
    }
}

fn table(image: &mut ModuleImage<'_>, random: &mut Random) {
    let length = image.bytecode.len();
    let function = random.below(image.functions.len());
    match random.below(11) {
        0 => image.state.global_bytes = random.below(70) as u32,
        1 => image.state.global_refs = random.below(4) as u32,
        2 => drop(image.types.pop()),
        3 => drop(image.rodata.pop()),
        4 => drop(image.imports.pop()),
        5 => {
            let index = random.below(image.exports.len());
            if let Some(export) = image.exports.get_mut(index) {
                export.function = FunctionOrdinal(random.below(6) as u32);
            }
        }
        6 => {
            let index = random.below(image.imports.len());
            if let Some(import) = image.imports.get_mut(index) {
                signature(&mut import.signature.calling_convention, random);
            }
        }
        _ => {
            let Some(function) = image.functions.get_mut(function) else { return };
            match random.below(6) {
                0 => function.i32_register_count = random.below(30) as u16,
                1 => function.ref_register_count = random.below(9) as u16,
                2 => function.block_count = random.below(8) as u16,
                3 => function.requirements = Features(random.below(32) as u32),
                4 => {
                    let end = function.bytecode.start + random.below(64);
                    function.bytecode.end = end.min(length);
                }
                _ => signature(&mut function.signature.calling_convention, random),
            }
        }
    }
}

fn signature(text: &mut Option<String>, random: &mut Random) {
    let Some(known) = text else { return };
    let mut letters: Vec<char> = known.chars().collect();
    let at = random.below(letters.len() + 1);
    match random.below(5) {
        0 => return *text = None,
        1 => return known.clear(),
        2 => letters.insert(at, *random.choose(SIGNATURE_BYTES)),
        3 if at < letters.len() => drop(letters.remove(at)),
        _ if at < letters.len() => letters[at] = *random.choose(SIGNATURE_BYTES),
        _ => {}
    }
    *text = Some(letters.into_iter().collect());
}
