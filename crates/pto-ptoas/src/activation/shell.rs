//! The exports of an activation in a shell's own language.

use super::{Activation, LISTS};

/// A shell that can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shell {
    /// GNU Bash, and other shells of the POSIX kind.
    Bash,
    /// Z shell.
    Zsh,
    /// fish.
    Fish,
}

impl Activation {
    /// One line per variable, to be evaluated.
    pub fn script(&self, shell: Shell) -> String {
        self.variables.iter().map(|(name, value)| line(shell, name, value) + "\n").collect()
    }
}

fn line(shell: Shell, name: &str, value: &str) -> String {
    match shell {
        Shell::Bash | Shell::Zsh => format!("export {name}={}", posix(value)),
        // fish keeps its path variables as lists, and joins them with colons for others.
        Shell::Fish if LISTS.contains(&name) => {
            let entries: Vec<_> = value.split(':').map(fish).collect();
            format!("set -gx --path {name} {}", entries.join(" "))
        }
        Shell::Fish => format!("set -gx {name} {}", fish(value)),
    }
}

/// Between single quotes nothing is special but the quote itself.
fn posix(value: &str) -> String {
    format!("'{}'", value.replace('\'', "'\\''"))
}

/// Between single quotes fish knows `\'` and `\\`.
fn fish(value: &str) -> String {
    format!("'{}'", value.replace('\\', "\\\\").replace('\'', "\\'"))
}

#[cfg(test)]
mod tests {
    use pto_context::Context;
    use pto_process::Invocation;

    use super::*;

    fn activation(pairs: &[(&str, &str)]) -> Activation {
        Activation { variables: pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect() }
    }

    #[test]
    fn each_shell_has_its_language() {
        let given = activation(&[("A", "it's \\ $x"), ("PATH", "/a b:/c")]);
        assert_eq!(given.script(Shell::Bash), "export A='it'\\''s \\ $x'\nexport PATH='/a b:/c'\n");
        assert_eq!(given.script(Shell::Zsh), given.script(Shell::Bash));
        assert_eq!(given.script(Shell::Fish), "set -gx A 'it\\'s \\\\ $x'\nset -gx --path PATH '/a b' '/c'\n");
    }

    #[test]
    fn bash_reads_back_what_was_written() {
        let value = "a'b\"c $d `e` \\ \n f";
        let script = activation(&[("A", value)]).script(Shell::Bash) + "printf %s \"$A\"";
        let cx = Context::fake("/", [("PATH", "/usr/bin:/bin")]);
        let output = Invocation::new("bash").args(["--noprofile", "--norc", "-euc", &script]).run(&cx).unwrap();
        assert_eq!(output.stdout.text(), value);
    }
}
