# SPDX-License-Identifier: Apache-2.0
# One non-recursive Makefile. Switches: O=folder, SAN=address,undefined, DEBUG=1, COVERAGE=1, CC=clang, V=1 (whole command lines). `make help` lists
# the targets.

O       ?= build
PREFIX  ?= /usr/local
DESTDIR ?=
JOBS    := $(shell nproc)
# Short lines unless V=1.
Q       := $(if $(V),,@)
say      = $(if $(V),,@echo '$(1)')
VERSION := $(shell cat VERSION)

FOLDERS := base attach model unwind unwind/layout unwind/object unwind/python unwind/asyncio unwind/native detect report tui cmd
SRCS    := $(wildcard $(addsuffix /*.c,$(FOLDERS)))
OBJS    := $(SRCS:%.c=$(O)/%.o)
MOST    := $(filter-out $(O)/cmd/main.o,$(OBJS))
UNITS   := $(patsubst tests/unit/%.c,$(O)/unit/%,$(wildcard tests/unit/test_*.c))

PKGS    := libelf libdw yajl
PKGS    += $(if $(wildcard unwind/native/*.c),libunwind-generic)
PKGS    += $(if $(wildcard tui/*.c),ncursesw)

CFLAGS  ?= $(if $(DEBUG),-Og -g3,-O2 -g)
override CFLAGS += $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)
override CFLAGS += $(if $(COVERAGE),--coverage)
WARN    := -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wimplicit-fallthrough \
	   -Wvla -Wundef -Wformat=2 -Werror
BASE    := -std=gnu17 -D_GNU_SOURCE -DAIOTRACE_VERSION='"$(VERSION)"' -I.
COMPILE  = $(CC) $(BASE) $(PKG_CFLAGS) $(WARN) -pthread $(CPPFLAGS) $(CFLAGS)
LINK     = $(CC) -pthread $(CFLAGS) $(LDFLAGS)
LIBS     = $(PKG_LIBS) -lm

# Asked once, and only by what compiles: `make help` and the set-up work without pkg-config.
PKG_CFLAGS = $(eval PKG_CFLAGS := $$(shell pkg-config --cflags $(PKGS)))$(PKG_CFLAGS)
PKG_LIBS   = $(eval PKG_LIBS := $$(shell pkg-config --libs $(PKGS) || echo missing-libraries-run-tools/setup-build))$(PKG_LIBS)

all: $(O)/aiotrace ## build build/aiotrace

$(O)/aiotrace: $(OBJS)
	$(call say,  link  $@)
	$(Q)$(LINK) -o $@ $^ $(LIBS)

$(O)/%.o: %.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,  cc    $@)
	$(Q)$(COMPILE) -MMD -MP -c -o $@ $<

$(O)/unit/%: tests/unit/%.c $(MOST) $(O)/flags
	@mkdir -p $(@D)
	$(call say,  cc    $@)
	$(Q)$(COMPILE) -Itests/unit -MMD -MP -MF $@.d -o $@ $(filter %.c %.o,$^) $(LDFLAGS) $(LIBS)

# Without the tables, which don't compile when they are behind fields.def.
$(O)/layoutgen: tools/layoutgen.c $(addprefix $(O)/unwind/layout/,rows.o from_dwarf.o dwarf_file.o) $(O)/flags
	$(call say,  cc    $@)
	$(Q)$(COMPILE) -MMD -MP -MF $@.d -o $@ $(filter %.c %.o,$^) $(LDFLAGS) $(LIBS)

$(O)/layoutcheck: tools/layoutcheck.c $(MOST) $(O)/flags
	$(call say,  cc    $@)
	$(Q)$(COMPILE) -MMD -MP -MF $@.d -o $@ $(filter %.c %.o,$^) $(LDFLAGS) $(LIBS)

# Changes when a command line would: everything is built again then, and when a source file comes or goes it is linked again.
$(O)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(subst ','\'',$(CC) $(BASE) $(WARN) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) $(PKGS))' | cmp -s - $@ || \
		echo '$(subst ','\'',$(CC) $(BASE) $(WARN) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) $(PKGS))' >$@

-include $(OBJS:.o=.d) $(wildcard $(O)/unit/*.d $(O)/layoutgen.d $(O)/layoutcheck.d)

SANITIZED := O=$(O)/asan SAN=address,undefined

asan: ## build build/asan/aiotrace with AddressSanitizer and UBSan
	+$(MAKE) --no-print-directory $(SANITIZED) all

unit: $(UNITS) ## build and run the C unit tests
	@for test in $(UNITS); do \
		timeout 120 $$test >$$test.out 2>&1 || { status=$$?; cat $$test.out; echo "failed: $$test, exit $$status"; exit 1; }; \
		echo "ok $$test"; \
	done

units: $(UNITS) $(O)/layoutcheck

PYTHON := build/venv/bin/python
PYTEST := $(PYTHON) -m pytest -n $(JOBS)

check: ## install what the tests need, every interpreter included, and run all tests on the plain and the sanitizer build
	tools/setup-build
	tools/setup-test
	+$(MAKE) -j $(JOBS) all units
	+$(MAKE) -j $(JOBS) $(SANITIZED) all units
	+$(MAKE) --no-print-directory unit
	+$(MAKE) --no-print-directory $(SANITIZED) unit
	AIOTRACE_BINARY=$(abspath $(O))/asan/aiotrace $(PYTEST) -m "not plain_only" $(PYTEST_ARGS) tests
	AIOTRACE_BINARY=$(abspath $(O))/aiotrace $(PYTEST) $(PYTEST_ARGS) tests
	@tools/interpreters --require 3.11 3.12 3.13 3.14 3.15

demo: ## install what the build needs, build, run aiotrace on a demo service
	tools/setup-build
	+$(MAKE) -j $(JOBS) all
	tools/demo $(O)/aiotrace

bench: ## times and memory beside CPython's own pstree, and what the dashboard costs
	tools/setup-build
	tools/setup-test
	$(PYTHON) -m pip install --quiet --disable-pip-version-check -r tests/bench/requirements.txt
	+$(MAKE) -j $(JOBS) all
	AIOTRACE_BINARY=$(abspath $(O))/aiotrace $(PYTHON) tests/bench/bench.py

picture: all ## draw the README's picture of the dashboard anew, from the real thing
	AIOTRACE_BINARY=$(abspath $(O))/aiotrace $(PYTHON) tools/picture_of_top.py man/top.svg

# Generated tables stand as their generator wrote them.
FORMATTED := $(filter-out unwind/layout/table_3_%,$(wildcard $(FOLDERS:%=%/*.[ch]) tests/unit/*.[ch] tools/*.c))
HEADERS   := $(wildcard $(FOLDERS:%=%/*.h))
SCRIPTS   := tools/setup-build tools/setup-test tools/in-root tools/make-root tools/fetch-cpython tools/layout-tables tools/demo .ci/run
MANUALS   := $(wildcard man/*.[1-8])

lint: ## clang-format, clang-tidy, cppcheck, shellcheck, mandoc
	$(call say,  clang-format)
	$(Q)clang-format --dry-run -Werror $(FORMATTED)
	+$(Q)$(MAKE) --no-print-directory -j $(JOBS) $(SRCS:%.c=$(O)/tidy/%.ok)
	$(call say,  cppcheck)
	$(Q)cppcheck --quiet --error-exitcode=1 --std=c11 --enable=warning,performance,portability --inline-suppr \
		--suppress=missingIncludeSystem -j $(JOBS) -I. $(SRCS)
	shellcheck -x -P tools $(SCRIPTS)
	mandoc -Tlint -Wwarning $(MANUALS)

$(O)/tidy/%.ok: %.c $(HEADERS) .clang-tidy
	@mkdir -p $(@D)
	@echo '  tidy  $<'
	@clang-tidy --quiet --warnings-as-errors='*' $< -- $(BASE) $(PKG_CFLAGS) $(filter-out -Werror,$(WARN)) 2>$@.log || { cat $@.log; exit 1; }
	@touch $@

# The libraries' headers are the same for each architecture; the C library's are the cross compiler's own. libunwind's are neither: what needs them is
# left out (unwind/native/unwinder.c).
CROSS  := aarch64-linux-gnu-gcc
CROSSED = $(SRCS:%.c=$(O)/cross/%.o)

cross: ## compile (not link) everything for AArch64
	+$(Q)$(MAKE) --no-print-directory -j $(JOBS) $(CROSSED)

$(O)/cross/%.o: %.c $(HEADERS)
	@mkdir -p $(@D)
	$(call say,  cross $@)
	$(Q)$(CROSS) $(BASE) $(WARN) -O2 -idirafter /usr/include -c -o $@ $<

install: all ## install binary, man pages and completions below DESTDIR/PREFIX
	install -D -m 755 $(O)/aiotrace $(DESTDIR)$(PREFIX)/bin/aiotrace
	for page in $(MANUALS); do \
		install -D -m 644 $$page $(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$${page##*/} || exit 1; \
	done
	install -D -m 644 completions/aiotrace.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/aiotrace
	install -D -m 644 completions/_aiotrace $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_aiotrace
	install -D -m 644 completions/aiotrace.fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/aiotrace.fish

tables: $(O)/layoutgen ## write the layout tables again from the debug information of the tests' interpreters
	LAYOUTGEN=$(abspath $(O))/layoutgen tools/layout-tables

layoutcheck: $(O)/layoutcheck ## build the tool that says which layout a process has

clean: ## remove what was built
	rm -rf $(O)

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  \1\t\2/p' Makefile | expand -t 14

.DELETE_ON_ERROR:
.PHONY: FORCE all asan unit units check demo bench picture lint cross install tables layoutcheck clean help
