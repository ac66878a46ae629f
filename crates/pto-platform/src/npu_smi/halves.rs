//! A device takes two rows. Which of them a row is, is told by what is in it, so that a lost row costs one device at most.

use super::cell::{Cursor, Reader, is_unknown, known};
use super::columns::{self, Column, Columns};
use super::{Device, Health};

/// One of the two rows of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Half {
    /// Id, name, health, power, temperature.
    First,
    /// Chip, bus, utilisation, memory.
    Second,
}

impl Half {
    /// Which half a row is; `None` for a row of something else. `expects_second`: a first half stands right above.
    pub(super) fn of(cells: &[&str], expects_second: bool) -> Option<Self> {
        let [first, .., state, metrics] = cells else { return None };
        if !(3..=4).contains(&cells.len()) {
            return None;
        }
        let own_name_cell = cells.len() == 4;
        let numbers = metrics.split_whitespace().count();
        if own_name_cell && first.is_empty() || looks_like_bus(state) {
            return Some(Self::Second);
        }
        let begins_with_id = Cursor(first).word().parse::<u32>().is_ok();
        if Health::of(state).is_known_word() {
            return begins_with_id.then_some(Self::First);
        }
        // Neither a bus nor a health that is known: `NA`, `-`, or a word of a future driver.
        if is_unknown(state) && expects_second && begins_with_id {
            return Some(Self::Second);
        }
        let named = if own_name_cell { cells[1].parse::<u64>().is_err() } else { first.contains(char::is_whitespace) };
        let word = state.starts_with(|c: char| c.is_alphabetic() || c == '-');
        (begins_with_id && named && numbers > 1 && word).then_some(Self::First)
    }
}

/// `0000:C1:00.0`, `0000:xx:00.0`.
fn looks_like_bus(text: &str) -> bool {
    text.contains(':') && !text.contains(char::is_whitespace)
}

/// The header rows seen so far in this table.
#[derive(Debug, Default)]
pub(super) struct Headers {
    first: Option<Columns>,
    second: Option<Columns>,
}

impl Headers {
    /// Takes the row in, if it is one of the two header rows of the device table.
    pub(super) fn take(&mut self, cells: &[&str]) -> bool {
        let columns = columns::of_header(cells);
        let has = |column| columns.iter().any(|cell| cell.contains(&column));
        if has(Column::Health) && has(Column::Npu) {
            self.first = Some(columns);
        } else if has(Column::BusId) && has(Column::Memory) {
            self.second = Some(columns);
        } else {
            return false;
        }
        true
    }

    /// Whether the device's index stands in the second row, so that without it the index is unknown.
    fn index_in_second_row(&self, cells: usize) -> bool {
        match &self.second {
            Some(columns) => columns.iter().flatten().any(|column| matches!(column, Column::Chip | Column::Index)),
            None => cells < 4,
        }
    }

    /// The device of a first half.
    pub(super) fn first(&self, cells: &[&str], reader: &mut Reader<'_>) -> Option<Device> {
        let columns = matching(self.first.as_ref(), cells).unwrap_or_else(|| columns::of_first_row(cells.len()));
        let values = values(&columns, cells, reader);
        let npu = values.iter().find(|(column, _)| *column == Column::Npu)?.1.parse().ok()?;
        let mut device = Device::new(reader.line, npu);
        device.index = (!self.index_in_second_row(cells.len())).then_some(npu);
        fill(&mut device, &values, reader);
        Some(device)
    }

    /// Adds a second half to its device.
    pub(super) fn second(&self, device: &mut Device, cells: &[&str], reader: &mut Reader<'_>) {
        let columns = matching(self.second.as_ref(), cells).unwrap_or_else(|| columns::of_second_row(cells));
        let values = values(&columns, cells, reader);
        fill(device, &values, reader);
        // Without a column of its own the index is the card's, as long as the card has one chip.
        if device.index.is_none() && !columns.iter().flatten().any(|&column| column == Column::Index) {
            device.index = (device.chip == Some(0)).then_some(device.npu);
        }
    }
}

/// The header's columns, if the row has as many cells.
fn matching(header: Option<&Columns>, cells: &[&str]) -> Option<Columns> {
    header.filter(|columns| columns.len() == cells.len()).cloned()
}

fn values<'a>(columns: &Columns, cells: &[&'a str], reader: &mut Reader<'_>) -> Vec<(Column, &'a str)> {
    let mut values = Vec::new();
    for (columns, &cell) in columns.iter().zip(cells) {
        let mut cursor = Cursor(cell);
        for (at, &column) in columns.iter().enumerate() {
            let value = match column {
                _ if column.is_pair() => cursor.pair(),
                Column::Name | Column::Health if at + 1 == columns.len() => cursor.rest(),
                _ => cursor.word(),
            };
            values.push((column, value));
        }
        let surplus = cursor.rest();
        if !surplus.is_empty() && !columns.is_empty() {
            reader.odd(surplus, "a value without a column");
        }
    }
    values
}

fn fill(device: &mut Device, values: &[(Column, &str)], reader: &mut Reader<'_>) {
    for &(column, text) in values {
        match column {
            Column::Npu | Column::Other => {}
            Column::Name => text.clone_into(&mut device.name),
            Column::Health => device.health = Health::of(text),
            Column::Power => device.power_w = reader.measure(text),
            Column::Temperature => device.temperature_c = reader.measure(text),
            Column::Hugepages => device.hugepages = reader.usage(text),
            Column::Chip => device.chip = reader.number(text),
            Column::Index => device.index = reader.number(text),
            Column::BusId => device.bus_id = known(text).map(str::to_owned),
            Column::Utilisation => device.utilisation = reader.number(text),
            Column::Memory => device.memory = reader.usage(text),
            Column::Hbm => device.hbm = reader.usage(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_told_by_their_content() {
        let first =
            [["4     910B", "OK", "71.5  41  0 / 0"], ["0  310", "OK", "12.8 45 0 / 970"], ["3 910B3", "Dazed", "9 1"]];
        for cells in first {
            assert_eq!(Half::of(&cells, false), Some(Half::First), "{cells:?}");
        }
        assert_eq!(Half::of(&["0", "Ascend950PR", "NA", "187.1 46"], false), Some(Half::First));
        let second = [["0", "0000:C2:00.0", "0 1424 / 13553"], ["0 0", "0000:xx:00.0", "0"]];
        for cells in second {
            assert_eq!(Half::of(&cells, false), Some(Half::Second), "{cells:?}");
        }
        assert_eq!(Half::of(&["", "", "NA", "0 0 / 0"], false), Some(Half::Second));
        assert_eq!(Half::of(&["0", "NA", "0 1424 / 13553"], true), Some(Half::Second));
    }

    #[test]
    fn other_rows_are_no_halves() {
        let rows: [&[&str]; 6] = [
            &["No running processes found in NPU 1"],
            &["5 0", "2290156", "VLLM", "56630"],
            &["0", "846718", "", "332"],
            &["0", "846718", "python", "332"],
            &["a", "b", "c"],
            &["1", "2", "3", "4", "5"],
        ];
        for cells in rows {
            assert_eq!(Half::of(cells, false), None, "{cells:?}");
        }
    }
}
