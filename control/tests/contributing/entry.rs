Controller::new(
    "gentle",
    LossWindow,
    Sack,
    "Venue year",
    "two packets more per round trip, a quarter less on a loss",
    crate::gentle::Gentle { step: 2.0 },
)
