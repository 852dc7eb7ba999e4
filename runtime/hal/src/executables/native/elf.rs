//! Embedded ELF: shared objects that need nothing from the system, as `iree-compile` links them for
//! its `embedded-elf-*` formats.
//!
//! ```text
//! file  --program headers--> segments copied into fresh memory --relocations--> --rights--> image
//! ```
//! All of it is checked arithmetic on slices: a damaged file gives an error. Not supported, as such
//! files do not have them: imports, thread-local storage, segments that are both writable and
//! executable.

use memmap2::{MmapMut, MmapOptions};
use object::LittleEndian as Little;
use object::elf::{self, Dyn64, FileHeader64, ProgramHeader64, Rela64, Sym64};
use object::pod::slice_from_bytes;
use object::read::elf::FileHeader;
use vm::Status;

use super::image::{Image, Segment};
use crate::memory::pages;

/// A file whose image is larger is damaged.
const MAXIMUM_IMAGE_BYTES: u64 = 1 << 32;

/// A loaded file: its image, the address of the requested symbol, and the initialisers to run
/// first.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) image: Image,
    pub(super) symbol: usize,
    pub(super) initializers: Vec<usize>,
}

fn damaged(reason: impl std::fmt::Display) -> Status {
    Status::invalid_argument(format!("the ELF executable is damaged or not supported: {reason}"))
}

/// Loads a file and finds a function in it.
///
/// # Errors
/// The file is damaged, is for another machine, or needs unsupported features.
pub(super) fn load(data: &[u8], symbol: &str) -> Result<Loaded, Status> {
    let headers = program_headers(data)?;
    let segments = segments(headers)?;
    let mut memory = copy_segments(data, headers, &segments)?;
    let dynamic = Dynamic::read(headers, &memory)?;
    dynamic.check_no_imports(&memory)?;
    let offset = dynamic.find(&memory, symbol)?;
    dynamic.relocate(&mut memory)?;
    let initializers = dynamic.initializers(&memory)?;
    let image = Image::protect(memory, segments)?;
    let symbol_address = image.address(offset);
    if !image.is_code(symbol_address) {
        return Err(damaged(format!("{symbol} is not in executable memory")));
    }
    if let Some(address) = initializers.iter().find(|address| !image.is_code(**address)) {
        return Err(damaged(format!("an initialiser at {address:#x} is not executable")));
    }
    Ok(Loaded { image, symbol: symbol_address, initializers })
}

/// The program headers of a shared object for this machine.
pub(super) fn program_headers(data: &[u8]) -> Result<&[ProgramHeader64<Little>], Status> {
    let header = FileHeader64::<Little>::parse(data).map_err(damaged)?;
    if !header.is_little_endian() || header.e_type(Little) != elf::ET_DYN {
        return Err(damaged("it is not a little-endian shared object"));
    }
    let machine = header.e_machine(Little);
    if machine != MACHINE {
        return Err(Status::new(
            vm::StatusCode::Incompatible,
            format!(
                "the executable is for another processor (ELF machine {}); recompile for this one \
                 or for every one with --iree-hal-local-target-device-backends=vmvx",
                machine.0
            ),
        ));
    }
    header.program_headers(Little, data).map_err(damaged)
}

#[cfg(target_arch = "x86_64")]
const MACHINE: elf::Machine = elf::EM_X86_64;
#[cfg(target_arch = "aarch64")]
const MACHINE: elf::Machine = elf::EM_AARCH64;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const MACHINE: elf::Machine = elf::EM_NONE;

/// The loadable segments, none of them both writable and executable.
pub(super) fn segments(headers: &[ProgramHeader64<Little>]) -> Result<Vec<Segment>, Status> {
    let page = pages::page_size();
    let mut segments: Vec<Segment> = Vec::new();
    for header in headers {
        match header.p_type.get(Little) {
            elf::PT_LOAD => {}
            elf::PT_TLS => return Err(damaged("it has thread-local storage")),
            _ => continue,
        }
        let start = header.p_vaddr.get(Little);
        let end = start.checked_add(header.p_memsz.get(Little));
        let end = end.filter(|end| *end <= MAXIMUM_IMAGE_BYTES);
        let Some(end) = end else {
            return Err(damaged("a segment is beyond any sensible address"));
        };
        let flags = header.p_flags.get(Little);
        let segment = Segment {
            range: start as usize..end as usize,
            is_writable: flags.contains(elf::PF_W),
            is_executable: flags.contains(elf::PF_X),
        };
        if segment.is_writable && segment.is_executable {
            return Err(Status::permission_denied(
                "unable to create a writable executable segment: the ELF executable has one",
            ));
        }
        if segments.last().is_some_and(|last| segment.range.start / page * page < last.range.end) {
            return Err(damaged("segments overlap, are not in order or share a page of memory"));
        }
        if !segment.range.is_empty() {
            segments.push(segment);
        }
    }
    if segments.is_empty() {
        return Err(damaged("it has no loadable segments"));
    }
    Ok(protect_relocated(headers, segments))
}

/// Makes ranges read-only that only relocations write (`PT_GNU_RELRO`).
fn protect_relocated(
    headers: &[ProgramHeader64<Little>],
    mut segments: Vec<Segment>,
) -> Vec<Segment> {
    for header in headers.iter().filter(|header| header.p_type.get(Little) == elf::PT_GNU_RELRO) {
        let start = header.p_vaddr.get(Little) as usize;
        let end = start.saturating_add(header.p_memsz.get(Little) as usize);
        // Linkers start such a range at the start of a segment. If it ends inside the segment, the
        // rest stays writable, and so does the page that both share.
        let whole = segments
            .iter_mut()
            .find(|segment| segment.range.start == start && segment.range.end <= end);
        if let Some(segment) = whole {
            segment.is_writable = false;
        }
    }
    segments
}

/// Fresh memory with the contents of the segments.
fn copy_segments(
    data: &[u8],
    headers: &[ProgramHeader64<Little>],
    segments: &[Segment],
) -> Result<MmapMut, Status> {
    let end = segments.last().map_or(0, |segment| segment.range.end);
    let length = end.next_multiple_of(pages::page_size());
    let mut memory = MmapOptions::new().len(length).map_anon().map_err(|error| {
        Status::resource_exhausted(format!(
            "no memory for an executable of {length} bytes: {error}"
        ))
    })?;
    for header in headers.iter().filter(|header| header.p_type.get(Little) == elf::PT_LOAD) {
        let [offset, size, start, total] =
            [header.p_offset, header.p_filesz, header.p_vaddr, header.p_memsz]
                .map(|field| field.get(Little) as usize);
        let source = offset.checked_add(size).and_then(|end| data.get(offset..end));
        let source = source.ok_or_else(|| damaged("a segment is not in the file"))?;
        if size > total {
            return Err(damaged("a segment is larger in the file than in memory"));
        }
        // The end was checked together with the segments.
        let target = memory.get_mut(start..start + size);
        target.ok_or_else(|| damaged("a segment is outside of the image"))?.copy_from_slice(source);
    }
    Ok(memory)
}

/// A table in the image.
#[derive(Clone, Copy, Debug, Default)]
struct Table {
    start: u64,
    bytes: u64,
}

impl Table {
    /// Its entries.
    fn entries<T: object::pod::Pod>(self, memory: &[u8]) -> Result<&[T], Status> {
        let bytes = slice(memory, self.start, self.bytes)?;
        let count = bytes.len() / size_of::<T>();
        let entries = slice_from_bytes(bytes, count);
        entries.map(|(entries, _)| entries).map_err(|()| damaged("a table is not aligned"))
    }
}

fn slice(memory: &[u8], start: u64, bytes: u64) -> Result<&[u8], Status> {
    let end = start.checked_add(bytes);
    let range = end.and_then(|end| memory.get(start as usize..end as usize));
    range.ok_or_else(|| damaged(format!("{bytes} bytes at {start:#x} are outside of its image")))
}

/// The contents of the dynamic section.
#[derive(Debug, Default)]
struct Dynamic {
    symbols: Table,
    strings: Table,
    relocations: [Table; 2],
    initializer: Option<u64>,
    initializers: Table,
}

impl Dynamic {
    fn read(headers: &[ProgramHeader64<Little>], memory: &[u8]) -> Result<Self, Status> {
        let header = headers.iter().find(|header| header.p_type.get(Little) == elf::PT_DYNAMIC);
        let header = header.ok_or_else(|| damaged("it has no dynamic section"))?;
        let table = Table { start: header.p_vaddr.get(Little), bytes: header.p_memsz.get(Little) };
        let mut dynamic = Self::default();
        let mut hash = None;
        for entry in table.entries::<Dyn64<Little>>(memory)? {
            let value = entry.d_val.get(Little);
            match entry.d_tag.get(Little) {
                elf::DT_NULL => break,
                elf::DT_SYMTAB => dynamic.symbols.start = value,
                elf::DT_STRTAB => dynamic.strings.start = value,
                elf::DT_STRSZ => dynamic.strings.bytes = value,
                elf::DT_HASH => hash = Some(value),
                elf::DT_RELA => dynamic.relocations[0].start = value,
                elf::DT_RELASZ => dynamic.relocations[0].bytes = value,
                elf::DT_JMPREL => dynamic.relocations[1].start = value,
                elf::DT_PLTRELSZ => dynamic.relocations[1].bytes = value,
                elf::DT_INIT => dynamic.initializer = Some(value),
                elf::DT_INIT_ARRAY => dynamic.initializers.start = value,
                elf::DT_INIT_ARRAYSZ => dynamic.initializers.bytes = value,
                elf::DT_NEEDED => return Err(damaged("it needs other libraries")),
                elf::DT_REL | elf::DT_RELR => {
                    return Err(damaged("it has relocations of another kind than RELA"));
                }
                _ => {}
            }
        }
        // Only the second word of the hash table says how many symbols there are.
        let hash = hash.ok_or_else(|| damaged("it has no symbol hash table"))?;
        let hash = slice(memory, hash, 8)?;
        let count = u32::from_le_bytes([hash[4], hash[5], hash[6], hash[7]]);
        dynamic.symbols.bytes = u64::from(count) * size_of::<Sym64<Little>>() as u64;
        Ok(dynamic)
    }

    fn symbols<'a>(&self, memory: &'a [u8]) -> Result<&'a [Sym64<Little>], Status> {
        self.symbols.entries(memory)
    }

    fn name<'a>(&self, memory: &'a [u8], symbol: &Sym64<Little>) -> Result<&'a [u8], Status> {
        let strings = slice(memory, self.strings.start, self.strings.bytes)?;
        let rest = strings.get(symbol.st_name.get(Little) as usize..);
        let rest = rest.ok_or_else(|| damaged("a symbol's name is outside of the names"))?;
        Ok(rest.split(|byte| *byte == 0).next().unwrap_or_default())
    }

    fn check_no_imports(&self, memory: &[u8]) -> Result<(), Status> {
        // The first symbol is a placeholder.
        let imports = self.symbols(memory)?.iter().skip(1);
        match imports.into_iter().find(|symbol| symbol.st_shndx.get(Little) == elf::SHN_UNDEF) {
            None => Ok(()),
            Some(symbol) => Err(Status::new(
                vm::StatusCode::Unavailable,
                format!(
                    "the ELF executable imports `{}`, and embedded executables cannot import; link \
                     it in or compile with --iree-llvmcpu-link-embedded=false",
                    String::from_utf8_lossy(self.name(memory, symbol)?)
                ),
            )),
        }
    }

    /// The offset of a function.
    fn find(&self, memory: &[u8], name: &str) -> Result<usize, Status> {
        for symbol in self.symbols(memory)?.iter().skip(1) {
            let is_visible = matches!(symbol.st_bind(), elf::STB_GLOBAL | elf::STB_WEAK);
            if is_visible && self.name(memory, symbol)? == name.as_bytes() {
                return Ok(symbol.st_value.get(Little) as usize);
            }
        }
        Err(Status::not_found(format!("exported symbol with name '{name}' not found in module")))
    }

    /// Applies all relocations for the address of the memory.
    fn relocate(&self, memory: &mut MmapMut) -> Result<(), Status> {
        let base = memory.as_ptr().expose_provenance() as u64;
        for table in self.relocations {
            // A copy, as relocations may change any of the memory.
            let relocations = table.entries::<Rela64<Little>>(memory)?.to_vec();
            for relocation in relocations {
                let symbol = match relocation.r_sym(Little, false) {
                    0 => 0,
                    index => {
                        let symbols = self.symbols(memory)?;
                        let symbol = symbols.get(index as usize);
                        let symbol = symbol.ok_or_else(|| {
                            damaged("a relocation names a symbol that is not there")
                        })?;
                        base.wrapping_add(symbol.st_value.get(Little))
                    }
                };
                relocate(memory, base, symbol, &relocation)?;
            }
        }
        Ok(())
    }

    /// The addresses of initialisers, in the order in which to run them.
    fn initializers(&self, memory: &MmapMut) -> Result<Vec<usize>, Status> {
        let base = memory.as_ptr().expose_provenance();
        let first = self.initializer.map(|offset| base.wrapping_add(offset as usize));
        let listed = self.initializers.entries::<object::U64<Little>>(memory)?;
        let listed = listed.iter().map(|address| address.get(Little) as usize);
        // Old linkers mark the ends of the list with 0 and -1, which are not functions.
        Ok(first.into_iter().chain(listed.filter(|at| *at != 0 && *at != usize::MAX)).collect())
    }
}

/// What a relocation writes.
enum Relocated {
    Nothing,
    Word64(u64),
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "no such relocation"))]
    Word32(u32),
}

/// Applies one relocation.
fn relocate(
    memory: &mut [u8],
    base: u64,
    symbol: u64,
    relocation: &Rela64<Little>,
) -> Result<(), Status> {
    let place = relocation.r_offset.get(Little);
    let addend = relocation.r_addend.get(Little) as u64;
    let kind = relocation.r_type(Little, false).0;
    let value = relocated(kind, [base, symbol, addend, base.wrapping_add(place)])
        .ok_or_else(|| damaged(format!("it has relocations of kind {kind}")))?;
    let (bytes, length) = match value {
        Relocated::Nothing => return Ok(()),
        Relocated::Word64(word) => (word.to_le_bytes(), 8),
        Relocated::Word32(word) => (u64::from(word).to_le_bytes(), 4),
    };
    let target =
        usize::try_from(place).ok().and_then(|start| memory.get_mut(start..)?.get_mut(..length));
    let target = target.ok_or_else(|| damaged("a relocation is outside of its image"))?;
    target.copy_from_slice(&bytes[..length]);
    Ok(())
}

/// The kinds of relocations in position-independent code on x86-64.
#[cfg(target_arch = "x86_64")]
fn relocated(kind: u32, [base, symbol, addend, place]: [u64; 4]) -> Option<Relocated> {
    let sum = symbol.wrapping_add(addend);
    Some(match elf::RelocationType(kind) {
        elf::R_X86_64_NONE => Relocated::Nothing,
        elf::R_X86_64_RELATIVE => Relocated::Word64(base.wrapping_add(addend)),
        elf::R_X86_64_GLOB_DAT | elf::R_X86_64_JUMP_SLOT => Relocated::Word64(symbol),
        elf::R_X86_64_64 => Relocated::Word64(sum),
        elf::R_X86_64_32 => Relocated::Word32(u32::try_from(sum).ok()?),
        elf::R_X86_64_32S => Relocated::Word32(i32::try_from(sum as i64).ok()? as u32),
        elf::R_X86_64_PC32 => {
            Relocated::Word32(i32::try_from(sum.wrapping_sub(place) as i64).ok()? as u32)
        }
        _ => return None,
    })
}

/// The kinds of relocations in position-independent code on 64-bit Arm.
#[cfg(target_arch = "aarch64")]
fn relocated(kind: u32, [base, symbol, addend, _]: [u64; 4]) -> Option<Relocated> {
    let sum = symbol.wrapping_add(addend);
    Some(match elf::RelocationType(kind) {
        elf::R_AARCH64_NONE => Relocated::Nothing,
        elf::R_AARCH64_RELATIVE => Relocated::Word64(base.wrapping_add(addend)),
        elf::R_AARCH64_GLOB_DAT | elf::R_AARCH64_JUMP_SLOT | elf::R_AARCH64_ABS64 => {
            Relocated::Word64(sum)
        }
        _ => return None,
    })
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn relocated(_kind: u32, _values: [u64; 4]) -> Option<Relocated> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: usize = 0x1000;
    const DATA: usize = 0x2000;
    const SYMBOLS: usize = 0x120;
    const STRINGS: usize = 0x180;
    const HASH: usize = 0x1A0;
    const RELOCATIONS: usize = 0x1B0;
    const DYNAMIC: usize = 0x2100;

    fn put(file: &mut [u8], at: usize, bytes: &[u8]) {
        file[at..at + bytes.len()].copy_from_slice(bytes);
    }

    fn put_words(file: &mut [u8], at: usize, words: &[u64]) {
        for (index, word) in words.iter().enumerate() {
            put(file, at + 8 * index, &word.to_le_bytes());
        }
    }

    /// A shared object with one function, `query`, and one relocated pointer to it at [`DATA`].
    fn shared_object() -> Vec<u8> {
        let mut file = vec![0; 0x2200];
        put(&mut file, 0, b"\x7FELF\x02\x01\x01");
        put(&mut file, 16, &[3, 0]);
        put(&mut file, 18, &MACHINE.0.to_le_bytes());
        put(&mut file, 20, &[1, 0, 0, 0]);
        put_words(&mut file, 32, &[64]);
        put(&mut file, 52, &[64, 0, 56, 0, 4, 0, 64, 0]);
        let segments = [(1_u64, 4_u64, 0, 0x200), (1, 5, CODE, 0x10), (1, 6, DATA, 0x200)];
        for (index, (kind, flags, start, length)) in segments.into_iter().enumerate() {
            let [start, length] = [start as u64, length];
            let words = [kind | flags << 32, start, start, start, length, length, 0x1000];
            put_words(&mut file, 64 + 56 * index, &words);
        }
        let dynamic = [2 | 6 << 32, DYNAMIC as u64, DYNAMIC as u64, 0, 0x80, 0x80, 8];
        put_words(&mut file, 64 + 56 * 3, &dynamic);
        // The second symbol: its name, a global function, of some section, at the code.
        put(&mut file, SYMBOLS + 24, &[1, 0, 0, 0, 0x12, 0, 1, 0]);
        put_words(&mut file, SYMBOLS + 32, &[CODE as u64, 0x10]);
        put(&mut file, STRINGS, b"\0query\0");
        put(&mut file, HASH, &[1, 0, 0, 0, 2, 0, 0, 0]);
        let relative = if cfg!(target_arch = "aarch64") { 1027 } else { 8 };
        put_words(&mut file, RELOCATIONS, &[DATA as u64, relative, CODE as u64]);
        let entries =
            [(5, STRINGS), (10, 7), (6, SYMBOLS), (4, HASH), (7, RELOCATIONS), (8, 24), (0, 0)];
        for (index, (tag, value)) in entries.into_iter().enumerate() {
            put_words(&mut file, DYNAMIC + 16 * index, &[tag, value as u64]);
        }
        file
    }

    #[test]
    fn symbols_are_found_and_pointers_relocated() {
        let loaded = load(&shared_object(), "query").unwrap();
        assert!(loaded.image.is_code(loaded.symbol));
        assert_eq!(loaded.symbol, loaded.image.address(CODE));
        let pointer = loaded.image.read(loaded.image.address(DATA), 8).unwrap();
        assert_eq!(pointer, loaded.symbol.to_le_bytes());
        assert!(!loaded.image.is_code(loaded.image.address(DATA)));
        assert!(loaded.image.read(loaded.image.address(DATA + 0x1F9), 8).is_none());
        let missing = load(&shared_object(), "other").unwrap_err();
        assert_eq!(missing.code, vm::StatusCode::NotFound);
    }

    #[test]
    fn what_cannot_be_is_said() {
        let changed = |at: usize, bytes: &[u8]| {
            let mut file = shared_object();
            put(&mut file, at, bytes);
            load(&file, "query").unwrap_err().to_string()
        };
        assert!(changed(18, &[8, 0]).contains("for another processor"));
        assert!(changed(64 + 56 + 4, &[7]).contains("writable executable"));
        assert!(changed(64 + 56, &[7]).contains("thread-local"));
        assert!(changed(SYMBOLS + 24 + 6, &[0, 0]).contains("imports `query`"));
        assert!(changed(RELOCATIONS + 8, &[99]).contains("relocations of kind 99"));
        assert!(changed(DYNAMIC, &[1]).contains("other libraries"));
    }

    #[test]
    fn damaged_files_end_in_errors() {
        let file = shared_object();
        for length in (0..file.len()).step_by(61) {
            let _ = load(&file[..length], "query");
        }
        let tables = (0..0x1D0).chain(DYNAMIC..DYNAMIC + 0x80);
        for at in tables {
            for value in [0, 1, 0x7F, 0x80, 0xFF] {
                let mut damaged = file.clone();
                damaged[at] = value;
                if let Ok(loaded) = load(&damaged, "query") {
                    assert!(loaded.image.is_code(loaded.symbol), "byte {at:#x} is {value:#x}");
                }
            }
        }
    }
}
