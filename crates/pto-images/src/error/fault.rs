//! Whose fault an error is, which decides the exit code.

use pto_checkout::Error::{BadSeconds, NoDirectory, NoSuchRef, NotACheckout};
use pto_context::Fault;

use super::Error;

impl Error {
    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        if self.is_interrupted() {
            return Fault::Interrupt;
        }
        match self {
            Self::Docker(error) => error.fault(),
            Self::TakenBack { because, .. } => because.fault(),
            Self::Git(NoDirectory { .. } | NotACheckout { .. } | NoSuchRef { .. } | BadSeconds(_)) => Fault::Input,
            Self::Document { .. }
            | Self::Unread { .. }
            | Self::NoRecords { .. }
            | Self::OtherRecords { .. }
            | Self::Begun { .. }
            | Self::Over { .. }
            | Self::NotUploaded { .. }
            | Self::NoProxy
            | Self::NoPin { .. }
            | Self::NoFile { .. }
            | Self::NotPlanned { .. }
            | Self::Base { .. }
            | Self::NotPypto { .. }
            | Self::NotTop { .. }
            | Self::BadSource { .. }
            | Self::ChangedRecipe { .. }
            | Self::OtherRecipe { .. } => Fault::Input,
            Self::Contradiction { .. }
            | Self::NotKept { .. }
            | Self::MovedByOther { .. }
            | Self::NotTheTested { .. }
            | Self::OtherPlatform { .. }
            | Self::NotPassed { .. }
            | Self::OtherHost { .. }
            | Self::HostLacks { .. }
            | Self::DriverUnknown { .. }
            | Self::OtherPlan { .. }
            | Self::OtherConfiguration { .. }
            | Self::Promoted { .. }
            | Self::Stale { .. }
            | Self::NothingBefore { .. } => Fault::Verdict,
            Self::Registry(_)
            | Self::Certificates(_)
            | Self::Queue(_)
            | Self::Tasks { .. }
            | Self::NoImage { .. }
            | Self::NotHere { .. }
            | Self::UpstreamUnknown { .. }
            | Self::NotFetched { .. }
            | Self::Git(_)
            | Self::Busy { .. }
            | Self::BusyOutput { .. }
            | Self::BusyRun { .. }
            | Self::Io { .. }
            | Self::Lock(_)
            | Self::Claim(_)
            | Self::ProxyRequired
            | Self::Interrupted => Fault::Machine,
        }
    }

    fn is_interrupted(&self) -> bool {
        match self {
            Self::Interrupted => true,
            Self::Docker(error) => error.fault() == Fault::Interrupt,
            Self::Lock(error) => error.is_interrupted(),
            Self::Queue(error) => error.is_interrupted(),
            Self::Git(error) => error.is_interrupted(),
            Self::UpstreamUnknown { source, .. } | Self::NotFetched { source, .. } => source.is_interrupted(),
            _ => false,
        }
    }
}
