//! Families of instructions that differ only in type and function. Each macro makes an
//! [`Entry`](super::operation::Entry): an [`Operation`](super::operation::Operation) for every
//! variant.
//!
//! All of them fall through; instructions that do not are in `control`.

/// An operation: type parameters for the origins of its operands, then what it does.
macro_rules! operation {
    ($name:ident[$($source:ident),*], |$state:ident, $machine:ident, $instr:ident| $body:block) => {
        struct $name<$($source),*>(std::marker::PhantomData<($($source,)*)>);

        impl<$($source: Source),*> Operation for $name<$($source),*> {
            #[inline(always)]
            #[allow(unused_mut, unused_variables, reason = "not all of them change the state")]
            fn run<D: Dispatch>(mut $state: State, $machine: &mut Machine<'_>) -> Signal {
                let $instr = $state.cursor.instr();
                $body
                // SAFETY: instructions of all families fall through.
                unsafe { $state.next::<D>($machine) }
            }
        }
    };
}

/// An operation that also does the conditional jump after it. The block's value is the condition.
macro_rules! jumping_operation {
    ($name:ident[$($source:ident),*], |$state:ident, $machine:ident, $instr:ident| $body:block) => {
        struct $name<$($source,)* const BACK: bool>(std::marker::PhantomData<($($source,)*)>);

        impl<$($source: Source,)* const BACK: bool> Operation for $name<$($source,)* BACK> {
            #[inline(always)]
            fn run<D: Dispatch>(mut $state: State, $machine: &mut Machine<'_>) -> Signal {
                let $instr = $state.cursor.instr();
                let holds: bool = $body;
                if BACK {
                    // A stop is before the jump, which is also there as an instruction after this
                    // one.
                    poll!($state, $machine, 1);
                }
                // SAFETY: `fusion` gave the instruction the two distances of the jump.
                unsafe { control::branch::<D>($state, $machine, holds) }
            }
        }
    };
}

/// Counts a backward branch or call. A stop is that many instructions after the running one.
macro_rules! poll {
    ($state:ident, $machine:ident, $after:literal) => {
        $state.budget -= 1;
        if $state.budget == 0 {
            return control::refill::<D, $after>($state, $machine);
        }
    };
}

/// The variants of an operation, one for each combination of origins.
macro_rules! variants {
    ($operation:ident $fields:tt $more:tt { $plain:tt, $($sources:tt,)* }) => {
        const {
            &[
                Variant::plain::<D, variants!(@type $operation $more $plain)>(),
                $(Variant::of::<D, variants!(@type $operation $more $sources)>(
                    variants!(@origins $fields $sources)
                ),)*
            ]
        }
    };
    (@type $operation:ident () [$($source:ident),*]) => { $operation<$($source),*> };
    (@type $operation:ident ($more:literal) [$($source:ident),*]) => {
        $operation<$($source,)* $more>
    };
    (@origins [a] [$a:ident]) => { [$a::ORIGIN, Register::ORIGIN, Register::ORIGIN] };
    (@origins [b] [$b:ident]) => { [Register::ORIGIN, $b::ORIGIN, Register::ORIGIN] };
    (@origins [a b] [$a:ident, $b:ident]) => { [$a::ORIGIN, $b::ORIGIN, Register::ORIGIN] };
    (@origins [b c] [$b:ident, $c:ident]) => { [Register::ORIGIN, $b::ORIGIN, $c::ORIGIN] };
    (@origins [a b c] [$a:ident, $b:ident, $c:ident]) => { [$a::ORIGIN, $b::ORIGIN, $c::ORIGIN] };
}

/// The only handler of an operation.
macro_rules! only {
    ($operation:ty) => {
        const { &[Variant::plain::<D, $operation>()] }
    };
}

/// Handlers of an operation with one operand.
macro_rules! one_operand {
    ($operation:ident $fields:tt $($more:literal)?) => {
        variants!($operation $fields ($($more)?) { [Register], [Last], [Previous], })
    };
}

/// Handlers of an operation with two operands.
macro_rules! two_operands {
    ($operation:ident $fields:tt $($more:literal)?) => {
        variants!($operation $fields ($($more)?) {
            [Register, Register],
            [Last, Register],
            [Register, Last],
            [Last, Last],
            [Previous, Register],
            [Register, Previous],
            [Last, Previous],
            [Previous, Last],
        })
    };
}

/// Fewer variants, for comparisons, which have three forms each.
macro_rules! comparison_operands {
    ($operation:ident $fields:tt $($more:literal)?) => {
        variants!($operation $fields ($($more)?) {
            [Register, Register],
            [Last, Register],
            [Register, Last],
            [Previous, Register],
        })
    };
}

/// `b = function(a)`
macro_rules! unary {
    ($from:ident -> $to:ident, $function:expr) => {{
        operation!(It[A], |state, machine, instr| {
            let operand: $from = A::read(state, instr.a);
            let value: $to = ($function)(operand);
            value.write(&mut state, instr.b);
        });
        let mut entry = Entry::new(one_operand!(It[a]));
        entry.shape.reads[0] = Some(<$from as Operand>::BANK);
        entry.shape.writes = Some((Field::B, <$to as Operand>::BANK));
        entry
    }};
}

/// `b = whether function(a)`
macro_rules! unary_test {
    ($from:ident, $function:expr) => {{
        operation!(It[A], |state, machine, instr| {
            let operand: $from = A::read(state, instr.a);
            state.set_test(instr.b, ($function)(operand));
        });
        jumping_operation!(Jump[A], |state, machine, instr| {
            let operand: $from = A::read(state, instr.a);
            let holds = ($function)(operand);
            state.set_test(instr.b, holds);
            holds
        });
        let mut entry = Entry::new(one_operand!(It [a]));
        entry.forward =
            Some(one_operand!(Jump [a] false));
        entry.backward =
            Some(one_operand!(Jump [a] true));
        entry.shape.reads[0] = Some(<$from as Operand>::BANK);
        entry.shape.writes = Some((Field::B, Bank::Word));
        entry.shape.is_test = true;
        entry
    }};
}

/// `c = function(a, b)`, for operands of two types.
macro_rules! binary_of {
    ($left:ident, $right:ident -> $to:ident, $function:expr) => {{
        operation!(It[A, B], |state, machine, instr| {
            let left: $left = A::read(state, instr.a);
            let right: $right = B::read(state, instr.b);
            let value: $to = ($function)(left, right);
            value.write(&mut state, instr.c);
        });
        let mut entry = Entry::new(two_operands!(It [a b]));
        entry.shape.reads[0] = Some(<$left as Operand>::BANK);
        entry.shape.reads[1] = Some(<$right as Operand>::BANK);
        entry.shape.writes = Some((Field::C, <$to as Operand>::BANK));
        entry
    }};
}

/// `c = function(a, b)`
macro_rules! binary {
    ($type:ident, $function:expr) => {
        binary_of!($type, $type -> $type, $function)
    };
}

/// `c = a` shifted by `b`, which is an i32.
macro_rules! shift {
    ($type:ident, $function:expr) => {
        binary_of!($type, i32 -> $type, $function)
    };
}

/// `c = function(a, b)`, an i32 that loops often end by.
macro_rules! counting {
    ($function:expr) => {{
        operation!(It[A, B], |state, machine, instr| {
            let (left, right): (i32, i32) = (A::read(state, instr.a), B::read(state, instr.b));
            let value: i32 = ($function)(left, right);
            value.write(&mut state, instr.c);
        });
        jumping_operation!(Jump[A, B], |state, machine, instr| {
            let (left, right): (i32, i32) = (A::read(state, instr.a), B::read(state, instr.b));
            let value: i32 = ($function)(left, right);
            value.write(&mut state, instr.c);
            value != 0
        });
        let mut entry = Entry::new(two_operands!(It [a b]));
        entry.forward = Some(comparison_operands!(Jump [a b] false));
        entry.backward = Some(comparison_operands!(Jump [a b] true));
        entry.shape.reads = [Some(Bank::Word), Some(Bank::Word), None];
        entry.shape.writes = Some((Field::C, Bank::Word));
        entry
    }};
}

/// `c = whether function(a, b)`
macro_rules! test {
    ($from:ident, $function:expr) => {{
        operation!(It[A, B], |state, machine, instr| {
            let (left, right): ($from, $from) = (A::read(state, instr.a), B::read(state, instr.b));
            state.set_test(instr.c, ($function)(left, right));
        });
        jumping_operation!(Jump[A, B], |state, machine, instr| {
            let (left, right): ($from, $from) = (A::read(state, instr.a), B::read(state, instr.b));
            let holds = ($function)(left, right);
            state.set_test(instr.c, holds);
            holds
        });
        let mut entry = Entry::new(comparison_operands!(It [a b]));
        entry.forward = Some(comparison_operands!(Jump [a b] false));
        entry.backward = Some(comparison_operands!(Jump [a b] true));
        entry.shape.reads = [Some(<$from as Operand>::BANK), Some(<$from as Operand>::BANK), None];
        entry.shape.writes = Some((Field::C, Bank::Word));
        entry.shape.is_test = true;
        entry
    }};
}

/// `d = function(a, b, c)`
macro_rules! ternary {
    ($type:ident, $function:expr) => {{
        operation!(It[A, B, C], |state, machine, instr| {
            let third: $type = C::read(state, instr.c);
            let first: $type = A::read(state, instr.a);
            let second: $type = B::read(state, instr.b);
            let value: $type = ($function)(first, second, third);
            value.write(&mut state, instr.lane(0));
        });
        let mut entry = Entry::new(variants!(It [a b c] () {
            [Register, Register, Register],
            [Last, Register, Register],
            [Register, Last, Register],
            [Register, Register, Last],
            [Last, Previous, Register],
            [Previous, Last, Register],
            [Register, Last, Previous],
            [Register, Previous, Last],
        }));
        entry.shape.reads = [Some(<$type as Operand>::BANK); 3];
        entry.shape.writes = Some((Field::D, <$type as Operand>::BANK));
        entry
    }};
}

/// `c = function(a, b)`; if that is `None`, the second function gives the error.
macro_rules! fallible {
    ($type:ident, $function:expr, $error:path) => {{
        struct Error;

        impl Slow for Error {
            fn run(frame: &mut Frame<'_>, instr: &Instr) -> Result<(), Status> {
                let (left, right) = (frame.get::<$type>(instr.a), frame.get::<$type>(instr.b));
                frame.set(instr.c, $error(left, right)?);
                Ok(())
            }
        }

        operation!(It[A, B], |state, machine, instr| {
            let (left, right): ($type, $type) = (A::read(state, instr.a), B::read(state, instr.b));
            let value: Option<$type> = ($function)(left, right);
            let Some(value) = value else {
                return slow::instead::<D, Error>(state, machine);
            };
            value.write(&mut state, instr.c);
        });
        let mut entry = Entry::new(two_operands!(It [a b]));
        entry.shape.reads = [Some(<$type as Operand>::BANK), Some(<$type as Operand>::BANK), None];
        entry.shape.writes = Some((Field::C, <$type as Operand>::BANK));
        entry
    }};
}

/// `d = b` if `a` is not zero, otherwise `c`
macro_rules! select {
    ($type:ident) => {{
        operation!(It[A], |state, machine, instr| {
            let condition: i32 = A::read(state, instr.a);
            let chosen = if condition != 0 { instr.b } else { instr.c };
            let value = <$type as Operand>::read(state, chosen);
            value.write(&mut state, instr.lane(0));
        });
        let mut entry = Entry::new(one_operand!(It[a]));
        entry.shape.reads[0] = Some(Bank::Word);
        entry.shape.writes = Some((Field::D, <$type as Operand>::BANK));
        entry
    }};
}

/// `a = imm`
macro_rules! constant {
    ($type:ident, $value:expr) => {{
        operation!(It[], |state, machine, instr| {
            let value: $type = ($value)(instr);
            value.write(&mut state, instr.a);
        });
        let mut entry = Entry::new(only!(It));
        entry.shape.writes = Some((Field::A, <$type as Operand>::BANK));
        entry
    }};
}

/// `b = a`
macro_rules! copy {
    ($type:ident) => {
        unary!($type -> $type, |value: $type| value)
    };
}

/// What is done out of line: see `slow`.
macro_rules! slow {
    (|$frame:ident, $instr:ident| $body:expr) => {{
        struct It;

        impl Slow for It {
            #[inline]
            fn run($frame: &mut Frame<'_>, $instr: &Instr) -> Result<(), Status> {
                $body;
                Ok(())
            }
        }

        let mut entry = Entry::new(only!(slow::OutOfLine<It>));
        entry.shape.writes_more = true;
        entry
    }};
}

/// What is neither fast nor slow: one operation of `control` or `memory`.
macro_rules! single {
    ($operation:ty) => {
        Entry::new(only!($operation))
    };
}

/// Instructions that test an i32 in `a` and jump.
macro_rules! conditional {
    ($operation:ident $($back:literal)?) => {{
        let mut entry = Entry::new(one_operand!($operation [a] $($back)?));
        entry.shape.reads[0] = Some(Bank::Word);
        entry
    }};
}
