//! The protocol: tools and resources, by the crate `rmcp`.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, ServerInitializeError};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::{Value, json};

use crate::access::Access;
use crate::guide::GUIDE;
use crate::library::{Document, Library};
use crate::problem::Problem;
use crate::program::Desk;
use crate::stopper::Stopper;
use crate::tools::table::{Reply, TOOLS};
use crate::worker::{Call, Outcome, Worker};

/// What the server is started with.
#[derive(Clone, Debug)]
pub struct Options {
    /// What clients may do.
    pub access: Access,
    /// The program `iree-dbg`.
    pub executable: PathBuf,
    /// Its version.
    pub version: String,
}

/// How long a call that was told to stop may take to do so.
const GRACE: Duration = Duration::from_secs(10);

/// How long a question about the state waits until it hears what runs.
const GLANCE: Duration = Duration::from_millis(20);

/// How often a client hears that its call still runs.
const PROGRESS: Duration = Duration::from_secs(1);

/// The most seconds that a client can give a call.
const MOST_SECONDS: f64 = 3_600.0;

/// Serves one client on standard input and output, until it closes them. The process works in the
/// first folder, so that names of files mean the same in every tool.
///
/// # Errors
/// The client does not speak the protocol.
pub fn serve_stdio(options: Options) -> std::io::Result<()> {
    std::env::set_current_dir(options.access.folder())?;
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).enable_all().build()?;
    let served = runtime.block_on(async {
        let server = Server::new(options);
        let running = match server.serve(rmcp::transport::stdio()).await {
            Ok(running) => running,
            // A client may go away before it has said anything.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(std::io::Error::other(error.to_string())),
        };
        running.waiting().await.map(drop).map_err(std::io::Error::other)
    });
    // A program that still runs ends with the process.
    runtime.shutdown_background();
    served
}

struct Server {
    worker: Worker,
    library: Library,
    options: Options,
}

impl Server {
    fn new(options: Options) -> Self {
        let (library, stopper) = (Library::default(), Stopper::default());
        let desk = Desk {
            access: options.access.clone(),
            library: library.clone(),
            stopper,
            executable: options.executable.clone(),
            program: None,
        };
        Self { worker: Worker::start(desk), library, options }
    }

    /// Why a call has to wait, if it has to.
    fn busy(&self) -> Option<Problem> {
        let (tool, since) = self.worker.busy()?;
        let seconds = since.elapsed().as_secs();
        Some(format!("`{tool}` has been running for {seconds} s; its answer tells more").into())
    }

    /// Tells a client that wants to hear it, again and again, that the call still runs: clients
    /// give up calls of which they hear nothing. Does not end.
    async fn tell_progress(&self, context: &RequestContext<RoleServer>, budget: Duration) {
        let Some(token) = context.meta.get_progress_token() else {
            return std::future::pending().await;
        };
        let begun = Instant::now();
        loop {
            tokio::time::sleep(PROGRESS).await;
            let message = self.worker.busy().map(|(tool, _)| format!("`{tool}` runs"));
            let told = ProgressNotificationParam::new(token.clone(), begun.elapsed().as_secs_f64())
                .with_total(budget.as_secs_f64())
                .with_message(message.unwrap_or_default());
            // Without its client, the call is cancelled soon.
            let _ = context.peer.notify_progress(told).await;
        }
    }

    /// Waits for the answer to a call, which ends when its time is over or the client cancels it.
    async fn outcome(
        &self,
        call: Call,
        seconds: f64,
        is_state: bool,
        context: &RequestContext<RoleServer>,
    ) -> Outcome {
        let Call { mut begun, mut reply } = call;
        let lost = || Err(Problem::from("the debugger has ended"));
        let budget = Duration::from_secs_f64(seconds.clamp(0.05, MOST_SECONDS));
        // A client that asks for the state wants to know that something else runs.
        let patience = if is_state { GLANCE } else { budget };
        loop {
            tokio::select! {
                began = &mut begun => match began {
                    Ok(()) => break,
                    Err(_) => return lost(),
                },
                () = tokio::time::sleep(patience) => {
                    if let Some(problem) = self.busy() {
                        return Err(problem);
                    }
                }
                () = context.ct.cancelled() => return Err("the call was cancelled".into()),
            }
        }
        tokio::select! {
            answer = &mut reply => return answer.unwrap_or_else(|_| lost()),
            () = tokio::time::sleep(budget) => {}
            () = context.ct.cancelled() => {}
            () = self.tell_progress(context, budget) => {}
        }
        self.worker.stopper.stop();
        match tokio::time::timeout(GRACE, reply).await {
            Ok(answer) => answer.unwrap_or_else(|_| lost()),
            Err(_) => Err(Problem::with_next(
                "its time is over, and it has not ended yet; calls wait until it has",
                &["state {}"],
            )),
        }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("iree-dbg", self.options.version.clone()))
            .with_instructions(GUIDE)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let access = &self.options.access;
        let there = TOOLS.iter().filter(|row| row.is_there(access));
        Ok(ListToolsResult::with_all_items(there.map(|row| row.listed(access)).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let access = &self.options.access;
        let row = TOOLS.iter().find(|row| row.name == name && row.is_there(access));
        row.map(|row| row.listed(access))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let row = TOOLS.iter().find(|row| row.name == request.name);
        let row = row.ok_or_else(|| {
            ErrorData::invalid_params(format!("there is no tool {:?}", request.name), None)
        })?;
        if !row.is_there(&self.options.access) {
            let flags = row.needs().join(",");
            let text = format!("{} needs a server that is started with --allow={flags}", row.name);
            return Ok(failed(&text.into()).into());
        }
        let arguments = request.arguments.map_or_else(|| json!({}), Value::Object);
        let seconds = arguments.get("seconds").and_then(Value::as_f64).unwrap_or(row.seconds);
        let is_state = row.name == "state";
        let call = self.worker.ask(row, arguments);
        let outcome = self.outcome(call, seconds, is_state, &context).await;
        Ok(match outcome {
            Ok(reply) => answered(reply),
            Err(problem) => failed(&problem),
        }
        .into())
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let all = self.library.all().into_iter().map(|document| {
            let Document { uri, name, about, mime, text } = document;
            let size = text.len() as u64;
            Resource::new(uri, name).with_description(about).with_mime_type(mime).with_size(size)
        });
        Ok(ListResourcesResult::with_all_items(all.collect()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let found = self.library.find(&request.uri).ok_or_else(|| {
            ErrorData::resource_not_found(format!("there is no resource {}", request.uri), None)
        })?;
        let contents = ResourceContents::text(&*found.text, found.uri).with_mime_type(found.mime);
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}

fn answered(reply: Reply) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(reply.text)]);
    result.structured_content = Some(reply.data);
    result
}

fn failed(problem: &Problem) -> CallToolResult {
    let next = match problem.next.as_slice() {
        [] => String::new(),
        next => format!("\nnext: {}", next.join(" | ")),
    };
    CallToolResult::error(vec![ContentBlock::text(format!("error: {}{next}", problem.text))])
}
