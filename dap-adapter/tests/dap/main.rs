//! The adapter as a client sees it: real programs, compiled by iree-compile, over real streams.
//!
//! | file | what it tests |
//! | --- | --- |
//! | `lifecycle` | a session begins and ends properly, from every state |
//! | `breakpoints` | the program stops at breakpoints |
//! | `column_breakpoints` | breakpoints on one of several operations of a line |
//! | `console` | commands in the console |
//! | `assignments` | values, memory and places are changed; conditions and log messages |
//! | `levels` | how far steps go, at each level |
//! | `inspection` | the values of a stopped program |
//! | `inlined_calls` | inlined calls are frames, for steps too |
//! | `devices` | commands, workgroups and tensors of a device |
//! | `machine_code` | machine code that faults or never ends |
//! | `running` | the client is served while the program runs |
//! | `dispatches`, `busy` | the same in a dispatch, and in native code that cannot be interrupted |
//! | `interrupted` | a run that requests interrupt ends where it ends without them |
//! | `pairs` | the same for random programs, commands and requests |
//! | `modules_and_sources` | modules, sources, and places for breakpoints |
//! | `changed_files` | files that change during a session |
//! | `recorded` | recorded programs go back |
//! | `verdicts` | results that are wrong, and where that began |
//! | `restart` | a restart keeps breakpoints and loads the program again |
//! | `host` | device, parameters and limits of the program |
//! | `attach` | the program keeps running when its client leaves |
//! | `faults` | a session survives unknown and unreadable messages |
//! | `watchpoints` | stops at changes of data, and at failures |
//! | `stops` | the texts of stops |
//! | `tensor` | what is told of tensors is what NumPy says |
//! | `tensor_figures` | figures along an axis, and over the executions of a dispatch |
//! | `compared` | two tensors differ as NumPy says; tensors of earlier stops |
//! | `tcp` | clients over TCP |
//! | `client`, `program` | the test client, and the programs that it debugs |
//! | `schema` | checks every message against the protocol's schema |

mod assignments;
mod attach;
mod breakpoints;
mod busy;
mod changed_files;
mod client;
mod column_breakpoints;
mod compared;
mod console;
mod devices;
mod dispatches;
mod faults;
mod host;
mod inlined_calls;
mod inspection;
mod interrupted;
mod levels;
mod lifecycle;
mod machine_code;
mod modules_and_sources;
mod pairs;
mod program;
mod recorded;
mod restart;
mod running;
mod schema;
mod stops;
mod tcp;
mod tensor;
mod tensor_figures;
mod twins;
mod verdicts;
mod watchpoints;
