//! A test client: it sends without waiting and collects answers by id.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf,
};
use tokio::task::JoinHandle;

/// No answer takes this long: a test that waits so long has found a deadlock.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Client {
    output: WriteHalf<DuplexStream>,
    input: BufReader<ReadHalf<DuplexStream>>,
    server: JoinHandle<u8>,
    next_id: i64,
    answers: HashMap<i64, Value>,
    pub(crate) notifications: Vec<Value>,
}

impl Client {
    /// A server before `initialize`.
    pub(crate) fn raw() -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (input, output) = tokio::io::split(theirs);
        let server = tokio::spawn(server::serve(input, output));
        let (input, output) = tokio::io::split(ours);
        Self {
            output,
            input: BufReader::new(input),
            server,
            next_id: 0,
            answers: HashMap::new(),
            notifications: Vec::new(),
        }
    }

    /// A server in a session, and the capabilities that it announced.
    pub(crate) async fn initialized(capabilities: Value, options: Value) -> (Self, Value) {
        let mut client = Self::raw();
        let params = json!({"processId": null, "rootUri": null, "capabilities": capabilities, "initializationOptions": options});
        let answer = client.ask("initialize", params).await;
        client.notify("initialized", json!({})).await;
        (client, answer["result"]["capabilities"].clone())
    }

    pub(crate) async fn plain() -> Self {
        Self::initialized(json!({}), Value::Null).await.0
    }

    async fn write(&mut self, message: &Value) {
        self.body(message.to_string().as_bytes()).await;
    }

    /// Sends any bytes as the body of a frame.
    pub(crate) async fn body(&mut self, body: &[u8]) {
        let headers = format!("Content-Length: {}\r\n\r\n", body.len());
        self.output.write_all(headers.as_bytes()).await.expect("the server to read");
        self.output.write_all(body).await.expect("the server to read");
    }

    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        self.write(&json!({"jsonrpc": "2.0", "method": method, "params": params})).await;
    }

    /// Sends any message.
    pub(crate) async fn respond(&mut self, message: &Value) {
        self.write(message).await;
    }

    /// Sends a request without waiting for its answer.
    pub(crate) async fn send(&mut self, method: &str, params: Value) -> i64 {
        self.next_id += 1;
        let id = self.next_id;
        let mut message = json!({"jsonrpc": "2.0", "id": id, "method": method});
        if !params.is_null() {
            message["params"] = params;
        }
        self.write(&message).await;
        id
    }

    async fn read(&mut self) -> Option<Value> {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if self.input.read_line(&mut line).await.ok()? == 0 {
                return None;
            }
            match line.trim_end().strip_prefix("Content-Length: ") {
                Some(value) => length = value.parse().expect("a length"),
                None if line == "\r\n" => break,
                None => {}
            }
        }
        let mut body = vec![0; length];
        self.input.read_exact(&mut body).await.ok()?;
        Some(serde_json::from_slice(&body).expect("JSON"))
    }

    /// Receives one message.
    pub(crate) async fn receive(&mut self) {
        let message = tokio::time::timeout(PATIENCE, self.read()).await.expect("an answer in time");
        let message = message.expect("the server to go on");
        match message["id"].as_i64().filter(|_| message.get("method").is_none()) {
            Some(id) => {
                self.answers.insert(id, message);
            }
            None => self.notifications.push(message),
        }
    }

    /// The answer to a request.
    pub(crate) async fn answer(&mut self, id: i64) -> Value {
        loop {
            if let Some(answer) = self.answers.remove(&id) {
                return answer;
            }
            self.receive().await;
        }
    }

    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params).await;
        self.answer(id).await
    }

    pub(crate) async fn open(&mut self, uri: &str, text: &str) {
        let language = if uri.ends_with(".vmasm") { "vmasm" } else { "mlir" };
        let item = json!({"uri": uri, "languageId": language, "version": 1, "text": text});
        self.notify("textDocument/didOpen", json!({"textDocument": item})).await;
    }

    pub(crate) async fn change(&mut self, uri: &str, version: i64, changes: Value) {
        let params =
            json!({"textDocument": {"uri": uri, "version": version}, "contentChanges": changes});
        self.notify("textDocument/didChange", params).await;
    }

    pub(crate) async fn hover(&mut self, uri: &str, line: usize, character: usize) -> Value {
        self.ask("textDocument/hover", place(uri, line, character)).await["result"].clone()
    }

    /// The diagnostics that are published next for a document.
    pub(crate) async fn published(&mut self, uri: &str) -> Value {
        loop {
            let mut sent = std::mem::take(&mut self.notifications).into_iter();
            let found = sent.find(|sent| {
                sent["method"] == "textDocument/publishDiagnostics" && sent["params"]["uri"] == uri
            });
            self.notifications = sent.collect();
            if let Some(found) = found {
                return found["params"]["diagnostics"].clone();
            }
            self.receive().await;
        }
    }

    /// The server's exit code, with the client's streams still open.
    pub(crate) async fn exit_code(self) -> u8 {
        tokio::time::timeout(PATIENCE, self.server)
            .await
            .expect("the server to end")
            .expect("no panic")
    }

    /// Closes the streams, like a client that dies.
    pub(crate) async fn hang_up(self) -> u8 {
        drop((self.output, self.input));
        tokio::time::timeout(PATIENCE, self.server)
            .await
            .expect("the server to end")
            .expect("no panic")
    }
}

pub(crate) fn place(uri: &str, line: usize, character: usize) -> Value {
    json!({"textDocument": {"uri": uri}, "position": {"line": line, "character": character}})
}

pub(crate) fn range(start: (usize, usize), end: (usize, usize)) -> Value {
    json!({"start": {"line": start.0, "character": start.1}, "end": {"line": end.0, "character": end.1}})
}

/// The Markdown of a hover.
pub(crate) fn markdown(hover: &Value) -> &str {
    hover["contents"]["value"].as_str().unwrap_or_default()
}

/// The position of a marked word: `needle` holds `‸` before the character.
pub(crate) fn at(text: &str, needle: &str) -> (usize, usize) {
    let plain = needle.replace('‸', "");
    let offset = text.find(&plain).expect("the place") + needle.find('‸').expect("a mark");
    let before = &text[..offset];
    let line = before.matches('\n').count();
    (line, before.rsplit('\n').next().unwrap_or_default().encode_utf16().count())
}
