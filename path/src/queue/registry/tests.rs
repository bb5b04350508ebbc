use super::*;
use crate::testing::Parcel;

const SITE: Site = Site { rate: Rate::from_bps(1e9), buffer: Buffer::Packets(100), packet: Bytes(1000) };

fn keys(text: &str) -> Map<String, Value> {
    serde_json::from_str(text).unwrap()
}

#[test]
fn every_discipline_builds_with_its_defaults_and_with_each_of_them_given() {
    for discipline in all() {
        assert!(!discipline.summary.is_empty() && !discipline.source.is_empty(), "{}", discipline.name);
        let given = discipline.defaults().as_object().unwrap().clone();
        let setup = discipline.setup(&given, &SITE).unwrap();
        assert_eq!(discipline.setup(&Map::new(), &SITE).unwrap(), setup);
        assert!(setup.build::<Parcel>(SITE.rate, SITE.buffer, 1).unwrap().is_empty());
        assert_eq!(setup.is_drop_tail(), discipline.name == "droptail");
    }
}

#[test]
fn mistakes_name_the_parameter() {
    for (name, given, key, problem) in [
        ("red", r#"{"min": 50, "max": 40}"#, "max", "40 packets are less than min = 50; write as much or more"),
        ("ared", r#"{"bottom": 0}"#, "bottom", "0 is not within 0 and 1; write one like 0.01"),
        ("fq-codel", r#"{"quantum": "0 B"}"#, "quantum", "is zero; write one like \"1514 B\""),
        ("codel", r#"{"gentle": true}"#, "gentle", "is no parameter of this queue; remove it"),
        ("red", r#"{"max": 900, "max-p": "x"}"#, "max-p", "invalid type: string \"x\", expected f64"),
    ] {
        let mistakes = find(name).unwrap().setup(&keys(given), &SITE).unwrap_err();
        assert_eq!(mistakes, [Mistake { key: key.into(), problem: problem.into() }]);
    }
    let setup = QueueSetup { discipline: "sfq".into(), ..QueueSetup::default() };
    assert!(setup.build::<Parcel>(SITE.rate, SITE.buffer, 1).is_err());
}
