//! Links the library as a module of Node.

fn main() {
    napi_build::setup();
}
