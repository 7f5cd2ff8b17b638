-- store.sql: what a vantage store holds. One SQLite file, read by any program that speaks SQLite.
--
-- Facts are what was measured, and who measured it how. They are added and never rewritten (the end
-- of a stint is filled in once). Derived tables, at the bottom, hold nothing that `store rebuild` does
-- not compute from the facts.
--
-- Times of day are microseconds since 1970, durations are seconds. Costs are of the quantity of their run's environment,
-- in its base unit: seconds, unless that says otherwise, also where a column's name says seconds. 64-bit hashes are kept in
-- SQLite's signed integers, bit for bit. Ids are of this file; across files a run is known by its uuid,
-- everything else by a hash of its content.
--
-- Changing this file: raise user_version, and add the step from the version before to
-- store/migrate.c and a store of that version to tests/stores/.

PRAGMA application_id = 0x56414e54; -- "VANT"
PRAGMA user_version = 3;

-- What a device did with a program, and where a cost comes from: schemas/outcome.def and costkind.def.
CREATE TABLE outcome (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE,
	meaning TEXT NOT NULL
) STRICT;
CREATE TABLE cost_kind (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE,
	meaning TEXT NOT NULL
) STRICT;

-- Large things: zstd of the bytes whose SHA-256 and length stand beside it.
CREATE TABLE blob (
	id INTEGER PRIMARY KEY,
	hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
	size INTEGER NOT NULL CHECK (size >= 0),
	data BLOB NOT NULL
) STRICT;

-- The hardware as far as it decides costs (processor model, cores, kernel): equal machines of a
-- cluster are one machine, and share what they measured. Which host it was stands in the stint.
CREATE TABLE machine (
	id INTEGER PRIMARY KEY,
	description TEXT NOT NULL UNIQUE
) STRICT;

-- All that makes two costs comparable. Another version or build of a plugin is another environment. One of
-- version 1 of this file has no build until a program measures in it again.
CREATE TABLE environment (
	id INTEGER PRIMARY KEY,
	hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32), -- of the columns below
	machine INTEGER NOT NULL REFERENCES machine,
	backend TEXT NOT NULL,  -- "cpu", "sim", ...
	platform TEXT NOT NULL, -- what the plugin calls itself
	version TEXT NOT NULL,
	compile_options TEXT NOT NULL,
	kind INTEGER NOT NULL REFERENCES cost_kind,
	device TEXT NOT NULL DEFAULT '', -- an accelerator: model, number, memory, driver; '': the machine computes
	build TEXT NOT NULL DEFAULT '',	 -- of the plugin: a hash of its file; '': none, or unknown
	quantity TEXT NOT NULL DEFAULT 'seconds' -- what costs are of: schemas/quantity.def
) STRICT;

-- A program as the decisions are made on it: the serialised module just before the compiler's pass.
CREATE TABLE graph (
	id INTEGER PRIMARY KEY,
	blob INTEGER NOT NULL UNIQUE REFERENCES blob,
	name TEXT NOT NULL, -- the first it was seen under
	nodes INTEGER NOT NULL,
	computations INTEGER NOT NULL,
	edges INTEGER NOT NULL
) STRICT;

-- The decisions: a list of sites with their choices. `hash` is what the space says of its own site
-- table: a reader opens the space again and compares before it trusts site numbers.
CREATE TABLE space (
	id INTEGER PRIMARY KEY,
	identity BLOB NOT NULL UNIQUE CHECK (length(identity) = 32), -- of the graph's hash and the columns below
	graph INTEGER NOT NULL REFERENCES graph,
	kind TEXT NOT NULL,     -- "fusion", "fusion/binary", "toy:..."
	backend TEXT NOT NULL,
	hash INTEGER NOT NULL,
	sites INTEGER NOT NULL CHECK (sites >= 0),
	ties INTEGER NOT NULL,
	choices BLOB NOT NULL,  -- zstd: a byte per site, how many choices
	dflt BLOB NOT NULL,     -- zstd: a byte per site, the default
	node BLOB NOT NULL      -- zstd: 4 bytes per site, little-endian, its node
) STRICT;
CREATE INDEX space_graph ON space (graph);

-- One collection or search. `settings` is everything that decides its course; a run with the same
-- settings goes on where the last one stopped.
CREATE TABLE run (
	id INTEGER PRIMARY KEY CHECK (id > 0 AND id < 0x7fffffff),
	uuid TEXT NOT NULL UNIQUE CHECK (length(uuid) = 36),
	kind TEXT NOT NULL CHECK (kind IN ('collect', 'search')),
	program TEXT NOT NULL,
	settings TEXT NOT NULL, -- JSON
	policy TEXT NOT NULL CHECK (policy IN ('region', 'whole')),
	seed INTEGER NOT NULL,
	environment INTEGER NOT NULL REFERENCES environment
) STRICT;

-- A stretch of a run: one night. No end: the program still runs, or was killed.
CREATE TABLE stint (
	run INTEGER NOT NULL REFERENCES run,
	n INTEGER NOT NULL,
	first_step INTEGER NOT NULL,
	program TEXT NOT NULL,
	host TEXT NOT NULL,
	started INTEGER NOT NULL,
	ended INTEGER,
	state TEXT NOT NULL CHECK (state IN ('running', 'stopped', 'finished', 'failed')),
	summary TEXT, -- JSON
	PRIMARY KEY (run, n)
) STRICT, WITHOUT ROWID;

-- A walk through the configurations of one space.
CREATE TABLE chain (
	run INTEGER NOT NULL REFERENCES run,
	number INTEGER NOT NULL,
	space INTEGER NOT NULL REFERENCES space,
	start TEXT NOT NULL,         -- "default", "random", ...
	tau REAL NOT NULL,           -- Gibbs temperature as a share of base_seconds; 0: none
	base_seconds REAL NOT NULL,  -- the default's cost that tau refers to; 0: unknown
	PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX chain_space ON chain (space);

-- Steps of a run are numbered from 0 without gaps, all chains together; sample and trial share the
-- numbers. A keyframe is a chain's whole configuration before the first step of that number or a
-- higher one. A jump does not follow from the steps before (the start, a restart); any other must.
CREATE TABLE keyframe (
	run INTEGER NOT NULL REFERENCES run,
	step INTEGER NOT NULL,
	n INTEGER NOT NULL,
	chain INTEGER NOT NULL,
	sweep INTEGER NOT NULL,
	jump INTEGER NOT NULL CHECK (jump IN (0, 1)),
	hash INTEGER NOT NULL,       -- xor of hash_zobrist(site, choice) over all sites
	config BLOB NOT NULL,        -- zstd: a byte per site
	PRIMARY KEY (run, step, n)
) STRICT, WITHOUT ROWID;

-- A sample: at one site the cost of each choice given all others, and the choice drawn. The id is
-- run * 2^32 + step, so that rows are appended to full pages and a run is a range.
--
-- costs: 2 bytes, little-endian: the low bits of the configuration's hash after the draw, proof of
-- the replay. Then per choice but the first, relative to it: seconds as a 4-byte float; and 2 bytes,
-- the upper half of the standard error as a float, whose sign bit says "at least that much, measuring
-- was given up". A choice that failed has 0x7fc00000 + its outcome in place of the float. Only where
-- the first choice failed it has an entry too, with 0x7fc10000 + its outcome, and the reference is
-- the first choice that did not fail.
CREATE TABLE sample (
	id INTEGER PRIMARY KEY,
	chain INTEGER NOT NULL,
	site INTEGER NOT NULL,
	chosen INTEGER NOT NULL,
	kind INTEGER NOT NULL REFERENCES cost_kind,
	outcome INTEGER NOT NULL REFERENCES outcome, -- ok, or that of the first choice that failed
	costs BLOB NOT NULL
) STRICT;
CREATE INDEX sample_failed ON sample (id) WHERE outcome <> 0;

-- A trial: several sites changed at once, one cost against the chain's configuration, taken or not.
-- flips: the 2 bytes of proof as above, then per site a varint (distance from the site before, the
-- first from -1) and the choice as a byte. se < 0: `delta` is only a bound.
CREATE TABLE trial (
	id INTEGER PRIMARY KEY, -- run * 2^32 + step
	chain INTEGER NOT NULL,
	flips BLOB NOT NULL,
	delta REAL,             -- seconds; NULL where it failed
	se REAL,
	taken INTEGER NOT NULL CHECK (taken IN (0, 1)),
	kind INTEGER NOT NULL REFERENCES cost_kind,
	outcome INTEGER NOT NULL REFERENCES outcome
) STRICT;

-- The whole program measured against the default, beside what the sum of region costs had become.
CREATE TABLE anchor (
	run INTEGER NOT NULL REFERENCES run,
	step INTEGER NOT NULL,
	n INTEGER NOT NULL,
	chain INTEGER NOT NULL,
	sweep INTEGER NOT NULL,
	default_seconds REAL NOT NULL,
	whole REAL,             -- seconds above the default, and its standard error
	whole_se REAL,
	running REAL NOT NULL,  -- the same by summing
	running_se REAL,
	reanchored INTEGER NOT NULL CHECK (reanchored IN (0, 1)), -- the sum went on from `whole`
	kind INTEGER NOT NULL REFERENCES cost_kind,
	outcome INTEGER NOT NULL REFERENCES outcome,
	PRIMARY KEY (run, step, n)
) STRICT, WITHOUT ROWID;

-- Every measurement made during a step, of a pair of regions (key) or of whole programs (key 0, 0).
-- raw: float pairs, seconds of a and of b, as they were run.
CREATE TABLE measurement (
	run INTEGER NOT NULL REFERENCES run,
	step INTEGER NOT NULL,
	n INTEGER NOT NULL,
	key0 INTEGER NOT NULL,
	key1 INTEGER NOT NULL,
	seconds_a REAL,
	seconds_b REAL,
	delta REAL,
	se REAL,
	pairs INTEGER NOT NULL,
	instances INTEGER NOT NULL,
	kind INTEGER NOT NULL REFERENCES cost_kind,
	outcome INTEGER NOT NULL REFERENCES outcome,
	raw INTEGER REFERENCES blob,
	PRIMARY KEY (run, step, n)
) STRICT, WITHOUT ROWID;

-- What went wrong during a step, in the device's own words.
CREATE TABLE failure (
	run INTEGER NOT NULL REFERENCES run,
	step INTEGER NOT NULL,
	n INTEGER NOT NULL,
	at INTEGER NOT NULL,
	key0 INTEGER NOT NULL,
	key1 INTEGER NOT NULL,
	outcome INTEGER NOT NULL REFERENCES outcome,
	signal INTEGER NOT NULL,
	detail TEXT NOT NULL,
	PRIMARY KEY (run, step, n)
) STRICT, WITHOUT ROWID;

-- A configuration worth remembering, with its cost against the default.
CREATE TABLE finding (
	run INTEGER NOT NULL REFERENCES run,
	step INTEGER NOT NULL,
	n INTEGER NOT NULL,
	chain INTEGER NOT NULL,
	hash INTEGER NOT NULL,
	config BLOB NOT NULL,   -- zstd: a byte per site
	delta REAL NOT NULL,
	se REAL,
	default_seconds REAL NOT NULL,
	kind INTEGER NOT NULL REFERENCES cost_kind,
	how TEXT NOT NULL CHECK (how IN ('region', 'whole', 'final')),
	details TEXT,            -- JSON
	PRIMARY KEY (run, step, n)
) STRICT, WITHOUT ROWID;

-- The region cache: what a pair of small programs costs, one execution, wherever it occurs. Measured
-- again it gets another row; the newest counts, and one that did not fail before any that did. A failure
-- has the effort it was made with, as far as it was known: whether it is tried again is outcome.def's to say.
CREATE TABLE region (
	environment INTEGER NOT NULL REFERENCES environment,
	key0 INTEGER NOT NULL,
	key1 INTEGER NOT NULL,
	at INTEGER NOT NULL,
	delta REAL,
	se REAL,
	seconds_a REAL,
	seconds_b REAL,
	pairs INTEGER NOT NULL,
	kind INTEGER NOT NULL REFERENCES cost_kind,
	outcome INTEGER NOT NULL REFERENCES outcome,
	deadline REAL,	-- seconds it was waited for
	load REAL,	-- programs that wanted to run, per core
	memory INTEGER, -- bytes there were for it
	PRIMARY KEY (environment, key0, key1, at)
) STRICT, WITHOUT ROWID;

-- How a run made here is resumed: what its last step left behind. Not merged elsewhere; dropped when
-- the run finishes. The only table besides the derived ones whose rows change.
CREATE TABLE resume (
	run INTEGER PRIMARY KEY REFERENCES run,
	state BLOB
) STRICT;

-- Derived: rebuilt by `store rebuild`, at any time.

CREATE TABLE rebuilt (
	at INTEGER NOT NULL,
	steps INTEGER NOT NULL -- of all runs at that time
) STRICT;

-- Median magnitude of the advantages of a space in an environment: what learning divides labels by.
CREATE TABLE sigma (
	space INTEGER NOT NULL REFERENCES space,
	environment INTEGER NOT NULL REFERENCES environment,
	samples INTEGER NOT NULL,
	advantages INTEGER NOT NULL,
	sigma REAL NOT NULL,
	PRIMARY KEY (space, environment)
) STRICT, WITHOUT ROWID;

-- The best configuration known of a space in an environment: of findings, and ('chain') of what the
-- chains of collections passed through, by summing.
CREATE TABLE best (
	space INTEGER NOT NULL REFERENCES space,
	environment INTEGER NOT NULL REFERENCES environment,
	how TEXT NOT NULL,
	run INTEGER NOT NULL REFERENCES run,
	step INTEGER NOT NULL,
	delta REAL NOT NULL,
	se REAL,
	default_seconds REAL NOT NULL, -- 0: unknown
	hash INTEGER NOT NULL,
	config BLOB NOT NULL,
	PRIMARY KEY (space, environment, how)
) STRICT, WITHOUT ROWID;
