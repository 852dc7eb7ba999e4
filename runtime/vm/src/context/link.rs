//! Linking modules into a [`Context`]. Every import must find the export that it names, in a module
//! added before, with the same signature; types and signatures are read once.

use std::sync::{Arc, OnceLock};

use abi::cconv::Signature;
use vmfb::Import;
use vmfb::verify::VerifiedModule;
use vmfb::{Module, TypeOrdinal};

use super::linked::Context;
use crate::errors::{LinkError, MissingImport};
use crate::limits::ExecutionLimits;
use crate::machine::FunctionSlot;
use crate::modules::{Globals, LinkedKind, LinkedModule, Target};
use crate::native::NativeModule;
use crate::objects::{Buffer, Ref, Type};
use crate::position::ModuleIndex;

enum Entry {
    Bytecode(VerifiedModule),
    Native(NativeModule),
}

/// Collects modules, then links them.
#[derive(Default)]
pub struct ContextBuilder {
    limits: ExecutionLimits,
    entries: Vec<Entry>,
    is_inspected: bool,
    has_narrow_calls: bool,
}

impl ContextBuilder {
    /// Adds a bytecode module. It can import from modules added before it.
    #[must_use]
    pub fn add_bytecode(mut self, module: VerifiedModule) -> Self {
        self.entries.push(Entry::Bytecode(module));
        self
    }

    /// Adds a native module.
    #[must_use]
    pub fn add_native(mut self, module: NativeModule) -> Self {
        self.entries.push(Entry::Native(module));
        self
    }

    /// Sets the bounds on the program.
    #[must_use]
    pub fn limits(mut self, limits: ExecutionLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Prepares the context for a debugger: native modules then attach the modules that they load
    /// at run time, so that these can be inspected too.
    #[must_use]
    pub fn inspected(mut self) -> Self {
        self.is_inspected = true;
        self
    }

    /// Makes calls within modules pass what IREE's runtimes up to 3.12 pass: the lower 32 bits of
    /// each number.
    #[must_use]
    pub fn imitate_narrow_calls(mut self) -> Self {
        self.has_narrow_calls = true;
        self
    }

    /// Links the modules. Their initialisers have not run yet: [`crate::Invocation::initialize`]
    /// runs them.
    ///
    /// # Errors
    /// A required module or import is missing, or an import has another signature.
    pub fn link(self) -> Result<Context, LinkError> {
        let mut context = Context::empty(self.limits, self.is_inspected);
        context.has_narrow_calls = self.has_narrow_calls;
        for entry in self.entries {
            match entry {
                Entry::Bytecode(module) => {
                    let module = module.module();
                    let providers = context.module_indices().collect::<Vec<_>>();
                    add_bytecode(&mut context, module.name(), module, &providers)?;
                }
                Entry::Native(module) => {
                    add_native(&mut context, module);
                }
            }
        }
        Ok(context)
    }
}

impl Context {
    /// Starts a context.
    #[must_use]
    pub fn builder() -> ContextBuilder {
        ContextBuilder::default()
    }

    /// Adds a module to a context that may already be running, under a name for display. The module
    /// imports only from the `providers`, and no other module imports from it. Its globals are
    /// fresh, and it is not initialised. `origin` is the object that it was loaded from, to find it
    /// by.
    ///
    /// # Errors
    /// A required import is missing or has another signature.
    pub fn attach(
        &mut self,
        name: &str,
        module: &VerifiedModule,
        providers: &[ModuleIndex],
        origin: Ref,
    ) -> Result<ModuleIndex, LinkError> {
        let index = add_bytecode(self, name, module.module(), providers)?;
        self.modules[index.index()].attached_from = Some(origin);
        Ok(index)
    }

    /// Adds a native module that only modules attached later can import from.
    pub fn attach_native(&mut self, module: NativeModule) -> ModuleIndex {
        let index = add_native(self, module);
        self.modules[index.index()].attached_from = Some(Ref::Null);
        index
    }

    /// The bytecode modules that were attached from this very object.
    pub fn attached_from<'a>(&'a self, origin: &'a Ref) -> impl Iterator<Item = ModuleIndex> + 'a {
        let modules = self.modules.iter().zip(0..);
        let found = modules.filter(|(module, _)| {
            let from = module.attached_from.as_ref();
            !origin.is_null() && from.is_some_and(|from| from.is_same(origin))
        });
        found.map(|(_, index)| ModuleIndex(index))
    }

    /// Whether a module was attached at run time.
    #[must_use]
    pub fn is_attached(&self, module: ModuleIndex) -> bool {
        let module = self.modules.get(module.index());
        module.is_some_and(|module| module.attached_from.is_some())
    }
}

fn add_native(context: &mut Context, module: NativeModule) -> ModuleIndex {
    let index = ModuleIndex(context.modules.len() as u32);
    let name = module.name().to_owned();
    let kind = LinkedKind::Native(module);
    context.modules.push(LinkedModule { name, kind, attached_from: None });
    context.globals.push(Globals::default());
    index
}

fn add_bytecode(
    context: &mut Context,
    name: &str,
    module: &Arc<Module>,
    providers: &[ModuleIndex],
) -> Result<ModuleIndex, LinkError> {
    let providers = Providers { context, indices: providers };
    let imports = imports(providers, module)?;
    check_dependencies(providers, module)?;
    let first_function = context.functions.len() as u32;
    let linked = LinkedKind::Bytecode {
        first_function,
        types: types(module)?,
        signatures: module
            .functions()
            .iter()
            .map(|function| parse(function.signature.calling_convention.as_deref()))
            .collect(),
        imports,
        rodata: rodata(module),
        module: module.clone(),
    };
    let index = ModuleIndex(context.modules.len() as u32);
    context.functions.extend(module.functions_with_ordinals().map(|(ordinal, function)| {
        let (i32_registers, ref_registers) = function.frame_size();
        FunctionSlot {
            module: index,
            ordinal,
            word_count: u32::from(i32_registers).div_ceil(2),
            ref_count: ref_registers.into(),
            code: OnceLock::new(),
            armed: None,
        }
    }));
    let globals = Globals::new(module.state(), &context.limits)
        .map_err(|status| LinkError::Globals { module: module.name().to_owned(), status })?;
    context.modules.push(LinkedModule { name: name.to_owned(), kind: linked, attached_from: None });
    context.globals.push(globals);
    Ok(index)
}

/// The modules that a module may import from.
#[derive(Clone, Copy)]
struct Providers<'a> {
    context: &'a Context,
    indices: &'a [ModuleIndex],
}

impl<'a> Providers<'a> {
    /// The modules, the last one added first: it hides others of the same name.
    fn iter(self) -> impl Iterator<Item = (ModuleIndex, &'a LinkedModule)> {
        let modules = self.indices.iter().rev();
        modules.filter_map(move |index| Some((*index, self.context.modules.get(index.index())?)))
    }

    fn named(self, name: &str) -> Option<&'a LinkedModule> {
        self.iter().map(|(_, module)| module).find(|module| module.name == name)
    }

    fn names(self) -> String {
        let mut names: Vec<&str> = self.iter().map(|(_, module)| module.name.as_str()).collect();
        names.reverse();
        if names.is_empty() { "no modules".to_owned() } else { names.join(", ") }
    }
}

fn parse(calling_convention: Option<&str>) -> Option<Signature> {
    // The verifier has judged the text; a function without one is called by its registers alone.
    Signature::parse(calling_convention.filter(|text| !text.is_empty())?).ok()
}

fn types(module: &Module) -> Result<Box<[Type]>, LinkError> {
    let types = module.types().iter().enumerate().map(|(index, def)| {
        Type::parse(&def.full_name).ok_or_else(|| LinkError::UnknownType {
            module: module.name().to_owned(),
            ordinal: TypeOrdinal::from_index(index),
            name: def.full_name.clone(),
        })
    });
    types.collect()
}

fn rodata(module: &Module) -> Box<[Ref]> {
    let segments = module.rodata().iter().map(|segment| {
        let buffer = Buffer::of_file(module.file_bytes().clone(), segment.range.clone());
        // Ranges were checked when the module was loaded.
        buffer.map_or(Ref::Null, |buffer| Ref::Buffer(Arc::new(buffer)))
    });
    segments.collect()
}

fn check_dependencies(providers: Providers<'_>, module: &Module) -> Result<(), LinkError> {
    for dependency in module.dependencies().iter().filter(|dependency| !dependency.is_optional) {
        let reason = match providers.named(&dependency.name).map(LinkedModule::version) {
            Some(version) if version >= dependency.minimum_version => continue,
            Some(version) => format!("there is version {version}"),
            None => format!("it is not there; there are: {}", providers.names()),
        };
        return Err(LinkError::MissingModule {
            module: module.name().to_owned(),
            dependency: dependency.name.clone(),
            minimum_version: dependency.minimum_version,
            reason,
        });
    }
    Ok(())
}

/// Resolves a module's imports; reports all that are missing at once.
fn imports(providers: Providers<'_>, module: &Module) -> Result<Box<[Target]>, LinkError> {
    let mut targets = Vec::new();
    let mut missing = Vec::new();
    for (index, import) in module.imports().iter().enumerate() {
        match resolve(providers, import, index as u32) {
            Ok(target) => targets.push(target),
            Err(import) => missing.push(import),
        }
    }
    if missing.is_empty() {
        return Ok(targets.into());
    }
    Err(LinkError::MissingImports { module: module.name().to_owned(), imports: missing })
}

/// Resolves one import.
fn resolve(
    providers: Providers<'_>,
    import: &Import,
    ordinal: u32,
) -> Result<Target, MissingImport> {
    let calling_convention = import.signature.calling_convention.as_deref().unwrap_or_default();
    let (module_name, function_name) = import.split_name();
    let signature = parse(Some(calling_convention)).unwrap_or_default();
    let found = providers
        .iter()
        .filter(|(_, candidate)| candidate.name == module_name)
        .find_map(|(index, candidate)| candidate.target(index.0, function_name, &signature));
    if let Some(target) = found {
        return Ok(target);
    }
    if import.is_optional {
        return Ok(Target::Missing(ordinal));
    }
    let (reason, is_mismatch) = missing_reason(providers, module_name, function_name);
    Err(MissingImport {
        name: import.full_name.clone(),
        calling_convention: calling_convention.to_owned(),
        reason,
        is_mismatch,
    })
}

/// Why a function is not available, and whether only its arguments and results differ.
fn missing_reason(
    providers: Providers<'_>,
    module_name: &str,
    function_name: &str,
) -> (String, bool) {
    let module = providers.named(module_name);
    let conventions =
        module.map_or_else(Vec::new, |module| module.calling_conventions(function_name));
    if !conventions.is_empty() {
        let reason = format!(
            "module {module_name} has it as {}; the modules were built for different versions",
            conventions.join(" and ")
        );
        return (reason, true);
    }
    let mut reason = match module {
        Some(_) => format!("module {module_name} has no function {function_name}"),
        None => {
            let names = providers.names();
            format!("there is no module {module_name} before it; there are: {names}")
        }
    };
    let others: Vec<&str> = providers
        .iter()
        .filter(|(_, other)| !other.calling_conventions(function_name).is_empty())
        .map(|(_, other)| other.name.as_str())
        .collect();
    if !others.is_empty() {
        reason += &format!("; a function of this name is in {}", others.join(", "));
    }
    (reason, false)
}
