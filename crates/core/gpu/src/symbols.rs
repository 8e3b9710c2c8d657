//! Libraries that are loaded at run time.

use std::error::Error as _;

use libloading::Library;

use crate::Error;

/// A library by the name under which systems install it.
pub(crate) fn load(file: &str, what: &str) -> Result<Library, Error> {
    if cfg!(all(target_env = "musl", target_feature = "crt-static")) {
        return Err(Error::new(format!("this build of Prony is static and cannot load {file}")));
    }
    // SAFETY: the libraries of drivers run code of their vendor when they are loaded, which every user of them trusts.
    unsafe { Library::new(file) }.map_err(|error| {
        let error = error.source().map_or_else(|| error.to_string(), ToString::to_string);
        let absent = error.contains("No such file");
        Error::new(if absent {
            format!("there is no {what} ({file})")
        } else {
            format!("could not load {file}: {error}")
        })
    })
}

/// What a function returns: a number that says whether it failed, unless it is said otherwise.
macro_rules! result {
    () => {
        i32
    };
    ($result:ty) => {
        $result
    };
}
pub(crate) use result;

/// A struct with the functions of a library as its fields.
macro_rules! functions {
    ($name:ident, $file:literal, $what:literal, $old:literal; $($symbol:ident($($kind:ty),*) $(-> $result:ty)?;)*) => {
        #[allow(non_snake_case, reason = "the names of the library")]
        struct $name {
            $($symbol: unsafe extern "C" fn($($kind),*) -> $crate::symbols::result!($($result)?),)*
            /// Keeps the functions loaded.
            _library: libloading::Library,
        }

        impl $name {
            /// The library, loaded once; or the reason why it cannot be.
            fn get() -> Result<&'static Self, $crate::Error> {
                static ONE: std::sync::OnceLock<Result<$name, $crate::Error>> = std::sync::OnceLock::new();
                ONE.get_or_init(Self::load).as_ref().map_err(Clone::clone)
            }

            #[allow(non_snake_case, reason = "the names of the library")]
            fn load() -> Result<Self, $crate::Error> {
                let library = $crate::symbols::load($file, $what)?;
                $(
                    // SAFETY: the type is that of the function in the library's own header, and the library is kept.
                    let found = unsafe {
                        library.get::<unsafe extern "C" fn($($kind),*) -> $crate::symbols::result!($($result)?)>(concat!(stringify!($symbol), "\0").as_bytes())
                    };
                    let $symbol = *found.map_err(|_| {
                        $crate::Error::new(concat!($old, ": it lacks ", stringify!($symbol)))
                    })?;
                )*
                Ok(Self { $($symbol,)* _library: library })
            }
        }
    };
}
pub(crate) use functions;
