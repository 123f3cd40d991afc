# `make test` is all it takes from a fresh checkout. With WARNINGS_AS_ERRORS=1, as CI runs it, a warning in
# this package fails the build; dependencies are not affected.

SWIFT ?= swift
FLAGS =
ifdef WARNINGS_AS_ERRORS
FLAGS += -Xswiftc -warnings-as-errors
endif
SWIFT_SOURCES = $(wildcard Package.swift Sources Tests Benchmarks Examples Plugins Snippets)

.PHONY: all setup build test release format lint clean
all: build

setup:
	@Scripts/setup

build: setup
	$(SWIFT) build $(FLAGS)

# Backtraces are off because tests that let a process die on purpose would each spend seconds on one.
test: setup
	$(SWIFT) build --build-tests $(FLAGS)
	SWIFT_BACKTRACE=enable=no $(SWIFT) test --skip-build --disable-xctest --parallel $(FLAGS)

release: setup
	$(SWIFT) build --configuration release --product espalier $(FLAGS)

format:
	$(SWIFT) format --in-place --recursive --parallel $(SWIFT_SOURCES)

lint:
	$(SWIFT) format lint --strict --recursive --parallel $(SWIFT_SOURCES)

clean:
	$(SWIFT) package clean
