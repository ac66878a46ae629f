/// Whose an error is. Libraries say it of their errors; only a program that is typed makes an exit code of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// What was given: an option, a file, the state of a repository.
    Input,
    /// What was looked at is not as it should be: sources that do not compile, an image that was not tested.
    Verdict,
    /// This machine, or its network, lacks something.
    Machine,
    /// Nobody's: the user asked for the end.
    Interrupt,
}
