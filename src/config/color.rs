//! Colours as they are written in theme files, and how well one can be read on another.

use ratatui::style::Color;
use thiserror::Error;

/// A colour that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "\"{0}\" is no colour: write \"#rrggbb\", a number from 0 to 255, \"default\", or a name such as \"bright-red\""
)]
pub struct ColorError(pub String);

/// Reads a colour: `#rrggbb`, a number of the 256-colour palette, `default`, or one of the 16 names.
///
/// # Errors
/// Says what may be written instead.
pub fn parse_color(text: &str) -> Result<Color, ColorError> {
    if let Some(hex) = text.strip_prefix('#') {
        return parse_hex(hex).ok_or_else(|| ColorError(text.to_owned()));
    }
    if let Ok(number) = text.parse::<u8>() {
        return Ok(Color::Indexed(number));
    }
    Ok(match text {
        "default" => Color::Reset,
        "black" => Color::Black,
        "red" => Color::Red,
        "green" => Color::Green,
        "yellow" => Color::Yellow,
        "blue" => Color::Blue,
        "magenta" => Color::Magenta,
        "cyan" => Color::Cyan,
        "white" => Color::Gray,
        "bright-black" => Color::DarkGray,
        "bright-red" => Color::LightRed,
        "bright-green" => Color::LightGreen,
        "bright-yellow" => Color::LightYellow,
        "bright-blue" => Color::LightBlue,
        "bright-magenta" => Color::LightMagenta,
        "bright-cyan" => Color::LightCyan,
        "bright-white" => Color::White,
        _ => return Err(ColorError(text.to_owned())),
    })
}

fn parse_hex(hex: &str) -> Option<Color> {
    if hex.len() != 6 || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let [_, red, green, blue] = u32::from_str_radix(hex, 16).ok()?.to_be_bytes();
    Some(Color::Rgb(red, green, blue))
}

/// Returns the contrast ratio of two colours after WCAG 2, from 1 to 21; `None` where the terminal decides what a colour
/// looks like.
pub fn contrast(one: Color, other: Color) -> Option<f64> {
    let (one, other) = (luminance(one)?, luminance(other)?);
    Some((one.max(other) + 0.05) / (one.min(other) + 0.05))
}

fn luminance(color: Color) -> Option<f64> {
    let Color::Rgb(red, green, blue) = color else { return None };
    let linear = |channel: u8| {
        let share = f64::from(channel) / 255.0;
        if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
    };
    Some(0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_read_in_each_of_their_spellings() {
        for (text, color) in [
            ("#ff8000", Color::Rgb(255, 128, 0)),
            ("208", Color::Indexed(208)),
            ("bright-black", Color::DarkGray),
            ("default", Color::Reset),
        ] {
            assert_eq!(parse_color(text), Ok(color));
        }
        for text in ["#ff80", "#ff80zz", "256", "teal", "", "#+12345"] {
            assert!(parse_color(text).is_err(), "{text}");
        }
    }

    #[test]
    fn black_on_white_has_the_highest_contrast() {
        let ratio = contrast(Color::Rgb(0, 0, 0), Color::Rgb(255, 255, 255)).unwrap();
        assert!((ratio - 21.0).abs() < 0.01);
        assert_eq!(contrast(Color::Reset, Color::Rgb(0, 0, 0)), None);
    }
}
