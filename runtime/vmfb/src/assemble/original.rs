//! Parts that the text of a module lacks, taken from the module that the text was printed from.
//!
//! The text has no attributes, dependencies or locations, and does not say which rodata is outside
//! the FlatBuffer. A user who changes a line of a listing and assembles it again still wants them.
//! A function keeps its attributes if its calling convention is unchanged, and its locations if its
//! bytecode is unchanged: the same offsets in other bytecode mean other instructions.

use crate::build::ModuleImage;
use crate::debug_database::{DebugDatabase, FunctionSourceMap};
use crate::module::Module;
use crate::ordinals::FunctionOrdinal;

use super::assembly::Assembly;

impl Assembly {
    /// Takes over what the text lacks from the module that it was printed from. Returns the
    /// functions whose locations were dropped because their bytecode has changed.
    pub fn complete_from(&mut self, original: &Module) -> Vec<FunctionOrdinal> {
        let image = &mut self.image;
        image.attributes = original.attributes().to_vec();
        image.dependencies = original.dependencies().to_vec();
        for import in &mut image.imports {
            let mut same_name = original.imports().iter();
            if let Some(theirs) = same_name.find(|theirs| theirs.full_name == import.full_name) {
                import.signature.attributes.clone_from(&theirs.signature.attributes);
            }
        }
        for (function, theirs) in image.functions.iter_mut().zip(original.functions()) {
            let theirs = &theirs.signature;
            if function.signature.calling_convention == theirs.calling_convention {
                function.signature.attributes.clone_from(&theirs.attributes);
            }
        }
        let ours = image.rodata.iter_mut();
        for (segment, theirs) in ours.zip(ModuleImage::from_module(original).rodata) {
            if segment.bytes == theirs.bytes {
                segment.is_external = theirs.is_external;
            }
        }
        self.take_locations(original)
    }

    fn take_locations(&mut self, original: &Module) -> Vec<FunctionOrdinal> {
        let Some(database) = original.debug_database() else { return Vec::new() };
        let changed: Vec<_> = (0..self.image.functions.len())
            .map(FunctionOrdinal::from_index)
            .filter(|ordinal| self.bytecode(*ordinal) != original.function_bytecode(*ordinal))
            .collect();
        if changed.is_empty() && self.image.functions.len() == original.functions().len() {
            self.image.debug_database = Some(database.clone());
            return changed;
        }
        // A truncated database does not say which functions its entries belong to.
        if database.functions.len() < original.functions().len() {
            return (0..self.image.functions.len()).map(FunctionOrdinal::from_index).collect();
        }
        let named = self.image.debug_database.take();
        let ours = |index: usize| named.as_ref().and_then(|named| named.functions.get(index));
        let functions = (0..self.image.functions.len()).map(|index| {
            let theirs = database.functions.get(index);
            if !changed.contains(&FunctionOrdinal::from_index(index)) {
                return theirs.cloned().unwrap_or_default();
            }
            let map = ours(index).or(theirs);
            let local_name = map.map(|map| map.local_name.clone()).unwrap_or_default();
            FunctionSourceMap { local_name, locations: Vec::new() }
        });
        let functions = functions.collect();
        let locations = database.locations.clone();
        self.image.debug_database = Some(DebugDatabase { locations, functions });
        changed
    }

    fn bytecode(&self, ordinal: FunctionOrdinal) -> &[u8] {
        let function = self.image.functions.get(ordinal.index());
        function
            .and_then(|function| self.image.bytecode.get(function.bytecode.clone()))
            .unwrap_or(&[])
    }
}
