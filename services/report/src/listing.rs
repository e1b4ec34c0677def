//! Rows of a list, as a table and as data.

use arena_model::printable_line;

use crate::text::{Column, csv_line, fitted, remark};

/// Rows with a header, and the same rows as data.
pub struct Listing<T> {
    /// The heads of the columns.
    pub header: Vec<&'static str>,
    /// The cells of each row, and the row as data.
    pub rows: Vec<(Vec<String>, T)>,
    /// The message if there are no rows.
    pub empty: &'static str,
}

impl<T> Listing<T> {
    /// The rows as comma-separated values, with a header line.
    #[must_use]
    pub fn csv(&self) -> String {
        let mut text = csv_line(&self.header);
        for cells in self.lines() {
            text += &csv_line(cells);
        }
        text
    }

    /// The rows as a table of at most this width, if there is one. Names the columns without room.
    #[must_use]
    pub fn table(&self, width: Option<usize>) -> String {
        if self.rows.is_empty() {
            return format!("{}\n", self.empty);
        }
        let mut columns = columns(&self.header, &self.lines());
        // The name of a row comes first, the least important column last.
        for (place, column) in columns.iter_mut().enumerate() {
            column.spare = place;
        }
        let (mut text, left_out) = fitted(columns, width);
        if !left_out.is_empty() {
            let left_out = left_out.join(", ");
            let hidden = format!("hidden columns: {left_out} (use --output json)");
            text += &remark(&hidden, width);
        }
        text
    }

    /// The cells of each row, whose texts cannot look like other rows.
    fn lines(&self) -> Vec<Vec<String>> {
        let line = |cells: &Vec<String>| {
            let cells = cells.iter().map(|cell| printable_line(cell).into_owned());
            cells.collect()
        };
        self.rows.iter().map(|(cells, _)| line(cells)).collect()
    }
}

/// The columns of rows, none of which may be hidden.
pub fn columns<'a>(
    header: &[&str],
    rows: impl IntoIterator<Item = &'a Vec<String>>,
) -> Vec<Column> {
    let rows: Vec<&Vec<String>> = rows.into_iter().collect();
    let column = |(place, head): (usize, &&str)| Column {
        head: (*head).to_owned(),
        cells: { rows.iter() }
            .map(|row| row.get(place).cloned().unwrap_or_default())
            .collect(),
        spare: 0,
    };
    header.iter().enumerate().map(column).collect()
}

/// Formats a value; `–` if it is unknown.
#[must_use]
pub fn or_dash(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_feed_in_a_cell_makes_no_row() {
        let listing = Listing {
            header: vec!["agent", "version"],
            rows: vec![(vec!["mine".to_owned(), "1.0\nyours  2.0".to_owned()], ())],
            empty: "none",
        };
        let lines = listing.lines();
        assert_eq!(lines, [["mine", "1.0\\x0ayours  2.0"]]);
    }
}
