//! The table of instructions, as of bytecode version 17.
//!
//! A row reads: opcode, name, mnemonic, fields in encoding order. A field is its name in IREE's
//! ISA and its kind; `read(I64)` is a register pair that is read, `reads(Any)` a counted list.
//! `ends block` marks terminators; `since N` the instructions that version N added.

use super::fields::{Bank, Field, FieldKind, OpcodeSet};

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct OpInfo {
    /// The instruction.
    pub op: Op,
    /// Its opcode space.
    pub set: OpcodeSet,
    /// The byte within the space.
    pub opcode: u8,
    /// The name without `vm.`, as in `.vmasm`.
    pub mnemonic: &'static str,
    /// Its fields in encoding order.
    pub fields: &'static [Field],
    /// Whether it is a terminator.
    pub ends_block: bool,
    /// The first bytecode major version that has it; 14 stands for "or before".
    pub since: u16,
}

macro_rules! kind {
    (read $bank:ident) => {
        FieldKind::Read(Bank::$bank)
    };
    (write $bank:ident) => {
        FieldKind::Write(Bank::$bank)
    };
    (reads $bank:ident) => {
        FieldKind::Reads(Bank::$bank)
    };
    (writes $bank:ident) => {
        FieldKind::Writes(Bank::$bank)
    };
    (immediate $bank:ident) => {
        FieldKind::Immediate(Bank::$bank)
    };
    (global) => {
        FieldKind::Global
    };
    (ty) => {
        FieldKind::Type
    };
    (rodata) => {
        FieldKind::Rodata
    };
    (function) => {
        FieldKind::Function
    };
    (string) => {
        FieldKind::String
    };
    (target) => {
        FieldKind::Target
    };
    (remap) => {
        FieldKind::Remap
    };
    (cases) => {
        FieldKind::Cases
    };
}

macro_rules! ends_block {
    () => {
        false
    };
    (block) => {
        true
    };
}

macro_rules! since {
    () => {
        14
    };
    ($version:literal) => {
        $version
    };
}

macro_rules! instructions {
    ($($set:ident { $(
        $code:literal $name:ident $mnemonic:literal
            [$($field:ident: $kind:ident $(($bank:ident))?),*] $(ends $block:ident)? $(since $since:literal)?;
    )* })*) => {
        /// An instruction of the VM, of any of the three opcode spaces.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(u16)]
        #[allow(missing_docs, reason = "the mnemonic beside each says it; semantics are in crate vm")]
        pub enum Op { $($($name,)*)* }

        pub(super) static TABLE: &[OpInfo] = &[$($(OpInfo {
            op: Op::$name,
            set: OpcodeSet::$set,
            opcode: $code,
            mnemonic: $mnemonic,
            fields: &[$(Field { name: stringify!($field), kind: kind!($kind $($bank)?) },)*],
            ends_block: ends_block!($($block)?),
            since: since!($($since)?),
        },)*)*];
    };
}

/// For each opcode space, the instruction of each byte.
pub(super) static BY_OPCODE: [[Option<Op>; 256]; 3] = {
    let mut map = [[None; 256]; 3];
    let mut index = 0;
    while index < TABLE.len() {
        let row = &TABLE[index];
        map[row.set as usize][row.opcode as usize] = Some(row.op);
        index += 1;
    }
    map
};

#[rustfmt::skip]
instructions! {
    Core {
        0x00 GlobalLoadI32          "global.load.i32"            [byte_offset: global, result: write(I32)];
        0x01 GlobalStoreI32         "global.store.i32"           [byte_offset: global, value: read(I32)];
        0x02 GlobalLoadIndirectI32  "global.load.indirect.i32"   [byte_offset: read(I32), result: write(I32)];
        0x03 GlobalStoreIndirectI32 "global.store.indirect.i32"  [byte_offset: read(I32), value: read(I32)];
        0x04 GlobalLoadI64          "global.load.i64"            [byte_offset: global, result: write(I64)];
        0x05 GlobalStoreI64         "global.store.i64"           [byte_offset: global, value: read(I64)];
        0x06 GlobalLoadIndirectI64  "global.load.indirect.i64"   [byte_offset: read(I32), result: write(I64)];
        0x07 GlobalStoreIndirectI64 "global.store.indirect.i64"  [byte_offset: read(I32), value: read(I64)];
        0x08 GlobalLoadRef          "global.load.ref"            [global: global, type_def: ty, value: write(RefMove)];
        0x09 GlobalStoreRef         "global.store.ref"           [global: global, type_def: ty, value: read(RefMove)];
        0x0a GlobalLoadIndirectRef  "global.load.indirect.ref"   [global: read(I32), type_def: ty, value: write(RefMove)];
        0x0b GlobalStoreIndirectRef "global.store.indirect.ref"  [global: read(I32), type_def: ty, value: read(RefMove)];
        0x0c ConstI32Zero           "const.i32.zero"             [result: write(I32)];
        0x0d ConstI32               "const.i32"                  [value: immediate(I32), result: write(I32)];
        0x0e ConstI64Zero           "const.i64.zero"             [result: write(I64)];
        0x0f ConstI64               "const.i64"                  [value: immediate(I64), result: write(I64)];
        0x10 ConstRefZero           "const.ref.zero"             [result: write(RefMove)];
        0x11 ConstRefRodata         "const.ref.rodata"           [rodata: rodata, value: write(RefMove)];
        0x12 ListAlloc              "list.alloc"                 [element_type: ty, initial_capacity: read(I32), result: write(RefMove)];
        0x13 ListReserve            "list.reserve"               [list: read(Ref), minimum_capacity: read(I32)];
        0x14 ListSize               "list.size"                  [list: read(Ref), result: write(I32)];
        0x15 ListResize             "list.resize"                [list: read(Ref), new_size: read(I32)];
        0x16 ListGetI32             "list.get.i32"               [list: read(Ref), index: read(I32), result: write(I32)];
        0x17 ListSetI32             "list.set.i32"               [list: read(Ref), index: read(I32), value: read(I32)];
        0x18 ListGetI64             "list.get.i64"               [list: read(Ref), index: read(I32), result: write(I64)];
        0x19 ListSetI64             "list.set.i64"               [list: read(Ref), index: read(I32), value: read(I64)];
        0x1a ListGetRef             "list.get.ref"               [list: read(Ref), index: read(I32), type_def: ty, result: write(RefMove)];
        0x1b ListSetRef             "list.set.ref"               [list: read(Ref), index: read(I32), value: read(RefMove)];
        0x1c SelectI32              "select.i32"                 [condition: read(I32), true_value: read(I32), false_value: read(I32), result: write(I32)];
        0x1d SelectI64              "select.i64"                 [condition: read(I32), true_value: read(I64), false_value: read(I64), result: write(I64)];
        0x1e SelectRef              "select.ref"                 [condition: read(I32), true_value_type_def: ty, true_value: read(RefMove), false_value: read(RefMove), result: write(RefMove)];
        0x1f SwitchI32              "switch.i32"                 [index: read(I32), default_value: read(I32), values: reads(I32), result: write(I32)];
        0x20 SwitchI64              "switch.i64"                 [index: read(I32), default_value: read(I64), values: reads(I64), result: write(I64)];
        0x21 SwitchRef              "switch.ref"                 [index: read(I32), type_def: ty, default_value: read(RefMove), values: reads(RefMove), result: write(RefMove)];
        0x22 AddI32                 "add.i32"                    [left: read(I32), right: read(I32), result: write(I32)];
        0x23 SubI32                 "sub.i32"                    [left: read(I32), right: read(I32), result: write(I32)];
        0x24 MulI32                 "mul.i32"                    [left: read(I32), right: read(I32), result: write(I32)];
        0x25 DivI32S                "div.i32.s"                  [left: read(I32), right: read(I32), result: write(I32)];
        0x26 DivI32U                "div.i32.u"                  [left: read(I32), right: read(I32), result: write(I32)];
        0x27 RemI32S                "rem.i32.s"                  [left: read(I32), right: read(I32), result: write(I32)];
        0x28 RemI32U                "rem.i32.u"                  [left: read(I32), right: read(I32), result: write(I32)];
        0x29 FMAI32                 "fma.i32"                    [first: read(I32), second: read(I32), third: read(I32), result: write(I32)];
        0x2a AddI64                 "add.i64"                    [left: read(I64), right: read(I64), result: write(I64)];
        0x2b SubI64                 "sub.i64"                    [left: read(I64), right: read(I64), result: write(I64)];
        0x2c MulI64                 "mul.i64"                    [left: read(I64), right: read(I64), result: write(I64)];
        0x2d DivI64S                "div.i64.s"                  [left: read(I64), right: read(I64), result: write(I64)];
        0x2e DivI64U                "div.i64.u"                  [left: read(I64), right: read(I64), result: write(I64)];
        0x2f RemI64S                "rem.i64.s"                  [left: read(I64), right: read(I64), result: write(I64)];
        0x30 RemI64U                "rem.i64.u"                  [left: read(I64), right: read(I64), result: write(I64)];
        0x31 FMAI64                 "fma.i64"                    [first: read(I64), second: read(I64), third: read(I64), result: write(I64)];
        0x32 NotI32                 "not.i32"                    [operand: read(I32), result: write(I32)];
        0x33 AndI32                 "and.i32"                    [left: read(I32), right: read(I32), result: write(I32)];
        0x34 OrI32                  "or.i32"                     [left: read(I32), right: read(I32), result: write(I32)];
        0x35 XorI32                 "xor.i32"                    [left: read(I32), right: read(I32), result: write(I32)];
        0x36 NotI64                 "not.i64"                    [operand: read(I64), result: write(I64)];
        0x37 AndI64                 "and.i64"                    [left: read(I64), right: read(I64), result: write(I64)];
        0x38 OrI64                  "or.i64"                     [left: read(I64), right: read(I64), result: write(I64)];
        0x39 XorI64                 "xor.i64"                    [left: read(I64), right: read(I64), result: write(I64)];
        0x3a ShlI32                 "shl.i32"                    [operand: read(I32), amount: read(I32), result: write(I32)];
        0x3b ShrI32S                "shr.i32.s"                  [operand: read(I32), amount: read(I32), result: write(I32)];
        0x3c ShrI32U                "shr.i32.u"                  [operand: read(I32), amount: read(I32), result: write(I32)];
        0x3d ShlI64                 "shl.i64"                    [operand: read(I64), amount: read(I32), result: write(I64)];
        0x3e ShrI64S                "shr.i64.s"                  [operand: read(I64), amount: read(I32), result: write(I64)];
        0x3f ShrI64U                "shr.i64.u"                  [operand: read(I64), amount: read(I32), result: write(I64)];
        0x40 TruncI32I8             "trunc.i32.i8"               [operand: read(I32), result: write(I32)];
        0x41 TruncI32I16            "trunc.i32.i16"              [operand: read(I32), result: write(I32)];
        0x42 TruncI64I32            "trunc.i64.i32"              [operand: read(I64), result: write(I32)];
        0x43 ExtI8I32S              "ext.i8.i32.s"               [operand: read(I32), result: write(I32)];
        0x44 ExtI8I32U              "ext.i8.i32.u"               [operand: read(I32), result: write(I32)];
        0x45 ExtI16I32S             "ext.i16.i32.s"              [operand: read(I32), result: write(I32)];
        0x46 ExtI16I32U             "ext.i16.i32.u"              [operand: read(I32), result: write(I32)];
        0x47 ExtI32I64S             "ext.i32.i64.s"              [operand: read(I32), result: write(I64)];
        0x48 ExtI32I64U             "ext.i32.i64.u"              [operand: read(I32), result: write(I64)];
        0x49 CmpEQI32               "cmp.eq.i32"                 [left: read(I32), right: read(I32), result: write(I32)];
        0x4a CmpNEI32               "cmp.ne.i32"                 [left: read(I32), right: read(I32), result: write(I32)];
        0x4b CmpLTI32S              "cmp.lt.i32.s"               [left: read(I32), right: read(I32), result: write(I32)];
        0x4c CmpLTI32U              "cmp.lt.i32.u"               [left: read(I32), right: read(I32), result: write(I32)];
        0x4d CmpNZI32               "cmp.nz.i32"                 [operand: read(I32), result: write(I32)];
        0x4e CmpEQI64               "cmp.eq.i64"                 [left: read(I64), right: read(I64), result: write(I32)];
        0x4f CmpNEI64               "cmp.ne.i64"                 [left: read(I64), right: read(I64), result: write(I32)];
        0x50 CmpLTI64S              "cmp.lt.i64.s"               [left: read(I64), right: read(I64), result: write(I32)];
        0x51 CmpLTI64U              "cmp.lt.i64.u"               [left: read(I64), right: read(I64), result: write(I32)];
        0x52 CmpNZI64               "cmp.nz.i64"                 [operand: read(I64), result: write(I32)];
        0x53 CmpEQRef               "cmp.eq.ref"                 [left: read(Ref), right: read(Ref), result: write(I32)];
        0x54 CmpNERef               "cmp.ne.ref"                 [left: read(Ref), right: read(Ref), result: write(I32)];
        0x55 CmpNZRef               "cmp.nz.ref"                 [operand: read(Ref), result: write(I32)];
        0x56 Branch                 "br"                         [dest_pc: target, operands: remap] ends block;
        0x57 CondBranch             "cond_br"                    [condition: read(I32), true_dest_pc: target, true_operands: remap, false_dest_pc: target, false_operands: remap] ends block;
        0x58 Call                   "call"                       [callee_ordinal: function, operands: reads(Any), results: writes(Any)];
        0x59 CallVariadic           "call.variadic"              [callee_ordinal: function, segment_sizes: reads(I32), operands: reads(Any), results: writes(Any)];
        0x5a Return                 "return"                     [operands: reads(Any)] ends block;
        0x5b Fail                   "fail"                       [status: read(I32), message: string] ends block;
        0x5c ImportResolved         "import.resolved"            [import_ordinal: function, result: write(I32)];
        0x5d Yield                  "yield"                      [dest_pc: target, operands: remap] ends block;
        0x5e Trace                  "trace"                      [event_name: string, operands: reads(Any)];
        0x5f Print                  "print"                      [event_name: string, operands: reads(Any)];
        0x60 CondBreak              "cond_break"                 [condition: read(I32), dest_pc: target, operands: remap] ends block;
        0x61 Break                  "break"                      [dest_pc: target, operands: remap] ends block;
        0x62 BufferLoadI8U          "buffer.load.i8.u"           [source_buffer: read(Ref), source_offset: read(I64), result: write(I32)];
        0x63 BufferLoadI8S          "buffer.load.i8.s"           [source_buffer: read(Ref), source_offset: read(I64), result: write(I32)];
        0x64 BufferLoadI16U         "buffer.load.i16.u"          [source_buffer: read(Ref), source_offset: read(I64), result: write(I32)];
        0x65 BufferLoadI16S         "buffer.load.i16.s"          [source_buffer: read(Ref), source_offset: read(I64), result: write(I32)];
        0x66 BufferLoadI32          "buffer.load.i32"            [source_buffer: read(Ref), source_offset: read(I64), result: write(I32)];
        0x67 BufferLoadI64          "buffer.load.i64"            [source_buffer: read(Ref), source_offset: read(I64), result: write(I64)];
        0x68 BufferStoreI8          "buffer.store.i8"            [target_buffer: read(Ref), target_offset: read(I64), value: read(I32)];
        0x69 BufferStoreI16         "buffer.store.i16"           [target_buffer: read(Ref), target_offset: read(I64), value: read(I32)];
        0x6a BufferStoreI32         "buffer.store.i32"           [target_buffer: read(Ref), target_offset: read(I64), value: read(I32)];
        0x6b BufferStoreI64         "buffer.store.i64"           [target_buffer: read(Ref), target_offset: read(I64), value: read(I64)];
        0x6c BufferAlloc            "buffer.alloc"               [length: read(I64), alignment: read(I32), result: write(RefMove)];
        0x6d BufferClone            "buffer.clone"               [source: read(Ref), offset: read(I64), length: read(I64), alignment: read(I32), result: write(RefMove)];
        0x6e BufferLength           "buffer.length"              [buffer: read(Ref), result: write(I64)];
        0x6f BufferCopy             "buffer.copy"                [source_buffer: read(Ref), source_offset: read(I64), target_buffer: read(Ref), target_offset: read(I64), length: read(I64)];
        0x70 BufferCompare          "buffer.compare"             [lhs_buffer: read(Ref), lhs_offset: read(I64), rhs_buffer: read(Ref), rhs_offset: read(I64), length: read(I64), result: write(I32)];
        0x71 BufferFillI8           "buffer.fill.i8"             [target_buffer: read(Ref), target_offset: read(I64), length: read(I64), value: read(I32)];
        0x72 BufferFillI16          "buffer.fill.i16"            [target_buffer: read(Ref), target_offset: read(I64), length: read(I64), value: read(I32)];
        0x73 BufferFillI32          "buffer.fill.i32"            [target_buffer: read(Ref), target_offset: read(I64), length: read(I64), value: read(I32)];
        0x74 BufferFillI64          "buffer.fill.i64"            [target_buffer: read(Ref), target_offset: read(I64), length: read(I64), value: read(I64)];
        0x75 CtlzI32                "ctlz.i32"                   [operand: read(I32), result: write(I32)];
        0x76 CtlzI64                "ctlz.i64"                   [operand: read(I64), result: write(I64)];
        0x77 AbsI32                 "abs.i32"                    [operand: read(I32), result: write(I32)];
        0x78 AbsI64                 "abs.i64"                    [operand: read(I64), result: write(I64)];
        0x79 Block                  "block"                      [];
        0x7a MinI32S                "min.i32.s"                  [left: read(I32), right: read(I32), result: write(I32)];
        0x7b MinI32U                "min.i32.u"                  [left: read(I32), right: read(I32), result: write(I32)];
        0x7c MaxI32S                "max.i32.s"                  [left: read(I32), right: read(I32), result: write(I32)];
        0x7d MaxI32U                "max.i32.u"                  [left: read(I32), right: read(I32), result: write(I32)];
        0x7e MinI64S                "min.i64.s"                  [left: read(I64), right: read(I64), result: write(I64)];
        0x7f MinI64U                "min.i64.u"                  [left: read(I64), right: read(I64), result: write(I64)];
        0x80 MaxI64S                "max.i64.s"                  [left: read(I64), right: read(I64), result: write(I64)];
        0x81 MaxI64U                "max.i64.u"                  [left: read(I64), right: read(I64), result: write(I64)];
        0x82 CastAnyRef             "cast.any.ref"               [operand: read(RefMove), result_type: ty, result: write(RefMove)];
        0x83 BranchTable            "br_table"                   [index: read(I32), default_dest_pc: target, default_operands: remap, cases: cases] ends block;
        0x84 BufferHash             "buffer.hash"                [source_buffer: read(Ref), source_offset: read(I64), length: read(I64), result: write(I64)];
        0x85 DiscardRefs            "discard.refs"               [refs: reads(Any)] since 16;
        0x86 AssignRef              "assign.ref"                 [source: read(RefMove), result: write(RefMove)] since 16;
        0x87 CallYieldable          "call.yieldable"             [callee_ordinal: function, operands: reads(Any), dest_pc: target, results: writes(Any)] ends block since 17;
        0x88 CallVariadicYieldable  "call.variadic.yieldable"    [callee_ordinal: function, segment_sizes: reads(I32), operands: reads(Any), dest_pc: target, results: writes(Any)] ends block since 17;
    }
    ExtF32 {
        0x00 GlobalLoadF32          "global.load.f32"            [byte_offset: global, result: write(F32)];
        0x01 GlobalStoreF32         "global.store.f32"           [byte_offset: global, value: read(F32)];
        0x02 GlobalLoadIndirectF32  "global.load.indirect.f32"   [byte_offset: read(I32), result: write(F32)];
        0x03 GlobalStoreIndirectF32 "global.store.indirect.f32"  [byte_offset: read(I32), value: read(F32)];
        0x04 ConstF32Zero           "const.f32.zero"             [result: write(F32)];
        0x05 ConstF32               "const.f32"                  [value: immediate(F32), result: write(F32)];
        0x06 ListGetF32             "list.get.f32"               [list: read(Ref), index: read(I32), result: write(F32)];
        0x07 ListSetF32             "list.set.f32"               [list: read(Ref), index: read(I32), value: read(F32)];
        0x08 SelectF32              "select.f32"                 [condition: read(I32), true_value: read(F32), false_value: read(F32), result: write(F32)];
        0x09 SwitchF32              "switch.f32"                 [index: read(I32), default_value: read(F32), values: reads(F32), result: write(F32)];
        0x0a AddF32                 "add.f32"                    [left: read(F32), right: read(F32), result: write(F32)];
        0x0b SubF32                 "sub.f32"                    [left: read(F32), right: read(F32), result: write(F32)];
        0x0c MulF32                 "mul.f32"                    [left: read(F32), right: read(F32), result: write(F32)];
        0x0d DivF32                 "div.f32"                    [left: read(F32), right: read(F32), result: write(F32)];
        0x0e RemF32                 "rem.f32"                    [left: read(F32), right: read(F32), result: write(F32)];
        0x0f FMAF32                 "fma.f32"                    [first: read(F32), second: read(F32), third: read(F32), result: write(F32)];
        0x10 AbsF32                 "abs.f32"                    [operand: read(F32), result: write(F32)];
        0x11 NegF32                 "neg.f32"                    [operand: read(F32), result: write(F32)];
        0x12 CeilF32                "ceil.f32"                   [operand: read(F32), result: write(F32)];
        0x13 FloorF32               "floor.f32"                  [operand: read(F32), result: write(F32)];
        0x14 CastSI32F32            "cast.si32.f32"              [operand: read(I32), result: write(F32)];
        0x15 CastUI32F32            "cast.ui32.f32"              [operand: read(I32), result: write(F32)];
        0x16 CastF32SI32            "cast.f32.si32"              [operand: read(F32), result: write(I32)];
        0x17 CastF32UI32            "cast.f32.ui32"              [operand: read(F32), result: write(I32)];
        0x18 BitcastI32F32          "bitcast.i32.f32"            [operand: read(I32), result: write(F32)];
        0x19 BitcastF32I32          "bitcast.f32.i32"            [operand: read(F32), result: write(I32)];
        0x1a AtanF32                "atan.f32"                   [operand: read(F32), result: write(F32)];
        0x1b Atan2F32               "atan2.f32"                  [left: read(F32), right: read(F32), result: write(F32)];
        0x1c CosF32                 "cos.f32"                    [operand: read(F32), result: write(F32)];
        0x1d SinF32                 "sin.f32"                    [operand: read(F32), result: write(F32)];
        0x1e ExpF32                 "exp.f32"                    [operand: read(F32), result: write(F32)];
        0x1f Exp2F32                "exp2.f32"                   [operand: read(F32), result: write(F32)];
        0x20 ExpM1F32               "expm1.f32"                  [operand: read(F32), result: write(F32)];
        0x21 LogF32                 "log.f32"                    [operand: read(F32), result: write(F32)];
        0x22 Log10F32               "log10.f32"                  [operand: read(F32), result: write(F32)];
        0x23 Log1pF32               "log1p.f32"                  [operand: read(F32), result: write(F32)];
        0x24 Log2F32                "log2.f32"                   [operand: read(F32), result: write(F32)];
        0x25 PowF32                 "pow.f32"                    [left: read(F32), right: read(F32), result: write(F32)];
        0x26 RsqrtF32               "rsqrt.f32"                  [operand: read(F32), result: write(F32)];
        0x27 SqrtF32                "sqrt.f32"                   [operand: read(F32), result: write(F32)];
        0x28 TanhF32                "tanh.f32"                   [operand: read(F32), result: write(F32)];
        0x29 ErfF32                 "erf.f32"                    [operand: read(F32), result: write(F32)];
        0x2a CmpEQF32O              "cmp.eq.f32.o"               [left: read(F32), right: read(F32), result: write(I32)];
        0x2b CmpEQF32U              "cmp.eq.f32.u"               [left: read(F32), right: read(F32), result: write(I32)];
        0x2c CmpNEF32O              "cmp.ne.f32.o"               [left: read(F32), right: read(F32), result: write(I32)];
        0x2d CmpNEF32U              "cmp.ne.f32.u"               [left: read(F32), right: read(F32), result: write(I32)];
        0x2e CmpLTF32O              "cmp.lt.f32.o"               [left: read(F32), right: read(F32), result: write(I32)];
        0x2f CmpLTF32U              "cmp.lt.f32.u"               [left: read(F32), right: read(F32), result: write(I32)];
        0x30 CmpLTEF32O             "cmp.lte.f32.o"              [left: read(F32), right: read(F32), result: write(I32)];
        0x31 CmpLTEF32U             "cmp.lte.f32.u"              [left: read(F32), right: read(F32), result: write(I32)];
        0x32 CmpNaNF32              "cmp.nan.f32"                [operand: read(F32), result: write(I32)];
        0x33 BufferLoadF32          "buffer.load.f32"            [source_buffer: read(Ref), source_offset: read(I64), result: write(F32)];
        0x34 BufferStoreF32         "buffer.store.f32"           [target_buffer: read(Ref), target_offset: read(I64), value: read(F32)];
        0x35 BufferFillF32          "buffer.fill.f32"            [target_buffer: read(Ref), target_offset: read(I64), length: read(I64), value: read(F32)];
        0x36 RoundF32               "round.f32"                  [operand: read(F32), result: write(F32)];
        0x37 MinF32                 "min.f32"                    [left: read(F32), right: read(F32), result: write(F32)];
        0x38 MaxF32                 "max.f32"                    [left: read(F32), right: read(F32), result: write(F32)];
        0x39 RoundF32Even           "round.f32.even"             [operand: read(F32), result: write(F32)];
        0x3a CastF32SI64            "cast.f32.si64"              [operand: read(F32), result: write(I64)];
        0x3b CastF32UI64            "cast.f32.ui64"              [operand: read(F32), result: write(I64)];
        0x3c CastSI64F32            "cast.si64.f32"              [operand: read(I64), result: write(F32)];
        0x3d CastUI64F32            "cast.ui64.f32"              [operand: read(I64), result: write(F32)];
        0x3e FPowIF32               "fpowi.f32"                  [base: read(F32), exponent: read(I64), result: write(F32)];
    }
    ExtF64 {
        0x00 GlobalLoadF64          "global.load.f64"            [byte_offset: global, result: write(F64)];
        0x01 GlobalStoreF64         "global.store.f64"           [byte_offset: global, value: read(F64)];
        0x02 GlobalLoadIndirectF64  "global.load.indirect.f64"   [byte_offset: read(I32), result: write(F64)];
        0x03 GlobalStoreIndirectF64 "global.store.indirect.f64"  [byte_offset: read(I32), value: read(F64)];
        0x04 ConstF64Zero           "const.f64.zero"             [result: write(F64)];
        0x05 ConstF64               "const.f64"                  [value: immediate(F64), result: write(F64)];
        0x06 ListGetF64             "list.get.f64"               [list: read(Ref), index: read(I32), result: write(F64)];
        0x07 ListSetF64             "list.set.f64"               [list: read(Ref), index: read(I32), value: read(F64)];
        0x08 SelectF64              "select.f64"                 [condition: read(I32), true_value: read(F64), false_value: read(F64), result: write(F64)];
        0x09 SwitchF64              "switch.f64"                 [index: read(I32), default_value: read(F64), values: reads(F64), result: write(F64)];
        0x0a AddF64                 "add.f64"                    [left: read(F64), right: read(F64), result: write(F64)];
        0x0b SubF64                 "sub.f64"                    [left: read(F64), right: read(F64), result: write(F64)];
        0x0c MulF64                 "mul.f64"                    [left: read(F64), right: read(F64), result: write(F64)];
        0x0d DivF64                 "div.f64"                    [left: read(F64), right: read(F64), result: write(F64)];
        0x0e RemF64                 "rem.f64"                    [left: read(F64), right: read(F64), result: write(F64)];
        0x0f FMAF64                 "fma.f64"                    [first: read(F64), second: read(F64), third: read(F64), result: write(F64)];
        0x10 AbsF64                 "abs.f64"                    [operand: read(F64), result: write(F64)];
        0x11 NegF64                 "neg.f64"                    [operand: read(F64), result: write(F64)];
        0x12 CeilF64                "ceil.f64"                   [operand: read(F64), result: write(F64)];
        0x13 FloorF64               "floor.f64"                  [operand: read(F64), result: write(F64)];
        0x14 TruncF64F32            "trunc.f64.f32"              [operand: read(F64), result: write(F32)];
        0x15 ExtF32F64              "ext.f32.f64"                [operand: read(F32), result: write(F64)];
        0x16 CastSI32F64            "cast.si32.f64"              [operand: read(I32), result: write(F64)];
        0x17 CastUI32F64            "cast.ui32.f64"              [operand: read(I32), result: write(F64)];
        0x18 CastF64SI32            "cast.f64.si32"              [operand: read(F64), result: write(I32)];
        0x19 CastF64UI32            "cast.f64.ui32"              [operand: read(F64), result: write(I32)];
        0x1a CastSI64F64            "cast.si64.f64"              [operand: read(I64), result: write(F64)];
        0x1b CastUI64F64            "cast.ui64.f64"              [operand: read(I64), result: write(F64)];
        0x1c CastF64SI64            "cast.f64.si64"              [operand: read(F64), result: write(I64)];
        0x1d CastF64UI64            "cast.f64.ui64"              [operand: read(F64), result: write(I64)];
        0x1e BitcastI64F64          "bitcast.i64.f64"            [operand: read(I64), result: write(F64)];
        0x1f BitcastF64I64          "bitcast.f64.i64"            [operand: read(F64), result: write(I64)];
        0x20 AtanF64                "atan.f64"                   [operand: read(F64), result: write(F64)];
        0x21 Atan2F64               "atan2.f64"                  [left: read(F64), right: read(F64), result: write(F64)];
        0x22 CosF64                 "cos.f64"                    [operand: read(F64), result: write(F64)];
        0x23 SinF64                 "sin.f64"                    [operand: read(F64), result: write(F64)];
        0x24 ExpF64                 "exp.f64"                    [operand: read(F64), result: write(F64)];
        0x25 Exp2F64                "exp2.f64"                   [operand: read(F64), result: write(F64)];
        0x26 ExpM1F64               "expm1.f64"                  [operand: read(F64), result: write(F64)];
        0x27 LogF64                 "log.f64"                    [operand: read(F64), result: write(F64)];
        0x28 Log10F64               "log10.f64"                  [operand: read(F64), result: write(F64)];
        0x29 Log1pF64               "log1p.f64"                  [operand: read(F64), result: write(F64)];
        0x2a Log2F64                "log2.f64"                   [operand: read(F64), result: write(F64)];
        0x2b PowF64                 "pow.f64"                    [left: read(F64), right: read(F64), result: write(F64)];
        0x2c RsqrtF64               "rsqrt.f64"                  [operand: read(F64), result: write(F64)];
        0x2d SqrtF64                "sqrt.f64"                   [operand: read(F64), result: write(F64)];
        0x2e TanhF64                "tanh.f64"                   [operand: read(F64), result: write(F64)];
        0x2f ErfF64                 "erf.f64"                    [operand: read(F64), result: write(F64)];
        0x30 CmpEQF64O              "cmp.eq.f64.o"               [left: read(F64), right: read(F64), result: write(I32)];
        0x31 CmpEQF64U              "cmp.eq.f64.u"               [left: read(F64), right: read(F64), result: write(I32)];
        0x32 CmpNEF64O              "cmp.ne.f64.o"               [left: read(F64), right: read(F64), result: write(I32)];
        0x33 CmpNEF64U              "cmp.ne.f64.u"               [left: read(F64), right: read(F64), result: write(I32)];
        0x34 CmpLTF64O              "cmp.lt.f64.o"               [left: read(F64), right: read(F64), result: write(I32)];
        0x35 CmpLTF64U              "cmp.lt.f64.u"               [left: read(F64), right: read(F64), result: write(I32)];
        0x36 CmpLTEF64O             "cmp.lte.f64.o"              [left: read(F64), right: read(F64), result: write(I32)];
        0x37 CmpLTEF64U             "cmp.lte.f64.u"              [left: read(F64), right: read(F64), result: write(I32)];
        0x38 CmpNaNF64              "cmp.nan.f64"                [operand: read(F64), result: write(I32)];
        0x39 BufferLoadF64          "buffer.load.f64"            [source_buffer: read(Ref), source_offset: read(I64), result: write(F64)];
        0x3a BufferStoreF64         "buffer.store.f64"           [target_buffer: read(Ref), target_offset: read(I64), value: read(F64)];
        0x3b BufferFillF64          "buffer.fill.f64"            [target_buffer: read(Ref), target_offset: read(I64), length: read(I64), value: read(F64)];
        0x3c RoundF64               "round.f64"                  [operand: read(F64), result: write(F64)];
        0x3d MinF64                 "min.f64"                    [left: read(F64), right: read(F64), result: write(F64)];
        0x3e MaxF64                 "max.f64"                    [left: read(F64), right: read(F64), result: write(F64)];
        0x3f RoundF64Even           "round.f64.even"             [operand: read(F64), result: write(F64)];
        0x40 FPowIF64               "fpowi.f64"                  [base: read(F64), exponent: read(I64), result: write(F64)];
    }
}
