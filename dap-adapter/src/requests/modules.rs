//! The modules of the program: `modules`.

use dap::requests::ModulesArguments;
use serde_json::{Value, json};

use crate::client::Client;
use crate::debuggee::Debuggee;
use crate::protocol::{Request, RequestError, body};
use crate::to_dap;

pub(super) fn modules(
    debuggee: &mut Debuggee,
    client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    let arguments: ModulesArguments = request.arguments()?;
    let program = debuggee.debugger.program();
    let all = program.catalog();
    let start = to_dap::count(arguments.start_module).min(all.len());
    let count = match to_dap::count(arguments.module_count) {
        0 => all.len() - start,
        count => count.min(all.len() - start),
    };
    let some = all[start..start + count].iter();
    let modules: Vec<_> = some.map(|module| to_dap::module(module, program, client)).collect();
    Ok(json!({ "modules": body(modules)?, "totalModules": all.len() }))
}
