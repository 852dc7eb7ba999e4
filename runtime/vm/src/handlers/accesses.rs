//! Loads and stores of buffers, globals and lists. Here is the fast path that most of them take. On
//! an error, and for lists that convert their elements, the slow instruction runs instead.

/// An instruction with a slow one to run instead where the fast one is not sure.
macro_rules! slow_instead {
    ($name:ident, |$frame:ident, $instr:ident| $body:expr) => {
        struct $name;

        impl Slow for $name {
            fn run($frame: &mut Frame<'_>, $instr: &Instr) -> Result<(), Status> {
                $body;
                Ok(())
            }
        }
    };
}

/// `c = element b of buffer a`; with `jump`, for a conditional jump to test.
macro_rules! buffer_load {
    ($to:ident, $raw:ty) => {{
        slow_instead!(Instead, |frame, instr| {
            let buffer = frame.buffer(instr.a, "source_buffer")?;
            let value = <$raw>::from_le_bytes(buffer.load(frame.wide(instr.b))?);
            frame.set::<$to>(instr.c, value.into());
        });
        operation!(It[B], |state, machine, instr| {
            let index: i64 = B::read(state, instr.b);
            // SAFETY: `a` was checked, see `reads_ref` below.
            let buffer = unsafe { machine.refs.get(instr.imm) };
            let Ref::Buffer(buffer) = buffer else {
                return slow::instead::<D, Instead>(state, machine);
            };
            let Some(bytes) = buffer.element(index.cast_unsigned()) else {
                return slow::instead::<D, Instead>(state, machine);
            };
            let value: $to = <$raw>::from_le_bytes(bytes).into();
            value.write(&mut state, instr.c);
        });
        let mut entry = Entry::new(one_operand!(It[b]));
        entry.shape.reads[1] = Some(Bank::Pair);
        entry.shape.writes = Some((Field::C, <$to as Operand>::BANK));
        entry.shape.reads_ref = true;
        entry
    }};
}

/// `element b of buffer a = c`
macro_rules! buffer_store {
    ($from:ident, $raw:ty) => {{
        slow_instead!(Instead, |frame, instr| {
            let value = frame.get::<$from>(instr.c) as $raw;
            let buffer = frame.buffer(instr.a, "target_buffer")?;
            buffer.store(frame.wide(instr.b), value.to_le_bytes())?;
        });
        operation!(It[B, C], |state, machine, instr| {
            let index: i64 = B::read(state, instr.b);
            let value: $from = C::read(state, instr.c);
            // SAFETY: `a` was checked, see `reads_ref` below.
            let buffer = unsafe { machine.refs.get(instr.imm) };
            let Ref::Buffer(buffer) = buffer else {
                return slow::instead::<D, Instead>(state, machine);
            };
            if !buffer.set_element(index.cast_unsigned(), (value as $raw).to_le_bytes()) {
                return slow::instead::<D, Instead>(state, machine);
            }
        });
        let mut entry = Entry::new(two_operands!(It [b c]));
        entry.shape.reads = [None, Some(Bank::Pair), Some(<$from as Operand>::BANK)];
        entry.shape.reads_ref = true;
        entry
    }};
}

/// `register = global at offset`
macro_rules! global_load {
    ($type:ident, $register:ident $field:ident, |$state:ident, $instr:ident| $offset:expr) => {{
        slow_instead!(Instead, |$state, $instr| {
            let value = $type::from_le_bytes($state.globals.load($offset)?);
            $state.set::<$type>($instr.$register, value);
        });
        operation!(It[], |state, machine, $instr| {
            let $state = Fast(state);
            let Some(bytes) = machine.global_bytes.load($offset) else {
                return slow::instead::<D, Instead>(state, machine);
            };
            $type::from_le_bytes(bytes).write(&mut state, $instr.$register);
        });
        let mut entry = Entry::new(only!(It));
        entry.shape.writes = Some((Field::$field, <$type as Operand>::BANK));
        entry
    }};
}

/// `global at offset = register`
macro_rules! global_store {
    ($type:ident, $register:ident $place:literal, |$state:ident, $instr:ident| $offset:expr) => {{
        slow_instead!(Instead, |$state, $instr| {
            let value = $state.get::<$type>($instr.$register);
            $state.globals.store($offset, value.to_le_bytes())?;
        });
        operation!(It[A], |state, machine, $instr| {
            let $state = Fast(state);
            let value: $type = A::read(state, $instr.$register);
            if machine.global_bytes.store($offset, value.to_le_bytes()).is_none() {
                return slow::instead::<D, Instead>(state, machine);
            }
        });
        let mut entry = Entry::new(one_operand!(It[$register]));
        entry.shape.reads[$place] = Some(<$type as Operand>::BANK);
        entry
    }};
}

/// `c = element b of list a`
macro_rules! list_get {
    ($type:ident, $get:ident) => {{
        slow_instead!(Instead, |frame, instr| {
            let value = frame.list(instr.a)?.$get(frame.size(instr.b))?;
            frame.set::<$type>(instr.c, value);
        });
        operation!(It[B], |state, machine, instr| {
            let index: i32 = B::read(state, instr.b);
            // SAFETY: `a` was checked, see `reads_ref` below.
            let list = unsafe { machine.refs.get(instr.imm) };
            let Ref::List(list) = list else {
                return slow::instead::<D, Instead>(state, machine);
            };
            let numbers = list.numbers();
            let Some(value) =
                numbers.and_then(|numbers| numbers.$get(index.cast_unsigned() as usize))
            else {
                return slow::instead::<D, Instead>(state, machine);
            };
            value.write(&mut state, instr.c);
        });
        let mut entry = Entry::new(one_operand!(It[b]));
        entry.shape.reads[1] = Some(Bank::Word);
        entry.shape.writes = Some((Field::C, <$type as Operand>::BANK));
        entry.shape.reads_ref = true;
        entry
    }};
}

/// `element b of list a = c`
macro_rules! list_set {
    ($type:ident, $variant:ident, $set:ident) => {{
        slow_instead!(Instead, |frame, instr| {
            let value = Value::$variant(frame.get::<$type>(instr.c));
            frame.list(instr.a)?.set(frame.size(instr.b), value)?;
        });
        operation!(It[B, C], |state, machine, instr| {
            let index: i32 = B::read(state, instr.b);
            let value: $type = C::read(state, instr.c);
            // SAFETY: `a` was checked, see `reads_ref` below.
            let list = unsafe { machine.refs.get(instr.imm) };
            let Ref::List(list) = list else {
                return slow::instead::<D, Instead>(state, machine);
            };
            let index = index.cast_unsigned() as usize;
            if !list.numbers().is_some_and(|numbers| numbers.$set(index, value)) {
                return slow::instead::<D, Instead>(state, machine);
            }
        });
        let mut entry = Entry::new(two_operands!(It [b c]));
        entry.shape.reads = [None, Some(Bank::Word), Some(<$type as Operand>::BANK)];
        entry.shape.reads_ref = true;
        entry
    }};
}

/// `b = size of list a`
macro_rules! list_size {
    () => {{
        slow_instead!(Instead, |frame, instr| {
            let size = frame.list(instr.a)?.len();
            frame.set(instr.b, size as i32);
        });
        operation!(It[], |state, machine, instr| {
            // SAFETY: `a` was checked, see `reads_ref` below.
            let list = unsafe { machine.refs.get(instr.imm) };
            let Ref::List(list) = list else {
                return slow::instead::<D, Instead>(state, machine);
            };
            let Some(size) = list.numbers().map(Numbers::len) else {
                return slow::instead::<D, Instead>(state, machine);
            };
            (size as i32).write(&mut state, instr.b);
        });
        let mut entry = Entry::new(only!(It));
        entry.shape.writes = Some((Field::B, Bank::Word));
        entry.shape.reads_ref = true;
        entry
    }};
}

/// Sets the size of list `a` to `b`.
macro_rules! list_resize {
    () => {{
        slow_instead!(Instead, |frame, instr| {
            frame.list(instr.a)?.resize(frame.size(instr.b))?;
        });
        operation!(It[B], |state, machine, instr| {
            let size: i32 = B::read(state, instr.b);
            // SAFETY: `a` was checked, see `reads_ref` below.
            let list = unsafe { machine.refs.get(instr.imm) };
            let Ref::List(list) = list else {
                return slow::instead::<D, Instead>(state, machine);
            };
            let size = size.cast_unsigned() as usize;
            if !list.numbers().is_some_and(|numbers| numbers.resize_within(size)) {
                return slow::instead::<D, Instead>(state, machine);
            }
        });
        let mut entry = Entry::new(one_operand!(It[b]));
        entry.shape.reads[1] = Some(Bank::Word);
        entry.shape.reads_ref = true;
        entry
    }};
}
