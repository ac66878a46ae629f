//! Whose fault it is.

use pto_context::Fault;

use super::Error;

impl Error {
    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Docker(error) => error.fault(),
            Self::Checkout(error) if error.is_interrupted() => Fault::Interrupt,
            Self::Process(error) if error.is_interrupted() => Fault::Interrupt,
            Self::Interrupted => Fault::Interrupt,
            Self::Differs { .. } | Self::NoRecord { .. } => Fault::Verdict,
            Self::NoAscendRuntime { .. }
            | Self::NoImage { .. }
            | Self::Unfit { .. }
            | Self::NotEnterable { .. }
            | Self::Ended { .. }
            | Self::NeverRun { .. }
            | Self::Claim(_)
            | Self::Archive(_)
            | Self::Process(_) => Fault::Machine,
            Self::NoCards
            | Self::CardsWithoutAccess { .. }
            | Self::CardTwice { .. }
            | Self::BadVariable { .. }
            | Self::BadName { .. }
            | Self::BadSize { .. }
            | Self::CacheOfSources { .. }
            | Self::LeadsOut { .. }
            | Self::SecretArgument { .. }
            | Self::NotAProgram { .. }
            | Self::BadProxy
            | Self::NotText { .. }
            | Self::NotAWorkspace { .. }
            | Self::NoContainer { .. }
            | Self::OldProgram { .. }
            | Self::NotSent { .. }
            | Self::BadDigest { .. }
            | Self::OtherArgument { .. }
            | Self::UnknownArgument { .. }
            | Self::Dockerfile(_)
            | Self::NoBuildFile { .. }
            | Self::NoDigest { .. }
            | Self::Checkout(_) => Fault::Input,
        }
    }
}
