//! Every benchmark conforms to the catalogue, and works. One binary, so that it is linked once.

mod conformance;
mod gpu;
mod handed_over;
