//! The adapter as a client sees it: real programs, compiled by iree-compile, over real streams.
//!
//! | file | asks |
//! | --- | --- |
//! | `lifecycle` | does a session begin and end well, from every state? |
//! | `breakpoints` | does the program stop where it was told to? |
//! | `columns` | can one of several operations on a line be stopped at? |
//! | `changes` | are values, memory and places changed, and conditions minded? |
//! | `levels` | do steps go as far as they should? |
//! | `inspection` | is what is shown at a stop right? |
//! | `devices` | are commands, workgroups and tensors shown, and stopped in? |
//! | `running` | is the client served while the program runs? |
//! | `dispatches`, `busy` | and while it is in a dispatch, or in native code that cannot be interrupted? |
//! | `catalog` | what is the program made of, and where can breakpoints be? |
//! | `changed_files` | is it noticed that a module is another one now? |
//! | `restart` | is the program as it was, and yet new? |
//! | `surroundings` | does it have the device, parameters and limits that it was to have? |
//! | `attach` | does a program go on when its client leaves? |
//! | `faults` | do unknown and unreadable messages leave the session alive? |
//! | `watching` | does the program stop where data changes, and where it fails? |
//! | `stops` | does a stop say truly what it is for? |
//! | `tcp` | clients in turn |
//! | `client`, `program` | the client, and what it debugs |
//! | `schema` | every message is held against the protocol's schema |

mod attach;
mod breakpoints;
mod busy;
mod catalog;
mod changed_files;
mod changes;
mod client;
mod columns;
mod devices;
mod dispatches;
mod faults;
mod inlined;
mod inspection;
mod levels;
mod lifecycle;
mod machine_code;
mod program;
mod restart;
mod running;
mod schema;
mod stops;
mod surroundings;
mod tcp;
mod watching;
