//! Every component does the work that its checksum says, whatever the level of optimisation of this test.

use rating::COMPONENTS;

/// Components that take more than a second when their libraries are built for tests.
const LONG: [&str; 4] = ["regex", "json", "sort", "stencil"];

#[test]
fn every_component_does_its_work() {
    let all = testing::slow("four components of long work; eight of brief work stand for them");
    let mut wrong = Vec::new();
    for component in COMPONENTS.iter().filter(|component| all || !LONG.contains(&component.name)) {
        let found = (component.make)().run();
        if found != Ok(component.checksum) {
            wrong.push(format!("{}: {found:x?}", component.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
