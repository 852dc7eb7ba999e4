//! The C functions that Python calls, and all unsafe code of this library.
//!
//! # Safety
//!
//! The caller is the package `iree_dbg` of the same version; no one else calls these functions.
//! They rely on what it promises:
//!
//! - A text or an array lives, and nothing changes it, until the function returns.
//! - A handle is one that a function here has returned, it is released once, and never used after
//!   that. Programs may be used from several threads at the same time; calls only from the thread
//!   that began them.
//!
//! Text is JSON in UTF-8. What is returned is a [`Text`] that the caller releases. A panic becomes
//! an error, so none crosses the boundary.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::error::Error;
use crate::messages::Said;
use crate::program::{Heard, Ongoing, Program, parameter_types};
use crate::tensors::Given;
use crate::walk::Walk;

/// A text of the caller's, or one that it releases.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Text {
    data: *const u8,
    length: usize,
}

/// A tensor of the caller's: its type, and its dense elements in row-major order.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Tensor {
    tensor_type: Text,
    elements: Text,
}

impl Text {
    /// The bytes.
    ///
    /// # Safety
    /// They live as long as `'a`.
    unsafe fn bytes<'a>(self) -> &'a [u8] {
        if self.data.is_null() || self.length == 0 {
            return &[];
        }
        // SAFETY: as the caller promises.
        unsafe { std::slice::from_raw_parts(self.data, self.length) }
    }

    /// The text; nothing if it is not UTF-8.
    ///
    /// # Safety
    /// As above.
    unsafe fn text<'a>(self) -> &'a str {
        // SAFETY: as the caller promises.
        std::str::from_utf8(unsafe { self.bytes() }).unwrap_or_default()
    }

    /// A text that the caller releases.
    fn given(text: String) -> Self {
        let bytes = Box::into_raw(text.into_bytes().into_boxed_slice());
        Self { data: bytes.cast(), length: bytes.len() }
    }

    fn of(outcome: Result<Json, Error>) -> Self {
        let json =
            outcome.unwrap_or_else(|error| json!({"kind": "error", "message": error.to_string()}));
        Self::given(json.to_string())
    }
}

/// The items of an array of the caller's.
///
/// # Safety
/// They live as long as `'a`.
unsafe fn items<'a, T>(items: *const T, count: usize) -> &'a [T] {
    if items.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: as the caller promises.
    unsafe { std::slice::from_raw_parts(items, count) }
}

/// Modules that the caller gives as bytes.
///
/// # Safety
/// They live as long as `'a`.
unsafe fn modules<'a>(memory: *const Text, count: usize) -> Vec<&'a [u8]> {
    // SAFETY: as the caller promises.
    let texts: &[Text] = unsafe { items(memory, count) };
    // SAFETY: as the caller promises.
    texts.iter().map(|text| unsafe { text.bytes() }).collect()
}

/// Tensors of the caller's.
///
/// # Safety
/// They live as long as `'a`.
unsafe fn given<'a>(tensors: *const Tensor, count: usize) -> Vec<Given<'a>> {
    // SAFETY: as the caller promises.
    let tensors: &[Tensor] = unsafe { items(tensors, count) };
    let given = tensors.iter().map(|tensor| Given {
        // SAFETY: as the caller promises.
        tensor_type: unsafe { tensor.tensor_type.text() }.to_owned(),
        // SAFETY: as the caller promises.
        bytes: unsafe { tensor.elements.bytes() },
    });
    given.collect()
}

fn guarded(body: impl FnOnce() -> Result<Json, Error>) -> Text {
    let outcome = catch_unwind(AssertUnwindSafe(body));
    Text::of(outcome.unwrap_or_else(|_| Err(Error::Panicked)))
}

/// The same, or no text if there is nothing to be said yet.
fn heard(body: impl FnOnce() -> Option<Result<Json, Error>>) -> Text {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(None) => Text { data: std::ptr::null(), length: 0 },
        Ok(Some(outcome)) => Text::of(outcome),
        Err(_) => Text::of(Err(Error::Panicked)),
    }
}

fn handle<T>(value: T) -> usize {
    Box::into_raw(Box::new(value)) as usize
}

/// What was said, as JSON. Each tensor of it has a handle, which keeps its elements alive.
fn told(said: Said) -> Json {
    let Said { mut text, tensors } = said;
    if tensors.is_empty() {
        return text;
    }
    let tensors = tensors.into_iter().map(|tensor| {
        let (address, length) = (tensor.storage.address() as usize, tensor.storage.len());
        let shape = tensor.tensor_type.shape;
        let element = tensor.tensor_type.element_type.to_string();
        let handle = handle(tensor.storage);
        json!({
            "element": element,
            "shape": shape,
            "address": address,
            "length": length,
            "handle": handle,
        })
    });
    let tensors: Vec<Json> = tensors.collect();
    if !text.is_object() {
        text = json!({"values": text});
    }
    text["tensors"] = tensors.into();
    text
}

/// Opens a program: `{"program": handle, "described": ..., "call": handle, "ticket": 0}`, where the
/// call is that of its initialisers.
///
/// # Safety
/// See the top of this file.
// SAFETY: no other library has the name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iree_dbg_open(options: Text, memory: *const Text, count: usize) -> Text {
    guarded(|| {
        // SAFETY: the caller's promise.
        let options: Json = serde_json::from_slice(unsafe { options.bytes() })?;
        // SAFETY: the caller's promise.
        let memory = unsafe { modules(memory, count) };
        let program = Arc::new(Program::open(&options, &memory)?);
        let described = program.described().clone();
        let first = program.initialisation().map(handle);
        let program = handle(program);
        Ok(json!({"program": program, "described": described, "call": first, "ticket": 0}))
    })
}

/// The types that modules take their parameters for: `{scope: {name: {"element": ..., ...}}}`.
///
/// # Safety
/// See the top of this file.
// SAFETY: no other library has the name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iree_dbg_parameter_types(
    options: Text,
    memory: *const Text,
    count: usize,
) -> Text {
    guarded(|| {
        // SAFETY: the caller's promise.
        let options: Json = serde_json::from_slice(unsafe { options.bytes() })?;
        // SAFETY: the caller's promise.
        let memory = unsafe { modules(memory, count) };
        parameter_types(&options, &memory).map(|types| json!({"types": types}))
    })
}

/// The program of a handle.
///
/// # Safety
/// See the top of this file.
unsafe fn program<'a>(handle: usize) -> &'a Arc<Program> {
    // SAFETY: the caller's promise.
    unsafe { &*(handle as *const Arc<Program>) }
}

/// The call of a handle.
///
/// # Safety
/// See the top of this file.
unsafe fn ongoing<'a>(handle: usize) -> &'a mut Ongoing {
    // SAFETY: the caller's promise; only one thread uses a call.
    unsafe { &mut *(handle as *mut Ongoing) }
}

/// Closes a program. Its calls fail.
///
/// # Safety
/// See the top of this file.
// SAFETY: no other library has the name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iree_dbg_close(handle: usize) {
    // SAFETY: the caller's promise.
    let program = unsafe { Box::from_raw(handle as *mut Arc<Program>) };
    program.close();
}

/// Begins a call, and runs it for some milliseconds: `{"said": message}` if it is over by then, and
/// `{"said": message or null, "ticket": number}` if it goes on. Its handle is in `ongoing` then: an
/// exception of Python's may come before what is returned is read. `parent` is the ticket of the
/// call whose Python code makes this one, or 0.
///
/// # Safety
/// See the top of this file. `ongoing` can be written until the function returns.
// SAFETY: no other library has the name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iree_dbg_call(
    handle_of_program: usize,
    name: Text,
    parent: u64,
    arguments: Text,
    tensors: *const Tensor,
    count: usize,
    ongoing: *mut usize,
) -> Text {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (program, name, arguments, given) = unsafe {
            (program(handle_of_program), name.text(), arguments.text(), given(tensors, count))
        };
        let parent = Some(parent).filter(|parent| *parent != 0);
        let mut call = program.begin(name, parent, arguments, &given)?;
        let ticket = call.ticket();
        let said = match call.wait(Duration::ZERO) {
            Heard::Said(said) => told(said),
            Heard::Nothing => Json::Null,
        };
        if call.is_over() {
            return Ok(json!({"said": said}));
        }
        // SAFETY: the caller's promise.
        unsafe { ongoing.write(handle(call)) };
        Ok(json!({"said": said, "ticket": ticket}))
    })
}

/// Waits for the next message of a call, at most for some milliseconds; nothing if there is none.
///
/// # Safety
/// See the top of this file.
// SAFETY: no other library has the name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iree_dbg_wait(call: usize, milliseconds: u64) -> Text {
    heard(|| {
        // SAFETY: the caller's promise.
        let call = unsafe { ongoing(call) };
        match call.wait(Duration::from_millis(milliseconds)) {
            Heard::Said(said) => Some(Ok(told(said))),
            Heard::Nothing => None,
        }
    })
}

/// Gives the results of the function of Python's that a call waits for, and lets the program go on.
/// An error: the call still waits.
///
/// # Safety
/// See the top of this file.
// SAFETY: no other library has the name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iree_dbg_answer(
    call: usize,
    results: Text,
    tensors: *const Tensor,
    count: usize,
) -> Text {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (call, results, given) =
            unsafe { (ongoing(call), results.text(), given(tensors, count)) };
        call.give(results, &given)?;
        call.go_on();
        Ok(Json::Null)
    })
}

/// Tells a call that Python code has raised an exception, and lets the program fail by it.
///
/// # Safety
/// See the top of this file.
// SAFETY: no other library has the name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iree_dbg_raise(call: usize, text: Text) {
    // SAFETY: the caller's promise.
    let (call, text) = unsafe { (ongoing(call), text.text()) };
    call.raise(text);
    call.go_on();
}

/// Gives a call up; it fails soon.
///
/// # Safety
/// See the top of this file.
// SAFETY: no other library has the name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iree_dbg_cancel(call: usize) {
    // SAFETY: the caller's promise.
    unsafe { ongoing(call) }.cancel();
}

/// Releases a call.
///
/// # Safety
/// See the top of this file.
// SAFETY: no other library has the name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iree_dbg_release_call(call: usize) {
    // SAFETY: the caller's promise.
    drop(unsafe { Box::from_raw(call as *mut Ongoing) });
}

/// Asks about a program, or changes something in it; tensors are what a value becomes.
///
/// # Safety
/// See the top of this file.
// SAFETY: no other library has the name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iree_dbg_ask(
    handle_of_program: usize,
    question: Text,
    tensors: *const Tensor,
    count: usize,
) -> Text {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (program, question, given) =
            unsafe { (program(handle_of_program), question.bytes(), given(tensors, count)) };
        let question: Json = serde_json::from_slice(question)?;
        match question["what"].as_str() {
            Some("serve") => program.serve(&question),
            Some("end serving") => {
                program.end_serving();
                Ok(Json::Null)
            }
            Some("is served") => Ok(program.is_served().into()),
            _ => program.ask(question, &given).map(told),
        }
    })
}

/// Opens a program to walk through a call: `{"walk": handle}`.
///
/// # Safety
/// See the top of this file.
// SAFETY: no other library has the name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iree_dbg_walk(options: Text, memory: *const Text, count: usize) -> Text {
    guarded(|| {
        // SAFETY: the caller's promise.
        let options: Json = serde_json::from_slice(unsafe { options.bytes() })?;
        // SAFETY: the caller's promise.
        let memory = unsafe { modules(memory, count) };
        Ok(json!({"walk": handle(Walk::open(&options, &memory)?)}))
    })
}

/// The walk of a handle.
///
/// # Safety
/// See the top of this file.
unsafe fn walk<'a>(handle: usize) -> &'a Walk {
    // SAFETY: the caller's promise.
    unsafe { &*(handle as *const Walk) }
}

/// Begins what a question asks of a walk; tensors are what a value becomes.
///
/// # Safety
/// See the top of this file.
// SAFETY: no other library has the name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iree_dbg_walk_ask(
    handle: usize,
    question: Text,
    tensors: *const Tensor,
    count: usize,
) -> Text {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (walk, question, given) =
            unsafe { (walk(handle), question.bytes(), given(tensors, count)) };
        walk.ask(serde_json::from_slice(question)?, &given)?;
        Ok(Json::Null)
    })
}

/// Waits for the answer of a walk, at most for some milliseconds: `{"answer": ...}`, or nothing if
/// there is none.
///
/// # Safety
/// See the top of this file.
// SAFETY: no other library has the name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iree_dbg_walk_wait(handle: usize, milliseconds: u64) -> Text {
    heard(|| {
        // SAFETY: the caller's promise.
        let answer = unsafe { walk(handle) }.wait(Duration::from_millis(milliseconds));
        Some(answer?.map(|said| json!({"answer": told(said)})))
    })
}

/// Pauses what a walk runs.
///
/// # Safety
/// See the top of this file.
// SAFETY: no other library has the name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iree_dbg_walk_pause(handle: usize) {
    // SAFETY: the caller's promise.
    unsafe { walk(handle) }.pause();
}

/// Ends a walk.
///
/// # Safety
/// See the top of this file.
// SAFETY: no other library has the name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iree_dbg_release_walk(handle: usize) {
    // SAFETY: the caller's promise.
    drop(unsafe { Box::from_raw(handle as *mut Walk) });
}

/// Releases a text.
///
/// # Safety
/// See the top of this file.
// SAFETY: no other library has the name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iree_dbg_release_text(text: Text) {
    if !text.data.is_null() {
        let bytes = std::ptr::slice_from_raw_parts_mut(text.data.cast_mut(), text.length);
        // SAFETY: the caller's promise: the text is one of `Text::given`.
        drop(unsafe { Box::from_raw(bytes) });
    }
}

/// Releases the elements of a tensor.
///
/// # Safety
/// See the top of this file.
// SAFETY: no other library has the name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iree_dbg_release_tensor(handle: usize) {
    // SAFETY: the caller's promise.
    drop(unsafe { Box::from_raw(handle as *mut Arc<vm::Buffer>) });
}
