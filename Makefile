# make            all programs into bin/
# make test       fetch what is missing, then every test
# make check      the fast part of it: no network, no plugin; about a minute with compiling
# make deps       install missing packages and the XLA CPU plugin, as far as this machine allows
# make deps-cuda  the compiler for NVIDIA's GPUs, 232 MB: estimates for --device cuda:h100, no GPU needed; deps-tpu: libtpu, 205 MB
# make demo       a guided tour of four minutes: learn, tune a large program, run it; what to do with your own
# make install    programs, the `vantage VERB` command, man pages, completion, models; PREFIX=/usr/local
# make fuzz       libFuzzer (clang) on every tests/fuzz_*.c; SECONDS_EACH=60
# make door       the programs and the library that the Python package calls compiled programs with (pip install .)
# make wheel      the Python package as one file in dist/, with the libraries that it needs
# make benches, make clean
# MODE=release (default), asan or tsan goes with each; so do CC=, CFLAGS=, LDFLAGS=, B= (build folder).
VERSION = 0.1.0
MODE ?= release
B ?= build/$(MODE)
BIN ?= $(if $(filter release,$(MODE)),bin,$(B)/bin)
PREFIX ?= /usr/local
DEPS ?= .deps
SECONDS_EACH ?= 60

SANITIZE = -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
CFLAGS_release = -O2 -g
CFLAGS_asan = -Og -g $(SANITIZE)
CFLAGS_tsan = -O1 -g -fsanitize=thread
CFLAGS_fuzz = -O1 -g $(SANITIZE) -fsanitize=fuzzer-no-link
# A function nobody declared would return an int: a pointer cut short.
NEVER = -Werror=implicit-function-declaration -Werror=implicit-int -Werror=int-conversion \
	-Werror=incompatible-pointer-types
# Instrumented code hides from gcc what values can be, so there -Wconversion cries wolf.
WARN = -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla $(NEVER) \
	$(if $(filter release,$(MODE)),-Wconversion)
# The plugin's C header comes with the plugin; without it device/ builds without PJRT.
PJRT = $(DEPS)/xla_plugins/xla_cpu_pjrt/include
CPPFLAGS = -D_GNU_SOURCE -DVANTAGE_VERSION='"$(VERSION)"' -I. -I$(B) \
	$(if $(wildcard $(PJRT)/pjrt_c_api.h),-isystem $(PJRT) -DHAVE_PJRT)
OUR_CFLAGS = -std=c11 $(CPPFLAGS) $(CFLAGS_$(MODE)) $(WARN) $(CFLAGS)
# What we link is a table in tests/deps, which asks the compiler for each library.
DEPS_OF = DEPS=$(DEPS) CC='$(CC)' CFLAGS='$(CFLAGS)' LDFLAGS='$(LDFLAGS)' tests/deps
LIBS := $(shell $(DEPS_OF) --libs) -ldl -lpthread

# Rooms in the order of the data flow; each may have rooms within (space/fusion, device/worker, ...).
FOLDERS = base hlo graph space device cost ready store lab collect learn search inspect arena
# The programs: name and the file that holds its main.
MAINS = inspect=inspect/main.c vantage-worker=device/worker/worker.c store=store/main.c \
	collect=collect/main.c learn=learn/main.c search=search/main.c arena=arena/main.c
MAIN_SRC = $(foreach m,$(MAINS),$(lastword $(subst =, ,$(m))))
PROGRAMS = $(foreach m,$(MAINS),$(if $(wildcard $(lastword $(subst =, ,$(m)))),$(firstword $(subst =, ,$(m)))))

PROTO = $(patsubst schemas/%.proto,$(B)/schemas/%.pb-c.c,$(wildcard schemas/*.proto))
EMBED = $(B)/schemas/store.sql.h $(B)/schemas/rewrite.rules.h
SRC = $(filter-out $(MAIN_SRC),$(wildcard $(addsuffix /*.c,$(FOLDERS)) $(addsuffix /*/*.c,$(FOLDERS))))
OBJ = $(SRC:%.c=$(B)/%.o) $(PROTO:.c=.o)
LIB = $(B)/libvantage.a
FUZZ = $(patsubst tests/fuzz_%.c,%,$(wildcard tests/fuzz_*.c))
# Tests and benches of a kind of decision whose folder is gone go with it.
GONE = $(filter-out $(wildcard space/*),$(sort $(shell sed -nE 's|^.include "(space/[a-z]+)/.*|\1|p' tests/*.[ch] bench/*.[ch])))
WITHOUT := $(if $(GONE),$(shell tests/without $(GONE)))
CHECKS = $(patsubst tests/%.c,$(B)/tests/%,$(filter-out $(WITHOUT),$(wildcard tests/check_*.c))) \
	$(FUZZ:%=$(B)/tests/check_fuzz_%)
TESTS = $(CHECKS) $(patsubst tests/%.c,$(B)/tests/%,$(filter-out $(WITHOUT),$(wildcard tests/full_*.c)))
BENCHES = $(patsubst bench/%.c,$(B)/bench/%,$(filter-out $(WITHOUT),$(wildcard bench/*.c)))

# What the Python package calls compiled programs with; it needs the plugin's header.
DOOR = $(if $(wildcard $(PJRT)/pjrt_c_api.h),$(BIN)/vantage-call.so)

all: $(PROGRAMS:%=$(BIN)/%) $(DOOR)
	@:

# Files that hold a fact: rewritten, and what depends on them rebuilt, only when the fact changes.
# The headers of our libraries are part of the flags: a package keeps the dates its files were packed at.
FLAGS = $(CC) $(OUR_CFLAGS) headers $(shell $(DEPS_OF) --headers)
COMMIT = $(shell git describe --always --dirty 2>/dev/null)
define FACT
	@mkdir -p $(@D); printf '%s\n' '$(subst ','\'',$(1))' | cmp -s - $@ || \
		{ $(2) printf '%s\n' '$(subst ','\'',$(1))' > $@; }
endef
$(B)/flags: FORCE
	$(call FACT,$(FLAGS),$(DEPS_OF) --missing && )
$(B)/objects: FORCE
	$(call FACT,$(sort $(OBJ)))
$(B)/version.c: FORCE
	$(call FACT,extern const char version_commit[]; const char version_commit[] = "$(COMMIT)";)

$(B)/schemas/%.pb-c.c $(B)/schemas/%.pb-c.h: schemas/%.proto | $(B)/flags
	@mkdir -p $(@D); protoc-c --c_out=$(B) $<
$(B)/schemas/%.pb-c.o: WARN =
# A text to be included in the initialiser of an array of char.
$(B)/schemas/%.sql.h: schemas/%.sql
	@mkdir -p $(@D); od -An -v -tx1 $< | sed 's/ \(..\)/0x\1,/g; $$s/,$$//' > $@
RULES = $(wildcard space/rewrite/*.rules)
$(B)/rules: FORCE
	$(call FACT,$(shell cat $(RULES) /dev/null | cksum) $(RULES))
$(B)/schemas/rewrite.rules.h: $(RULES) $(B)/rules
	@mkdir -p $(@D); for f in $(RULES); do echo "family $$(basename $$f .rules)"; cat $$f; done | \
		od -An -v -tx1 | sed 's/ \(..\)/0x\1,/g; $$s/,$$//' > $@
# The layers, and the tables of nets, are plain loops that are to become vector code. Private: not for what they depend on.
$(B)/learn/%.o $(B)/space/net/area.o: private CFLAGS_release = -O3 -g
$(B)/%.o: %.c $(B)/flags | $(PROTO) $(EMBED)
	@mkdir -p $(@D); $(CC) $(OUR_CFLAGS) -MD -MP -c $< -o $@
$(B)/%.o: $(B)/%.c $(B)/flags
	@mkdir -p $(@D); $(CC) $(OUR_CFLAGS) -MD -MP -c $< -o $@
$(LIB): $(OBJ) $(B)/objects
	@rm -f $@; $(AR) rcs $@ $(OBJ)

LINK = @mkdir -p $(@D); $(CC) $(OUR_CFLAGS) $(filter %.o,$^) $(LIB) $(LDFLAGS) $(LIBS) -o $@
define PROGRAM
$(BIN)/$(1): $(B)/$(basename $(2)).o $(B)/version.o $(LIB)
	$$(LINK)
endef
$(foreach m,$(MAINS),$(eval $(call PROGRAM,$(firstword $(subst =, ,$(m))),$(lastword $(subst =, ,$(m))))))
$(B)/tests/check_fuzz_%: $(B)/tests/fuzz_%.o $(B)/tests/replay.o $(LIB)
	$(LINK)
$(B)/tests/%: $(B)/tests/%.o $(LIB)
	$(LINK)
$(B)/bench/%: $(B)/bench/%.o $(LIB)
	$(LINK)
$(B)/fuzz/%: $(B)/tests/fuzz_%.o $(LIB)
	$(LINK) -fsanitize=fuzzer

# A plugin that crashes on request, for tests of everything around plugins; needs the same header.
FAKE = $(if $(wildcard $(PJRT)/pjrt_c_api.h),$(B)/tests/fake_plugin.so)
$(B)/tests/fake_plugin.so: tests/fake_plugin.c tests/fake_plugin.h $(B)/flags
	@mkdir -p $(@D); $(CC) -std=c11 $(CPPFLAGS) -O1 -g $(WARN) -shared -fPIC $< -lm -o $@

$(BIN)/vantage-call.so: $(wildcard python/*.[ch]) $(B)/flags
	@mkdir -p $(@D); $(CC) $(OUR_CFLAGS) -fPIC -shared $(LDFLAGS) -o $@ $(filter %.c,$^) -ldl

check: all $(CHECKS) $(FAKE)
	@B=$(B) BIN=$(BIN) tests/run check
# The second make sees what the first one fetched.
test:
	@$(DEPS_OF) --tests
	@$(MAKE) --no-print-directory all tests benches && B=$(B) BIN=$(BIN) DEPS=$(DEPS) tests/run check full
demo: deps
	@$(MAKE) --no-print-directory all && BIN=$(BIN) DEPS=$(DEPS) examples/demo.sh
tests: $(TESTS) $(FAKE) $(DOOR)
	@:
benches: all $(BENCHES)
	@:
# Every source of ours, for its warnings: tests and benches need not be linked for that.
compiled: $(addsuffix .o,$(filter-out $(FUZZ:%=$(B)/tests/check_fuzz_%),$(TESTS)) $(FUZZ:%=$(B)/tests/fuzz_%) $(B)/tests/replay $(BENCHES)) \
	$(FAKE) $(DOOR)
	@:
deps:
	@$(DEPS_OF)
deps-%: FORCE
	@$(DEPS_OF) --$*
fuzz:
	@$(MAKE) --no-print-directory MODE=fuzz CC=clang $(FUZZ:%=build/fuzz/fuzz/%)
	@set -e; for f in $(FUZZ); do mkdir -p build/fuzz/corpus/$$f tests/corpus/$$f; echo "fuzzing $$f"; \
		build/fuzz/fuzz/$$f -max_total_time=$(SECONDS_EACH) -timeout=10 -rss_limit_mb=2048 \
		-artifact_prefix=build/fuzz/ build/fuzz/corpus/$$f tests/corpus/$$f; done
door: all $(or $(DOOR),no-header)
no-header:
	@echo "make: $(PJRT)/pjrt_c_api.h is not there; make deps says why, and fetches it" >&2; exit 1
	@:
wheel:
	@python3 -m pip wheel -q --no-deps --disable-pip-version-check -w dist . && ls dist/*.whl
install: all
	@tools/install $(BIN) "$(DESTDIR)" "$(PREFIX)" $(PROGRAMS)
clean:
	rm -rf build bin dist
help:
	@sed -n '/^#/!q; s/^# //p' Makefile

.PHONY: all door no-header wheel check test tests benches compiled deps demo fuzz install clean help FORCE
.SECONDARY:
-include $(shell find $(B) -name '*.d' 2>/dev/null)
