//! Functions of Python that programs call.
//!
//! Such a function does not call Python: it leaves its arguments, and waits. The engine tells the
//! thread of Python's whose call it is, and the program goes on when that has answered. Meanwhile
//! the program stands still, so it can be called again.

use std::sync::{Arc, Mutex, PoisonError};

use abi::cconv::Signature;
use debug::Waiting;
use hal::{Host, NativeLibrary};
use vm::{NativeModule, NativeReturn, Status, Value};

use crate::messages::Reply;

/// A call of a function of Python's.
#[derive(Debug)]
pub(crate) struct ImportCall {
    pub(crate) number: usize,
    pub(crate) arguments: Vec<Value>,
    pub(crate) reply: Reply,
}

/// The call that a program waits for, until the engine takes it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mailbox(Arc<Mutex<Option<ImportCall>>>);

impl Mailbox {
    pub(crate) fn take(&self) -> Option<ImportCall> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn put(&self, call: ImportCall) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(call);
    }
}

/// The functions of Python's that one name of a module stands for.
#[derive(Debug)]
pub(crate) struct PythonModule {
    pub(crate) name: String,
    /// Each function's name, and its number among all of the program.
    pub(crate) functions: Vec<(String, usize)>,
    pub(crate) mailbox: Mailbox,
    pub(crate) waiting: Waiting,
}

impl NativeLibrary for PythonModule {
    fn name(&self) -> &str {
        &self.name
    }

    fn module(&self, _host: &Host, imports: &[(&str, &str)]) -> NativeModule {
        let mut module = NativeModule::builder(&self.name);
        for (name, convention) in imports {
            let known = self.functions.iter().find(|(known, _)| known == name);
            // A function that is missing, or whose convention is malformed, is one that linking
            // does not find.
            let (Some((_, number)), Ok(_)) = (known, Signature::parse(convention)) else {
                continue;
            };
            let (number, mailbox, waiting) = (*number, self.mailbox.clone(), self.waiting.clone());
            module = module.function(name, convention, move |call| {
                let reply = Reply::default();
                let arguments = call.values().to_vec();
                mailbox.put(ImportCall { number, arguments, reply: reply.clone() });
                waiting.raise();
                Ok(pending(reply, waiting.clone()))
            });
        }
        module.build()
    }
}

/// Waits for the reply.
fn pending(reply: Reply, waiting: Waiting) -> NativeReturn {
    NativeReturn::Pending(Box::new(move || look(&reply, &waiting)))
}

fn look(reply: &Reply, waiting: &Waiting) -> Result<NativeReturn, Status> {
    let answered = reply.lock().unwrap_or_else(PoisonError::into_inner).take();
    match answered {
        Some(results) => results.map(NativeReturn::Results),
        None => {
            waiting.raise();
            Ok(pending(reply.clone(), waiting.clone()))
        }
    }
}
