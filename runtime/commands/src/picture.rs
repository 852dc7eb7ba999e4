//! `show`: a tensor as a picture of blocks, in the colours of the terminal or in shades.

use std::fmt::Write;

use debug::{Cells, Profile, Rectangle, Reduction, TensorView, ViewError};

use crate::output::Output;
use crate::session::{Performer, Problem};

/// The most rows of text.
const MOST_LINES: usize = 32;

/// The widest picture, in columns.
const MOST_COLUMNS: usize = 120;

/// Of so many elements, a hundredth may be outliers.
const MANY: usize = 1000;

/// How many lines the plot of a tensor with one axis has.
const PLOT_LINES: usize = 8;

type Colour = [u8; 3];

/// From the least to the greatest, for values of one sign.
const SEQUENTIAL: &[Colour] =
    &[[68, 1, 84], [62, 74, 137], [38, 130, 142], [53, 183, 121], [181, 222, 43], [253, 231, 37]];

/// For values around 0.
const DIVERGING: &[Colour] = &[
    [33, 102, 172],
    [67, 147, 195],
    [146, 197, 222],
    [247, 247, 247],
    [244, 165, 130],
    [214, 96, 77],
    [178, 24, 43],
];

const NAN: Colour = [255, 0, 255];
const POSITIVE_INFINITY: Colour = [0, 229, 255];
const NEGATIVE_INFINITY: Colour = [255, 196, 0];

/// From the least to the greatest, without colours.
const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];

/// The height of a bar in eighths.
const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

impl Performer<'_> {
    /// Prints a tensor as a picture.
    pub(crate) fn show_tensor(&mut self, expression: &str) -> Result<(), Problem> {
        let value = self.evaluated(expression)?;
        let tensor = value.children.as_ref().and_then(debug::Children::tensor);
        let tensor = tensor.ok_or_else(|| format!("{expression} is no tensor: {}", value.value))?;
        let slice = tensor.first_slice();
        let is_coloured = self.session.is_coloured;
        let others = format!("`show {expression}[…]`");
        Ok(draw(&mut self.out, (expression, &others), &tensor, &slice, is_coloured)?)
    }
}

/// Why a tensor is not drawn.
#[derive(Debug, thiserror::Error)]
pub enum NotDrawn {
    /// The slice is none of the tensor, or its elements cannot be read.
    #[error(transparent)]
    View(#[from] ViewError),
    /// The text is not taken.
    #[error(transparent)]
    Output(#[from] std::fmt::Error),
}

impl From<NotDrawn> for Problem {
    fn from(why: NotDrawn) -> Self {
        Self(why.to_string())
    }
}

/// A tensor as text for a terminal: what it is like, and the picture of a slice.
///
/// # Errors
/// The slice is none of the tensor, or leaves more than two axes.
pub fn tensor_picture(
    name: &str,
    tensor: &TensorView,
    slice: Option<&str>,
    width: usize,
    is_coloured: bool,
) -> Result<String, NotDrawn> {
    let first = tensor.first_slice();
    let mut out = Output::new(width);
    let slice = slice.unwrap_or(&first);
    draw(&mut out, (name, "`--slice=[…]`"), tensor, slice, is_coloured)?;
    Ok(out.text)
}

/// Draws a slice of a tensor that has a name, and a way to see other slices.
fn draw(
    out: &mut Output,
    (name, others): (&str, &str),
    tensor: &TensorView,
    slice: &str,
    is_coloured: bool,
) -> Result<(), NotDrawn> {
    out.is_coloured |= is_coloured;
    let shown = [name, others, slice].map(abi::shown);
    let [name, others, shown_slice] = shown.each_ref().map(|it| &**it);
    let (part, _) = tensor.sliced(slice)?;
    let (rows, columns) = part.plane()?;
    let profile = tensor.profile(0)?;
    out.put("type", tensor.type_name());
    out.put("mean", profile.mean.is_finite().then_some(profile.mean));
    out.put("deviation", profile.deviation.is_finite().then_some(profile.deviation));
    write_head(out, name, tensor, &profile)?;
    if tensor.shape().len() > 2 {
        writeln!(out, "{shown_slice} of it; {others} shows other parts")?;
    }
    let width = out.width.clamp(1, MOST_COLUMNS);
    let all = Rectangle { row: 0, column: 0, rows, columns };
    let scale = Scale::of(&profile);
    if rows == 1 && columns > 1 {
        let cells = part.cells(all, (1, width), Reduction::Extreme)?;
        return Ok(write_plot(out, &cells, &scale)?);
    }
    // Two pixels share a character, one above the other; without colours it has one shade.
    let most_rows = 2 * MOST_LINES;
    let height = (rows * width.min(columns) / columns.max(1)).clamp(1, most_rows.min(rows.max(1)));
    let width = (columns * height / rows.max(1)).clamp(1, width);
    let is_halved = !is_coloured && rows > MOST_LINES;
    let lines = if is_halved { height.div_ceil(2) } else { height };
    let cells = part.cells(all, (lines, width), Reduction::Mean)?;
    match is_coloured {
        true => write_colours(out, &cells, &scale)?,
        false => write_shades(out, &cells, &scale)?,
    }
    Ok(())
}

/// What the tensor is like as a whole.
fn write_head(
    out: &mut Output,
    expression: &str,
    tensor: &TensorView,
    profile: &Profile,
) -> std::fmt::Result {
    writeln!(out, "{expression}: {}", tensor.type_name())?;
    if let (Some(minimum), Some(maximum)) = (&profile.minimum, &profile.maximum) {
        write!(out, "min {}, max {}", minimum.text, maximum.text)?;
        write!(out, ", mean {}, std {}", short(profile.mean), short(profile.deviation))?;
    }
    let infinities = profile.positive_infinities + profile.negative_infinities;
    for (count, name) in [(profile.nans, "NaN"), (infinities, "inf")] {
        if count > 0 {
            write!(out, ", {count} {name}")?;
        }
    }
    writeln!(out)
}

/// A number in six digits.
fn short(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-4..1e6).contains(&size) {
        return format!("{value:.5e}");
    }
    let digits = if size == 0.0 { 0 } else { (5 - size.log10().floor() as i32).max(0) };
    let text = format!("{value:.*}", digits as usize);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// Which colour a value has.
struct Scale {
    low: f64,
    high: f64,
    colours: &'static [Colour],
}

impl Scale {
    /// Colours for the values of a tensor; of many, without the outer hundredths.
    fn of(profile: &Profile) -> Self {
        let ends = |low: f64, high: f64| (low < high).then_some((low, high));
        let quantiles = profile.quantiles.as_ref().filter(|_| profile.count >= MANY);
        let inner = quantiles.and_then(|all| ends(*all.first()?, *all.last()?));
        let outer = || {
            let (low, high) = (profile.minimum.as_ref()?, profile.maximum.as_ref()?);
            Some((low.value, high.value))
        };
        let (low, high) = inner.or_else(outer).unwrap_or((0.0, 1.0));
        if low < 0.0 && high > 0.0 {
            let far = high.max(-low);
            return Self { low: -far, high: far, colours: DIVERGING };
        }
        Self { low, high, colours: SEQUENTIAL }
    }

    /// The place of a value, from 0 to 1.
    fn place(&self, value: f64) -> f64 {
        let range = self.high - self.low;
        if range > 0.0 { ((value - self.low) / range).clamp(0.0, 1.0) } else { 0.5 }
    }

    fn colour(&self, value: f64) -> Colour {
        let place = self.place(value) * (self.colours.len() - 1) as f64;
        let below = (place as usize).min(self.colours.len() - 2);
        let (from, to) = (self.colours[below], self.colours[below + 1]);
        let part = place - below as f64;
        let mix = |index: usize| {
            let (from, to) = (f64::from(from[index]), f64::from(to[index]));
            (from + (to - from) * part).round() as u8
        };
        [mix(0), mix(1), mix(2)]
    }
}

/// The colour of what is no number in a cell.
fn mark_colour(mark: u8) -> Option<Colour> {
    match mark {
        0 => None,
        mark if mark & 1 != 0 => Some(NAN),
        mark if mark & 2 != 0 => Some(POSITIVE_INFINITY),
        _ => Some(NEGATIVE_INFINITY),
    }
}

fn write_colours(out: &mut Output, cells: &Cells, scale: &Scale) -> std::fmt::Result {
    let colour = |row: usize, column: usize| {
        let cell = row * cells.width + column;
        mark_colour(cells.marks[cell]).unwrap_or_else(|| scale.colour(cells.values[cell]))
    };
    for row in (0..cells.height).step_by(2) {
        for column in 0..cells.width {
            let [r, g, b] = colour(row, column);
            write!(out, "\x1b[38;2;{r};{g};{b}m")?;
            if row + 1 < cells.height {
                let [r, g, b] = colour(row + 1, column);
                write!(out, "\x1b[48;2;{r};{g};{b}m")?;
            }
            write!(out, "▀")?;
        }
        writeln!(out, "\x1b[0m")?;
    }
    Ok(())
}

fn write_shades(out: &mut Output, cells: &Cells, scale: &Scale) -> std::fmt::Result {
    for row in 0..cells.height {
        let shade = |column: usize| {
            let cell = row * cells.width + column;
            match cells.marks[cell] {
                0 => {
                    let place = scale.place(cells.values[cell]) * SHADES.len() as f64;
                    SHADES[(place as usize).min(SHADES.len() - 1)]
                }
                mark if mark & 1 != 0 => '?',
                _ => '∞',
            }
        };
        let line: String = (0..cells.width).map(shade).collect();
        writeln!(out, "│{line}│")?;
    }
    let [low, high] = [scale.low, scale.high].map(short);
    writeln!(out, "' ' is {low}, '█' is {high}, '?' has NaN, '∞' infinity")
}

/// Bars that end at the values of a row.
fn write_plot(out: &mut Output, cells: &Cells, scale: &Scale) -> std::fmt::Result {
    for line in (0..PLOT_LINES).rev() {
        let bar = |cell: usize| {
            if cells.marks[cell] != 0 {
                return if cells.marks[cell] & 1 != 0 { '?' } else { '∞' };
            }
            let eighths = (scale.place(cells.values[cell]) * (PLOT_LINES * 8) as f64).round();
            BARS[(eighths as usize).saturating_sub(line * 8).min(8)]
        };
        let text: String = (0..cells.width).map(bar).collect();
        let end = match line {
            _ if line + 1 == PLOT_LINES => format!(" {}", short(scale.high)),
            0 => format!(" {}", short(scale.low)),
            _ => String::new(),
        };
        writeln!(out, "│{text}│{end}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_six_digits() {
        let cases = [
            (0.0, "0"),
            (1.5, "1.5"),
            (-0.004_858_182, "-0.00485818"),
            (123_456.78, "123457"),
            (1e-7, "1.00000e-7"),
            (2e9, "2.00000e9"),
        ];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
    }

    #[test]
    fn colours_are_those_of_the_ends_and_of_zero() {
        let scale = Scale { low: -2.0, high: 2.0, colours: DIVERGING };
        assert_eq!(scale.colour(-9.0), DIVERGING[0]);
        assert_eq!(scale.colour(0.0), [247, 247, 247]);
        assert_eq!(scale.colour(2.0), DIVERGING[6]);
        let flat = Scale { low: 1.0, high: 1.0, colours: SEQUENTIAL };
        assert_eq!(flat.place(1.0), 0.5);
    }

    #[test]
    fn two_cells_share_a_character() {
        let cells = Cells {
            height: 3,
            width: 1,
            reduction: Reduction::Mean,
            values: vec![-2.0, f64::NAN, 0.0],
            marks: vec![0, 1, 0],
        };
        let scale = Scale { low: -2.0, high: 2.0, colours: DIVERGING };
        let mut out = Output::new(80);
        write_colours(&mut out, &cells, &scale).unwrap();
        let lines = [
            "\x1b[38;2;33;102;172m\x1b[48;2;255;0;255m▀\x1b[0m\n",
            "\x1b[38;2;247;247;247m▀\x1b[0m\n",
        ];
        assert_eq!(out.text, lines.concat());
    }
}
