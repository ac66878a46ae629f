//! Where the sources are cloned from that PyPTO is built of.

/// PTO-ISA's own repository, and a mirror for networks that do not reach it.
const PTO_ISA: &str = include_str!("../data/pto-isa-sources.tsv");

/// A repository, and what is asked where that does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sources {
    /// Its own address.
    pub repository: &'static str,
    /// That of its mirror.
    pub mirror: &'static str,
}

/// Where PTO-ISA is cloned from.
pub fn pto_isa_sources() -> Sources {
    parse(PTO_ISA).expect("the built-in table names the repository and the mirror of PTO-ISA")
}

/// Reads a table of `role` and `url`.
fn parse(table: &'static str) -> Option<Sources> {
    let of = |role: &str| table.lines().find_map(|line| line.strip_prefix(role)?.strip_prefix('\t'));
    Some(Sources { repository: of("repository")?, mirror: of("mirror")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_are_addresses_of_git() {
        let Sources { repository, mirror } = pto_isa_sources();
        for url in [repository, mirror] {
            assert!(url.starts_with("https://") && url.ends_with("/pto-isa.git"), "{url}");
        }
        assert_eq!(parse("role\turl\nrepository\tx\n"), None);
    }
}
