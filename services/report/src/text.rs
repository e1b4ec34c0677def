//! Tables that fit their display: no number or word is cut, and columns without room are
//! hidden and named.

use std::{borrow::Cow, mem};

use arena_model::printable;
use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};
use console::measure_text_width;
use itertools::{Either, Itertools};

use crate::units;

/// Only a rule below the header, so that rows can be filtered with grep.
const STYLE: TableStyle =
    TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));
/// Width of the padding of a cell and the separator.
const PADDING: usize = 3;

/// A column: its head, its cells, and its priority for hiding if the table is too wide; 0
/// is never hidden.
pub struct Column {
    /// Its heading.
    pub head: String,
    /// Its cells, one for each row.
    pub cells: Vec<String>,
    /// Its priority for hiding: the greatest number is hidden first; 0 is never hidden.
    pub spare: usize,
}

impl Column {
    /// A column that is never hidden.
    pub fn new(head: impl Into<String>, cells: impl IntoIterator<Item = String>) -> Self {
        Self {
            head: head.into(),
            cells: cells.into_iter().collect(),
            spare: 0,
        }
    }

    /// The columns of a table of cells: numbers and names of the rows, then each column of cells.
    pub(crate) fn numbered(
        head: &str,
        names: &[&str],
        heads: impl IntoIterator<Item = String>,
        cells: &[Vec<String>],
    ) -> Vec<Self> {
        let numbers = (1..=names.len()).map(|number| number.to_string());
        let names = names.iter().map(|&name| name.to_owned());
        let heads = heads.into_iter().enumerate();
        let columns =
            heads.map(|(place, head)| Self::new(head, cells.iter().map(|row| row[place].clone())));
        let first = [Self::new("#", numbers), Self::new(head, names)];
        first.into_iter().chain(columns).collect()
    }

    fn texts(&self) -> impl Iterator<Item = &String> {
        self.cells.iter().chain([&self.head])
    }

    /// True if all cells are numbers, which are right-aligned and never wrapped.
    fn is_numeric(&self) -> bool {
        let mut chars = self.cells.iter().flat_map(|cell| cell.chars());
        chars.all(|c| c.is_ascii_digit() || " .,-+%±µmsn–—·[]".contains(c))
    }

    /// Width of the longest text.
    fn width(&self) -> usize {
        let lines = self.texts().flat_map(|text| text.lines());
        lines.map(measure_text_width).max().unwrap_or_default()
    }

    /// Minimum width if the text wraps between words.
    fn width_min(&self) -> usize {
        if self.is_numeric() {
            return self.width();
        }
        let words = self.texts().flat_map(|text| text.split_whitespace());
        words.map(measure_text_width).max().unwrap_or_default()
    }
}

/// Renders a table within `width`, if it is set. Text wraps first, then optional columns
/// are hidden. Also returns the heads of the hidden columns.
pub fn fitted(mut columns: Vec<Column>, width: Option<usize>) -> (String, Vec<String>) {
    for cell in columns.iter_mut().flat_map(|column| &mut column.cells) {
        if let Cow::Owned(shown) = printable(cell) {
            *cell = shown;
        }
    }
    let Some(width) = width else {
        return (draw(&columns, None), Vec::new());
    };
    let sum = |widths: &mut dyn Iterator<Item = usize>| {
        let all: usize = widths.map(|width| PADDING + width).sum();
        all.saturating_sub(1)
    };
    let least: Vec<usize> = columns.iter().map(Column::width_min).collect();
    // Hide the least important column first, then restore each hidden column that still
    // fits.
    let mut order: Vec<usize> = (0..columns.len()).collect();
    order.sort_by_key(|&place| columns[place].spare);
    let mut kept: Vec<usize> = Vec::new();
    for place in order {
        kept.push(place);
        let with = sum(&mut kept.iter().map(|&place| least[place]));
        if columns[place].spare > 0 && with > width {
            kept.pop();
        }
    }
    let all = columns.into_iter().enumerate();
    let (columns, left_out): (Vec<Column>, Vec<String>) =
        all.partition_map(|(place, column)| match kept.contains(&place) {
            true => Either::Left(column),
            false => Either::Right(column.head),
        });
    let mut widths: Vec<usize> = columns.iter().map(Column::width).collect();
    let least: Vec<usize> = columns.iter().map(Column::width_min).collect();
    while sum(&mut widths.iter().copied()) > width {
        let wider = widths.iter_mut().zip(&least);
        let wider = wider.filter(|(width, least)| **width > **least);
        let Some((widest, _)) = wider.max_by_key(|(width, _)| **width) else {
            break;
        };
        *widest -= 1;
    }
    (draw(&columns, Some(&widths)), left_out)
}

/// Renders all columns; wraps text that is wider than `widths`.
fn draw(columns: &[Column], widths: Option<&[usize]>) -> String {
    let cell = |place: usize, text: &str| match widths {
        Some(widths) if !columns[place].is_numeric() => wrapped(text, widths[place], ""),
        _ => text.to_owned(),
    };
    let mut table = Table::new();
    let heads = columns.iter().enumerate();
    table
        .load_style(STYLE)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(heads.map(|(place, column)| cell(place, &column.head)));
    let rows = columns.first().map_or(0, |column| column.cells.len());
    for row in 0..rows {
        let cells = columns.iter().enumerate();
        table.add_row(cells.map(|(place, column)| cell(place, &column.cells[row])));
    }
    for (place, column) in columns.iter().enumerate() {
        if let Some(drawn) = table.column_mut(place).filter(|_| column.is_numeric()) {
            drawn.set_cell_alignment(CellAlignment::Right);
        }
    }
    format!("{table}\n")
}

/// Wraps text at `width` between words; an interval counts as one word. Continuation lines
/// are indented.
pub fn wrapped(text: &str, width: usize, indent: &str) -> String {
    let mut lines = Vec::new();
    for whole in text.split('\n') {
        if measure_text_width(whole) <= width {
            lines.push(whole.to_owned());
            continue;
        }
        // An indented line continues at its indent.
        let lead = &whole[..whole.len() - whole.trim_start().len()];
        let mut line = lead.to_owned();
        for word in units::unbroken(whole).split_ascii_whitespace() {
            let is_empty = line.len() == lead.len();
            if !is_empty && measure_text_width(&line) + 1 + measure_text_width(word) > width {
                lines.push(mem::replace(&mut line, format!("{lead}{indent}{word}")));
            } else {
                line += if is_empty { "" } else { " " };
                line += word;
            }
        }
        lines.push(line);
    }
    lines.join("\n").replace(units::HELD, " ")
}

/// A line of comma-separated values, as [`csv_line_raw`]. A cell that a spreadsheet would
/// calculate begins with an apostrophe, which makes it text; numbers stay.
#[must_use]
pub fn csv_line(cells: impl IntoIterator<Item: AsRef<str>>) -> String {
    const FORMULA: [char; 10] = ['=', '+', '-', '@', '\t', '\n', '＝', '＋', '－', '＠'];
    csv_line_raw(cells.into_iter().map(|cell| match cell.as_ref() {
        cell if cell.starts_with(FORMULA) && cell.parse::<f64>().is_err() => format!("'{cell}"),
        cell => cell.to_owned(),
    }))
}

/// A line of comma-separated values, quoted where needed (RFC 4180). Hidden characters become
/// escapes.
#[must_use]
pub fn csv_line_raw(cells: impl IntoIterator<Item: AsRef<str>>) -> String {
    let cells = cells
        .into_iter()
        .map(|cell| match printable(cell.as_ref()) {
            cell if !cell.contains([',', '"', '\n']) => cell.into_owned(),
            cell => format!("\"{}\"", cell.replace('"', "\"\"")),
        });
    cells.format(",").to_string() + "\n"
}

/// [`csv_line_raw`] or [`csv_line`].
pub(crate) fn csv(cells: impl IntoIterator<Item: AsRef<str>>, raw: bool) -> String {
    match raw {
        true => csv_line_raw(cells),
        false => csv_line(cells),
    }
}

/// Lines below a table, wrapped between words if they are longer than `width`.
#[must_use]
pub fn remark(text: &str, width: Option<usize>) -> String {
    let text = match width {
        Some(width) => wrapped(text, width, "  "),
        None => text.to_owned(),
    };
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(head: &str, spare: usize, cells: &[&str]) -> Column {
        Column {
            head: head.to_owned(),
            cells: cells.iter().map(|cell| (*cell).to_owned()).collect(),
            spare,
        }
    }

    fn table() -> Vec<Column> {
        vec![
            column("agent", 0, &["one", "two-with-a-name"]),
            column(
                "score [95%]",
                0,
                &["51.2% [48.0, 54.4]", "48.8% [45.6, 52.0]"],
            ),
            column("1st/2nd/3rd", 3, &["2,492/180/1,324", "248/94/45"]),
            column("came", 0, &["no fault in all games", "12 faults"]),
            column("plies", 4, &["1,012.5", "–"]),
            column("move p99", 5, &["1.5 µs", "12.3 ms"]),
        ]
    }

    #[test]
    fn cells_are_wrapped_not_cut() {
        for width in [50, 60, 80, 100, 120] {
            let (text, left_out) = fitted(table(), Some(width));
            assert!(
                text.lines().all(|line| measure_text_width(line) <= width),
                "{width}: {text}"
            );
            for column in table() {
                let shown = !left_out.contains(&column.head);
                let whole = column.is_numeric();
                for cell in column.texts() {
                    if whole {
                        assert_eq!(text.contains(cell), shown, "{width}: {cell}\n{text}");
                    }
                    for word in cell.split(' ').filter(|_| shown) {
                        assert!(text.contains(word), "{width}: {word}\n{text}");
                    }
                }
            }
        }
        let left_out = |width| fitted(table(), Some(width)).1;
        assert_eq!(left_out(120), [""; 0]);
        assert_eq!(left_out(80), ["move p99"]);
        assert_eq!(left_out(60), ["1st/2nd/3rd", "move p99"]);
    }

    #[test]
    fn hidden_characters_in_cells_are_shown() {
        let columns = vec![column("agent", 0, &["a\u{1b}[2J"]), column("n", 0, &["1"])];
        let (text, _) = fitted(columns, None);
        assert!(text.contains("a\\x1b[2J "), "{text}");
    }

    #[test]
    fn formulas_in_csv_are_text() {
        let cells = [
            "=1+1", "@a", "-x,\"y\"", "\ta", "\r=1", "-1.5e3", "+2", "a=b", "",
        ];
        let line = "'=1+1,'@a,\"'-x,\"\"y\"\"\",'\ta,\\x0d=1,-1.5e3,+2,a=b,\n";
        assert_eq!(csv_line(cells), line);
        assert!(csv_line_raw(cells).starts_with("=1+1,@a,"));
    }

    #[test]
    fn required_columns_stay() {
        let (text, left_out) = fitted(table(), Some(10));
        assert_eq!(left_out.len(), 3);
        assert!(text.contains("51.2% [48.0, 54.4]"), "{text}");
    }

    #[test]
    fn notes_wrap_between_words() {
        let text = "note: a word\n  averyveryverylongword is left whole, as it is";
        let expected =
            "note: a word\n  averyveryverylongword\n    is left\n    whole, as\n    it is";
        assert_eq!(wrapped(text, 14, "  "), expected);
        assert_eq!(wrapped(text, 80, "  "), text);
    }

    #[test]
    fn intervals_stay_on_one_line() {
        // Two columns per character, and a combining mark without width.
        let wide = "日本 日本 e\u{301}t e\u{301}t";
        assert_eq!(wrapped(wide, 9, ""), "日本 日本\ne\u{301}t e\u{301}t");
        for width in 12..40 {
            let text = wrapped("it scores 51.2% [48.0, 54.4], which is so", width, "  ");
            assert!(text.contains("[48.0, 54.4],"), "{width}: {text}");
            assert!(
                text.lines()
                    .all(|line| measure_text_width(line) <= width.max(15)),
                "{text}"
            );
        }
    }
}
