//! Examples at the end of each command's `--help`. Their files are those of the folder `example`,
//! with `classifier.vmfb` and `count.vmfb` made by the first two, and a result of the classifier in
//! `probabilities.npy`; a test runs all of them there.

/// The text after the help of a command: its examples.
macro_rules! examples {
    ($($name:ident: $($example:literal),+;)*) => {$(
        pub(crate) const $name: &str = concat!("Examples:", $("\n  iree-dbg ", $example),+);
    )*};
}

examples! {
    COMPILE:
        "compile classifier.mlir -o classifier.vmfb",
        "compile lookup.mlir -o lookup.vmfb -- --iree-hal-target-backends=llvm-cpu";
    ASM:
        "asm --output=count.vmfb count.vmasm";
    RUN:
        "run --module=classifier.vmfb --input=1x16xf32=0.1",
        "run --module=count.vmfb --function=count --input=10 --expected_output=i32=10",
        "run --module=classifier.vmfb --input=1x16xf32=90 --record=nan.run";
    VIEW:
        "view probabilities.npy";
    DEBUG:
        "debug",
        "debug newton.mlir --function=main --input=2.0 --input=5",
        "debug classifier.vmfb --input=1x16xf32=9 -ex 'catch nan' -ex run --batch";
    TENSORS:
        "tensors classifier.vmfb --input=1x16xf32=90",
        "tensors classifier.vmfb --input=1x16xf32=1 --format=npz --output=run.npz";
    TABLE:
        "table nan.run",
        "table nan.run 'nan(*)'";
    REPRO:
        "repro classifier.vmfb --input=1x16xf32=1 --dispatch=1 -o repro",
        "repro classifier.vmfb --input=1x16xf32=1 -o all-dispatches";
    DIFF:
        "diff classifier.vmfb classifier.vmfb --input=1x16xf32=0.1 --mode=accumulated",
        "diff classifier.vmfb classifier.vmfb --input=1x16xf32=0.1 --html=report.html",
        "diff classifier.vmfb --input=1x16xf32=0.1",
        "diff native.vmfb --bytecode --input=1x16xf32=0.1",
        "diff classifier.vmfb --b-device=local-task --input=1x16xf32=0.1",
        "diff nan.run nan.run";
    WHY:
        "why classifier.mlir --input=1x16xf32=0.1 --expect=probabilities.npy",
        "why classifier.mlir --input=1x16xf32=0.1 --expect=probabilities.npy -o why -- \
         --iree-opt-level=O2";
    DUMP:
        "dump --output=metadata classifier.vmfb",
        "dump --output=disassembly count.vmfb";
    DOCTOR:
        "doctor classifier.vmfb";
    TRUST:
        "trust .",
        "trust --remove .";
    VERIFY:
        "verify classifier.vmfb";
    CHECK:
        "check tests.vmfb";
    BENCH:
        "bench --module=count.vmfb --function=count --input=1000";
    ABI:
        "abi explain classifier.vmfb:classify",
        "abi convert --from=iree --to=memref 'sync func @f(%x: tensor<4xf32>) -> (%y: f32)'";
    ABI_DECODE:
        "abi decode --kind=cconv 0rii_r";
    ABI_ENCODE:
        "abi encode --kind=cconv '{\"arguments\": [], \"results\": []}'";
    ABI_CONVERT:
        "abi convert --from=iree --to=memref 'sync func @f(%x: tensor<4xf32>) -> (%y: f32)'";
    ABI_EXPLAIN:
        "abi explain classifier.vmfb:classify",
        "abi explain --kind=memref '(memref<?xf32>, i32) -> f32'";
    ABI_BUFFER:
        "abi buffer --raw='I12!B9!t6d1d384R1!' 1x384xsi32 --strides=1536,4 --length=1536";
    DAP:
        "dap",
        "dap --listen=127.0.0.1:0";
    LSP:
        "lsp";
    MCP:
        "mcp",
        "mcp --root=. --allow=compile,write",
        "mcp --agents-md";
    COMPLETIONS:
        "completions bash > iree-dbg.bash",
        "completions zsh";
    MAN:
        "man > iree-dbg.1",
        "man --directory=manual";
}
