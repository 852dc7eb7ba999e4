//! Requests about what becomes of a source: they compile it, if the cache does not have it yet, and
//! answer from its stages. See [`crate::stages`].

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use compile::Cancellation;
use serde_json::{Value, json};
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::lsp_types::{self as lsp, ProgressToken, Url};

use super::Backend;
use super::own_requests::uri_of;
use crate::progress::Progress;
use crate::publish::show_document;
use crate::requests::stages as answers;
use crate::requests::why::why;
use crate::settings::Settings;
use crate::stages::{
    Job, Named, Problem, Source, StageError, StageSet, Stages, is_stage, make, make_passes,
};
use crate::transport::snapshot;

/// The time between two reports.
const REPORT: Duration = Duration::from_millis(300);
/// How many phases a compilation prints, for the progress.
const PHASES: usize = 12;

/// Stops a compilation when the request is cancelled, which drops its future.
struct StopOnDrop(Cancellation);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// The client's token for progress, if the request has one.
fn token_of(params: &Value) -> Option<ProgressToken> {
    serde_json::from_value(params["workDoneToken"].clone()).ok()
}

fn position_of(params: &Value) -> Result<lsp::Position> {
    serde_json::from_value(params["position"].clone())
        .map_err(|_| Error::invalid_params("expected a position"))
}

impl Backend {
    /// `iree-dbg/stages`: the stages of a source, and what one of its functions became in each.
    pub(crate) async fn stages(&self, params: Value) -> Result<Value> {
        let uri = uri_of(&params)?;
        let function = params["function"].as_str().map(str::to_owned);
        self.stages_of(uri, function, token_of(&params)).await
    }

    /// The same for the command `iree-dbg.whatBecomes` with a document and a function, which also
    /// shows the first stage.
    pub(super) async fn what_becomes(&self, arguments: &[Value]) -> Result<Option<Value>> {
        let uri = arguments.first().and_then(Value::as_str).and_then(|uri| Url::parse(uri).ok());
        let uri = uri.ok_or_else(|| Error::invalid_params("expected the URI of a document"))?;
        let function = arguments.get(1).and_then(Value::as_str).map(str::to_owned);
        let answer = self.stages_of(uri, function, None).await?;
        let session = self.session();
        let stage = &answer["stages"][0];
        let target = stage["uri"].as_str().and_then(|uri| Url::parse(uri).ok());
        // A client with a command of this name shows what it likes.
        if let Some(uri) = target
            && session.abilities.shows_documents
            && !session.runs("iree-dbg.whatBecomes")
        {
            let line = stage["line"].as_u64().and_then(|line| u32::try_from(line).ok());
            let at = lsp::Position::new(line.unwrap_or(0), 0);
            let selection = Some(lsp::Range::new(at, at));
            let params =
                lsp::ShowDocumentParams { uri, external: None, take_focus: Some(true), selection };
            show_document(&self.client, params);
        }
        Ok(Some(answer))
    }

    async fn stages_of(
        &self,
        uri: Url,
        function: Option<String>,
        token: Option<ProgressToken>,
    ) -> Result<Value> {
        let set = self.set_of(&uri, token).await?;
        let lines = match &function {
            Some(name) => {
                let name = name.clone();
                let found = self.with_document(&uri, move |view| {
                    let function =
                        ide::callables(view.document()).find(|function| function.name == name)?;
                    let range = view.range(&function.range);
                    Some((range.start.line, range.end.line))
                });
                let found = found.await?.flatten();
                let none = || Error::invalid_params(format!("there is no function {function:?}"));
                Some(found.ok_or_else(none)?)
            }
            None => None,
        };
        self.on_thread(move || {
            let function = function.as_deref().zip(lines);
            let function = function.map(|(name, (first, last))| (name, first, last));
            answers::list(&set, function)
        })
        .await
    }

    /// `iree-dbg/passes`: a function after each pass that changed it.
    pub(crate) async fn passes(&self, params: Value) -> Result<Value> {
        let uri = uri_of(&params)?;
        let function = params["function"].as_str().map(str::to_owned);
        let function = function.ok_or_else(|| Error::invalid_params("expected a function"))?;
        let token = token_of(&params);
        let set = self.set_of(&uri, token.clone()).await?;
        let (session, cancellation) = (self.session(), Cancellation::default());
        may_run(&session.settings())?;
        let _stop = StopOnDrop(cancellation.clone());
        // The turn ends with the compiler, which may be a moment after the request.
        let turn = session.stages.turn.clone().lock_owned().await;
        let title = format!("Passes over @{function}");
        let _progress = self.progress(token, &title).await;
        let work = self.on_thread(move || {
            let _turn = turn;
            let made = make_passes(&session.cache()?, &set, &function, &cancellation)?;
            Ok::<_, Problem>(answers::passes(&set, &made))
        });
        work.await?.map_err(answers::failed)
    }

    /// `iree-dbg/becomes`: where the operation at a position of a source or of a stage went, in
    /// every stage, and where it came from.
    pub(crate) async fn becomes(&self, params: Value) -> Result<Value> {
        let (uri, position) = (uri_of(&params)?, position_of(&params)?);
        let only: Option<Vec<String>> = serde_json::from_value(params["stages"].clone()).ok();
        let key = params["key"].as_str().map(str::to_owned);
        // Without `unchanged`, all of a text is another one once a part of it is.
        let unchanged: Option<answers::Unchanged> =
            serde_json::from_value(params["unchanged"].clone()).ok();
        let is_answered_from_key = key.is_some() && unchanged.is_none();
        // A document that follows its source has what its client says it was given.
        let given = key.as_deref().and_then(|key| Stages::named_of(&uri, key));
        let set = match key {
            // A client that names a compilation gets an answer at once, or none.
            Some(key) => self.set_of_key(key).await?,
            None => self.set_of(&uri, token_of(&params)).await?,
        };
        let session = self.session();
        let trail = match params["why"].as_bool() {
            Some(true) => Some(self.trail_of(&set, token_of(&params)).await?),
            _ => None,
        };
        let documents = snapshot();
        let encoding = documents.encoding();
        let work = self.on_thread(move || {
            let source = Url::from_file_path(&set.info.source).ok();
            let source = source.and_then(|uri| documents.get(&uri).cloned());
            let places = match given.or_else(|| session.stages.named(&uri)) {
                None if is_stage(&uri) => return Err(StageError::NamesNone(uri)),
                Some(named) => {
                    let found = answers::find(&session.cache()?, &set, &named)?;
                    answers::places_of(found.stage(), position.line)
                }
                // Lines of a text that has changed since are not those that were compiled.
                None if is_answered_from_key && answers::is_stale(&set, source.as_deref()) => {
                    Vec::new()
                }
                None => {
                    let open = documents.get(&uri).ok_or(StageError::NotOpen)?;
                    let unchanged = unchanged.as_ref();
                    let found = answers::places_at(&set, open, position, encoding, unchanged);
                    found.map(|(_, places)| places).unwrap_or_default()
                }
            };
            let only = only.as_deref();
            let mut answer = answers::becomes(&set, &places, only, source.as_deref(), encoding);
            if let Some(trail) = trail {
                answer["why"] = why(&set, &places, &trail, source.as_deref());
            }
            Ok(answer)
        });
        work.await?.map_err(|error: StageError| answers::failed(error))
    }

    /// What passes did with the operations of a compilation.
    async fn trail_of(
        &self,
        set: &Arc<StageSet>,
        token: Option<ProgressToken>,
    ) -> Result<Arc<ide::Trail>> {
        let (session, cancellation) = (self.session(), Cancellation::default());
        may_run(&session.settings())?;
        let _stop = StopOnDrop(cancellation.clone());
        let turn = session.stages.turn.clone().lock_owned().await;
        let title = "What each pass did";
        let progress = self.progress(token, title).await;
        let (set, count) = (set.clone(), Arc::new(AtomicUsize::new(0)));
        let counted = count.clone();
        let mut work = std::pin::pin!(self.on_thread(move || {
            let _turn = turn;
            let on_pass = |count| counted.store(count, Ordering::Relaxed);
            session.trails.of(&set, &cancellation, &on_pass)
        }));
        loop {
            tokio::select! {
                made = &mut work => return made?.map_err(answers::failed),
                () = tokio::time::sleep(REPORT) => {
                    let count = count.load(Ordering::Relaxed);
                    progress.report(0, &format!("{count} texts of passes"));
                }
            }
        }
    }

    /// From a line of a stage to the stage before or after.
    pub(super) async fn go_between_stages(
        &self,
        place: lsp::TextDocumentPositionParams,
        way: answers::Way,
    ) -> Result<Option<lsp::GotoDefinitionResponse>> {
        if !is_stage(&place.text_document.uri) {
            return Ok(None);
        }
        let found = self.with_document(&place.text_document.uri, move |view| {
            answers::go(view, place.position, way).map(lsp::GotoDefinitionResponse::Array)
        });
        Ok(found.await?.flatten())
    }

    /// The text of a stage. A document that follows its source is given the compilation `key`, or
    /// the one that it has.
    pub(super) async fn stage_text(&self, uri: Url, key: Option<String>) -> Result<Value> {
        let session = self.session();
        let work = self.on_thread(move || {
            let named = key.and_then(|key| Stages::named_of(&uri, &key));
            let named = named.or_else(|| session.stages.named(&uri));
            let named = named.ok_or_else(|| StageError::NamesNone(uri.clone()))?;
            let set = session.stages.of_key(&session.cache()?, &named.key)?;
            let found = answers::find(&session.cache()?, &set, &named)?;
            session.stages.gave(&uri, &named);
            Ok(answers::text(found.stage()))
        });
        let text = work.await?.map_err(|error: StageError| answers::failed(error))?;
        Ok(json!({"text": text}))
    }

    /// The stages that a document is one of, or the source of.
    async fn set_of(&self, uri: &Url, token: Option<ProgressToken>) -> Result<Arc<StageSet>> {
        if !is_stage(uri) {
            return self.made(uri, token).await;
        }
        let named = self.session().stages.named(uri);
        let named = named.ok_or_else(|| Error::invalid_params(format!("{uri} names no stage")))?;
        self.set_of_key(named.key).await
    }

    async fn set_of_key(&self, key: String) -> Result<Arc<StageSet>> {
        if !Named::is_key(&key) {
            return Err(Error::invalid_params("expected the key of a compilation"));
        }
        let session = self.session();
        let of_key = move || session.stages.of_key(&session.cache()?, &key);
        let found = self.on_thread(of_key).await?;
        found.map_err(|error: StageError| answers::failed(error))
    }

    /// The stages of a source, compiled if they must be.
    async fn made(&self, uri: &Url, token: Option<ProgressToken>) -> Result<Arc<StageSet>> {
        let session = self.session();
        let settings = session.settings();
        may_run(&settings)?;
        let open = snapshot().get(uri).map(|open| open.rope.clone());
        let source = Source::of(uri, open).map_err(answers::failed)?;
        let turn = session.stages.turn.clone().lock_owned().await;
        let title = format!("Compiling {}", source.path.display());
        let progress = self.progress(token, &title).await;
        let cancellation = Cancellation::default();
        let _stop = StopOnDrop(cancellation.clone());
        let phases: Arc<OnceLock<PathBuf>> = Arc::default();
        let job = Job { source, settings, cancellation, phases: phases.clone() };
        let of_session = session.clone();
        let mut work = std::pin::pin!(self.on_thread(move || {
            // The turn ends with the compiler, which may be a moment after the request.
            let _turn = turn;
            make(&job, &of_session.stages)
        }));
        let mut last = 0;
        loop {
            tokio::select! {
                made = &mut work => return made?.map_err(answers::failed),
                () = tokio::time::sleep(REPORT) => {
                    let folder = phases.get().and_then(|folder| std::fs::read_dir(folder).ok());
                    let count = folder.map_or(0, Iterator::count).min(PHASES);
                    if count == last {
                        continue;
                    }
                    last = count;
                    let percentage = u32::try_from(count * 100 / PHASES).unwrap_or(100);
                    progress.report(percentage, &format!("phase {count} of {PHASES}"));
                }
            }
        }
    }

    /// Progress under the client's token, or one of the server's own.
    async fn progress(&self, token: Option<ProgressToken>, title: &str) -> Progress {
        match token {
            Some(token) => Progress::under(&self.client, Some(token), title),
            None => {
                Progress::of_server(&self.client, self.session().abilities.progress, title).await
            }
        }
    }
}

fn may_run(settings: &Settings) -> Result<()> {
    settings.may_run("iree-compile").map_err(|error| answers::failed(StageError::from(error)))
}
