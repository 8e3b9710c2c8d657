//! Every component does the work that its checksum says, whatever the level of optimisation of this test.
#![cfg(feature = "sets")]

use rating::COMPONENTS;

#[test]
fn every_component_does_its_work() {
    let mut wrong = Vec::new();
    for component in COMPONENTS {
        let found = (component.make)().run();
        if found != Ok(component.checksum) {
            wrong.push(format!("{}: {found:x?}", component.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
