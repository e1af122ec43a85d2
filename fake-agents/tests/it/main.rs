//! The stand-ins on a real terminal, judged by what the process table says of them.

mod desk;
mod helps;
mod others;
mod seen;
mod shapes;
mod talks;
