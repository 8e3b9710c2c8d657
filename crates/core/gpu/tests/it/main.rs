//! Texts of kernels, bad surroundings, and what a launch may touch. One binary, so that it is linked once.

mod launches;
mod surroundings;
mod texts;
