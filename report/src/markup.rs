//! Texts as HTML and SVG.

/// `text` for HTML and SVG, inside or outside of attributes.
pub fn escape(text: &str) -> String {
    let mut markup = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => markup += "&amp;",
            '<' => markup += "&lt;",
            '>' => markup += "&gt;",
            '"' => markup += "&quot;",
            '\'' => markup += "&#39;",
            c => markup.push(c),
        }
    }
    markup
}

/// A text of the catalogue as HTML: what it has between backticks is code.
pub fn with_code(text: &str) -> String {
    let piece = |(i, piece)| if i % 2 == 1 { format!("<code>{}</code>", escape(piece)) } else { escape(piece) };
    text.split('`').enumerate().map(piece).collect()
}
