//! `npu-smi info -m`: which chip has which number.

use serde::Serialize;

use super::cell::{Reader, known};
use super::{Failure, failure};
use crate::Note;
use crate::entries::numbered;

/// Chips on a card that are no NPUs: its controller, and the video chip of old cards.
const NO_NPU: [&str; 2] = ["mcu", "3559"];

/// The output of `npu-smi info -m`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct NpuMap {
    /// NPU chips, in the order of the text; rows of controllers are dropped.
    pub chips: Vec<MappedChip>,
    /// Lines in which something failed.
    pub failures: Vec<Failure>,
    /// What was not understood.
    pub notes: Vec<Note>,
}

/// One chip of the map.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MappedChip {
    /// The card's id.
    pub npu: u32,
    /// The slot, which 950 prints.
    pub slot: Option<u32>,
    /// The chip on the card.
    pub chip: Option<u32>,
    /// The number ACL counts by, from 0 without gaps; not on 950.
    pub logic_id: Option<u32>,
    /// The N of `/dev/davinciN`, on A3 and 950.
    pub phy_id: Option<u32>,
    /// `Ascend 910B3`, `Ascend910`: may be two words.
    pub name: String,
}

impl MappedChip {
    /// The N of `/dev/davinciN`: the `Chip Phy-ID`, or the card's id where there is no such column.
    pub fn index(&self) -> Option<u32> {
        self.phy_id.or_else(|| (self.chip == Some(0)).then_some(self.npu))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Npu,
    Slot,
    Chip,
    Logic,
    Phy,
    Name,
    Other,
}

/// Reads the output of `npu-smi info -m`, whose columns differ with the generation and are found by their titles.
pub fn parse_map(text: &str) -> NpuMap {
    let mut map = NpuMap::default();
    let mut header: Option<Vec<Column>> = None;
    for (line, text) in numbered(text).filter(|(_, text)| !text.trim().is_empty()) {
        if let Some(failure) = failure::failure(line, text) {
            map.failures.push(failure);
        } else if let Some(columns) = titles(text) {
            header = Some(columns);
        } else {
            map.row(line, text, header.as_deref());
        }
    }
    map
}

impl NpuMap {
    fn row(&mut self, line: usize, text: &str, header: Option<&[Column]>) {
        let Some(columns) = header else {
            return self.notes.push(Note::new(line, text, "before the header"));
        };
        let mut notes = Vec::new();
        match chip(columns, text, &mut Reader { line, notes: &mut notes }) {
            Some(chip) if !is_controller(&chip.name) => self.chips.push(chip),
            Some(_) => {}
            None => return self.notes.push(Note::new(line, text, "not a row of the map")),
        }
        self.notes.append(&mut notes);
    }
}

fn is_controller(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    NO_NPU.iter().any(|other| name.contains(other))
}

/// The columns, if the line is the header. A title is one to three words, of which the last is `ID`, `Phy-ID` or `Name`.
fn titles(text: &str) -> Option<Vec<Column>> {
    let folded = text.to_ascii_lowercase();
    let mut columns = Vec::new();
    let mut title = String::new();
    for word in folded.split_whitespace() {
        title = if title.is_empty() { word.to_owned() } else { format!("{title} {word}") };
        if word.ends_with("id") || word.ends_with("name") {
            columns.push(column(&title));
            title.clear();
        }
    }
    let has = |column| columns.contains(&column);
    (has(Column::Npu) && has(Column::Name)).then_some(columns)
}

fn column(title: &str) -> Column {
    match title {
        "npu id" => Column::Npu,
        "slot id" => Column::Slot,
        "chip id" => Column::Chip,
        "chip logic id" => Column::Logic,
        "chip phy-id" => Column::Phy,
        "chip name" => Column::Name,
        _ => Column::Other,
    }
}

/// All columns are one word except the name, which takes what the others leave.
fn chip(columns: &[Column], text: &str, reader: &mut Reader<'_>) -> Option<MappedChip> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let name_at = columns.iter().position(|&column| column == Column::Name)?;
    let behind_name = columns.len() - name_at - 1;
    let name_end = words.len().checked_sub(behind_name).filter(|&end| end > name_at)?;
    let value = |wanted: Column| {
        let at = columns.iter().position(|&column| column == wanted)?;
        let at = if at < name_at { at } else { name_end + at - name_at - 1 };
        words.get(at).copied()
    };
    let npu = value(Column::Npu)?.parse().ok()?;
    let mut id = |column| value(column).and_then(known).and_then(|text| reader.number(text));
    Some(MappedChip {
        npu,
        slot: id(Column::Slot),
        chip: id(Column::Chip),
        logic_id: id(Column::Logic),
        phy_id: id(Column::Phy),
        name: words[name_at..name_end].join(" "),
    })
}
