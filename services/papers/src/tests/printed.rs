//! The figures that the papers print, read independently of the data files.

use std::collections::BTreeMap;

use super::tables;

/// The figures of each row, read from the papers a second time, without the data files.
fn printed() -> BTreeMap<(&'static str, &'static str), Vec<Printed>> {
    include_str!("../../data/printed.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let parts: Vec<&str> = line.split(" | ").collect();
            let figures = parts[2].split(' ');
            let figures = figures.map(Printed::new);
            ((parts[0], parts[1]), figures.collect())
        })
        .collect()
}

/// A figure that a paper prints, or that follows from printed ones.
struct Printed {
    value: f64,
    derived: bool,
}

impl Printed {
    /// Parses a number, or `1+2:3`: a sum divided by another number.
    fn new(text: &str) -> Self {
        let number = |text: &str| text.parse::<f64>().expect("a figure");
        let sum = |text: &str| text.split('+').map(number).sum::<f64>();
        match text.split_once(':') {
            Some((sums, over)) => Self {
                value: sum(sums) / number(over),
                derived: true,
            },
            None => Self {
                value: number(text),
                derived: false,
            },
        }
    }

    /// Whether the figure agrees. Derived figures have more digits than a data file.
    fn is(&self, figure: f64) -> bool {
        self.value == figure || self.derived && (self.value - figure).abs() < 0.005
    }
}

#[test]
fn published_figures_equal_the_print() {
    let mut printed = printed();
    for table in tables() {
        let mut rows: Vec<(&str, Vec<f64>)> = Vec::new();
        for cell in &table.cells {
            let Some(published) = cell.fields.published else {
                continue;
            };
            match rows.last_mut().filter(|(name, _)| *name == cell.row) {
                Some((_, figures)) => figures.push(published),
                None => rows.push((&cell.row, vec![published])),
            }
        }
        for (row, figures) in rows {
            let found = printed.remove(&(table.id, row));
            let found = found.unwrap_or_default();
            let same = found.len() == figures.len() && { found.iter().zip(&figures) }
                .all(|(printed, &figure)| printed.is(figure));
            assert!(same, "{}, {row}: {figures:?} is not printed", table.id);
        }
    }
    assert!(printed.is_empty(), "in no table: {:?}", printed.keys());
}
