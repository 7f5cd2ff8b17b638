# make          all programs into bin/           MODE=release (default) | asan | tsan
# make test     fetch what is missing, then every test      make check   the fast part, offline
# make help     the rest
MODE ?= release
B ?= build/$(MODE)
BIN ?= $(if $(filter release,$(MODE)),bin,$(B)/bin)
PREFIX ?= /usr/local
DEPS ?= .deps

CFLAGS_release = -O2 -g
CFLAGS_asan = -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
CFLAGS_tsan = -O1 -g -fsanitize=thread
WARN = -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wconversion
OUR_CFLAGS = -std=c11 -D_GNU_SOURCE $(CFLAGS_$(MODE)) $(WARN) -I. -I$(B) $(CFLAGS)
LIBS = -lsqlite3 -lzstd -lopenblas -lpcre2-8 -lprotobuf-c -ldl -lpthread -lm

FOLDERS = base graph device store collect learn search
# The programs: name and the file that holds its main.
MAINS = inspect=device/inspect.c vantage-worker=device/worker.c store=store/main.c \
	collect=collect/main.c learn=learn/main.c search=search/main.c
MAIN_SRC = $(foreach m,$(MAINS),$(lastword $(subst =, ,$(m))))
PROGRAMS = $(foreach m,$(MAINS),$(if $(wildcard $(lastword $(subst =, ,$(m)))),$(firstword $(subst =, ,$(m)))))

PROTO = $(patsubst schemas/%.proto,$(B)/schemas/%.pb-c.c,$(wildcard schemas/*.proto))
SRC = $(filter-out $(MAIN_SRC),$(wildcard $(addsuffix /*.c,$(FOLDERS))))
OBJ = $(SRC:%.c=$(B)/%.o) $(PROTO:.c=.o)
LIB = $(B)/libvantage.a
TESTS = $(patsubst tests/%.c,$(B)/tests/%,$(wildcard tests/check_*.c tests/full_*.c))
BENCHES = $(patsubst bench/%.c,$(B)/bench/%,$(wildcard bench/*.c))

all: $(PROGRAMS:%=$(BIN)/%)

# Objects depend on the flags that made them: changed flags rebuild.
FLAGS := $(CC) $(OUR_CFLAGS)
$(B)/flags: FORCE
	@mkdir -p $(@D); echo '$(FLAGS)' | cmp -s - $@ || echo '$(FLAGS)' > $@

$(B)/schemas/%.pb-c.c $(B)/schemas/%.pb-c.h: schemas/%.proto
	@mkdir -p $(@D); protoc-c --c_out=$(B) $<
$(B)/schemas/%.pb-c.o: WARN =
$(B)/%.o: %.c $(B)/flags | $(PROTO)
	@mkdir -p $(@D); $(CC) $(OUR_CFLAGS) -MMD -MP -c $< -o $@
$(B)/%.o: $(B)/%.c $(B)/flags
	@mkdir -p $(@D); $(CC) $(OUR_CFLAGS) -MMD -MP -c $< -o $@
$(LIB): $(OBJ)
	@rm -f $@; $(AR) rcs $@ $^

define PROGRAM
$(BIN)/$(1): $(B)/$(basename $(2)).o $(LIB)
	@mkdir -p $$(@D); $$(CC) $$(OUR_CFLAGS) $$< $(LIB) $$(LDFLAGS) $(LIBS) -o $$@
endef
$(foreach m,$(MAINS),$(eval $(call PROGRAM,$(firstword $(subst =, ,$(m))),$(lastword $(subst =, ,$(m))))))

$(B)/tests/%: $(B)/tests/%.o $(LIB)
	@$(CC) $(OUR_CFLAGS) $< $(LIB) $(LDFLAGS) $(LIBS) -o $@
$(B)/bench/%: $(B)/bench/%.o $(LIB)
	@$(CC) $(OUR_CFLAGS) $< $(LIB) $(LDFLAGS) $(LIBS) -o $@

check: all $(filter $(B)/tests/check_%,$(TESTS))
	@B=$(B) BIN=$(BIN) tests/run check
test: deps
	@$(MAKE) --no-print-directory all tests && B=$(B) BIN=$(BIN) tests/run check full
tests: $(TESTS)
benches: all $(BENCHES)
deps:
	@DEPS=$(DEPS) tests/deps
clean:
	rm -rf build bin

.PHONY: all check test tests benches deps clean help install demo fuzz FORCE
.SECONDARY:
-include $(shell find $(B) -name '*.d' 2>/dev/null)
