//! A call that Python walks through: forward and, since it is recorded, back.
//!
//! Its program is one of its own, so nothing else calls it, and going back undoes nothing of
//! others. It lives on a thread, which does one thing after the other; Python waits for its answers
//! as for those of calls, so that Ctrl-C pauses what runs.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use abi::explain::CallForm;
use debug::{
    Back, Debugger, FrameId, Granularity, InterruptHandle, LaunchOptions, RecordOptions, Resume,
    StepKind, StopReason,
};
use serde_json::{Value as Json, json};

use crate::convert;
use crate::error::Error;
use crate::launch;
use crate::messages::Said;
use crate::program::{STACK, described};
use crate::questions;
use crate::stops;
use crate::tensors::Given;

type Work = Box<dyn FnOnce(&mut Walked) -> Result<Said, Error> + Send>;

/// A call that is walked through.
pub(crate) struct Walk {
    work: Sender<Work>,
    answers: Receiver<Result<Said, Error>>,
    interrupt: InterruptHandle,
    /// What the debugger has logged, for the next answer.
    log: Arc<Mutex<Vec<String>>>,
}

/// What its thread has.
struct Walked {
    debugger: Debugger,
    /// How its results are given.
    form: CallForm,
}

impl Walk {
    /// Opens a program and goes to the first instruction of a function; the first answer is where
    /// that is. The options are those of a program, with the name of the `function` and its
    /// `inputs` as the command line takes them.
    ///
    /// # Errors
    /// The options make no sense. What is wrong with the program, the first answer says.
    pub(crate) fn open(options: &Json, memory: &[&[u8]]) -> Result<Self, Error> {
        let interrupt = InterruptHandle::default();
        let launch = LaunchOptions {
            function: options["function"].as_str().map(str::to_owned),
            inputs: launch::texts(&options["inputs"]),
            record: Some(RecordOptions::default()),
            interrupt: interrupt.clone(),
            ..launch::options(options, memory, Vec::new())?
        };
        let (work, inbox) = channel::<Work>();
        let (to, answers) = channel();
        let log = Arc::<Mutex<Vec<String>>>::default();
        let lines = log.clone();
        let run = move || {
            let mut walked = match Walked::load(launch, lines) {
                Ok(walked) => walked,
                Err(error) => return drop(to.send(Err(error))),
            };
            let begun = walked.debugger.resume(Resume::ToEntry);
            let mut answer = walked.stopped(&begun);
            while to.send(answer).is_ok()
                && let Ok(work) = inbox.recv()
            {
                answer = work(&mut walked);
            }
        };
        let thread = std::thread::Builder::new().name("iree-dbg walk".to_owned());
        thread.stack_size(STACK).spawn(run).map_err(Error::NoThread)?;
        Ok(Self { work, answers, interrupt, log })
    }

    /// Begins what a question asks; [`Self::wait`] gives the answer.
    ///
    /// # Errors
    /// Tensors of the question are none.
    pub(crate) fn ask(&self, question: Json, given: &[Given<'_>]) -> Result<(), Error> {
        let given = given.iter().map(Given::to_tensor).collect::<Result<Vec<_>, Error>>()?;
        let work = move |walked: &mut Walked| match question["what"].as_str() {
            Some("move") => {
                let reason = walked.moved(&question)?;
                walked.stopped(&reason)
            }
            Some("history") => walked.history(&question),
            what => {
                if what == Some("set") {
                    walked.debugger.accept_change();
                }
                let answer = questions::answer(&mut walked.debugger, &question, given);
                // A pause that was meant for the question is not one for the next move.
                walked.debugger.interrupt_handle().withdraw();
                answer
            }
        };
        // If the thread is gone, `wait` says so.
        let _ = self.work.send(Box::new(work));
        Ok(())
    }

    /// Waits for an answer, at most for this long.
    pub(crate) fn wait(&self, longest: Duration) -> Option<Result<Said, Error>> {
        let mut answer = match self.answers.recv_timeout(longest) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Timeout) => return None,
            Err(RecvTimeoutError::Disconnected) => Err(Error::Closed),
        };
        let log = std::mem::take(&mut *self.log.lock().unwrap_or_else(PoisonError::into_inner));
        if let Ok(said) = &mut answer
            && said.text.is_object()
            && !log.is_empty()
        {
            said.text["log"] = log.into();
        }
        Some(answer)
    }

    /// Pauses what runs.
    pub(crate) fn pause(&self) {
        self.interrupt.interrupt();
    }
}

impl Drop for Walk {
    fn drop(&mut self) {
        self.pause();
    }
}

impl Walked {
    fn load(launch: LaunchOptions, lines: Arc<Mutex<Vec<String>>>) -> Result<Self, Error> {
        let name = launch.function.clone().unwrap_or_default();
        let mut debugger = Debugger::load(launch)?;
        debugger.set_log_sink(move |message| {
            lines.lock().unwrap_or_else(PoisonError::into_inner).push(message.text);
        });
        let main = debugger.program().files_loaded().last().cloned().ok_or(Error::NoModule)?;
        let export = main.exports().iter().find(|it| it.name == name);
        let known = export.and_then(|export| described(&debugger, &main, export));
        let (_, form, _) = known.ok_or_else(|| Error::NoFunction(name.clone()))?;
        let form = form.map_err(|source| Error::CallForm { name, source })?;
        Ok(Self { debugger, form })
    }

    /// Moves as a question says, until something stops the program.
    fn moved(&mut self, question: &Json) -> Result<StopReason, Error> {
        let debugger = &mut self.debugger;
        let text = question["expression"].as_str().unwrap_or_default();
        let step = |kind| Resume::Step(kind, Granularity::Line);
        let back = |kind| Back::Step(kind, Granularity::Line);
        let how = question["how"].as_str().unwrap_or_default();
        let forward = match how {
            "run" => Resume::Continue,
            "next" => step(StepKind::Over),
            "step" => step(StepKind::Into),
            "finish" => step(StepKind::Out),
            _ => {
                return Ok(match how {
                    "reverse run" => debugger.go_back(Back::Continue)?,
                    "reverse next" => debugger.go_back(back(StepKind::Over))?,
                    "reverse step" => debugger.go_back(back(StepKind::Into))?,
                    "reverse finish" => debugger.go_back(back(StepKind::Out))?,
                    "start" => debugger.go_back(Back::ToBegin)?,
                    "who wrote" => {
                        let frame = self.frame(question)?;
                        self.debugger.who_wrote(frame, text)?
                    }
                    "first" => debugger.go_to_first(text)?,
                    other => return Err(Error::NoQuestion(other.to_owned())),
                });
            }
        };
        Ok(debugger.resume(forward))
    }

    fn frame(&self, question: &Json) -> Result<FrameId, Error> {
        let number = question["frame"].as_u64().unwrap_or(0);
        stops::frame_id(&self.debugger, usize::try_from(number).unwrap_or(usize::MAX))
    }

    /// Where the program stands, and why.
    fn stopped(&self, reason: &StopReason) -> Result<Said, Error> {
        let mut said = Said::default();
        let mut results = Json::Null;
        if let StopReason::Completed(values) = reason {
            said = convert::results(&self.form, values.clone())?;
            results = said.text.take();
        }
        said.text = json!({
            "reason": self.debugger.sentence(reason),
            "kind": kind(reason),
            "frames": stops::frames(&self.debugger),
            "results": results,
        });
        Ok(said)
    }

    /// The values that something had, oldest first.
    fn history(&mut self, question: &Json) -> Result<Said, Error> {
        let frame = self.frame(question)?;
        let text = question["expression"].as_str().unwrap_or_default();
        let history = self.debugger.value_history(frame, text)?;
        let values = history.values.iter().map(|it| json!({"value": it.text, "by": it.by}));
        let text = json!({"rows": values.collect::<Vec<_>>(), "more": history.has_more});
        Ok(Said { text, tensors: Vec::new() })
    }
}

/// A word for a reason.
fn kind(reason: &StopReason) -> &'static str {
    match reason {
        StopReason::Entry => "entry",
        StopReason::Breakpoint(_) => "breakpoint",
        StopReason::Step => "step",
        StopReason::Pause => "pause",
        StopReason::Begin => "begin",
        StopReason::Found(_) => "found",
        StopReason::Data(_) => "data",
        StopReason::Trap(_) => "trap",
        StopReason::BreakInstruction => "break",
        StopReason::Failed(_) => "failed",
        StopReason::Completed(_) => "over",
    }
}
