//! Every probe is what the catalogue promises, and works. One binary, so that it is linked once.

mod conformance;
