//! Which value stands where: the header rows say so, and the shape of a row does where they are missing.

/// A value of a device row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Npu,
    Name,
    Health,
    Power,
    Temperature,
    Hugepages,
    Chip,
    /// The number in `/dev/davinciN`: `Phy-ID` on A3, `Device` on 310P.
    Index,
    BusId,
    Utilisation,
    Memory,
    Hbm,
    /// A title this crate does not know; its value is one word.
    Other,
}

impl Column {
    pub(super) const fn is_pair(self) -> bool {
        matches!(self, Self::Hugepages | Self::Memory | Self::Hbm)
    }
}

/// The columns of each cell of a row.
pub(super) type Columns = Vec<Vec<Column>>;

/// The columns that a header row announces.
pub(super) fn of_header(cells: &[&str]) -> Columns {
    cells.iter().map(|cell| titles(cell)).collect()
}

/// Titles are one word each, except `NPU ID` and `NPU Util(%)`.
fn titles(cell: &str) -> Vec<Column> {
    let mut words = cell.split_whitespace().map(str::to_ascii_lowercase).peekable();
    let mut columns = Vec::new();
    while let Some(word) = words.next() {
        let column = match word.as_str() {
            "npu" if words.next_if(|next| next.starts_with("util")).is_some() => Column::Utilisation,
            "npu" => {
                words.next_if_eq("id");
                Column::Npu
            }
            "name" => Column::Name,
            "chip" => Column::Chip,
            "phy-id" | "device" => Column::Index,
            "bus-id" => Column::BusId,
            other => by_beginning(other),
        };
        columns.push(column);
    }
    columns
}

/// Titles with a unit behind them.
fn by_beginning(title: &str) -> Column {
    const BEGINNINGS: [(&str, Column); 7] = [
        ("health", Column::Health),
        ("power", Column::Power),
        ("temp", Column::Temperature),
        ("hugepages", Column::Hugepages),
        ("aicore", Column::Utilisation),
        ("memory", Column::Memory),
        ("hbm", Column::Hbm),
    ];
    BEGINNINGS
        .into_iter()
        .find_map(|(beginning, column)| title.starts_with(beginning).then_some(column))
        .unwrap_or(Column::Other)
}

/// The columns of a device's first row, by its number of cells: id and name share a cell, or (950) have one each.
pub(super) fn of_first_row(cells: usize) -> Columns {
    let metrics = vec![Column::Power, Column::Temperature, Column::Hugepages];
    match cells {
        4 => vec![vec![Column::Npu], vec![Column::Name], vec![Column::Health], metrics],
        _ => vec![vec![Column::Npu, Column::Name], vec![Column::Health], metrics],
    }
}

/// The columns of a device's second row, by its cells. Only 310P has no HBM, and then one `used / total`; a second number
/// beside the chip's is the index.
pub(super) fn of_second_row(cells: &[&str]) -> Columns {
    let pairs = cells.last().map_or(0, |cell| cell.matches('/').count());
    let mut metrics = vec![Column::Utilisation, Column::Memory];
    if pairs > 1 {
        metrics.push(Column::Hbm);
    }
    match cells.len() {
        4 => vec![vec![], vec![], vec![Column::BusId], metrics],
        _ => {
            let mut ids = vec![Column::Chip, Column::Index];
            ids.truncate(cells.first().map_or(0, |cell| cell.split_whitespace().count()).max(1));
            vec![ids, vec![Column::BusId], metrics]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_name_their_columns() {
        use Column::*;
        let first = ["NPU   Name", "Health", "Power(W)    Temp(C)           Hugepages-Usage(page)"];
        assert_eq!(of_header(&first), [vec![Npu, Name], vec![Health], vec![Power, Temperature, Hugepages]]);
        let second = ["Chip  Phy-ID", "Bus-Id", "AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)"];
        assert_eq!(of_header(&second), [vec![Chip, Index], vec![BusId], vec![Utilisation, Memory, Hbm]]);
        let wide = ["NPU ID", "Name", "Health", "Power(W) Fan(%) Temp(C)"];
        assert_eq!(of_header(&wide), [vec![Npu], vec![Name], vec![Health], vec![Power, Other, Temperature]]);
        let util = ["", "", "Bus-Id", "NPU Util(%) Memory-Usage(MB)  HBM-Usage(MB)"];
        assert_eq!(of_header(&util), [vec![], vec![], vec![BusId], vec![Utilisation, Memory, Hbm]]);
    }
}
