//! Calls that are made and logged, or given again.

use std::sync::Arc;

use vm::{Body, NativeCall, NativeModule, NativeReturn, Status, Value};

use super::convert::{Maker, Results, given};
use super::log::{Entry, OutsideLog, State};
use super::plain::{Given, OutsideCall};
use super::seen::{Before, share_memory};

impl OutsideLog {
    /// A module whose calls are logged.
    pub(crate) fn logging(self: Arc<Self>, module: NativeModule) -> NativeModule {
        let name: Arc<str> = module.name().into();
        module.around(move |function, call, body| {
            if !self.is_on() {
                return lending(call, body);
            }
            self.call((&name, function), call, body)
        })
    }

    fn call(
        self: &Arc<Self>,
        (module, function): (&str, &str),
        call: NativeCall<'_>,
        body: &Body,
    ) -> Result<NativeReturn, Status> {
        let values = call.values();
        let mut state = self.lock();
        if state.next().is_none() && state.is_ending {
            self.stop(&mut state);
            drop(state);
            return body(call);
        }
        let number = state.position;
        state.seen.clean();
        state.seen.add_arguments(number, values);
        let given: Vec<Given> = values.iter().map(given).collect();
        if state.next().is_some() {
            return self.again(&mut state, (module, function), &given);
        }
        let under_way = UnderWay {
            log: self.clone(),
            module: module.to_owned(),
            function: function.to_owned(),
            given,
            before: state.seen.look(),
            generation: state.generation,
            has_waited: false,
        };
        drop(state);
        under_way.settle(body(call))
    }

    /// Gives the results of a call that was made before, and makes its changes.
    fn again(
        &self,
        state: &mut State,
        (module, function): (&str, &str),
        given: &[Given],
    ) -> Result<NativeReturn, Status> {
        let number = state.position;
        let State { entries, first, seen, differs, .. } = &mut *state;
        let index = usize::try_from(number - *first).unwrap_or(usize::MAX);
        let Some(Entry { call, kept, .. }) = entries.get(index) else {
            return Err(Status::internal("no call is logged"));
        };
        if let Some(difference) = difference(call, (module, function), given) {
            let text = format!(
                "the program calls functions outside otherwise than before it went back: call \
                 {number} {difference}"
            );
            *differs = Some(text.clone());
            return Err(Status::internal(text));
        }
        let allocator = self.device.allocator();
        let addresses = Vec::new();
        let mut maker = Maker { allocator, limits: &self.limits, seen, kept, addresses };
        call.writes.iter().try_for_each(|write| maker.change(write))?;
        let has_waited = call.has_waited;
        let result = match &call.result {
            Ok(plain) => Ok(NativeReturn::Results(maker.results(number, plain)?)),
            Err(status) => Err(status.clone()),
        };
        let addresses = maker.addresses;
        if let Some(entry) = state.entries.get_mut(index) {
            entry.addresses = addresses;
        }
        state.position += 1;
        if !has_waited {
            return result;
        }
        // As before, there is a moment at which the program waits.
        let mut result = Some(result);
        Ok(NativeReturn::Pending(Box::new(move || {
            result.take().unwrap_or_else(|| Err(Status::internal("a wait goes on after its end")))
        })))
    }
}

/// Makes a call that is not logged. It may write what it is given, then and later.
fn lending(call: NativeCall<'_>, body: &Body) -> Result<NativeReturn, Status> {
    share_memory(call.values());
    let returned = body(call);
    match &returned {
        Ok(NativeReturn::Results(results)) => share_memory(results),
        Ok(NativeReturn::Result(result)) => share_memory(std::slice::from_ref(result)),
        // What it gives later is memory that it has made, or was given.
        Ok(NativeReturn::Pending(_) | NativeReturn::Activity(_)) | Err(_) => {}
    }
    returned
}

/// How a call differs from the logged one.
fn difference(
    logged: &OutsideCall,
    (module, function): (&str, &str),
    given: &[Given],
) -> Option<String> {
    if (&*logged.module, &*logged.function) != (module, function) {
        return Some(format!("was {logged}, and is @{module}.{function}"));
    }
    if logged.given.len() != given.len() {
        let (before, now) = (logged.given.len(), given.len());
        return Some(format!("of {logged} had {before} arguments, and has {now}"));
    }
    let mut pairs = logged.given.iter().zip(given).enumerate();
    let (index, (before, now)) = pairs.find(|(_, (before, now))| before != now)?;
    Some(format!("of {logged}: args[{index}] was {before}, and is {now}"))
}

/// A call that has not returned yet.
struct UnderWay {
    log: Arc<OutsideLog>,
    module: String,
    function: String,
    given: Vec<Given>,
    before: Before,
    generation: u64,
    has_waited: bool,
}

type Returned = Result<NativeReturn, Status>;

impl UnderWay {
    fn name(&self) -> String {
        format!("@{}.{}", self.module, self.function)
    }

    /// Logs the call if it is over.
    fn settle(mut self, returned: Returned) -> Returned {
        match returned {
            Ok(NativeReturn::Pending(poll)) => {
                self.has_waited = true;
                let mark = WaitingMark::new(&self);
                let mut waits = Some(Waits { under_way: self, poll, mark });
                Ok(NativeReturn::Pending(Box::new(move || match waits.take() {
                    Some(waits) => waits.look(),
                    None => Err(Status::internal("a wait goes on after its end")),
                })))
            }
            Ok(NativeReturn::Activity(activity)) => {
                let reason = format!("{} runs in steps, which are not recorded", self.name());
                self.log.lock().lost = Some(reason);
                Ok(NativeReturn::Activity(activity))
            }
            Ok(NativeReturn::Results(results)) => {
                self.finish(&Ok(&results));
                Ok(NativeReturn::Results(results))
            }
            Ok(NativeReturn::Result(result)) => {
                self.finish(&Ok(std::slice::from_ref(&result)));
                Ok(NativeReturn::Result(result))
            }
            Err(status) => {
                self.finish(&Err(&status));
                Err(status)
            }
        }
    }

    fn finish(self, returned: &Result<&[Value], &Status>) {
        let name = self.name();
        let Self { log, module, function, given, before, generation, has_waited } = self;
        let mut changed = before.changed();
        let commands = log.device.history().total();
        let mut state = log.lock();
        if state.generation != generation {
            return;
        }
        let number = state.position;
        let (result, kept) = match returned {
            Err(status) => (Ok(Err((*status).clone())), Vec::new()),
            Ok(values) => match Results::of(number, values, &mut state.seen) {
                Ok(results) => {
                    changed.addresses.extend(results.addresses);
                    (Ok(Ok(results.plain)), results.kept)
                }
                Err(reason) => (Err(reason.to_string()), Vec::new()),
            },
        };
        let result = match (result, changed.unknown) {
            (Err(reason), _) | (_, Some(reason)) => {
                state.lost = Some(format!("{name} {reason}"));
                Err(Status::internal(reason))
            }
            (Ok(result), None) => result,
        };
        let writes = changed.writes;
        let call = OutsideCall { module, function, given, result, writes, has_waited, commands };
        let call = Arc::new(call);
        let entry = Entry { call, kept, addresses: changed.addresses };
        state.bytes += entry.size();
        state.entries.push_back(entry);
        state.position += 1;
    }
}

/// A call that the program waits for.
struct Waits {
    under_way: UnderWay,
    poll: Box<dyn FnMut() -> Returned + Send>,
    mark: WaitingMark,
}

impl Waits {
    fn look(self) -> Returned {
        let Self { under_way, mut poll, mark } = self;
        let returned = poll();
        // There is a new one if the program has to wait longer.
        drop(mark);
        under_way.settle(returned)
    }
}

/// Says that the program waits, until it does not or has given the call up.
struct WaitingMark(Arc<OutsideLog>, u64);

impl WaitingMark {
    fn new(under_way: &UnderWay) -> Self {
        let (log, generation) = (under_way.log.clone(), under_way.generation);
        log.lock().waiting.push((generation, under_way.name()));
        Self(log, generation)
    }
}

impl Drop for WaitingMark {
    fn drop(&mut self) {
        self.0.lock().waiting.retain(|(generation, _)| *generation != self.1);
    }
}
