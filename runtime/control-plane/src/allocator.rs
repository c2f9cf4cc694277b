//! Where memory comes from, and when it goes back.

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use mimalloc::MiMalloc;

/// The allocator of every program that runs a control plane. Beside the C library's it takes a fifth off the processor time
/// of a write, which makes and drops hundreds of small texts, and no more memory.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// What the allocator reads, before `main`, for how many milliseconds it keeps memory that is freed.
const KEEPS: &str = "MIMALLOC_PURGE_DELAY";

/// Keeps it for a hundredth of the usual time.
///
/// The allocator gives memory back while memory is asked for. After a second there may be nothing to do any more, and what a
/// burst of work took stays: twenty-five large definitions cost 50 MB instead of 12.
const SOON: &str = "10";

/// Lets the allocator give memory back soon, unless the environment says when.
///
/// Only its environment can tell the allocator, so this starts the program in this process again, which takes two milliseconds;
/// to be called before it has done anything. Where that is not allowed, more memory is kept.
pub(crate) fn give_back_soon() {
    if std::env::var_os(KEEPS).is_some() {
        return;
    }
    let mut arguments = std::env::args_os();
    let (Ok(program), Some(name)) = (std::env::current_exe(), arguments.next()) else {
        return;
    };
    // A loader that was asked to run the program is not the program.
    if program.file_name() != Path::new(&name).file_name() {
        return;
    }
    let mut again = Command::new(program);
    again.arg0(name);
    let error = again.args(arguments).env(KEEPS, SOON).exec();
    tracing::debug!(%error, "the program cannot be started again");
}
