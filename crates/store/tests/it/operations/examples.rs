//! The examples of `examples/` do what they say. They are programs of their own; here the code is run as a module.

#[path = "../../../examples/user_message.rs"]
mod user_message;

#[path = "../../../examples/assistant_message.rs"]
mod assistant_message;

#[path = "../../../examples/stream.rs"]
mod stream;

#[test]
fn they_run() {
    user_message::main().unwrap();
    assistant_message::main().unwrap();
    stream::main().unwrap();
}
