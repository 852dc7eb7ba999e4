//! A library with a state, called, put back and called again.

use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex};

use vm::{
    Context, ElementType, ExecutionLimits, Invocation, List, NativeModule, NativeReturn, Object,
    Outcome, Ref, ScalarType, Status, Value,
};

use super::{Change, Plain};
use crate::host::{Config, Host};
use crate::memory::BufferView;

/// What the library has, and what it was asked to do.
#[derive(Default)]
struct Library {
    calls: AtomicI32,
    kept: Mutex<Option<Ref>>,
}

/// Something of the library's own.
#[derive(Debug)]
struct Handle(i32);

impl Object for Handle {
    fn type_name(&self) -> &str {
        "test.handle"
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

impl Library {
    /// Counts a call.
    fn count(&self) -> i32 {
        self.calls.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn poke(&self, value: i32) {
        match self.kept.lock().unwrap().as_ref().expect("something is kept") {
            Ref::Buffer(buffer) => buffer.write(1, &[value as u8]).unwrap(),
            Ref::List(list) => list.push(Value::I32(value)).unwrap(),
            object => {
                let view: &BufferView = object.downcast().expect("a tensor");
                // As machine code does: the journal does not hear of it.
                view.buffer().storage().write(2, &[value as u8]).unwrap();
            }
        }
    }
}

fn module(host: &Host, library: &Arc<Library>) -> NativeModule {
    let it = || library.clone();
    let (next, write, keep, poke, get) = (it(), it(), it(), it(), it());
    let (tensor, handle, wait, fail, steps) = (it(), it(), it(), it(), it());
    let tensors = host.clone();
    NativeModule::builder("test")
        .function("next", "0_i", move |_| Ok(next.count()))
        .function("write", "0ri_v", move |call| {
            write.count();
            *write.kept.lock().unwrap() = Some(call.reference(0)?.clone());
            write.poke(call.i32(1)?);
            Ok(())
        })
        .function("keep", "0r_v", move |call| {
            keep.count();
            *keep.kept.lock().unwrap() = Some(call.reference(0)?.clone());
            Ok(())
        })
        .function("poke", "0i_v", move |call| {
            poke.count();
            poke.poke(call.i32(0)?);
            Ok(())
        })
        .function("kept", "0_r", move |_| Ok(get.kept.lock().unwrap().clone().unwrap_or_default()))
        .function("same", "0r_r", |call| call.reference(0).cloned())
        .function("tensor", "0_r", move |_| {
            let tensor_type = abi::tensor::TensorType::parse("4xi8").unwrap();
            let view = tensors.import_tensor(&tensor_type, &[tensor.count() as u8; 4])?;
            Ok(Ref::object(view))
        })
        .function("handle", "0_r", move |_| Ok(Ref::object(Handle(handle.count()))))
        .function("wait", "0_i", move |_| {
            let wait = wait.clone();
            let again = NativeReturn::Pending(Box::new(move || {
                Ok(NativeReturn::Result(Value::I32(wait.count())))
            }));
            let mut again = Some(again);
            Ok(NativeReturn::Pending(Box::new(move || Ok(again.take().unwrap()))))
        })
        .function("fail", "0r_v", move |call| {
            call.buffer(0)?.write(0, &[fail.count() as u8])?;
            Err::<(), _>(Status::not_found("it is broken"))
        })
        .function("fence", "0r_v", move |_| {
            steps.count();
            Ok(())
        })
        .build()
}

struct Fixture {
    host: Host,
    library: Arc<Library>,
    context: Context,
}

fn fixture() -> Fixture {
    let host = Host::new(&Config::default());
    let library = Arc::new(Library::default());
    let module = host.outside().clone().logging(module(&host, &library));
    let context = host.context().add_native(module).link().expect("it links");
    host.outside().begin();
    host.device().allocator().journal().keep(crate::memory::Keeps::All);
    Fixture { host, library, context }
}

impl Fixture {
    fn call(&mut self, name: &str, arguments: &[Value]) -> Result<Vec<Value>, String> {
        let function = self.context.lookup(&format!("test.{name}")).expect("a function");
        let mut invocation = Invocation::new(&self.context, function, arguments.to_vec()).unwrap();
        let mut waited = 0;
        loop {
            match invocation.run(&mut self.context) {
                Outcome::Completed(results) => {
                    assert!(name == "wait" || waited == 0);
                    return Ok(results);
                }
                Outcome::Failed(failure) => return Err(failure.status.message),
                Outcome::Yielded if name == "wait" => waited += 1,
                other => panic!("{other:?}"),
            }
        }
    }

    fn number(&mut self, name: &str) -> i32 {
        match self.call(name, &[]).expect("it does not fail")[..] {
            [Value::I32(value)] => value,
            ref other => panic!("{other:?}"),
        }
    }

    fn reference(&mut self, name: &str, arguments: &[Value]) -> Ref {
        match self.call(name, arguments).expect("it does not fail").pop() {
            Some(Value::Ref(result)) => result,
            other => panic!("{other:?}"),
        }
    }

    fn calls(&self) -> i32 {
        self.library.calls.load(Ordering::Relaxed)
    }

    fn tensor(&self, bytes: &[u8]) -> BufferView {
        let text = format!("{}xi8", bytes.len());
        let tensor_type = abi::tensor::TensorType::parse(&text).unwrap();
        self.host.import_tensor(&tensor_type, bytes).unwrap()
    }
}

fn buffer(bytes: &[u8]) -> Arc<vm::Buffer> {
    Arc::new(vm::Buffer::from_bytes(bytes).unwrap())
}

#[test]
fn numbers_are_given_again_and_the_library_is_not_called() {
    let mut it = fixture();
    assert_eq!([it.number("next"), it.number("next"), it.number("wait")], [1, 2, 3]);
    let log = it.host.outside().clone();
    assert_eq!((log.mark(), it.calls()), (3, 3));
    for back in [0, 1, 2, 1, 0] {
        assert!(log.go_back_to(back));
        for number in back..3 {
            let name = if number == 2 { "wait" } else { "next" };
            assert_eq!(it.number(name), number as i32 + 1);
        }
        assert_eq!(it.calls(), 3);
    }
    assert_eq!((it.number("next"), it.calls()), (4, 4));
    assert!(log.go_back_to(4) && !log.go_back_to(5));
    log.forget_before(2);
    assert!(log.go_back_to(2) && !log.go_back_to(1));
    assert_eq!(it.number("wait"), 3);
    let (first, calls) = log.calls();
    assert_eq!((first, calls.len(), calls[0].has_waited), (2, 2, true));
}

#[test]
fn off_it_does_nothing() {
    let mut it = fixture();
    let log = it.host.outside().clone();
    log.end();
    assert_eq!((it.number("next"), log.mark(), log.size()), (1, 0, 0));
    log.begin();
    assert_eq!((it.number("next"), log.mark()), (2, 1));
    assert!(log.size() > 0);
}

/// What has happened outside happens no second time, even if recording ends in the past.
#[test]
fn an_ended_log_gives_what_it_has() {
    let mut it = fixture();
    let log = it.host.outside().clone();
    assert_eq!([it.number("next"), it.number("next"), it.number("next")], [1, 2, 3]);
    assert!(log.go_back_to(1));
    log.end();
    assert_eq!((it.number("next"), log.is_on()), (2, true));
    // Or begins once more.
    log.begin();
    assert_eq!(it.number("next"), 3);
    log.go_back_to(2);
    log.end();
    assert_eq!([it.number("next"), it.number("next")], [3, 4]);
    assert!(!log.is_on());
    assert_eq!((it.number("next"), log.size()), (5, 0));
}

#[test]
fn other_calls_than_before_fail() {
    let mut it = fixture();
    let log = it.host.outside().clone();
    it.number("next");
    let bytes = [Value::Ref(Ref::Buffer(buffer(&[1, 2]))), Value::I32(7)];
    it.call("write", &bytes).expect("it fits");
    assert!(log.go_back_to(0));
    let other = it.call("wait", &[]).expect_err("another function");
    assert!(other.ends_with("call 0 was @test.next, and is @test.wait"), "{other}");
    assert_eq!(log.differs(), Some(other));
    assert!(log.go_back_to(1) && log.differs().is_none());
    let same = Value::Ref(Ref::Buffer(buffer(&[1, 2])));
    let other = it.call("write", &[same.clone(), Value::I32(8)]).expect_err("another number");
    assert!(other.ends_with("of @test.write: args[1] was 7, and is 8"), "{other}");
    let changed = Value::Ref(Ref::Buffer(buffer(&[1, 3])));
    let other = it.call("write", &[changed, Value::I32(7)]).expect_err("other bytes");
    assert!(other.contains("args[0] was contents "), "{other}");
    it.call("write", &[same, Value::I32(7)]).expect("as before");
    assert_eq!(it.calls(), 2);
}

/// Writes into what the program has are made again, and those into device memory are undone, also
/// if the library was given the memory in an earlier call.
#[test]
fn writes_are_made_again() {
    let mut it = fixture();
    let log = it.host.outside().clone();
    let journal = it.host.device().allocator().journal().clone();
    let bytes = buffer(&[1, 2, 3, 4]);
    let list =
        Arc::new(List::new(ElementType::Scalar(ScalarType::I32), &ExecutionLimits::default()));
    let tensor = it.tensor(&[5; 6]);
    let given = [Ref::Buffer(bytes.clone()), Ref::List(list.clone()), Ref::object(tensor.clone())];
    let given = given.map(Value::Ref);
    let begin = journal.mark();
    for (value, number) in given.iter().zip(1..) {
        it.call("write", &[value.clone(), Value::I32(number)]).expect("it fits");
        it.call("poke", &[Value::I32(10 * number)]).expect("it fits");
    }
    let now = |bytes: &vm::Buffer, list: &List, tensor: &BufferView| {
        let elements: Vec<String> =
            (0..list.len()).map(|index| format!("{:?}", list.get(index).unwrap())).collect();
        (bytes.read(0, 9), elements.join(" "), tensor.buffer().read(0, 9))
    };
    let end = now(&bytes, &list, &tensor);
    assert_eq!(end, (vec![1, 10, 3, 4], "I32(2) I32(20)".to_owned(), vec![5, 5, 30, 5, 5, 5]));
    let (_, calls) = log.calls();
    let written: Vec<&Change> = calls.iter().map(|call| &call.writes[0].change).collect();
    assert_eq!(calls.iter().map(|call| call.writes.len()).sum::<usize>(), 6);
    assert_eq!(*written[5], Change::Bytes { offset: 2, bytes: vec![30] });
    assert_eq!(*written[3], Change::Elements(vec![Some(Plain::I32(2)), Some(Plain::I32(20))]));
    let start = tensor.buffer().storage().address() as usize;
    let name = Some(("@test.poke".to_owned(), 0));
    let poked = start + 2..start + 3;
    let poked = std::slice::from_ref(&poked);
    assert_eq!(log.writer_of(poked), name);
    assert_eq!(log.writer_of(&[start..start + 2, start + 3..start + 6]), None);
    for _ in 0..2 {
        assert!(log.go_back_to(0) && journal.undo_to(begin));
        assert_eq!(tensor.buffer().read(0, 9), [5; 6]);
        // As checkpoints do.
        bytes.write(0, &[1, 2, 3, 4]).unwrap();
        list.resize(0).unwrap();
        for (value, number) in given.iter().zip(1..) {
            it.call("write", &[value.clone(), Value::I32(number)]).expect("it fits");
            it.call("poke", &[Value::I32(10 * number)]).expect("it fits");
        }
        assert_eq!(now(&bytes, &list, &tensor), end);
        assert_eq!(it.calls(), 6);
    }
    assert_eq!(log.writer_of(poked), name);
}

#[test]
fn objects_are_given_again() {
    let mut it = fixture();
    let log = it.host.outside().clone();
    let tensor = it.reference("tensor", &[]);
    let handle = it.reference("handle", &[]);
    let same = it.reference("same", &[Value::Ref(tensor.clone())]);
    assert!(same.is_same(&tensor));
    *it.library.kept.lock().unwrap() = Some(handle.clone());
    assert!(it.reference("kept", &[]).is_same(&handle));
    assert!(log.go_back_to(0));
    let again = it.reference("tensor", &[]);
    let view: &BufferView = again.downcast().expect("a tensor");
    assert_eq!((view.text(9).unwrap(), it.calls()), ("4xi8=1 1 1 1".to_owned(), 2));
    assert!(it.reference("handle", &[]).is_same(&handle));
    assert!(it.reference("same", &[Value::Ref(again.clone())]).is_same(&again));
    *it.library.kept.lock().unwrap() = None;
    assert!(it.reference("kept", &[]).is_same(&handle));
    let number = handle.downcast::<Handle>().map(|it| it.0);
    assert_eq!((number, it.calls()), (Some(2), 2));
}

#[test]
fn failures_are_given_again_with_what_was_written() {
    let mut it = fixture();
    let log = it.host.outside().clone();
    for _ in 0..3 {
        log.go_back_to(0);
        let bytes = buffer(&[9, 9]);
        let failed = it.call("fail", &[Value::Ref(Ref::Buffer(bytes.clone()))]);
        assert_eq!(failed.err().as_deref(), Some("it is broken"));
        assert_eq!((bytes.read(0, 2), it.calls()), (vec![1, 9], 1));
    }
}

/// Changes that are not seen are not passed over.
#[test]
fn what_cannot_be_logged_is_lost() {
    let mut it = fixture();
    let log = it.host.outside().clone();
    let variant = || Arc::new(List::new(ElementType::Variant, &ExecutionLimits::default()));
    let list = variant();
    list.push(Value::Ref(Ref::List(variant()))).unwrap();
    it.call("write", &[Value::Ref(Ref::List(list)), Value::I32(1)]).expect("it fits");
    let lost = log.lost().expect("a list of references was changed");
    assert_eq!(lost, "@test.write changes a list of references");
    log.begin_again();
    assert!(log.lost().is_none());
    // The program may have dropped it by then, and has another one when it runs again.
    let kept = Value::Ref(Ref::object(it.tensor(&[1, 2])));
    it.call("keep", &[kept]).expect("it fits");
    it.reference("kept", &[]);
    let lost = log.lost().expect("the library has kept a tensor of the program");
    assert_eq!(lost, "@test.kept returns what it has kept of an earlier call");
    log.begin_again();
    let fence = Value::Ref(Ref::object(crate::scheduling::Fence::new()));
    it.call("fence", &[fence]).expect("it fits");
    assert!(log.lost().expect("a fence").contains("given a !hal.fence"), "{:?}", log.lost());
}

/// Calls of another run, in the place of the program's own.
#[test]
fn calls_of_a_file_are_given() {
    let calls = {
        let mut it = fixture();
        it.number("next");
        it.reference("tensor", &[]);
        it.host.outside().calls().1
    };
    let mut it = fixture();
    it.host.outside().replay(calls);
    assert_eq!(it.number("next"), 1);
    let tensor = it.reference("tensor", &[]);
    let view: &BufferView = tensor.downcast().expect("a tensor");
    assert_eq!((view.text(9).unwrap(), it.calls()), ("4xi8=2 2 2 2".to_owned(), 0));
    assert_eq!((it.number("next"), it.calls()), (1, 1));
}
