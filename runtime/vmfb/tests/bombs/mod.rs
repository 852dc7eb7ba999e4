//! Modules of about a megabyte whose tables share one large part many times, so that copying each
//! mention takes gigabytes.

use flatbuffers::{FlatBufferBuilder, Push, PushAlignment, UnionWIPOffset, VOffsetT, WIPOffset};

type Builder = FlatBufferBuilder<'static>;
/// A table, a string or a vector.
type Part = WIPOffset<UnionWIPOffset>;

/// Half of a module is the shared part, the other half mentions it.
const HALF: usize = 500_000;

const REFERENCE: usize = 4;

/// A field of a table.
enum Field {
    Part(Part),
    I32(i32),
}

/// A structure of 32-bit numbers.
#[derive(Clone, Copy)]
struct Structure<const N: usize>([u8; N]);

impl<const N: usize> Push for Structure<N> {
    type Output = Self;

    unsafe fn push(&self, target: &mut [u8], _written: usize) {
        target[..N].copy_from_slice(&self.0);
    }

    fn alignment() -> PushAlignment {
        PushAlignment::new(4)
    }
}

const fn slot(index: VOffsetT) -> VOffsetT {
    4 + 2 * index
}

fn table(builder: &mut Builder, fields: &[(VOffsetT, Field)]) -> Part {
    let start = builder.start_table();
    for (index, field) in fields {
        match field {
            Field::Part(part) => builder.push_slot_always(slot(*index), *part),
            Field::I32(number) => builder.push_slot_always(slot(*index), *number),
        }
    }
    WIPOffset::new(builder.end_table(start).value())
}

fn text(builder: &mut Builder, length: usize) -> Part {
    let text = "a".repeat(length);
    WIPOffset::new(builder.create_string(&text).value())
}

fn string(builder: &mut Builder, text: &str) -> Part {
    WIPOffset::new(builder.create_string(text).value())
}

fn vector(builder: &mut Builder, parts: &[Part]) -> Part {
    WIPOffset::new(builder.create_vector(parts).value())
}

fn shared(builder: &mut Builder, part: Part, times: usize) -> Part {
    vector(builder, &vec![part; times])
}

/// A module with these fields and those that every module must have.
fn module(mut builder: Builder, mut fields: Vec<(VOffsetT, Field)>) -> Vec<u8> {
    let name = string(&mut builder, "bomb");
    fields.extend([(0, Field::Part(name)), (13, Field::I32(17 << 16))]);
    let root: Part = table(&mut builder, &fields);
    builder.finish_size_prefixed(root, Some("IREE"));
    builder.finished_data().to_vec()
}

fn attributes(builder: &mut Builder) -> Part {
    let (key, value) = (text(builder, HALF / 8), string(builder, "v"));
    let attribute = table(builder, &[(0, Field::Part(key)), (1, Field::Part(value))]);
    shared(builder, attribute, HALF / 8 / REFERENCE)
}

/// Tables of a kind, all the same one, whose first field is a long name.
fn named(field: VOffsetT, name_length: usize) -> Vec<u8> {
    let mut builder = Builder::new();
    let name = text(&mut builder, name_length);
    let entry = table(&mut builder, &[(0, Field::Part(name))]);
    let entries = shared(&mut builder, entry, HALF / REFERENCE);
    module(builder, vec![(field, Field::Part(entries))])
}

fn signatures_of_imports(calling_convention: Option<usize>) -> Vec<u8> {
    let mut builder = Builder::new();
    let name = string(&mut builder, "m.f");
    let mut fields = Vec::new();
    match calling_convention {
        Some(length) => {
            let convention = format!("0{}_v", "i".repeat(length));
            fields.push((0, Field::Part(string(&mut builder, &convention))));
        }
        None => fields.push((1, Field::Part(attributes(&mut builder)))),
    }
    let signature = table(&mut builder, &fields);
    let fields = [(0, Field::Part(name)), (1, Field::Part(signature))];
    let import = table(&mut builder, &fields);
    let imports = shared(&mut builder, import, HALF / REFERENCE);
    module(builder, vec![(6, Field::Part(imports))])
}

fn descriptor(offset: i32, length: i32) -> [u8; 20] {
    let mut bytes = [0; 20];
    bytes[0..4].copy_from_slice(&offset.to_le_bytes());
    bytes[4..8].copy_from_slice(&length.to_le_bytes());
    bytes[14..16].copy_from_slice(&1_i16.to_le_bytes());
    bytes[16..18].copy_from_slice(&8_i16.to_le_bytes());
    bytes
}

/// Functions with this code, all the same.
fn functions(
    code: &[u8],
    count: usize,
    mut more: Vec<(VOffsetT, Field)>,
    builder: Builder,
) -> Vec<u8> {
    let mut builder = builder;
    let data = builder.create_vector(code);
    let descriptor = Structure(descriptor(0, code.len() as i32));
    let descriptors = builder.create_vector(&vec![descriptor; count]);
    more.push((12, Field::Part(WIPOffset::new(descriptors.value()))));
    more.push((14, Field::Part(WIPOffset::new(data.value()))));
    module(builder, more)
}

const BLOCK: u8 = 0x79;

/// Thousands of functions that are the same half a megabyte of code.
fn shared_bytecode() -> Vec<u8> {
    functions(&vec![BLOCK; HALF], HALF / 20, Vec::new(), Builder::new())
}

/// Locations of one kind, all the same: `fields` of a table.
fn locations(tag: u8, fields: impl FnOnce(&mut Builder) -> Vec<(VOffsetT, Field)>) -> Vec<u8> {
    let mut builder = Builder::new();
    let fields = fields(&mut builder);
    let location = table(&mut builder, &fields);
    let count = HALF / (REFERENCE + 1);
    let tables = shared(&mut builder, location, count);
    let tags = builder.create_vector(&vec![tag; count]);
    let tags = Field::Part(WIPOffset::new(tags.value()));
    let database = table(&mut builder, &[(0, tags), (1, Field::Part(tables))]);
    module(builder, vec![(15, Field::Part(database))])
}

fn numbers(builder: &mut Builder, count: usize) -> Part {
    WIPOffset::new(builder.create_vector(&vec![0_i32; count]).value())
}

fn source_maps() -> Vec<u8> {
    let mut builder = Builder::new();
    let entries = builder.create_vector(&vec![Structure([0; 8]); HALF / 8]);
    let name = string(&mut builder, "f");
    let entries = Field::Part(WIPOffset::new(entries.value()));
    let map = table(&mut builder, &[(0, Field::Part(name)), (1, entries)]);
    let maps = shared(&mut builder, map, HALF / REFERENCE);
    let database = table(&mut builder, &[(2, Field::Part(maps))]);
    module(builder, vec![(15, Field::Part(database))])
}

/// Instructions that each mention a name as long as names may be.
fn mentions() -> Vec<u8> {
    let name = "a".repeat(4000);
    let text = format!(
        "vm.module @m version 0\nvm.import @m.{name} cconv \"0v_v\"\nvm.export @f\nvm.func @f() -> () \
         {{\n^bb0:\n{}  vm.return\n}}\n",
        format!("  vm.call @m.{name}()\n").repeat(HALF / 40)
    );
    let assembly = vmfb::assemble::assemble(text.as_bytes()).expect("it is well formed");
    assembly.image.to_bytes().expect("it is small enough")
}

/// All of them, by name.
pub(crate) fn all() -> Vec<(&'static str, Vec<u8>)> {
    let module_attributes = {
        let mut builder = Builder::new();
        let attributes = attributes(&mut builder);
        module(builder, vec![(3, Field::Part(attributes))])
    };
    let rodata = {
        let mut builder = Builder::new();
        let data = builder.create_vector(&vec![7_u8; HALF]);
        let segment = table(&mut builder, &[(2, Field::Part(WIPOffset::new(data.value())))]);
        let segments = shared(&mut builder, segment, HALF / REFERENCE);
        module(builder, vec![(9, Field::Part(segments))])
    };
    let file = |builder: &mut Builder| vec![(0, Field::Part(text(builder, HALF)))];
    vec![
        ("attributes", module_attributes),
        ("types", named(4, HALF)),
        ("types with names as long as they may be", named(4, 4000)),
        ("dependencies", named(5, HALF)),
        ("imports", named(6, HALF)),
        ("imports with names as long as they may be", named(6, 4000)),
        ("imports with short names", named(6, 3)),
        ("exports", named(7, HALF)),
        ("signatures", signatures_of_imports(None)),
        ("calling conventions", signatures_of_imports(Some(HALF))),
        ("short calling conventions", signatures_of_imports(Some(100))),
        ("rodata", rodata),
        ("bytecode", shared_bytecode()),
        ("locations in files", locations(2, file)),
        (
            "fused locations",
            locations(3, |builder| vec![(1, Field::Part(numbers(builder, HALF / 4)))]),
        ),
        ("metadata", locations(3, file)),
        ("names of locations", locations(4, file)),
        ("source maps", source_maps()),
        ("mentions", mentions()),
    ]
}
