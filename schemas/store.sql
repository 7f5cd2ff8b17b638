-- store.sql: the tables of a vantage store. A store is one SQLite file that any program with SQLite can read.
--
-- Facts are what was measured, by whom, and how. Rows of facts are added and never rewritten; only the end
-- of a stint is filled in later, once. `store rebuild` computes the derived tables, at the bottom, from the facts.
--
-- Times of day are microseconds since 1970; durations are seconds. A cost is in the base unit of its environment's quantity.
-- That is seconds for most environments; for the others it is not, even if a column is called `seconds`. SQLite's signed
-- integers hold 64-bit hashes, bit for bit. Ids are valid in this file only. Across files a uuid identifies a run, and
-- a hash of the content identifies anything else.
--
-- To change this file: raise user_version, add the step from the version before to store/migrate.c, and
-- add a store of that version to tests/stores/.

PRAGMA application_id = 0x56414e54; -- "VANT"
PRAGMA user_version = 3;

-- Outcome: what a device did with a program (schemas/outcome.def). Cost kind: where a cost comes from (costkind.def).
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

-- Large things, packed with zstd. `hash` and `size` are the SHA-256 and the length of the unpacked bytes.
CREATE TABLE blob (
	id INTEGER PRIMARY KEY,
	hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
	size INTEGER NOT NULL CHECK (size >= 0),
	data BLOB NOT NULL
) STRICT;

-- The hardware, as far as it decides costs: processor model, cores, kernel. Equal machines of a cluster are
-- one machine here, and share what they measured. A stint names the host.
CREATE TABLE machine (
	id INTEGER PRIMARY KEY,
	description TEXT NOT NULL UNIQUE
) STRICT;

-- An environment: all that must be equal for two costs to be comparable. Another version or build of a plugin is another
-- environment. An environment from version 1 of this file has no build until a program measures in it again.
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

-- A program at the stage at which the decisions are made: the serialised module just before the compiler's pass.
CREATE TABLE graph (
	id INTEGER PRIMARY KEY,
	blob INTEGER NOT NULL UNIQUE REFERENCES blob,
	name TEXT NOT NULL, -- the first it was seen under
	nodes INTEGER NOT NULL,
	computations INTEGER NOT NULL,
	edges INTEGER NOT NULL
) STRICT;

-- A decision space: a list of sites with their choices. `hash` is the space's own hash of its site table. A reader
-- opens the space again and compares the hash before it trusts site numbers.
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

-- A run: one collection or search. `settings` holds everything that decides its course; a program with the same
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

-- A stint: what one process did of a run, for example in one night. If `ended` is NULL, it still runs or was killed.
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

-- A chain: a walk through the configurations of one space.
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

-- The steps of a run are numbered from 0 without gaps, over all chains; a step is a sample or a trial. A
-- keyframe is the whole configuration of a chain before its first step with this number or a higher one.
-- It is a jump if it does not follow from the steps before (the start, a restart); all others must follow.
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

-- A sample: the cost of each choice of one site while all other sites stay as they are, and the choice that was drawn.
-- The id is run * 2^32 + step, so that rows are appended to full pages and a run is a range.
--
-- costs begins with 2 bytes, little-endian: the low bits of the configuration's hash after the draw, which prove
-- the replay. Each choice except the first follows, relative to the first: its cost as a 4-byte float, and 2 bytes,
-- the upper half of its standard error as a float. The error's sign bit means that measuring was given up: the cost
-- is at least this much. A choice that failed has 0x7fc00000 + its outcome instead of the cost. If the first
-- choice failed, it has an entry, too, with 0x7fc10000 + its outcome, and costs are relative to the first choice
-- that did not fail.
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

-- A trial: several sites changed at once, the cost of that relative to the chain's configuration, and whether it was taken.
-- flips: 2 bytes of proof as above; then for each site a varint, the distance from the site before (for the
-- first, from -1), and a byte, the choice. If se < 0, `delta` is only a bound.
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

-- An anchor: the whole program measured against the default, beside the sum of region costs up to then.
CREATE TABLE anchor (
	run INTEGER NOT NULL REFERENCES run,
	step INTEGER NOT NULL,
	n INTEGER NOT NULL,
	chain INTEGER NOT NULL,
	sweep INTEGER NOT NULL,
	default_seconds REAL NOT NULL, -- of the default in the same comparison; in older rows, when the run began
	whole REAL,             -- seconds above the default, and its standard error
	whole_se REAL,
	running REAL NOT NULL,  -- the same by summing
	running_se REAL,
	reanchored INTEGER NOT NULL CHECK (reanchored IN (0, 1)), -- the sum went on from `whole`
	kind INTEGER NOT NULL REFERENCES cost_kind,
	outcome INTEGER NOT NULL REFERENCES outcome,
	PRIMARY KEY (run, step, n)
) STRICT, WITHOUT ROWID;

-- Every measurement made during a step: of a region (key) or of whole programs (key 0, 0).
-- raw: pairs of floats, the seconds of a and of b, in the order of the runs.
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

-- A failure during a step, in the device's own words.
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

-- A finding: a configuration worth remembering, with its cost relative to the default.
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

-- The region cache: the price of a region, for one execution, in whatever program it occurs. If it is measured
-- again it gets another row. The newest row counts, but rows that did not fail come before those that did. A failure
-- has the effort with which it was tried, as far as that is known; schemas/outcome.def says when it is tried again.
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

-- The state after the last step of a run that was made here, by which the run goes on. It is not merged into other
-- stores, and is dropped when the run finishes. Its rows change, as otherwise only those of derived tables do.
CREATE TABLE resume (
	run INTEGER PRIMARY KEY REFERENCES run,
	state BLOB
) STRICT;

-- Derived: rebuilt by `store rebuild`, at any time.

CREATE TABLE rebuilt (
	at INTEGER NOT NULL,
	steps INTEGER NOT NULL -- of all runs at that time
) STRICT;

-- The median magnitude of the advantages of a space in an environment. Learning divides labels by it.
CREATE TABLE sigma (
	space INTEGER NOT NULL REFERENCES space,
	environment INTEGER NOT NULL REFERENCES environment,
	samples INTEGER NOT NULL,
	advantages INTEGER NOT NULL,
	sigma REAL NOT NULL,
	PRIMARY KEY (space, environment)
) STRICT, WITHOUT ROWID;

-- The best known configuration of a space in an environment: the best finding, and (how = 'chain') the best
-- configuration that a chain of a collection passed through, by the sum of region costs.
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
