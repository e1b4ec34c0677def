#![no_main]

libfuzzer_sys::fuzz_target!(
    init: arena_fuzz::write_if_asked(arena_fuzz::play::seeds),
    |data: &[u8]| arena_fuzz::play::check(data)
);
