//! The catalogue: the artefacts that the program knows. Its files, the folder `catalogue`, are part of the program.

use super::artefact::Artefact;

/// The files of the catalogue: path and text.
static FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/catalogue.rs"));

/// The text of a file of the catalogue, by its path in the catalogue's folder.
pub fn file(path: &str) -> Option<&'static str> {
    FILES.iter().find(|(name, _)| *name == path).map(|(_, text)| *text)
}

/// The capacity traces that scenarios of `paper` may follow.
pub(super) fn traces(paper: &str) -> impl Iterator<Item = &str> {
    FILES.iter().filter(move |(path, _)| path.starts_with(paper) && path.ends_with(".trace")).map(|(_, text)| *text)
}

/// All artefacts, in the order of their ids.
///
/// # Errors
/// In a line, what is wrong with one of them.
pub fn catalogue() -> Result<Vec<Artefact>, String> {
    let artefacts = FILES.iter().filter(|(path, _)| path.matches('/').count() == 1);
    artefacts
        .map(|(path, text)| {
            let id = path.trim_end_matches(".toml");
            Artefact::read(id, text).map_err(|why| format!("{path}: {why}"))
        })
        .collect()
}

/// The answer to a user who asks for `id`, which is not in `catalogue`.
pub fn unknown(id: &str, catalogue: &[Artefact]) -> String {
    let ids: Vec<&str> = catalogue.iter().map(|it| it.id.as_str()).collect();
    let paper = id.trim_end_matches('/');
    match scenario::nearest(id, &ids) {
        _ if ids.iter().any(|it| it.split('/').next() == Some(paper)) => {
            format!("there is no `{id}` in the catalogue; all artefacts of a paper are `{paper}/*`")
        }
        Some(near) => format!("there is no `{id}` in the catalogue; did you mean `{near}`?"),
        None => format!("there is no `{id}` in the catalogue; `thalweg reproduce` lists it"),
    }
}
