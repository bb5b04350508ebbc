/// The share of the span's samples in which nothing waits at the busiest link, in per cent.
fn empty_queue(it: &Excerpt) -> f64 {
    let empty = it.of_busiest_link(|series, i| if series.max_queue[i] == 0 { 100.0 } else { 0.0 });
    mean(&empty)
}
