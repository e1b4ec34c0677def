//! Checks of what comes from C, and what goes back.

use std::{
    ffi::{CStr, c_char},
    panic::{AssertUnwindSafe, catch_unwind},
    ptr, slice,
};

use rules::{ErrorKind, RulesError};

use crate::{ArenaError, ArenaStatus};

/// Why a call failed.
pub(crate) enum Failure {
    Null,
    InvalidText,
    Small { needed: usize, capacity: usize },
    Rules(RulesError),
}

impl From<RulesError> for Failure {
    fn from(error: RulesError) -> Self {
        Self::Rules(error)
    }
}

impl Failure {
    fn status(&self) -> ArenaStatus {
        match self {
            Self::Null => ArenaStatus::NullArgument,
            Self::InvalidText => ArenaStatus::InvalidText,
            Self::Small { .. } => ArenaStatus::BufferTooSmall,
            Self::Rules(error) => match error.kind() {
                ErrorKind::InvalidGame => ArenaStatus::InvalidGame,
                ErrorKind::InvalidPosition => ArenaStatus::InvalidPosition,
                ErrorKind::IllegalMove => ArenaStatus::IllegalMove,
                ErrorKind::WrongNode => ArenaStatus::WrongNode,
            },
        }
    }

    fn message(&self) -> String {
        match self {
            Self::Null => "a pointer is NULL".to_owned(),
            Self::InvalidText => "a text is not UTF-8".to_owned(),
            Self::Small { needed, capacity } => {
                format!("the buffer is too small: {needed} needed, {capacity} given")
            }
            Self::Rules(error) => error.to_string(),
        }
    }
}

/// Calls, and reports the failure or the panic.
pub(crate) fn guard(
    error: *mut ArenaError,
    call: impl FnOnce() -> Result<(), Failure>,
) -> ArenaStatus {
    let (status, message) = match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(())) => (ArenaStatus::Ok, String::new()),
        Ok(Err(failure)) => (failure.status(), failure.message()),
        Err(_) => (
            ArenaStatus::Internal,
            "a bug of the library: please report it".to_owned(),
        ),
    };
    if !error.is_null() {
        let end = message.floor_char_boundary(255);
        // The caller's memory may not be initialised: no reference to it is made.
        unsafe {
            (&raw mut (*error).status).write(status);
            let text: *mut c_char = (&raw mut (*error).message).cast();
            ptr::copy_nonoverlapping(message.as_ptr().cast(), text, end);
            text.add(end).write(0);
        }
    }
    status
}

/// Asks an object; the fallback is the answer for NULL and after a panic.
pub(crate) unsafe fn query<T, A: Copy>(
    pointer: *const T,
    fallback: A,
    ask: impl FnOnce(&T) -> A,
) -> A {
    let Some(object) = (unsafe { pointer.as_ref() }) else {
        return fallback;
    };
    catch_unwind(AssertUnwindSafe(|| ask(object))).unwrap_or(fallback)
}

/// The object that a pointer points to.
pub(crate) unsafe fn reference<'a, T>(pointer: *const T) -> Result<&'a T, Failure> {
    unsafe { pointer.as_ref() }.ok_or(Failure::Null)
}

/// Sets a result to its value on failure, and returns its place.
pub(crate) unsafe fn write<'a, T>(pointer: *mut T, value: T) -> Result<&'a mut T, Failure> {
    if pointer.is_null() {
        return Err(Failure::Null);
    }
    unsafe {
        pointer.write(value);
        Ok(&mut *pointer)
    }
}

/// A text with a final NUL.
pub(crate) unsafe fn text<'a>(pointer: *const c_char) -> Result<&'a str, Failure> {
    if pointer.is_null() {
        return Err(Failure::Null);
    }
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map_err(|_| Failure::InvalidText)
}

/// Bytes of a length; NULL is allowed if there are none.
pub(crate) unsafe fn read<'a>(pointer: *const u8, length: usize) -> Result<&'a [u8], Failure> {
    match (pointer.is_null(), length) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(Failure::Null),
        (false, _) => Ok(unsafe { slice::from_raw_parts(pointer, length) }),
    }
}

/// Copies items to a buffer, and their number to `count`; NULL is allowed if there is no room.
pub(crate) unsafe fn fill<T: Copy>(
    items: &[T],
    buffer: *mut T,
    capacity: usize,
    count: &mut usize,
) -> Result<(), Failure> {
    let needed = items.len();
    *count = needed;
    if capacity < needed {
        return Err(Failure::Small { needed, capacity });
    }
    if buffer.is_null() {
        return Err(Failure::Null);
    }
    unsafe { ptr::copy_nonoverlapping(items.as_ptr(), buffer, needed) };
    Ok(())
}

/// Copies a text and a NUL to a buffer, and its length without NUL to `length`.
pub(crate) unsafe fn fill_text(
    text: String,
    buffer: *mut c_char,
    capacity: usize,
    length: &mut usize,
) -> Result<(), Failure> {
    let mut bytes = text.into_bytes();
    bytes.push(0);
    let filled = unsafe { fill(&bytes, buffer.cast(), capacity, length) };
    *length -= 1;
    filled
}
