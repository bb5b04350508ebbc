//! The tokens of sources that decide what a program does: without comments, documentation and tests.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Reads sources.
#[derive(Default)]
pub struct Code {
    /// Files and folders of modules that are compiled for tests only.
    pub tests: Vec<PathBuf>,
}

impl Code {
    /// The tokens of the source `path`, whose text is `text`, without comments, documentation and tests. Separated by
    /// spaces.
    pub fn read(&mut self, path: &Path, text: &str) -> String {
        let tokens: TokenStream = text.parse().unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let stem = path.file_stem().unwrap_or_default();
        let own_folder = stem == "lib" || stem == "mod" || stem == "main";
        let folder = if own_folder { path.parent().unwrap().to_path_buf() } else { path.with_extension("") };
        let mut code = String::new();
        self.write(tokens, &folder, &mut code);
        code
    }

    /// Appends `tokens` to `code`. Files of modules that are declared in them are in `folder`.
    fn write(&mut self, tokens: TokenStream, folder: &Path, code: &mut String) {
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            let hash = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '#');
            let inner = matches!(tokens.peek(), Some(TokenTree::Punct(punct)) if punct.as_char() == '!');
            let bang = if hash && inner { tokens.next() } else { None };
            let attribute = match tokens.peek() {
                Some(TokenTree::Group(group)) if hash && group.delimiter() == Delimiter::Bracket => {
                    group.stream().to_string().replace(' ', "")
                }
                _ => String::new(),
            };
            if attribute.starts_with("doc=") {
                tokens.next();
                continue;
            }
            if attribute == "cfg(test)" && bang.is_none() {
                tokens.next();
                let mut item = Vec::new();
                for token in tokens.by_ref() {
                    let brace = matches!(&token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
                    let end = brace || matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ';');
                    item.push(token.to_string());
                    if end {
                        break;
                    }
                }
                // `mod name;`, whatever is before.
                if let [.., keyword, name, end] = &item[..]
                    && keyword == "mod"
                    && end == ";"
                {
                    self.tests.extend([folder.join(name), folder.join(format!("{name}.rs"))]);
                }
                continue;
            }
            match token {
                TokenTree::Group(group) => {
                    let (open, close) = match group.delimiter() {
                        Delimiter::Parenthesis => ("(", ")"),
                        Delimiter::Brace => ("{", "}"),
                        Delimiter::Bracket => ("[", "]"),
                        Delimiter::None => ("", ""),
                    };
                    *code += open;
                    self.write(group.stream(), folder, code);
                    *code += close;
                }
                other => {
                    let _ = write!(code, "{other} ");
                }
            }
            if bang.is_some() {
                *code += "! ";
            }
        }
    }
}
