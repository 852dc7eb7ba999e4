//! `iree-dbg dump`: a module as text or JSON on standard output, or the table of an archive of
//! parameters.

use std::io::{BufWriter, Write};
use std::path::PathBuf;

use hal::Parameters;
use vmfb::Module;
use vmfb::print::{self, DisassemblyOptions, Rodata};

use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::program::parse_switch;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// What to print
    #[arg(long, value_enum, default_value_t = Output::All)]
    output: Output,

    /// Disassemble only this function: a name or an ordinal
    #[arg(long)]
    function: Option<String>,

    /// Begin each instruction with its bytecode offset
    #[arg(
        long = "bytecode_offsets",
        alias = "bytecode-offsets",
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_value = "false",
        default_missing_value = "true",
        value_parser = parse_switch
    )]
    bytecode_offsets: bool,

    /// Indent the JSON
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_value = "false",
        default_missing_value = "true",
        value_parser = parse_switch
    )]
    pretty: bool,

    /// Print rodata segments over 64 bytes as size and hash, or in full
    #[arg(long, value_enum, default_value_t = RodataStyle::Elide)]
    rodata: RodataStyle,

    /// The module; or parameters: .irpa, .gguf or .safetensors
    #[arg(value_name = "MODULE.vmfb")]
    module: PathBuf,
}

#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq)]
enum Output {
    /// Metadata, then disassembly
    All,
    /// The exports, imports and sizes of the module
    Metadata,
    /// VM assembly text (.vmasm)
    Disassembly,
    /// The FlatBuffer, byte for byte
    FlatbufferBinary,
    /// The FlatBuffer as JSON, with the keys of IREE's schema
    FlatbufferJson,
    /// The whole model as JSON, with stable keys
    Json,
}

#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq)]
enum RodataStyle {
    /// Size and hash for segments over 64 bytes
    Elide,
    /// Every byte
    Full,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitStatus, Failure> {
    let mut out = BufWriter::new(crate::printing::output());
    if Parameters::is_archive(&arguments.module) {
        let parameters = Parameters::open_file(&arguments.module)?;
        out.write_all(parameters.table().as_bytes())?;
        out.flush()?;
        return Ok(ExitStatus::Success);
    }
    let module = crate::modules::open(&arguments.module)?;
    match arguments.output {
        Output::All => {
            out.write_all(print::metadata(&module).as_bytes())?;
            out.write_all(b"\n")?;
            out.write_all(disassembly(&module, arguments).as_bytes())?;
        }
        Output::Metadata => out.write_all(print::metadata(&module).as_bytes())?,
        Output::Disassembly => out.write_all(disassembly(&module, arguments).as_bytes())?,
        Output::FlatbufferBinary => {
            let (_size, flatbuffer) = module.flatbuffer_bytes().split_at(4);
            out.write_all(flatbuffer)?;
        }
        Output::FlatbufferJson if arguments.pretty => print::pretty_flatbuffer(&module, &mut out)?,
        Output::FlatbufferJson => print::flatbuffer_json(&module, &mut out)?,
        Output::Json => print::model_json(&module, &mut out)?,
    }
    out.flush()?;
    Ok(ExitStatus::Success)
}

fn disassembly(module: &Module, arguments: &Arguments) -> String {
    let options = DisassemblyOptions {
        bytecode_offsets: arguments.bytecode_offsets,
        function: arguments.function.clone(),
        rodata: match arguments.rodata {
            RodataStyle::Elide => Rodata::Elide,
            RodataStyle::Full => Rodata::Full,
        },
    };
    print::disassemble(module, &options).text
}
