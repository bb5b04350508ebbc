Chart {
    name: "Available bandwidth",
    unit: Unit::Rate,
    from_zero: true,
    bin: Bin::Mean,
    samples: |flow| flow.available.clone(),
}
