//! The interface of a component.

/// Fixed work with its prepared input.
pub trait RatingWork {
    /// Does the work once and returns its checksum, which is the same every time and everywhere.
    ///
    /// # Errors
    /// The library's error, in one line.
    fn run(&mut self) -> Result<u64, String>;
}
