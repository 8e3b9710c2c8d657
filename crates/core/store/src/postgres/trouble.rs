//! Meaning of PostgreSQL's error codes (PostgreSQL documentation, appendix A).

use postgres::error::SqlState;

use crate::StoreErrorKind;

/// The kind of an error of the server or of the connection.
pub(super) fn of(error: &postgres::Error) -> StoreErrorKind {
    let Some(state) = error.code() else { return StoreErrorKind::Other(causes(error)) };
    match state {
        &SqlState::DISK_FULL => StoreErrorKind::Full,
        &SqlState::READ_ONLY_SQL_TRANSACTION => StoreErrorKind::ReadOnly,
        &SqlState::INSUFFICIENT_PRIVILEGE
        | &SqlState::INVALID_PASSWORD
        | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION => StoreErrorKind::Permission,
        &SqlState::LOCK_NOT_AVAILABLE => StoreErrorKind::Locked,
        &SqlState::INVALID_CATALOG_NAME => StoreErrorKind::Missing,
        &SqlState::DATA_CORRUPTED | &SqlState::INDEX_CORRUPTED => StoreErrorKind::Corrupt(causes(error)),
        _ => StoreErrorKind::Other(causes(error)),
    }
}

/// Whether a connection is unusable after an error: the server ended it (class 57P: shutdown, or an administrator's
/// command), or the error did not come from the server.
pub(super) fn ends_connection(error: &postgres::Error) -> bool {
    error.code().is_none_or(|state| state.code().starts_with("57P"))
}

/// The error with all its causes: the outermost text is only "db error".
pub(super) fn causes(error: &postgres::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause {
        let words = next.to_string();
        if !text.contains(&words) {
            text = format!("{text}: {words}");
        }
        cause = next.source();
    }
    text
}
