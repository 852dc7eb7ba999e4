//! `iree-dbg view`: the tensors of a file, as a list or as a picture. With `--questions`, it
//! answers what the panel of an editor asks, one JSON object a line, until its input ends.

use std::collections::HashMap;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

use commands::tensor_picture;
use dap_adapter::tensor_questions::{self, Question};
use debug::TensorView;
use serde::Deserialize;
use serde_json::{Value, json};
use values::TensorFile;

use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::terminal;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A .npy, .irpa, .safetensors, .gguf, .bin or .raw; the constants of a .mlir, or of a .vmfb
    /// with its debug file
    file: PathBuf,

    /// Which of its tensors; without it the only one, or a list
    #[arg(long, value_name = "NAME")]
    tensor: Option<String>,

    /// The type of the tensor, where the file states none: 4x8xf32
    #[arg(long = "type", value_name = "TYPE")]
    declared: Option<String>,

    /// The part to draw, as NumPy writes it: [3, :, :, 0]
    #[arg(long)]
    slice: Option<String>,

    /// Answer the questions of an editor, one JSON object a line
    #[arg(long, hide = true)]
    questions: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitStatus, Failure> {
    let file = TensorFile::open(&arguments.file)?;
    let mut out = crate::printing::output();
    if arguments.questions {
        let mut answers = Answers { path: &arguments.file, file, open: HashMap::new() };
        for line in io::stdin().lock().lines() {
            writeln!(out, "{}", answers.to(&line?))?;
            out.flush()?;
        }
        return Ok(ExitStatus::Success);
    }
    if arguments.tensor.is_none() && file.tensors().len() != 1 {
        for tensor in file.tensors() {
            let stated = tensor.stated_type.as_deref().unwrap_or("?");
            writeln!(out, "{}  {stated}  {} bytes", tensor.name, tensor.length)?;
        }
        return Ok(ExitStatus::Success);
    }
    let found = file.tensor(arguments.tensor.as_deref())?;
    let (buffer, tensor_type) = found.load(arguments.declared.as_deref())?;
    let tensor = TensorView::new(buffer, tensor_type)?;
    let slice = arguments.slice.as_deref();
    let (width, is_coloured) = (terminal::width(), terminal::is_coloured());
    let picture = tensor_picture(&found.name, &tensor, slice, width, is_coloured)?;
    out.write_own(&picture)?;
    Ok(ExitStatus::Success)
}

/// The statistics of a row are those of at most so many elements.
const MOST_IN_ROW: usize = 1 << 24;

/// The answers about a file.
struct Answers<'a> {
    path: &'a Path,
    file: TensorFile,
    /// The tensors that were asked for, by name and declared type.
    open: HashMap<(Option<String>, Option<String>), TensorView>,
}

impl Answers<'_> {
    /// The answer to a line.
    fn to(&mut self, line: &str) -> Value {
        let asked: Value = match serde_json::from_str(line) {
            Ok(asked) => asked,
            Err(error) => return json!({"error": error.to_string()}),
        };
        match self.body(&asked) {
            Ok(body) => json!({"id": asked["id"], "body": body}),
            Err(error) => json!({"id": asked["id"], "error": error.to_string()}),
        }
    }

    fn body(&mut self, asked: &Value) -> Result<Value, Failure> {
        if asked["list"] == true {
            let tensors = self.file.tensors().iter().map(|tensor| {
                json!({
                    "name": tensor.name, "type": tensor.stated_type, "bytes": tensor.length,
                    "line": tensor.line,
                })
            });
            return Ok(json!({"tensors": tensors.collect::<Vec<_>>()}));
        }
        let tensor = self.tensor(asked)?;
        if asked["row"] == true {
            return Ok(json!({"row": tensor.row(&mut { MOST_IN_ROW })}));
        }
        let question: Question = Question::deserialize(asked)?;
        let other = match &asked["with"] {
            Value::Null => None,
            with => Some(match with["file"].as_str() {
                Some(path) if Path::new(path) != self.path => {
                    let [name, declared] = [&with["name"], &with["type"]].map(Value::as_str);
                    tensor_questions::open(Path::new(path), name, declared)?
                }
                _ => self.tensor(with)?,
            }),
        };
        if let Some(path) = asked["save"].as_str() {
            let tensor = tensor.tensor().ok_or("this tensor cannot be saved")?;
            vmfb::WholeFile::write(path.as_ref(), &abi::npy::write(&tensor)?)?;
        }
        Ok(tensor_questions::answer(&tensor, other.as_ref(), &question)?)
    }

    /// The tensor that a question names.
    fn tensor(&mut self, asked: &Value) -> Result<TensorView, Failure> {
        let [name, declared] = [&asked["name"], &asked["type"]].map(|it| it.as_str());
        let key = (name.map(str::to_owned), declared.map(str::to_owned));
        if let Some(known) = self.open.get(&key) {
            return Ok(known.clone());
        }
        let (buffer, tensor_type) = self.file.tensor(name)?.load(declared)?;
        let tensor = TensorView::new(buffer, tensor_type)?;
        self.open.insert(key, tensor.clone());
        Ok(tensor)
    }
}
