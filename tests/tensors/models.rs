//! Models whose tensors all have equal sizes, so that a tensor under a wrong name, or with its axes
//! in another order, fits as well as the right one.

use std::fmt::Write;

/// A model: a source with one function, and arguments for it.
pub(crate) struct Model {
    pub(crate) name: &'static str,
    pub(crate) text: String,
    pub(crate) inputs: Vec<String>,
    /// Whether the compiler leaves tensors in another order than the line says.
    pub(crate) trap: bool,
    /// Whether the compiler makes bytecode of it.
    pub(crate) has_bytecode: bool,
}

impl Model {
    /// The name of its function.
    pub(crate) fn function(&self) -> &str {
        let (_, rest) = self.text.split_once("func.func @").unwrap_or_default();
        match rest.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next().unwrap_or_default(),
            None => rest.split('(').next().unwrap_or_default(),
        }
    }
}

/// All models.
pub(crate) fn all() -> Vec<Model> {
    let mut dynamic = attention("dynamic", "?x16");
    dynamic.text = dynamic.text.replace("tensor.empty()", "tensor.empty(%batch)");
    vec![
        attention("attention", "16x16"),
        dynamic,
        heads(),
        transposes(),
        convolutions(),
        norms(),
        gathers(),
        split(),
        parts(),
        crate::imported::classifier(),
    ]
}

/// An argument of pseudo-random numbers.
pub(crate) fn argument(shape: &str, seed: u64) -> String {
    let sizes = shape.split('x').filter_map(|it| it.parse::<usize>().ok());
    let count: usize = sizes.product();
    let is_float = shape.ends_with("f32");
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let numbers = (0..count).map(|_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let number = state >> 40;
        match is_float {
            true => format!("{}", (number % 2001) as f32 / 1000.0 - 1.0),
            false => format!("{}", number % 8),
        }
    });
    format!("{shape}={}", numbers.collect::<Vec<_>>().join(","))
}

/// Makes the body of a function of one type of tensors.
struct Body {
    text: String,
    /// The type of every tensor.
    t: String,
}

impl Body {
    fn add(&mut self, name: &str, operation: &str) {
        let _ = writeln!(self.text, "    %{name} = {operation}");
    }

    fn binary(&mut self, name: &str, operation: &str, one: &str, other: &str) {
        let t = &self.t;
        let _ = writeln!(self.text, "    %{name} = {operation} %{one}, %{other} : {t}");
    }

    fn matmul(&mut self, name: &str, one: &str, other: &str) {
        let t = self.t.clone();
        let body =
            format!("linalg.matmul ins(%{one}, %{other} : {t}, {t}) outs(%zeros : {t}) -> {t}");
        self.add(name, &body);
    }

    fn transpose(&mut self, name: &str, of: &str, order: &str) {
        let t = self.t.clone();
        let body =
            format!("linalg.transpose ins(%{of} : {t}) outs(%empty : {t}) permutation = [{order}]");
        self.add(name, &body);
    }

    fn unary(&mut self, name: &str, operation: &str, of: &str) {
        let t = self.t.clone();
        self.add(name, &format!("{operation} %{of} : {t}"));
    }

    fn softmax(&mut self, name: &str, of: &str, axis: usize) {
        let t = self.t.clone();
        let body =
            format!("linalg.softmax dimension({axis}) ins(%{of} : {t}) outs(%empty : {t}) -> {t}");
        self.add(name, &body);
    }

    fn begin(&mut self) {
        let t = self.t.clone();
        self.add("zero", "arith.constant 0.0 : f32");
        self.add("empty", &format!("tensor.empty() : {t}"));
        self.add("zeros", &format!("linalg.fill ins(%zero : f32) outs(%empty : {t}) -> {t}"));
    }
}

fn model(
    name: &'static str,
    head: &str,
    arguments: &[(&str, &str)],
    body: &str,
    result: (&str, &str),
) -> Model {
    let parameters: Vec<String> =
        arguments.iter().map(|(name, shape)| format!("%{name}: tensor<{shape}>")).collect();
    let (value, kind) = result;
    let text = format!(
        "{head}module @m {{\n  func.func @main({}) -> {kind} {{\n{body}    return %{value} : \
         {kind}\n  }}\n}}\n",
        parameters.join(", ")
    );
    let inputs =
        (1..).zip(arguments).map(|(seed, (_, shape))| argument(&shape.replace('?', "16"), seed));
    Model { name, text, inputs: inputs.collect(), trap: false, has_bytecode: true }
}

/// Attention over a square matrix: every tensor is 16x16.
fn attention(name: &'static str, shape: &str) -> Model {
    let weights = "tensor<16x16xf32>";
    let t = format!("tensor<{shape}xf32>");
    let mut body = Body { text: String::new(), t: t.clone() };
    let is_dynamic = shape.starts_with('?');
    if is_dynamic {
        body.add("c0", "arith.constant 0 : index");
        body.add("batch", &format!("tensor.dim %x, %c0 : {t}"));
    }
    body.begin();
    let product = |name: &str, one: &str| {
        let outs = format!("outs(%zeros : {t}) -> {t}");
        format!("    %{name} = linalg.matmul ins(%{one}, %w{name} : {t}, {weights}) {outs}\n")
    };
    for layer in ["q", "k", "v"] {
        body.text += &product(layer, "x");
    }
    if !is_dynamic {
        body.transpose("kt", "k", "1, 0");
        body.matmul("s", "q", "kt");
        body.softmax("p", "s", 1);
        body.matmul("o", "p", "v");
        body.transpose("ot", "o", "1, 0");
        body.binary("r", "arith.addf", "ot", "x");
        body.unary("e", "math.tanh", "r");
        body.transpose("et", "e", "1, 0");
        body.matmul("f", "et", "e");
        body.binary("g", "arith.mulf", "f", "ot");
    } else {
        body.softmax("p", "q", 1);
        body.binary("o", "arith.mulf", "p", "v");
        body.binary("r", "arith.addf", "o", "x");
        body.unary("e", "math.tanh", "r");
        body.softmax("f", "e", 1);
        body.binary("g", "arith.subf", "f", "k");
    }
    let w = "16x16xf32";
    let x = format!("{shape}xf32");
    let arguments = [("x", x.as_str()), ("wq", w), ("wk", w), ("wv", w)];
    let mut made = model(name, "", &arguments, &body.text, ("g", &t));
    made.trap = !is_dynamic;
    made
}

/// Attention with as many heads as positions as channels.
fn heads() -> Model {
    let t = "tensor<8x8x8xf32>".to_owned();
    let mut body = Body { text: String::new(), t: t.clone() };
    body.begin();
    let product = |body: &mut Body, name: &str, one: &str, other: &str| {
        let t = body.t.clone();
        let outs = format!("outs(%zeros : {t}) -> {t}");
        body.add(name, &format!("linalg.batch_matmul ins(%{one}, %{other} : {t}, {t}) {outs}"));
    };
    product(&mut body, "q", "x", "w");
    product(&mut body, "k", "w", "x");
    body.transpose("qh", "q", "1, 0, 2");
    body.transpose("kh", "k", "1, 2, 0");
    product(&mut body, "s", "qh", "kh");
    body.softmax("p", "s", 2);
    body.transpose("vh", "x", "1, 0, 2");
    product(&mut body, "o", "p", "vh");
    body.transpose("ob", "o", "1, 0, 2");
    body.binary("r", "arith.addf", "ob", "x");
    body.transpose("rt", "r", "2, 1, 0");
    body.unary("e", "math.exp", "rt");
    body.softmax("f", "e", 1);
    let shape = "8x8x8xf32";
    let mut made = model("heads", "", &[("x", shape), ("w", shape)], &body.text, ("f", &t));
    made.trap = true;
    made
}

/// Transposes that the compiler moves, and constants that it transposes itself.
fn transposes() -> Model {
    let t = "tensor<16x16xf32>".to_owned();
    let mut body = Body { text: String::new(), t: t.clone() };
    body.begin();
    let rows: Vec<String> = (0..16)
        .map(|row| {
            let numbers = (0..16).map(|column| format!("{:.1}", f64::from(row * 3 + column) / 8.0));
            format!("[{}]", numbers.collect::<Vec<_>>().join(", "))
        })
        .collect();
    body.add("c", &format!("arith.constant dense<[{}]> : {t}", rows.join(", ")));
    body.transpose("ct", "c", "1, 0");
    body.matmul("a", "x", "ct");
    body.transpose("at", "a", "1, 0");
    body.unary("b", "math.tanh", "at");
    body.transpose("bt", "b", "1, 0");
    body.matmul("d", "bt", "c");
    body.binary("e", "arith.addf", "d", "ct");
    body.transpose("et", "e", "1, 0");
    body.matmul("f", "et", "y");
    body.matmul("g", "y", "et");
    body.binary("h", "arith.subf", "f", "g");
    body.transpose("ht", "h", "1, 0");
    body.binary("i", "arith.mulf", "ht", "x");
    body.matmul("j", "i", "i");
    let w = "16x16xf32";
    let mut made = model("transposes", "", &[("x", w), ("y", w)], &body.text, ("j", &t));
    made.trap = true;
    made
}

/// Convolutions with as many channels as rows as columns, and pooling.
fn convolutions() -> Model {
    let t = "tensor<1x8x8x8xf32>";
    let mut body = Body { text: String::new(), t: t.to_owned() };
    body.begin();
    let padded = "tensor<1x8x10x10xf32>";
    let pad =
        |body: &mut Body, name: &str, of: &str| {
            body.add(name, &format!(
            "tensor.pad %{of} low[0, 0, 1, 1] high[0, 0, 1, 1] {{ ^bb0(%i0: index, %i1: index, \
             %i2: index, %i3: index): tensor.yield %zero : f32 }} : {t} to {padded}"
        ));
        };
    let convolved = |body: &mut Body, name: &str, of: &str, with: &str| {
        body.add(name, &format!(
            "linalg.conv_2d_nchw_fchw {{dilations = dense<1> : vector<2xi64>, strides = dense<1> \
             : vector<2xi64>}} ins(%{of}, %{with} : {padded}, tensor<8x8x3x3xf32>) outs(%zeros : \
             {t}) -> {t}"
        ));
    };
    pad(&mut body, "xp", "x");
    convolved(&mut body, "a", "xp", "w1");
    body.unary("r", "math.tanh", "a");
    pad(&mut body, "rp", "r");
    convolved(&mut body, "b", "rp", "w2");
    body.binary("s", "arith.addf", "b", "x");
    body.add(
        "one",
        &format!(
            "linalg.conv_2d_nchw_fchw {{dilations = dense<1> : vector<2xi64>, strides = dense<1> : \
         vector<2xi64>}} ins(%s, %w3 : {t}, tensor<8x8x1x1xf32>) outs(%zeros : {t}) -> {t}"
        ),
    );
    body.binary("u", "arith.mulf", "one", "s");
    body.add("window", "tensor.empty() : tensor<3x3xf32>");
    body.add("lowest", "arith.constant -1.0e30 : f32");
    body.add("low", &format!("linalg.fill ins(%lowest : f32) outs(%empty : {t}) -> {t}"));
    pad(&mut body, "up", "u");
    body.add(
        "m",
        &format!(
            "linalg.pooling_nchw_max {{dilations = dense<1> : vector<2xi64>, strides = dense<1> : \
         vector<2xi64>}} ins(%up, %window : {padded}, tensor<3x3xf32>) outs(%low : {t}) -> {t}"
        ),
    );
    body.add(
        "flat",
        &format!("tensor.collapse_shape %m [[0, 1], [2, 3]] : {t} into tensor<8x64xf32>"),
    );
    let arguments =
        [("x", "1x8x8x8xf32"), ("w1", "8x8x3x3xf32"), ("w2", "8x8x3x3xf32"), ("w3", "8x8x1x1xf32")];
    model("convolutions", "", &arguments, &body.text, ("flat", "tensor<8x64xf32>"))
}

/// Normalisation over rows and over columns.
fn norms() -> Model {
    let t = "tensor<16x16xf32>".to_owned();
    let mut body = Body { text: String::new(), t: t.clone() };
    body.begin();
    body.add("line", "tensor.empty() : tensor<16xf32>");
    body.add("none", "linalg.fill ins(%zero : f32) outs(%line : tensor<16xf32>) -> tensor<16xf32>");
    body.add("count", "arith.constant dense<16.0> : tensor<16xf32>");
    let mut of = "x".to_owned();
    for (step, axis) in [1, 0, 1].into_iter().enumerate() {
        let n = |name: &str| format!("{name}{step}");
        let reduced = |of: &str| {
            format!(
                "linalg.reduce {{ arith.addf }} ins(%{of} : {t}) outs(%none : tensor<16xf32>) \
                 dimensions = [{axis}]"
            )
        };
        let spread = |of: &str| {
            format!(
                "linalg.broadcast ins(%{of} : tensor<16xf32>) outs(%empty : {t}) dimensions = \
                 [{axis}]"
            )
        };
        body.add(&n("sum"), &reduced(&of));
        body.add(&n("mean"), &format!("arith.divf %{}, %count : tensor<16xf32>", n("sum")));
        body.add(&n("means"), &spread(&n("mean")));
        body.binary(&n("less"), "arith.subf", &of, &n("means"));
        body.binary(&n("square"), "arith.mulf", &n("less"), &n("less"));
        body.add(&n("squares"), &reduced(&n("square")));
        body.add(&n("deviation"), &format!("math.sqrt %{} : tensor<16xf32>", n("squares")));
        body.add(&n("deviations"), &spread(&n("deviation")));
        body.binary(&n("norm"), "arith.divf", &n("less"), &n("deviations"));
        body.matmul(&n("out"), &n("norm"), "w");
        of = n("out");
    }
    let w = "16x16xf32";
    model("norms", "", &[("x", w), ("w", w)], &body.text, (&of, &t))
}

/// Rows and columns of tables.
fn gathers() -> Model {
    let t = "tensor<8x8xf32>".to_owned();
    let mut body = Body { text: String::new(), t: t.clone() };
    body.begin();
    let gather =
        |body: &mut Body, name: &str, table: &str, index: &str| {
            body.add(name, &format!(
            "linalg.generic {{indexing_maps = [#rows, #whole], iterator_types = [\"parallel\", \
             \"parallel\"]}} ins(%at : tensor<8xi32>) outs(%empty : {t}) {{ ^bb0(%i: i32, %o: \
             f32): %r = arith.index_cast %i : i32 to index %c = linalg.index 1 : index %e = \
             tensor.extract %{table}[{index}] : {t} linalg.yield %e : f32 }} -> {t}"
        ));
        };
    gather(&mut body, "rows", "x", "%r, %c");
    gather(&mut body, "columns", "x", "%c, %r");
    body.matmul("a", "rows", "columns");
    gather(&mut body, "again", "a", "%r, %c");
    body.matmul("b", "again", "w");
    body.transpose("bt", "b", "1, 0");
    gather(&mut body, "last", "bt", "%c, %r");
    body.matmul("d", "last", "rows");
    let head = "#rows = affine_map<(d0, d1) -> (d0)>\n#whole = affine_map<(d0, d1) -> (d0, d1)>\n";
    let arguments = [("x", "8x8xf32"), ("w", "8x8xf32"), ("at", "8xi32")];
    model("gathers", head, &arguments, &body.text, ("d", &t))
}

/// Long sums, which the compiler may cut, and slices.
fn split() -> Model {
    let t = "tensor<64x64xf32>".to_owned();
    let mut body = Body { text: String::new(), t: t.clone() };
    body.begin();
    body.matmul("a", "x", "y");
    body.add("whole", &format!("tensor.collapse_shape %a [[0, 1]] : {t} into tensor<4096xf32>"));
    body.add("one", "tensor.empty() : tensor<f32>");
    body.add("none", "linalg.fill ins(%zero : f32) outs(%one : tensor<f32>) -> tensor<f32>");
    body.add(
        "sum",
        "linalg.reduce { arith.addf } ins(%whole : tensor<4096xf32>) outs(%none : \
     tensor<f32>) dimensions = [0]",
    );
    body.add(
        "most",
        "linalg.reduce { arith.maximumf } ins(%whole : tensor<4096xf32>) outs(%none \
     : tensor<f32>) dimensions = [0]",
    );
    body.add("both", "arith.addf %sum, %most : tensor<f32>");
    body.add(
        "all",
        &format!(
            "linalg.broadcast ins(%both : tensor<f32>) outs(%empty : {t}) dimensions = [0, 1]"
        ),
    );
    body.binary("b", "arith.addf", "a", "all");
    body.add(
        "left",
        &format!("tensor.extract_slice %b[0, 0] [64, 32] [1, 1] : {t} to tensor<64x32xf32>"),
    );
    body.add(
        "right",
        &format!("tensor.extract_slice %b[0, 32] [64, 32] [1, 1] : {t} to tensor<64x32xf32>"),
    );
    body.add("c", "arith.mulf %left, %right : tensor<64x32xf32>");
    body.add(
        "d",
        &format!(
            "tensor.insert_slice %c into %b[0, 16] [64, 32] [1, 1] : tensor<64x32xf32> into {t}"
        ),
    );
    body.matmul("e", "d", "x");
    let w = "64x64xf32";
    model("split", "", &[("x", w), ("y", w)], &body.text, ("e", &t))
}

/// Slices of sizes that are only known when the program runs: the compiler computes no more than
/// is used of what they are taken from.
fn parts() -> Model {
    let t = "tensor<?x16xf32>".to_owned();
    let mut body = Body { text: String::new(), t: t.clone() };
    body.add("c0", "arith.constant 0 : index");
    body.add("c2", "arith.constant 2 : index");
    body.add("batch", &format!("tensor.dim %x, %c0 : {t}"));
    body.add("half", "arith.divui %batch, %c2 : index");
    body.add("zero", "arith.constant 0.0 : f32");
    body.add("whole", &format!("tensor.empty(%batch) : {t}"));
    body.add("empty", &format!("tensor.empty(%half) : {t}"));
    body.add("nothing", &format!("linalg.fill ins(%zero : f32) outs(%whole : {t}) -> {t}"));
    body.add("zeros", &format!("linalg.fill ins(%zero : f32) outs(%empty : {t}) -> {t}"));
    let spread = "linalg.broadcast ins(%v : tensor<16xf32>) outs(%whole : ";
    body.add("vs", &format!("{spread}{t}) dimensions = [0]"));
    let slice = |body: &mut Body, name: &str, of: &str| {
        let t = body.t.clone();
        let operation = format!("tensor.extract_slice %{of}[0, 0] [%half, 16] [1, 1] : {t} to {t}");
        body.add(name, &operation);
    };
    let product = |body: &mut Body, name: &str, of: &str, outs: &str| {
        let t = body.t.clone();
        let operation = format!(
            "linalg.matmul ins(%{of}, %w : {t}, tensor<16x16xf32>) outs(%{outs} : {t}) -> {t}"
        );
        body.add(name, &operation);
    };
    // Only half of `f` is computed, at its line; `a` as a whole, and read beside a tensor of a
    // size that is known.
    body.binary("f", "arith.addf", "x", "vs");
    slice(&mut body, "e", "f");
    product(&mut body, "g", "e", "zeros");
    product(&mut body, "a", "x", "nothing");
    product(&mut body, "b", "a", "nothing");
    body.unary("c", "math.tanh", "b");
    slice(&mut body, "d", "c");
    body.binary("h", "arith.mulf", "g", "d");
    let arguments = [("x", "?x16xf32"), ("w", "16x16xf32"), ("v", "16xf32")];
    model("parts", "", &arguments, &body.text, ("h", &t))
}
