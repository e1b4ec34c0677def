#![no_main]

libfuzzer_sys::fuzz_target!(
    init: arena_fuzz::write_if_asked(arena_fuzz::decode::seeds),
    |data: &[u8]| arena_fuzz::decode::check(data)
);
