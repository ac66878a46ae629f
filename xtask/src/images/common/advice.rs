//! What to type next, with the options that were typed.

use pto_images::Fault;
use pto_images::promote::Records;

use super::image::FileArgs;
use super::records::RecordArgs;
use super::registry::RegistryArgs;
use crate::exit::Failure;

/// The options that were typed to say where an image is, for a command that continues.
pub fn typed(file: &FileArgs, registry: &RegistryArgs, records: &RecordArgs) -> String {
    file.typed() + &registry.typed() + &records.typed()
}

/// An error with the image, and what was typed to say where it is, in the commands of its hint.
pub fn named(error: pto_images::Error, image: &str, typed: &str) -> Failure {
    Failure::from(error).naming("IMAGE", &format!("{image}{typed}"))
}

/// An error of a promotion, with the command that goes on where it was begun: the same one again would be refused.
pub fn going_on(error: pto_images::Error, records: &Records, image: &str, typed: &str) -> Failure {
    let is_accident = matches!(error.fault(), Fault::Machine | Fault::Interrupt)
        || matches!(error, pto_images::Error::NotKept { .. } | pto_images::Error::Contradiction { .. });
    let record = records.load().ok().flatten().filter(|_| is_accident);
    let failure = named(error, image, typed);
    match record.filter(|record| record.before.is_some() && !record.is_over()) {
        Some(record) => {
            let undo = if record.outcome().is_some() { "" } else { ", and with `--undo` takes it back" };
            failure.advise(&format!(
                "the promotion was begun: `cargo xtask images promote {image} --resume{typed}` goes on{undo}"
            ))
        }
        None => failure,
    }
}
