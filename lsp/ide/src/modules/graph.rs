//! The dispatches of a compiled module as a graph. A client that opens and collapses groups asks
//! for picture after picture of one module, so what the last one has is kept.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use debuginfo::{
    Companion, DebugFile, DebugFileError, DebugInfo, DispatchGraph, DispatchInterfaces,
    DispatchProgram, FileId, GraphView, TensorProgram, TensorSources,
};
use vmfb::{LoadError, Module};

/// Why a module has no graph of its dispatches.
#[derive(Debug, thiserror::Error)]
pub enum NoGraph {
    /// The file is no module.
    #[error(transparent)]
    Module(#[from] LoadError),
    /// Its debug file cannot be used.
    #[error(transparent)]
    DebugFile(#[from] DebugFileError),
    /// It has none.
    #[error(
        "it has no debug file, in which its program of tensors would be: `iree-dbg compile` makes \
         one, and so does F5 on the source"
    )]
    NoDebugFile,
    /// The compiler did not print the program of tensors.
    #[error("its debug file has no program of tensors")]
    NoProgram,
}

/// Makes pictures of modules.
#[derive(Debug, Default)]
pub struct DispatchGraphs {
    last: Mutex<Option<(Read, Arc<DispatchProgram>)>>,
}

/// What tells that a module was read before.
#[derive(Debug, PartialEq, Eq)]
struct Read {
    path: PathBuf,
    /// When the module and its debug file were written, and their sizes.
    files: [Option<(SystemTime, u64)>; 2],
}

impl Read {
    fn now(path: &Path) -> Self {
        let stamp = |path: &Path| {
            let known = path.metadata().ok()?;
            Some((known.modified().ok()?, known.len()))
        };
        Self { path: path.to_owned(), files: [path, &DebugFile::path_beside(path)].map(stamp) }
    }
}

impl DispatchGraphs {
    /// The dispatches of a module as a picture of what is to be seen.
    ///
    /// # Errors
    /// [`NoGraph`]: why there is none.
    pub fn picture(&self, path: &Path, view: &GraphView) -> Result<DispatchGraph, NoGraph> {
        Ok(self.program(path)?.arranged(view))
    }

    fn program(&self, path: &Path) -> Result<Arc<DispatchProgram>, NoGraph> {
        let now = Read::now(path);
        let last = || self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((read, program)) = &*last()
            && *read == now
        {
            return Ok(Arc::clone(program));
        }
        let program = Arc::new(read(path)?);
        *last() = Some((now, Arc::clone(&program)));
        Ok(program)
    }
}

fn read(path: &Path) -> Result<DispatchProgram, NoGraph> {
    let module = Module::open(path)?;
    let file = DebugFile::for_module(path, module.file_bytes(), None)?;
    let file = file.ok_or(NoGraph::NoDebugFile)?;
    let flow = file.flow().ok().flatten().ok_or(NoGraph::NoProgram)?;
    let companion = Companion::of_module(path, module.file_bytes(), None).ok().flatten();
    let input = file.input().ok().flatten();
    let dispatches = file.dispatches().ok().flatten();
    let dispatches = dispatches.as_deref().map(DispatchInterfaces::parse).unwrap_or_default();
    let roots = path.parent().map(Path::to_owned);
    let info =
        DebugInfo::load(&module, companion.as_ref()).with_source_roots(roots).with_debug_file(file);
    let files: std::collections::HashMap<&str, FileId> =
        info.files().map(|(id, name)| (name, id)).collect();
    let text = |name: &str| info.source(*files.get(name)?).cloned();
    let program = TensorProgram::parse(&TensorSources {
        flow: &flow,
        input: input.as_deref(),
        dispatches: &dispatches,
        file: &text,
    });
    Ok(DispatchProgram::of(&program, Some(&info)))
}
