//! Why a module that was compiled again is not the one that was shipped: what differs, and what
//! that comes from most likely.

use std::collections::BTreeSet;

use vmfb::debug_database::Location;
use vmfb::{FileBytes, Module, RodataOrdinal};

/// Compares two files byte for byte.
pub(crate) fn are_equal(one: &FileBytes, other: &FileBytes) -> bool {
    const CHUNK: usize = 1 << 20;
    one.len() == other.len()
        && (0..one.len()).step_by(CHUNK).all(|start| {
            let range = start..one.len().min(start + CHUNK);
            let (one, other) = (one.get(range.clone()), other.get(range));
            one.is_some() && one == other
        })
}

/// The most likely cause of a difference.
pub(crate) fn likely_cause(shipped: &FileBytes, made: &FileBytes) -> String {
    let modules = (Module::from_bytes(shipped.clone()), Module::from_bytes(made.clone()));
    let (shipped, made) = match modules {
        (Ok(shipped), Ok(made)) => (shipped, made),
        (Err(error), _) => return format!("it is no module that can be read ({error})"),
        (_, Err(error)) => return format!("what was compiled cannot be read ({error})"),
    };
    let causes = [of_version, of_names, of_database, of_imports, of_functions, of_code, of_data];
    let cause = causes.iter().find_map(|cause| cause(&shipped, &made));
    cause.unwrap_or_else(|| {
        "code and data are equal, so flags for the file's format differ \
         (--iree-vm-emit-polyglot-zip and the like)"
            .to_owned()
    })
}

fn of_version(shipped: &Module, made: &Module) -> Option<String> {
    let (theirs, ours) = (shipped.bytecode_version(), made.bytecode_version());
    (theirs != ours).then(|| {
        let (theirs, ours) = (theirs.written_by(), ours.written_by());
        format!(
            "the compiler is another: it was {theirs}, and this one was {ours}; name the right one \
             with --iree-compile="
        )
    })
}

fn of_names(shipped: &Module, made: &Module) -> Option<String> {
    let (theirs, ours) = (files(shipped), files(made));
    let only = |one: &BTreeSet<String>, other: &BTreeSet<String>| {
        let names: Vec<&str> = one.difference(other).map(String::as_str).take(3).collect();
        names.join(", ")
    };
    let differ = !theirs.is_empty() && !ours.is_empty() && theirs != ours;
    let (theirs, ours) = (only(&theirs, &ours), only(&ours, &theirs));
    (differ && !theirs.is_empty()).then(|| {
        format!(
            "the source had another path: {theirs}, and now {ours}; run where the same path leads \
             to the source"
        )
    })
}

fn files(module: &Module) -> BTreeSet<String> {
    let database = module.debug_database();
    let locations = database.iter().flat_map(|it| &it.locations);
    let files = locations.filter_map(|it| match it {
        Location::FileLineCol { file, .. } => Some(file.to_string()),
        _ => None,
    });
    files.collect()
}

fn of_database(shipped: &Module, made: &Module) -> Option<String> {
    let flag = "--iree-vm-bytecode-module-strip-source-map";
    match (shipped.debug_database().is_some(), made.debug_database().is_some()) {
        (false, true) => Some(format!("it has no source map; it was compiled with {flag}")),
        (true, false) => Some(format!("it has a source map; it was compiled without {flag}")),
        _ => None,
    }
}

fn of_imports(shipped: &Module, made: &Module) -> Option<String> {
    let versions = |module: &Module| -> Vec<(String, u32)> {
        module.dependencies().iter().map(|it| (it.name.clone(), it.minimum_version)).collect()
    };
    (versions(shipped) != versions(made)).then(|| {
        "it needs other modules, or other versions of them: the compiler is of another version, \
         or the flags name another kind of device"
            .to_owned()
    })
}

fn of_functions(shipped: &Module, made: &Module) -> Option<String> {
    let exports = |module: &Module| -> Vec<(String, Option<String>)> {
        let exports = module.exports().iter();
        let signature = |function| {
            let function = module.function(function)?;
            function.signature.calling_convention.clone().map(|it| it.to_string())
        };
        exports.map(|it| (it.name.clone(), signature(it.function))).collect()
    };
    (exports(shipped) != exports(made))
        .then(|| "its functions are others: the source has changed".to_owned())
}

fn of_code(shipped: &Module, made: &Module) -> Option<String> {
    let differs = shipped.bytecode_data() != made.bytecode_data();
    // The compiler names its release in no module, so these cannot be told apart.
    differs.then(|| {
        let exact = match shipped.bytecode_version().to_bits() >> 16 {
            16 => "; compilers 3.10 do not always write the same",
            _ => "",
        };
        format!(
            "the host's code differs: the flags (the target CPU is one), the source, or the \
             compiler's release ({}) are not the same{exact}",
            shipped.bytecode_version().written_by()
        )
    })
}

fn of_data(shipped: &Module, made: &Module) -> Option<String> {
    let (theirs, ours) = (shipped.rodata().len(), made.rodata().len());
    if theirs != ours {
        return Some(format!("it has {theirs} blocks of data, and this one {ours}"));
    }
    let segment = |module: &Module, index| {
        module.rodata_bytes(RodataOrdinal::from_index(index)).map(std::borrow::Cow::into_owned)
    };
    let differing: Vec<Vec<u8>> = (0..ours)
        .filter_map(|index| {
            let theirs = segment(shipped, index)?;
            (segment(made, index).as_ref() != Some(&theirs)).then_some(theirs)
        })
        .collect();
    let is_code = |it: &&Vec<u8>| it.starts_with(b"\x7fELF") || it.starts_with(b"PK\x03\x04");
    let executables = differing.iter().filter(is_code).count();
    match (executables, differing.len()) {
        (_, 0) => None,
        (0, _) => Some(
            "constants differ: the source's weights have changed, or the flags that fold constants"
                .to_owned(),
        ),
        _ => Some(
            "the machine code of dispatches differs: the target CPU \
             (`--iree-llvmcpu-target-cpu=host` depends on the machine), other flags of the back \
             end, or the compiler's release"
                .to_owned(),
        ),
    }
}
