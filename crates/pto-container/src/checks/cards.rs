//! The cards of a container: whether the host has them, and whether another container has.

use pto_context::{Event, files};
use pto_docker::Docker;
use pto_platform::docker::Container;

use super::finding::{CheckId, Finding};
use super::subject::Subject;
use crate::configuration::Configuration;
use crate::error::Error;
use crate::series::Series;

impl Subject<'_> {
    pub(super) fn cards(&self) -> Option<Finding> {
        let missing = |card: &&u32| !files::exists(self.cx, format!("/dev/davinci{card}"));
        let missing: Vec<String> =
            self.access.cards.iter().filter(missing).map(|card| format!("/dev/davinci{card}")).collect();
        let there: Vec<String> = files::names(self.cx, "/dev").into_iter().filter(|name| is_card(name)).collect();
        (!missing.is_empty()).then(|| Finding {
            check: CheckId::Card,
            found: match there.is_empty() {
                true => "this host has no NPU: there is no `/dev/davinci*`".to_owned(),
                false => format!("there is no `{}`; this host has {}", missing.join("`, `"), there.join(", ")),
            },
            remedy: "`npu-smi info` lists the cards; a container without NPUs: `--device-access none` and no card"
                .to_owned(),
        })
    }

    pub(super) fn in_use(&self) -> Result<Option<Finding>, Error> {
        in_use(self.docker, self.name, &self.access.cards, |name, cards| {
            if self.series == Series::A3 {
                self.warn_of_pairs(name, cards);
            }
        })
    }

    /// Cards 2n and 2n + 1 of A3 are the two dies of one chip, which share one place for the AICPU's program.
    fn warn_of_pairs(&self, name: &str, cards: &[u32]) {
        for card in self.access.cards.iter().filter(|&&card| cards.contains(&(card ^ 1))) {
            let message = format!(
                "container `{name}` has card {}, which on A3 is the other die of card {card}'s chip: bringing both up at once has \
                 failed before; give whole chips where you can",
                card ^ 1
            );
            self.cx.emit(Event::Warning { message });
        }
    }
}

/// The finding if another running container has one of the cards. `other` gets each running container that has none of them, with
/// its own cards.
pub(crate) fn in_use(
    docker: &Docker,
    name: &str,
    cards: &[u32],
    mut other: impl FnMut(&str, &[u32]),
) -> Result<Option<Finding>, Error> {
    let running = docker.running_containers()?;
    let mut taken = Vec::new();
    for container in running.iter().filter(|container| container.name.as_deref() != Some(name)) {
        let (name, has) = (container.name.as_deref().unwrap_or("?"), cards_of(container));
        let both: Vec<String> = cards.iter().filter(|card| has.contains(card)).map(u32::to_string).collect();
        if both.is_empty() {
            other(name, &has);
        } else {
            taken.push(format!("`{name}` has card {}", both.join(", ")));
        }
    }
    Ok((!taken.is_empty()).then(|| Finding {
        check: CheckId::CardInUse,
        found: format!("the running container {}", taken.join(", ")),
        remedy: "stop it (`docker stop NAME`), or choose another card: with two containers on one card, both fail"
            .to_owned(),
    }))
}

/// The cards of a container. The ones that it recorded count first, since a privileged container sees all cards.
pub(crate) fn cards_of(container: &Container) -> Vec<u32> {
    let recorded = Configuration::of(container).and_then(|it| it.cards().map(str::to_owned));
    match recorded {
        Some(cards) => cards.split(',').filter_map(|card| card.parse().ok()).collect(),
        None => container.npus(),
    }
}

fn is_card(name: &str) -> bool {
    name.strip_prefix("davinci").is_some_and(|index| !index.is_empty() && index.chars().all(|c| c.is_ascii_digit()))
}
