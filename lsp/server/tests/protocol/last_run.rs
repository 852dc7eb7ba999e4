//! Values of the last run: hints, the lens and its command. What a run keeps is tested with real
//! runs by the tests of the command line; here are the shapes that it can have.

use lastrun::{LastRun, LineValue, Run, SourceId};
use serde_json::{Value, json};

use crate::client::{Client, range};

const TEXT: &str = "\
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %b = arith.addf %a, %a : tensor<4xf32>
  %c:2 = \"x.two\"(%b) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %d = call @inner(%c#0) : (tensor<4xf32>) -> tensor<4xf32>
  return %d : tensor<4xf32>
}
func.func private @inner(%a: tensor<4xf32>) -> tensor<4xf32> {
  %b = arith.mulf %a, %a : tensor<4xf32>
  return %b : tensor<4xf32>
}
";
const URI: &str = "file:///last/run.mlir";

fn source() -> SourceId {
    // `xxhsum -H3` of the text says the same.
    let xxh3 = format!("{:016x}", twox_hash::XxHash3_64::oneshot(TEXT.as_bytes()));
    SourceId { length: TEXT.len() as u64, xxh3 }
}

fn value(name: &str, line: u32, nans: usize) -> LineValue {
    let number = |text: &str| (nans < 4).then(|| text.to_owned());
    LineValue {
        name: name.into(),
        line,
        calls: Vec::new(),
        tensor_type: "4xf32".into(),
        count: 4,
        min: number("-1.5"),
        max: number("2"),
        mean: (nans == 0).then_some(0.25),
        nans,
        infinities: 0,
    }
}

fn called(name: &str, line: u32, nans: usize, from: &str) -> LineValue {
    LineValue { calls: vec![from.into()], ..value(name, line, nans) }
}

fn kept(folder: &std::path::Path, values: Vec<LineValue>, failure: Option<&str>) {
    let failure = failure.map(str::to_owned);
    let run = Run { module: "m.vmfb".into(), function: "main".into(), ended: 60, failure };
    LastRun::new(source(), run, values).write(&folder.join("values")).expect("the file");
}

async fn opened(folder: &std::path::Path, is_on: Option<bool>) -> Client {
    let mut options = json!({"cacheFolder": folder, "inlayHints": false});
    if let Some(is_on) = is_on {
        options["lastRunValues"] = json!(is_on);
    }
    let (mut client, _) = Client::initialized(json!({}), options).await;
    client.open(URI, TEXT).await;
    client
}

async fn hints(client: &mut Client) -> Vec<Value> {
    let params = json!({"textDocument": {"uri": URI}, "range": range((0, 0), (10, 0))});
    let answer = client.ask("textDocument/inlayHint", params).await;
    answer["result"].as_array().cloned().unwrap_or_default()
}

async fn lens(client: &mut Client) -> Option<String> {
    let answer = client.ask("textDocument/codeLens", json!({"textDocument": {"uri": URI}})).await;
    let lenses = answer["result"].as_array().cloned().unwrap_or_default();
    let mut titles = lenses.iter().filter_map(|it| it["command"]["title"].as_str());
    titles.find(|it| it.starts_with("last run")).map(str::to_owned)
}

/// Line from 1, column from 0, label.
fn places(hints: &[Value]) -> Vec<(u64, u64, String)> {
    let place = |it: &Value| {
        let number = |key: &str| it["position"][key].as_u64().expect("a number");
        (number("line") + 1, number("character"), it["label"].as_str().expect("a label").to_owned())
    };
    hints.iter().map(place).collect()
}

/// What a run kept; line, column and label of each hint; the title of the lens.
type Case = (Vec<LineValue>, Vec<(u64, u64, &'static str)>, &'static str);

#[tokio::test]
async fn each_shape_has_its_label() {
    let three = "last run: 3 NaN in 1 of 1 tensors";
    let cases: [Case; 6] = [
        (vec![value("%b", 2, 3)], vec![(2, 4, "min -1.5, max 2, 3 NaN")], three),
        (
            vec![value("%a", 1, 0), value("%d", 4, 4)],
            vec![(1, 18, "min -1.5, max 2"), (4, 4, "4 NaN")],
            "last run: 4 NaN in 1 of 2 tensors",
        ),
        (
            vec![value("%c#0", 3, 0), value("%c#1", 3, 2)],
            vec![(3, 4, "2 results, 2 NaN")],
            "last run: 2 NaN in 1 of 2 tensors",
        ),
        (
            vec![called("%b", 8, 0, "run.mlir:4"), called("%b", 8, 0, "run.mlir:5")],
            vec![(8, 4, "2 calls, no NaN")],
            "last run: no NaN in 2 tensors",
        ),
        // The name is not defined there: nothing is shown, and nothing beside it.
        (
            vec![value("%b", 3, 3), value("%zz", 2, 0), value("%b", 99, 0)],
            vec![],
            "last run: 3 NaN in 1 of 3 tensors",
        ),
        (vec![], vec![], "last run: no NaN in 0 tensors"),
    ];
    for (values, expected, title) in cases {
        let folder = tempfile::tempdir().expect("a folder");
        kept(folder.path(), values, None);
        let mut client = opened(folder.path(), Some(true)).await;
        let found = places(&hints(&mut client).await);
        let expected: Vec<_> = expected.iter().map(|(l, c, s)| (*l, *c, (*s).to_owned())).collect();
        assert_eq!(found, expected);
        assert_eq!(lens(&mut client).await.as_deref(), Some(title));
    }
}

#[tokio::test]
async fn the_tooltip_and_the_command_say_which_run() {
    let folder = tempfile::tempdir().expect("a folder");
    kept(folder.path(), vec![value("%b", 2, 0), value("%d", 4, 3)], Some("out of fuel"));
    let mut client = opened(folder.path(), Some(true)).await;
    let found = hints(&mut client).await;
    let tooltip = found[0]["tooltip"]["value"].as_str().expect("a tooltip");
    for part in [
        "`%b: 4xf32`",
        "4 elements",
        "min -1.5, max 2",
        "0 NaN, 0 inf",
        "mean 0.25",
        "`@main` of `m.vmfb`",
        "1970-01-01 00:01:00 UTC",
        "failed (out of fuel)",
    ] {
        assert!(tooltip.contains(part), "{part}: {tooltip}");
    }
    assert_eq!(
        lens(&mut client).await.as_deref(),
        Some("last run: failed, 3 NaN in 1 of 2 tensors")
    );
    let command = json!({"command": "iree-dbg.showLastRun", "arguments": [URI]});
    let answer = client.ask("workspace/executeCommand", command.clone()).await;
    let message = answer["result"]["message"].as_str().expect("a message");
    assert!(message.contains("%d on line 4: min -1.5, max 2, 3 NaN"), "{message}");

    // A run that comes later is seen at the next request; an edit hides it.
    kept(folder.path(), vec![value("%b", 2, 1)], None);
    assert_eq!(places(&hints(&mut client).await), [(2, 4, "min -1.5, max 2, 1 NaN".to_owned())]);
    let edit = json!([{"range": range((1, 2), (1, 2)), "text": " "}]);
    client.change(URI, 2, edit).await;
    assert_eq!((hints(&mut client).await, lens(&mut client).await), (vec![], None));
    let answer = client.ask("workspace/executeCommand", command).await;
    let refused = answer["error"]["message"].as_str().expect("an error");
    assert!(refused.contains("no run of this text is known"), "{refused}");
    let back = json!([{"range": range((1, 2), (1, 3)), "text": ""}]);
    client.change(URI, 3, back).await;
    assert_eq!(hints(&mut client).await.len(), 1);
}

#[tokio::test]
async fn it_is_off_by_default_and_a_damaged_file_is_none() {
    let folder = tempfile::tempdir().expect("a folder");
    kept(folder.path(), vec![value("%b", 2, 3)], None);
    for is_on in [None, Some(false)] {
        let mut client = opened(folder.path(), is_on).await;
        assert_eq!((hints(&mut client).await, lens(&mut client).await), (vec![], None));
    }
    let path = source().file_in(&folder.path().join("values")).expect("a path");
    std::fs::write(path, "{\"format\":1,\"values\":7}").expect("the file");
    let mut client = opened(folder.path(), Some(true)).await;
    assert_eq!((hints(&mut client).await, lens(&mut client).await), (vec![], None));
}
