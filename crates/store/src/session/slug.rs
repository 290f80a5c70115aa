//! Two words for people (reference-storage 1.11). They are not unique and mean nothing.

use rand::seq::IndexedRandom as _;

const ADJECTIVES: &[&str] = &[
    "amber", "blunt", "brisk", "candid", "chalky", "civil", "copper", "dusky", "early", "fabled", "fleet", "frosty", "gentle",
    "grainy", "hollow", "humble", "ivory", "keen", "lively", "lunar", "mellow", "nimble", "olive", "placid", "rustic", "sandy",
    "silken", "tidy", "vivid",
];

const NOUNS: &[&str] = &[
    "acorn", "anvil", "badger", "basin", "beacon", "birch", "canyon", "cedar", "comet", "delta", "ember", "fjord", "garnet",
    "heron", "inlet", "jetty", "kestrel", "lantern", "ledger", "marsh", "nectar", "orchard", "otter", "pebble", "quarry", "raven",
    "saddle", "tundra", "valley", "walnut", "zephyr",
];

pub(super) fn new() -> String {
    let mut rng = rand::rng();
    let adjective = ADJECTIVES.choose(&mut rng).unwrap_or(&"plain");
    let noun = NOUNS.choose(&mut rng).unwrap_or(&"session");
    format!("{adjective}-{noun}")
}
