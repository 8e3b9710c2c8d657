//! Every component does the work that its checksum says, whatever the level of optimisation of this test.
#![cfg(feature = "sets")]

use rating::COMPONENTS;

/// Components that take more than a second when their libraries are built for tests.
const LONG: [&str; 8] = ["regex", "json", "interpreter", "sort", "lu", "fft", "stencil", "kalman"];

#[test]
fn every_component_does_its_work() {
    let all = testing::slow("eight components of long work; ten of brief work stand for them");
    let mut wrong = Vec::new();
    for component in COMPONENTS.iter().filter(|component| all || !LONG.contains(&component.name)) {
        let found = (component.make)().run();
        if found != Ok(component.checksum) {
            wrong.push(format!("{}: {found:x?}", component.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
