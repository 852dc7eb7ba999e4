//! The description that an executable library gives of itself: IREE's
//! `iree_hal_executable_library_v0_t`.
//!
//! The library returns a pointer to its description. Everything that the description points to is
//! read field by field, after a check that the image has it, and becomes plain data before any
//! dispatch runs.
//!
//! ```text
//! query -> library ─┬─ header ── version, name, features, sanitizer
//!                   ├─ imports ── names
//!                   ├─ exports ── functions, attributes, names, source and stage locations
//!                   ├─ constants ── how many
//!                   └─ sources ── path and text
//! ```

use vm::{Status, StatusCode};

use super::image::Image;
use crate::executables::interface::{Export, SourceLocation};

/// The versions that can be read, latest first. Compilers since 3.5 write 0.6, earlier ones 0.5,
/// and those of 2023 and early 2024 write 0.3.
pub(super) const VERSIONS: [u32; 3] = [6, 5, 3];

/// The unit of an export's scratch memory, in bytes.
const LOCAL_MEMORY_PAGE: usize = 4096;

/// IREE's limits for one dispatch.
const MAXIMUM_CONSTANTS: u8 = 64;
const MAXIMUM_BINDINGS: u8 = 64;

/// A description with a longer table is damaged.
const MAXIMUM_COUNT: u32 = 1 << 16;

/// A library's description.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(super) struct Library {
    pub(super) exports: Vec<Export>,
    /// The address of each export.
    pub(super) entries: Vec<usize>,
    /// The number of specialisation constants.
    pub(super) constant_count: usize,
    /// The names of its imports; optional ones begin with `?`.
    pub(super) imports: Vec<String>,
}

/// The offsets of fields in the structures of a version.
struct Layout {
    export_names: usize,
    source_locations: usize,
    stage_locations: Option<usize>,
    constant_count: usize,
    /// The count of embedded sources, and the pointer to them.
    sources: Option<(usize, usize)>,
    attribute_bytes: usize,
    /// Within attributes: pages of local memory, then constants and bindings.
    counts: usize,
    /// Whether attributes say how many constants and bindings there are.
    has_counts: bool,
    workgroup_size: Option<usize>,
}

const fn layout(version: u32) -> Layout {
    match version {
        0..5 => Layout {
            export_names: 48,
            source_locations: 64,
            stage_locations: None,
            constant_count: 72,
            sources: None,
            attribute_bytes: 4,
            counts: 0,
            has_counts: false,
            workgroup_size: None,
        },
        5 => Layout {
            export_names: 48,
            source_locations: 64,
            stage_locations: Some(72),
            constant_count: 80,
            sources: Some((88, 96)),
            attribute_bytes: 72,
            counts: 0,
            has_counts: true,
            workgroup_size: None,
        },
        6.. => Layout {
            export_names: 64,
            source_locations: 88,
            stage_locations: Some(96),
            constant_count: 104,
            sources: Some((112, 120)),
            attribute_bytes: 64,
            counts: 8,
            has_counts: true,
            workgroup_size: Some(12),
        },
    }
}

/// The offsets of fields that are the same in all versions.
const HEADER: usize = 0;
const IMPORT_COUNT: usize = 8;
const IMPORT_NAMES: usize = 16;
const EXPORT_COUNT: usize = 24;
const EXPORT_FUNCTIONS: usize = 32;
const EXPORT_ATTRIBUTES: usize = 40;

/// Reads numbers and texts, after a check that the image has them.
#[derive(Clone, Copy)]
struct ImageReader<'a> {
    image: &'a Image,
}

impl ImageReader<'_> {
    fn bytes(self, address: usize, length: usize) -> Result<Vec<u8>, Status> {
        self.image.read(address, length).ok_or_else(|| {
            damaged(format!("it points to {length} bytes at {address:#x}, outside of its memory"))
        })
    }

    fn array<const N: usize>(self, address: usize) -> Result<[u8; N], Status> {
        let mut array = [0; N];
        array.copy_from_slice(&self.bytes(address, N)?);
        Ok(array)
    }

    fn u16(self, address: usize) -> Result<u16, Status> {
        self.array(address).map(u16::from_le_bytes)
    }

    fn u32(self, address: usize) -> Result<u32, Status> {
        self.array(address).map(u32::from_le_bytes)
    }

    fn pointer(self, address: usize) -> Result<usize, Status> {
        self.array(address).map(usize::from_le_bytes)
    }

    /// Element `index` of an array of pointers.
    fn pointer_at(self, array: usize, index: usize) -> Result<usize, Status> {
        self.pointer(array.wrapping_add(8 * index))
    }

    fn count(self, address: usize) -> Result<usize, Status> {
        let count = self.u32(address)?;
        if count > MAXIMUM_COUNT {
            return Err(damaged(format!("it has a table of {count} entries")));
        }
        Ok(count as usize)
    }

    fn c_string(self, address: usize) -> Result<String, Status> {
        let text = self.image.read_c_string(address);
        text.ok_or_else(|| damaged(format!("it points to a text at {address:#x} without an end")))
    }

    /// A text, given by the addresses of its length and of the pointer to it.
    fn text(self, length: usize, pointer: usize) -> Result<String, Status> {
        let bytes = self.bytes(self.pointer(pointer)?, self.u32(length)? as usize)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

fn damaged(reason: impl std::fmt::Display) -> Status {
    Status::invalid_argument(format!(
        "the description of the executable library is damaged: {reason}"
    ))
}

impl Library {
    /// Reads the description at `address`.
    ///
    /// # Errors
    /// The description is damaged, or requires a sanitizer.
    pub(super) fn read(image: &Image, address: usize) -> Result<Self, Status> {
        let reader = ImageReader { image };
        let layout = layout(check_header(reader, reader.pointer(address + HEADER)?)?);
        let imports = imports(reader, address)?;
        let sources = sources(reader, address, &layout)?;
        let count = reader.count(address + EXPORT_COUNT)?;
        let (mut exports, mut entries) = (Vec::new(), Vec::new());
        for index in 0..count {
            let entry = reader.pointer_at(reader.pointer(address + EXPORT_FUNCTIONS)?, index)?;
            if !image.is_code(entry) {
                return Err(damaged(format!("export {index} at {entry:#x} is not executable")));
            }
            entries.push(entry);
            exports.push(export(reader, address, &layout, index, &sources)?);
        }
        let constant_count = reader.count(address + layout.constant_count)?;
        Ok(Self { exports, entries, constant_count, imports })
    }
}

/// The version of the description, if it is supported.
fn check_header(reader: ImageReader<'_>, header: usize) -> Result<u32, Status> {
    let version = reader.u32(header)?;
    if !VERSIONS.contains(&version) {
        return Err(Status::failed_precondition(format!(
            "executable does not support this version of the runtime: it has version \
             {version:#010x}, known are {VERSIONS:?}"
        )));
    }
    let sanitizer = reader.u32(header + 20)?;
    if sanitizer != 0 {
        return Err(Status::new(
            StatusCode::Unavailable,
            format!(
                "executable requires sanitizer {sanitizer}, which is not part of this program; \
                 compile without --iree-llvmcpu-sanitize"
            ),
        ));
    }
    Ok(version)
}

/// The names of the imports.
fn imports(reader: ImageReader<'_>, library: usize) -> Result<Vec<String>, Status> {
    let count = reader.count(library + IMPORT_COUNT)?;
    let names = reader.pointer(library + IMPORT_NAMES)?;
    (0..count).map(|index| reader.c_string(reader.pointer_at(names, index)?)).collect()
}

/// The embedded source files: path and text.
fn sources(
    reader: ImageReader<'_>,
    library: usize,
    layout: &Layout,
) -> Result<Vec<(String, String)>, Status> {
    const FILE_BYTES: usize = 32;
    let Some((count, files)) = layout.sources else { return Ok(Vec::new()) };
    let count = reader.count(library + count)?;
    let files = reader.pointer(library + files)?;
    (0..count)
        .map(|index| {
            let file = files.wrapping_add(index * FILE_BYTES);
            Ok((reader.text(file, file + 8)?, reader.text(file + 16, file + 24)?))
        })
        .collect()
}

/// What the tables say about one export.
fn export(
    reader: ImageReader<'_>,
    library: usize,
    layout: &Layout,
    index: usize,
    sources: &[(String, String)],
) -> Result<Export, Status> {
    let names = reader.pointer(library + layout.export_names)?;
    let name = match names {
        0 => String::new(),
        names => reader.c_string(reader.pointer_at(names, index)?)?,
    };
    let source = source_location(reader, library, layout, index)?;
    let embedded_sources = stages(reader, library, layout, index, sources)?;
    let attributes = match reader.pointer(library + EXPORT_ATTRIBUTES)? {
        0 if layout.has_counts => {
            return Err(damaged("executable exports must provide dispatch attributes"));
        }
        0 => return Ok(Export { name, source, embedded_sources, ..Export::default() }),
        table => table.wrapping_add(index * layout.attribute_bytes),
    };
    let pages = reader.u16(attributes + layout.counts)?;
    let counts = match layout.has_counts {
        true => Some(reader.array(attributes + layout.counts + 2)?),
        false => None,
    };
    if let Some([constants, bindings]) = counts
        && (constants > MAXIMUM_CONSTANTS || bindings > MAXIMUM_BINDINGS)
    {
        return Err(Status::out_of_range(format!(
            "dispatch {name} requiring {constants} constants and {bindings} bindings exceeds the \
             limit of {MAXIMUM_CONSTANTS} and {MAXIMUM_BINDINGS}"
        )));
    }
    let workgroup_size = match layout.workgroup_size {
        None => None,
        Some(field) => {
            let at = attributes + field;
            let size = [reader.u32(at)?, reader.u32(at + 4)?, reader.u16(at + 8)?.into()];
            size.iter().all(|size| *size > 0).then_some(size)
        }
    };
    Ok(Export {
        name,
        constant_count: counts.map(|[constants, _]| constants.into()),
        binding_count: counts.map(|[_, bindings]| bindings.into()),
        local_memory_bytes: usize::from(pages) * LOCAL_MEMORY_PAGE,
        workgroup_size,
        source,
        embedded_sources,
    })
}

const LOCATION_BYTES: usize = 16;

fn source_location(
    reader: ImageReader<'_>,
    library: usize,
    layout: &Layout,
    index: usize,
) -> Result<Option<SourceLocation>, Status> {
    match reader.pointer(library + layout.source_locations)? {
        0 => Ok(None),
        table => location(reader, table.wrapping_add(index * LOCATION_BYTES)).map(Some),
    }
}

fn location(reader: ImageReader<'_>, address: usize) -> Result<SourceLocation, Status> {
    let file = reader.text(address + 4, address + 8)?;
    Ok(SourceLocation { file, line: reader.u32(address)? })
}

/// The stages of compilation that an export has locations for, each with the text of its file if
/// that is embedded.
fn stages(
    reader: ImageReader<'_>,
    library: usize,
    layout: &Layout,
    index: usize,
    sources: &[(String, String)],
) -> Result<Vec<(String, String)>, Status> {
    const TABLE_BYTES: usize = 24;
    let Some(tables) = layout.stage_locations else { return Ok(Vec::new()) };
    let table = match reader.pointer(library + tables)? {
        0 => return Ok(Vec::new()),
        tables => tables.wrapping_add(index * TABLE_BYTES),
    };
    let names = reader.pointer(table + 8)?;
    let locations = reader.pointer(table + 16)?;
    let mut stages = Vec::new();
    for stage in 0..reader.count(table)? {
        let name = reader.c_string(reader.pointer_at(names, stage)?)?;
        let place = location(reader, locations.wrapping_add(stage * LOCATION_BYTES))?;
        if let Some((_, text)) = sources.iter().find(|(path, _)| *path == place.file) {
            stages.push((name, text.clone()));
        }
    }
    Ok(stages)
}

#[cfg(test)]
mod tests {
    use memmap2::MmapOptions;

    use super::super::image::Segment;
    use super::*;

    const HEADER_AT: usize = 0x100;
    const CODE: usize = 0x1000;

    /// An image with a description of version 0.6 at its start: one export, its sources embedded.
    fn image(change: impl Fn(&mut [u8])) -> Image {
        let mut memory = MmapOptions::new().len(0x2000).map_anon().unwrap();
        let base = memory.as_ptr().addr();
        let mut words = |at: usize, words: &[usize]| {
            for (index, word) in words.iter().enumerate() {
                let at = at + 8 * index;
                memory[at..at + 8].copy_from_slice(&word.to_le_bytes());
            }
        };
        words(0, &[base + HEADER_AT, 0, 0, 1, base + 0x140, base + 0x180]);
        words(64, &[base + 0x1C0, 0, 0, base + 0x1D0, base + 0x1E0, 2, 1, base + 0x240]);
        words(HEADER_AT, &[6, 0, 0]);
        words(0x140, &[base + CODE]);
        // Attributes: a page of local memory, 2 constants, 3 bindings, workgroups of 4x2x1.
        words(0x180, &[0, 1 | 2 << 16 | 3 << 24 | 4 << 32, 2 | 1 << 32]);
        words(0x1C0, &[base + 0x300]);
        words(0x1D0, &[7 | 6 << 32, base + 0x310]);
        words(0x1E0, &[1, base + 0x200, base + 0x210]);
        words(0x200, &[base + 0x320]);
        words(0x210, &[1 | 6 << 32, base + 0x330]);
        words(0x240, &[6, base + 0x330, 4, base + 0x340]);
        for (at, text) in [
            (0x300, "matmul\0"),
            (0x310, "a.mlir"),
            (0x320, "final\0"),
            (0x330, "b.mlir"),
            (0x340, "text"),
        ] {
            memory[at..at + text.len()].copy_from_slice(text.as_bytes());
        }
        change(&mut memory);
        let segment = |range, is_executable| Segment { range, is_writable: false, is_executable };
        Image::protect(memory, vec![segment(0..0x400, false), segment(CODE..CODE + 16, true)])
            .unwrap()
    }

    fn read(image: &Image) -> Result<Library, Status> {
        Library::read(image, image.address(0))
    }

    #[test]
    fn descriptions_become_data() {
        let image = image(|_| {});
        let library = read(&image).unwrap();
        assert_eq!(library.entries, [image.address(CODE)]);
        assert_eq!((library.constant_count, library.imports.len()), (2, 0));
        let expected = Export {
            name: "matmul".to_owned(),
            constant_count: Some(2),
            binding_count: Some(3),
            local_memory_bytes: 4096,
            workgroup_size: Some([4, 2, 1]),
            source: Some(SourceLocation { file: "a.mlir".to_owned(), line: 7 }),
            embedded_sources: vec![("final".to_owned(), "text".to_owned())],
        };
        assert_eq!(library.exports, [expected]);
    }

    #[test]
    fn damaged_descriptions_end_in_errors() {
        for at in 0..0x350 {
            for value in [0, 1, 0x7F, 0x80, 0xFF] {
                let image = image(|memory| memory[at] = value);
                if let Ok(library) = read(&image) {
                    assert!(library.entries.iter().all(|entry| image.is_code(*entry)));
                }
            }
        }
    }

    #[test]
    fn what_cannot_be_used_is_said() {
        for (at, value, message) in [
            (HEADER_AT, 4, "version 0x00000004"),
            (HEADER_AT + 20, 1, "requires sanitizer 1"),
            (0x180 + 10, 65, "exceeds the limit"),
            (0x140, 1, "is not executable"),
        ] {
            let image = image(|memory| memory[at] = if at == 0x140 { 0xF0 } else { value });
            let error = read(&image).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
