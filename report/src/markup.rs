//! Texts in HTML and SVG.

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
