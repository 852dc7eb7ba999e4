//! What the adapter advertises in its answer to `initialize`.

use dap::types::Capabilities;
use serde_json::Value;

use crate::debuggee::exception_filters;
use crate::protocol::{RequestError, body};

/// The first characters of names and of fields in expressions.
const COMPLETION_TRIGGERS: [&str; 3] = ["%", "@", "."];

/// Exactly what is handled: clients rely on what is advertised.
fn typed_capabilities() -> Capabilities {
    let yes = Some(true);
    Capabilities {
        supports_configuration_done_request: yes,
        supports_function_breakpoints: yes,
        supports_conditional_breakpoints: yes,
        supports_hit_conditional_breakpoints: yes,
        supports_log_points: yes,
        supports_set_variable: yes,
        supports_set_expression: yes,
        supports_read_memory_request: yes,
        supports_write_memory_request: yes,
        supports_completions_request: yes,
        completion_trigger_characters: Some(COMPLETION_TRIGGERS.map(str::to_owned).to_vec()),
        supports_step_in_targets_request: yes,
        supports_goto_targets_request: yes,
        supports_restart_frame: yes,
        supports_instruction_breakpoints: yes,
        supports_evaluate_for_hovers: yes,
        supports_delayed_stack_trace_loading: yes,
        supports_disassemble_request: yes,
        supports_stepping_granularity: yes,
        supports_terminate_request: yes,
        support_terminate_debuggee: yes,
        supports_restart_request: yes,
        supports_cancel_request: yes,
        supports_modules_request: yes,
        supports_loaded_sources_request: yes,
        supports_breakpoint_locations_request: yes,
        supports_exception_info_request: yes,
        supports_exception_filter_options: yes,
        supports_data_breakpoints: yes,
        supports_clipboard_context: yes,
        supports_value_formatting_options: yes,
        ..Capabilities::default()
    }
}

/// The body of the answer to `initialize`.
pub(crate) fn capabilities() -> Result<Value, RequestError> {
    let mut capabilities = body(typed_capabilities())?;
    // The `dap` crate writes absent parts of filters as null.
    capabilities["exceptionBreakpointFilters"] = exception_filters::filters();
    // The `dap` crate does not have this field.
    capabilities["supportsDataBreakpointBytes"] = true.into();
    // Not of the protocol: values that are not there have `ireeAbsent`.
    capabilities["supportsIreeAbsent"] = true.into();
    Ok(capabilities)
}
