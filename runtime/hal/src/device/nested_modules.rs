//! Which module of the program's context an executable is.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use vm::ModuleIndex;

use crate::executables::Executable;

/// The module of each executable, by the address of the executable. A weak reference to an
/// executable that is gone keeps its address from being reused.
#[derive(Default)]
pub struct NestedModules(Mutex<HashMap<usize, NestedModule>>);

struct NestedModule {
    executable: Weak<dyn Executable>,
    module: ModuleIndex,
}

impl NestedModules {
    /// The module of an executable in the program's context, if it was attached.
    #[must_use]
    pub fn module_of(&self, executable: &Arc<dyn Executable>) -> Option<ModuleIndex> {
        self.lock().get(&address(executable)).map(|known| known.module)
    }

    /// Records the module of an executable. The module of an executable that is gone can be used
    /// for another.
    pub(crate) fn enter(&self, executable: &Arc<dyn Executable>, module: ModuleIndex) {
        let known = NestedModule { executable: Arc::downgrade(executable), module };
        self.lock().insert(address(executable), known);
    }

    /// Whether the module belongs to an executable that still exists.
    pub(crate) fn is_taken(&self, module: ModuleIndex) -> bool {
        let mut known = self.lock();
        known.retain(|_, known| known.executable.strong_count() > 0);
        known.values().any(|known| known.module == module)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<usize, NestedModule>> {
        // The map is consistent at any time, so a panic in another thread does not spoil it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for NestedModules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.lock().values().map(|known| known.module)).finish()
    }
}

fn address(executable: &Arc<dyn Executable>) -> usize {
    Arc::as_ptr(executable).cast::<u8>() as usize
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;
    use crate::executables::{Dispatch, Export, Halt};

    /// As large as a real executable, so that the allocator reuses its address.
    #[derive(Debug)]
    struct Something([u64; 10]);

    impl Executable for Something {
        fn format(&self) -> &str {
            if self.0[0] == 0 { "something" } else { "else" }
        }

        fn exports(&self) -> &[Export] {
            &[]
        }

        fn run(&self, _: &Dispatch, _: Range<u64>, _: &vm::RunControl) -> Result<(), Halt> {
            Ok(())
        }
    }

    #[test]
    fn a_new_executable_is_not_taken_for_one_that_was_at_its_address() {
        let known = NestedModules::default();
        for round in 0..100 {
            let executable: Arc<dyn Executable> = Arc::new(Something([0; 10]));
            assert_eq!(known.module_of(&executable), None, "round {round}");
            known.enter(&executable, ModuleIndex(round));
            assert_eq!(known.module_of(&executable), Some(ModuleIndex(round)));
            assert!(known.is_taken(ModuleIndex(round)));
            drop(executable);
        }
        assert!(!known.is_taken(ModuleIndex(99)), "its executable is gone");
    }
}
