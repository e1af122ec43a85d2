# kittymux: what can be done here. `make` alone lists it.

PREFIX ?= /usr/local
DESTDIR ?=
BINARY ?= $(shell cat target/built 2>/dev/null)
CARGO ?= cargo
# The static target of this machine; empty where it cannot be had (said by tests/target.sh).
TARGET := $(shell tests/target.sh)
OUT = $(or $(CARGO_TARGET_DIR),target)/$(if $(TARGET),$(TARGET)/)release
TARGET_FLAG = $(if $(TARGET),--target $(TARGET))
STATIC := $(shell . packaging/static.sh && echo "$$static_flags")

.PHONY: help build demo test test-real test-agents screenshots first-minutes lint bench dist dist-test source deb install uninstall clean
export CARGO_TARGET_X86_64_UNKNOWN_LINUX_MUSL_RUSTFLAGS = $(STATIC)
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_RUSTFLAGS = $(STATIC)
# What packaging/install.sh reads.
export PREFIX DESTDIR BINARY HOST_BINARY

help: ## list the targets
	@awk -F': ## ' '/^[a-z-]+: ## /{printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build the release binary (static where the musl target is there)
	@tests/target.sh --say
	$(CARGO) build --locked --release $(TARGET_FLAG)
	@mkdir -p target && echo "$(OUT)/kittymux" > target/built
	@echo "built $(OUT)/kittymux"

demo: ## show the whole round trip; KITTY=real does it in a real kitty
	tests/demo.sh $(KITTY)

test: ## run all tests that need no real kitty; installs what it needs
	tests/run.sh

test-real: ## run the same scenarios in a real kitty (Debian chroot, made once)
	tests/real/run.sh

test-agents: ## run it with the real agents (pinned, from npm and PyPI once; no account)
	tests/agents/run.sh

screenshots: ## make the pictures of docs/images anew, from a real kitty
	tests/real/pictures.sh

first-minutes: ## what a new user does and sees, every key counted, in a real kitty
	tests/real/first_minutes.sh

lint: ## formatting, clippy, the house rules
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings

bench: ## measure what the budget names; ratios within one run
	benches/run.sh

dist: ## write the release archive and its checksum to dist/
	packaging/dist.sh

dist-test: ## build the archive twice, in two places, and look into it
	tests/dist.sh

source: ## write the source archive with all it is built from to dist/
	packaging/source.sh

deb: ## write a Debian package of the release build to dist/
	packaging/debian/build.sh

install: ## install to $(DESTDIR)$(PREFIX)
	@packaging/install.sh install

uninstall: ## take exactly the installed files away
	@packaging/install.sh uninstall

clean:
	$(CARGO) clean
