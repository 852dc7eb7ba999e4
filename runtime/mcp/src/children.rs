//! Questions that `iree-dbg` answers in a process of its own: comparisons of whole runs take long
//! and much memory, and a process can be ended at any time without harm to the program here.
