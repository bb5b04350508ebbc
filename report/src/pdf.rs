//! Figures for papers as PDF, which takes the feature `pdf` of this crate.

use std::fmt;

/// Whether this program can make PDFs.
pub const AVAILABLE: bool = cfg!(feature = "pdf");

/// Why there is no PDF.
#[derive(Debug)]
pub enum Error {
    /// The program was built without the feature `pdf`.
    NotBuilt,
    /// An SVG that cannot be converted.
    Svg(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NotBuilt => {
                f.write_str("this thalweg was built without PDF: build it with `cargo build --release --features pdf`")
            }
            Error::Svg(why) => write!(f, "a figure cannot be converted to PDF ({why})"),
        }
    }
}

impl std::error::Error for Error {}

/// A figure as PDF, with the letters that it needs. `svg` is one of [`svg`](crate::svg).
///
/// # Errors
/// [`Error::NotBuilt`] without the feature `pdf`.
#[cfg(not(feature = "pdf"))]
pub fn pdf(_: &str) -> Result<Vec<u8>, Error> {
    Err(Error::NotBuilt)
}

/// A figure as PDF, with the letters that it needs. `svg` is one of [`svg`](crate::svg).
///
/// # Errors
/// [`Error::Svg`] if `svg` cannot be read.
#[cfg(feature = "pdf")]
pub fn pdf(svg: &str) -> Result<Vec<u8>, Error> {
    use std::sync::{Arc, OnceLock};
    use svg2pdf::usvg;
    // Of the same metrics as Helvetica and Arial.
    const FONT: &[u8] = include_bytes!("vendor/LiberationSans-Regular.ttf");
    static FONTS: OnceLock<Arc<usvg::fontdb::Database>> = OnceLock::new();
    let fonts = FONTS.get_or_init(|| {
        let mut fonts = usvg::fontdb::Database::new();
        fonts.load_font_data(FONT.to_vec());
        Arc::new(fonts)
    });
    let options = usvg::Options { dpi: 72.0, fontdb: fonts.clone(), ..Default::default() };
    let tree = usvg::Tree::from_str(svg, &options).map_err(|e| Error::Svg(e.to_string()))?;
    let page = svg2pdf::PageOptions { dpi: 72.0 };
    svg2pdf::to_pdf(&tree, svg2pdf::ConversionOptions::default(), page).map_err(|e| Error::Svg(e.to_string()))
}
