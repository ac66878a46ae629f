//! `npu-smi info -l`: the cards there are.

use serde::Serialize;

use super::Failure;
use super::fields::Fields;
use crate::Note;

/// The output of `npu-smi info -l`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CardList {
    /// `Total Count`.
    pub total: Option<u32>,
    /// The cards that are listed.
    pub cards: Vec<Card>,
    /// Lines in which something failed.
    pub failures: Vec<Failure>,
    /// What was not understood, or is odd.
    pub notes: Vec<Note>,
}

/// One card of the list. Its serial number is not kept: nothing here needs it, and it is personal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Card {
    /// The card's id.
    pub npu: u32,
    /// `Chip Count`; 950 does not print it.
    pub chips: Option<u32>,
    /// `Product Name`, which 950 prints.
    pub product: Option<String>,
}

/// Reads the output of `npu-smi info -l`.
pub fn parse_list(text: &str) -> CardList {
    let Fields { blocks, failures, mut notes } = Fields::read(text);
    let total: Option<u32> = blocks.iter().find_map(|block| block.number(&["Total Count"], &mut notes));
    let cards: Vec<Card> = blocks
        .iter()
        .filter(|block| block.has(&["NPU ID"]))
        .filter_map(|block| {
            let chips = block.number(&["Chip Count"], &mut notes);
            Some(Card { npu: block.npu()?, chips, product: block.owned(&["Product Name"]) })
        })
        .collect();
    if let Some(total) = total.filter(|&total| total as usize != cards.len()) {
        notes.push(Note::whole(format!("`Total Count` is {total}, and {} are listed", cards.len())));
    }
    CardList { total, cards, failures, notes }
}
