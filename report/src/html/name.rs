//! Names of runs, which may be long.

use crate::markup::escape;

/// A name such as `rapid, path.rate = 10 Gbps` as HTML that a line may break: between its parts, or else between the
/// words of a part, but not within a word.
pub fn html(name: &str) -> String {
    let word = |word: &str| format!("<span class=\"word\">{}</span>", escape(word));
    let part = |part: &str| {
        let words: Vec<String> = part.split(' ').map(word).collect();
        format!("<span class=\"part\">{}</span>", words.join(" "))
    };
    let parts: Vec<String> = name.split_inclusive(", ").map(|it| part(it.trim_end_matches(' '))).collect();
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_text() {
        for name in ["rapid", "rcp-ac, path.rate = 10 Gbps", "a, b", "", "<b>, '"] {
            let html = html(name).replace("<span class=\"word\">", "").replace("<span class=\"part\">", "");
            assert_eq!(html.replace("</span>", ""), escape(name));
        }
    }
}
