//! The program `invar`.

use std::process::ExitCode;

// The default allocator returns large buffers to the system after every step, which costs page faults.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    invar_cli::run(std::env::args_os())
}
