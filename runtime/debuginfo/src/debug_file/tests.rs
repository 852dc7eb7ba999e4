//! Debug files: whole, of other modules, damaged, added to.

use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use vmfb::FileBytes;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::*;

fn module(length: usize) -> FileBytes {
    FileBytes::from(vec![7; length])
}

fn manifest(module: &FileBytes) -> Manifest {
    let mut manifest = Manifest::new(ModuleIdentity::of(module).unwrap());
    manifest.sources.push(KeptSource {
        name: "../a b.mlir".to_owned(),
        length: 4,
        xxh3: String::new(),
        member: Some("sources/0-a_b.mlir".to_owned()),
    });
    manifest
}

fn bytes_of(module: &FileBytes) -> Vec<u8> {
    let members = [
        ("companion.mlir", &b"vm.module"[..]),
        ("flow.mlir", b"flow"),
        ("sources/0-a_b.mlir", b"text"),
    ];
    let mut bytes = Cursor::new(Vec::new());
    write_debug_file(&mut bytes, &manifest(module), members).unwrap();
    bytes.into_inner()
}

fn written(folder: &Path, module: &FileBytes) -> PathBuf {
    let path = folder.join("m.vmfb.debug");
    std::fs::write(&path, bytes_of(module)).unwrap();
    path
}

#[test]
fn what_was_kept_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let module = module(100);
    written(folder.path(), &module);
    let path = folder.path().join("m.vmfb");
    let file = DebugFile::for_module(&path, &module, None).unwrap().unwrap();
    assert_eq!(file.manifest(), &manifest(&module));
    assert_eq!(file.companion().unwrap().as_deref(), Some(&b"vm.module"[..]));
    assert_eq!(file.flow().expect("whole").as_deref(), Some("flow"));
    let texts = (file.dispatches().expect("whole"), file.input().expect("whole"));
    assert_eq!((texts, file.twin("x")), ((None, None), None));
    assert_eq!(file.source("../a b.mlir").as_deref(), Some("text"));
    assert_eq!(file.source("b.mlir"), None);
}

#[test]
fn a_directory_of_debug_files_is_asked_first() {
    let (folder, others) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let module = module(100);
    let path = folder.path().join("m.vmfb");
    let find = || DebugFile::for_module(&path, &module, Some(others.path()));
    assert!(find().unwrap().is_none());
    let beside = written(folder.path(), &module);
    assert_eq!(find().unwrap().unwrap().path(), beside);
    let there = written(others.path(), &module);
    assert_eq!(find().unwrap().unwrap().path(), there);
    // A stale one there does not hide the right one beside the module.
    written(others.path(), &self::module(99));
    assert_eq!(find().unwrap().unwrap().path(), beside);
}

#[test]
fn the_file_of_another_module_is_refused_with_both_digests() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (module(100), module(101));
    written(folder.path(), &one);
    let path = folder.path().join("m.vmfb");
    let error = DebugFile::for_module(&path, &other, None).unwrap_err().to_string();
    for module in [one, other] {
        let identity = ModuleIdentity::of(&module).unwrap().to_string();
        assert!(error.contains(&identity), "{error}");
    }
    assert!(error.contains("--for="), "{error}");
}

#[test]
fn a_later_format_is_named() {
    let mut later = manifest(&module(1));
    later.format = 7;
    let mut bytes = Cursor::new(Vec::new());
    write_debug_file(&mut bytes, &later, []).unwrap();
    let error = DebugFile::of(Path::new("x.debug"), bytes.into_inner().into()).unwrap_err();
    assert!(error.to_string().contains("has format 7"), "{error}");
}

#[test]
fn twins_are_added_and_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let module = module(100);
    let path = written(folder.path(), &module);
    let identity = ModuleIdentity::of(&module).unwrap();
    let before = DebugFile::open(&path).unwrap();
    let name = "Model from ../..\\Paddle/dispatch \"0\"";
    DebugFile::add_twin(&path, &identity, name, b"one").unwrap();
    DebugFile::add_twin(&path, &identity, "other", b"two").unwrap();
    DebugFile::add_twin(&path, &identity, name, b"three").unwrap();
    let after = DebugFile::open(&path).unwrap();
    assert_eq!(after.twin(name).as_deref(), Some(&b"three"[..]));
    assert_eq!(after.twin("other").as_deref(), Some(&b"two"[..]));
    assert_eq!(after.flow().expect("whole").as_deref(), Some("flow"));
    assert_eq!(before.twin(name), None);
    let elsewhere = ModuleIdentity::of(&self::module(5)).unwrap();
    assert!(DebugFile::add_twin(&path, &elsewhere, name, b"four").is_err());
    assert_eq!(folder.path().read_dir().unwrap().count(), 1);
}

#[test]
fn a_read_only_file_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let module = module(100);
    let path = written(folder.path(), &module);
    let before = std::fs::read(&path).unwrap();
    let mut permissions = std::fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&path, permissions).unwrap();
    let identity = ModuleIdentity::of(&module).unwrap();
    assert!(DebugFile::add_twin(&path, &identity, "f", b"one").is_err());
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(folder.path().read_dir().unwrap().count(), 1);
}

#[test]
fn several_may_add_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let module = module(100);
    let path = written(folder.path(), &module);
    let identity = ModuleIdentity::of(&module).unwrap();
    std::thread::scope(|scope| {
        for index in 0..8 {
            let (path, identity) = (&path, &identity);
            scope.spawn(move || {
                DebugFile::add_twin(path, identity, &index.to_string(), &[index]).unwrap();
            });
        }
    });
    let file = DebugFile::open(&path).unwrap();
    for index in 0..8_u8 {
        assert_eq!(file.twin(&index.to_string()), Some(vec![index]));
    }
}

/// A member that grows beyond all bounds is given up.
#[test]
fn a_bomb_is_not_unpacked() {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    zip.start_file("manifest.json", options).unwrap();
    let chunk = vec![b' '; 1 << 20];
    for _ in 0..20 {
        zip.write_all(&chunk).unwrap();
    }
    let bytes = zip.finish().unwrap().into_inner();
    assert!(bytes.len() < 100_000);
    let error = DebugFile::of(Path::new("x.debug"), bytes.into()).unwrap_err();
    assert!(error.to_string().contains("manifest.json has more than"), "{error}");
}

/// All members together are in proportion to the file; what was unpacked before may be again.
#[test]
fn members_are_in_proportion_to_the_file() {
    let manifest = Manifest::new(ModuleIdentity::of(&module(10)).unwrap());
    let newlines = vec![b'\n'; 50 << 20];
    let newlines = |length| &newlines[..length];
    let mut bytes = Cursor::new(Vec::new());
    // `input.mlir` is within the budget of bytes, and not within that of memory.
    let members = [
        ("companion.mlir", newlines(30 << 20)),
        ("flow.mlir", newlines(50 << 20)),
        ("input.mlir", newlines(3 << 20)),
    ];
    write_debug_file(&mut bytes, &manifest, members).unwrap();
    let file = DebugFile::of(Path::new("x.debug"), bytes.into_inner().into()).unwrap();
    for _ in 0..2 {
        assert_eq!(file.companion().unwrap().map(|text| text.len()), Some(30 << 20));
        let error = file.flow().unwrap_err().to_string();
        assert!(error.contains("would be unpacked, which is out of proportion"), "{error}");
        let error = file.input().unwrap_err().to_string();
        assert!(error.contains("needed to read it, which is out of proportion"), "{error}");
    }
}

/// The name of a constant in texts of the compiler.
fn name_of(constant: &[u8]) -> String {
    let digits: String = constant.iter().map(|it| format!("{it:02X}")).collect();
    crate::ElidedName::of_constant(&format!("\"0x{digits}\"")).unwrap()
}

#[test]
fn constants_are_in_the_module_or_in_the_file_and_are_checked() {
    let module: FileBytes = (0..100_000_u32).flat_map(u32::to_le_bytes).collect::<Vec<_>>().into();
    let constant = |start: usize| module.get(start..start + 9_000).unwrap().into_owned();
    let [inside, moved, outside, other, cut] = [40, 4_000, 8_000, 12_000, 16_000].map(constant);
    let mut manifest = manifest(&module);
    let length = module.len() as u64;
    let offsets = [(&inside, 40), (&moved, 4_004), (&cut, length - 8_999), (&other, u64::MAX)];
    manifest.constants = offsets.map(|(it, at)| (name_of(it), at)).into();
    let (member, wrong) = (constant_member(&name_of(&outside)), constant_member(&name_of(&other)));
    let members = [(&*member, &*outside), (&*wrong, &*outside)];
    let mut bytes = Cursor::new(Vec::new());
    write_debug_file(&mut bytes, &manifest, members).unwrap();
    let bytes = FileBytes::from(bytes.into_inner());
    let path = PathBuf::from("m.vmfb.debug");
    let packed = PackedDebugFile::new(path.clone(), bytes.clone(), Budget::for_length(1 << 20));
    let file = packed.open_for("m.vmfb", &module).unwrap();
    for kept in [&inside, &outside] {
        assert_eq!(file.constant(&name_of(kept)).as_ref(), Some(kept));
    }
    for lost in [moved, other, cut, constant(20_000)] {
        assert_eq!(file.constant(&name_of(&lost)), None);
    }
    for none in ["", "__elided__", "__elided__4_0", "../manifest.json"] {
        assert_eq!(file.constant(none), None);
    }
    let alone = DebugFile::of(&path, bytes).unwrap();
    assert_eq!(alone.constant(&name_of(&inside)), None, "its module is not known");
    assert_eq!(alone.constant(&name_of(&outside)), Some(outside));
}

proptest! {
    /// Damaged files are refused or give what they have; nothing panics.
    #[test]
    fn damage_is_survived(at in any::<prop::sample::Index>(), byte: u8, cut in any::<bool>()) {
        let mut bytes = bytes_of(&module(10));
        let at = at.index(bytes.len());
        bytes[at] ^= byte;
        if cut {
            bytes.truncate(at);
        }
        if let Ok(file) = DebugFile::of(Path::new("x.debug"), bytes.into()) {
            let _ = (file.companion(), file.flow(), file.source("../a b.mlir"), file.twin("x"));
            let _ = (file.constant("__elided__4_0"), file.model_nodes());
        }
    }
}
