#!/bin/sh
# How the static program is built, for cargo; to be sourced where the static target is named. It is not moved in memory
# at its start, and what every start runs lies together in it: kittymux starts thousands of times a day.
#
# By the environment and not by a file of cargo's: where the machine's own C library is musl, such a file would give
# the same flags to what the build itself runs, and that breaks by them.
static_flags='-C relocation-model=static -C link-arg=-Tpackaging/often.ld'
export CARGO_TARGET_X86_64_UNKNOWN_LINUX_MUSL_RUSTFLAGS="$static_flags"
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_RUSTFLAGS="$static_flags"
