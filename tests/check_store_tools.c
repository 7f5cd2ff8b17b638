/*
 * check_store_tools.c - the verbs of the program `store` that look, check and write out.
 */
#include "space/toy/toy.h"
#include "tests/store_shell.h"

static void help_and_errors_are_sentences(void)
{
	static const struct { const char *args, *says; int rc; } t[] = {
		{"--help", "merge   OUT IN...", 0}, {"", "what shall it do", 1}, {"verfy x", "did you mean verify", 1},
		{"info", "which store", 1}, {"info nowhere.sqlite", "does not exist", 1}, {"ls --help", "runs|graphs",
			0},
		{"--version", "vantage", 0}, {"merge out.sqlite", "at least one to merge", 1},
		{"export a.sqlite --format pdf", "pdf", 1}, {"ls a.sqlite rums", "did you mean runs", 1},
		{"show a.sqlite nobody", "no run and no graph nobody", 1}, {"show a.sqlite", "needs one run", 1},
		{"query a.sqlite", "needs one SQL", 1}, {"query a.sqlite 'DELETE FROM run'", "only reads", 1},
		{"query a.sqlite 'SELEC 1'", "not understood", 1}, {"query a.sqlite 'SELECT 1; SELECT 2'",
			"one statement", 1},
		{"query a.sqlite \"SELECT 1 WHERE 'a' REGEXP '('\"", "parenthesis", 1},
		{"merge a.sqlite a.sqlite", "into itself", 1}, {"export a.sqlite --run ffff", "has no run ffff", 1},
		{"export a.sqlite -o /nowhere/x", "cannot be written", 1}, {"query a.sqlite ''", "no SQL statement",
			1}};

	CHECK(make("a.sqlite", 1, 2, 50, "g"));
	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		CHECK_INT(sh("$S %s", t[i].args), t[i].rc);
		if (!CHECK_SAYS(t[i].says))
			printf("  of: store %s\n", t[i].args);
	}
}

static void looking_is_tables_and_json(void)
{
	CHECK(make("b.sqlite", 1, 3, 100, "resnet.pb"));
	CHECK_INT(sh("$S ls b.sqlite"), 0);
	CHECK(says("runs\n") && says("graphs\n") && says("resnet.pb") && says(" 100 ") && says("stopped"));
	CHECK_INT(sh("$S ls --db b.sqlite runs --json"), 0);
	CHECK(says("\"steps\": 100") && says("\"cost\": \"modelled\"") && !says("graphs"));
	CHECK_INT(sh("$S info b.sqlite --json | python3 -c 'import json,sys; "
		"d=json.load(sys.stdin); print(d[\"store\"][\"steps\"])'"), 0);
	CHECK_STR(said.data, "300\n");
	CHECK_INT(sh("$S show b.sqlite 2 --json | python3 -c 'import json,sys; "
		"d=json.load(sys.stdin); print(d[\"run\"][\"steps\"],"
		" len(d[\"chains\"]), d[\"stints\"][0][\"state\"])'"), 0);
	CHECK_STR(said.data, "100 1 stopped\n");
	CHECK_INT(sh("$S show b.sqlite resnet.pb"), 0);
	CHECK(says("sha256") && says("toy:1"));
	CHECK_INT(sh("$S query b.sqlite --csv \"SELECT count(*), sum(cost(costs, 1) IS "
		"NULL), min(cost_outcome(costs, 0)) FROM samples WHERE run = 3\""), 0);
	CHECK_SAYS("\n100,0,ok\n");
	CHECK_INT(sh("$S query b.sqlite --jsonl \"SELECT name FROM graph WHERE name REGEXP '^res.*\\.pb$'\""), 0);
	CHECK_STR(said.data, "{\"name\":\"resnet.pb\"}\n");
	CHECK_INT(sh("$S rebuild b.sqlite --json"), 0);
	CHECK(says("\"steps\": 300") && says("\"label_scales\": 1"));
	CHECK_INT(sh("$S compact b.sqlite"), 0);
	CHECK_INT(sh("$S verify b.sqlite"), 0);
	CHECK(says("sound") && says("3 runs with 300 samples"));
}

static void verify_tells_damage(void)
{
	CHECK(make("c.sqlite", 1, 2, 100, "g"));
	CHECK_INT(sh("$S verify c.sqlite --json"), 0);
	CHECK_SAYS("\"ok\": true");
	CHECK_INT(alter("c.sqlite", "UPDATE sample SET chosen = 1 - chosen WHERE id = (2 << 32) + 7 AND chosen < 2"),
		0);
	CHECK_INT(sh("$S verify c.sqlite"), 1);
	CHECK(says("DAMAGED") && says("run 2, step 7") && says("1 runs with"));
	CHECK_INT(sh("rm c.sqlite"), 0);
	CHECK(make("c.sqlite", 1, 2, 100, "g"));
	CHECK_INT(alter("c.sqlite", "UPDATE blob SET hash = zeroblob(32) WHERE id = 1"), 0);
	CHECK_INT(sh("$S verify c.sqlite --json"), 1);
	CHECK(says("does not have the hash") && says("\"ok\": false"));
	CHECK_INT(alter("c.sqlite", "DELETE FROM run WHERE id = 2"), 0);
	CHECK_INT(sh("$S verify c.sqlite"), 1);
	CHECK(says("is missing") && says("which is not"));
	CHECK_INT(sh("dd if=/dev/urandom of=c.sqlite bs=4096 seek=40 "
		"count=1 conv=notrunc status=none; $S verify c.sqlite"), 1);
}

/* Wherever they are among the others, and whatever number that run would have. */
static void verify_tells_what_belongs_to_no_run(void)
{
	static const struct {
		const char *sql, *says;
	} table[] = {
		{"DELETE FROM run WHERE id = 2; DELETE FROM chain WHERE run = 2; DELETE FROM keyframe WHERE run = 2;"
		 "DELETE FROM stint WHERE run = 2; DELETE FROM measurement WHERE run = 2;"
		 "DELETE FROM failure WHERE run = 2; DELETE FROM resume WHERE run = 2", "of run 2, which is not"},
		{"UPDATE sample SET id = id - (1 << 32) WHERE id = (1 << 32) + 99", "of run 0, which is not"},
		{"UPDATE sample SET id = 0x7fffffffffffffff WHERE id = (3 << 32) + 99", "of run 2147483647, which"},
		{"UPDATE sample SET id = 0x8000000000000000 WHERE id = (3 << 32) + 99", "of run -2147483648, which"},
		{"INSERT INTO trial SELECT (8 << 32) + id, 0, x'', 0, 0, 0, 0, 0 FROM run", "of run 8, which is not"},
		{"INSERT INTO keyframe SELECT 8, step, n, chain, sweep, jump, hash, config FROM keyframe LIMIT 1",
			"a row of keyframe refers to a run that is missing"},
	};

	CHECK(make("whole.sqlite", 1, 3, 100, "g"));
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		CHECK_INT(sh("cp whole.sqlite o.sqlite; $S verify o.sqlite"), 0);
		CHECK_INT(alter("o.sqlite", table[i].sql), SQLITE_OK);
		CHECK_INT(sh("$S verify o.sqlite"), 1);
		CHECK_SAYS(table[i].says);
	}
}

/* Whoever reads the output must not take half of it for the whole. */
static void an_output_that_is_lost_is_an_error(void)
{
	static const char *const commands[] = {"info f.sqlite", "verify f.sqlite", "compact f.sqlite",
		"merge f.sqlite fs.sqlite", "merge f.sqlite fs.sqlite --json", "export f.sqlite",
		"export f.sqlite --format npz --out fnpz", "query f.sqlite 'SELECT 1'"};

	if (!io_exists("/dev/full"))
		SKIP("there is no /dev/full");
	CHECK(make("f.sqlite", 1, 1, 10, "g") && make("fs.sqlite", 2, 1, 10, "g"));
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
		if (!CHECK_INT(sh("$S %s >/dev/full", commands[i]), 1))
			printf("  of: store %s\n", commands[i]);
		CHECK_SAYS("output cannot be written: No space left on device");
	}
}

static void query_reads_and_does_nothing_else(void)
{
	static const char *const refused[] = {"COMMIT", "BEGIN", "ROLLBACK", "SAVEPOINT a", "RELEASE a",
		"PRAGMA query_only = OFF", "PRAGMA user_version = 7", "PRAGMA journal_mode = DELETE",
		"PRAGMA wal_checkpoint", "PRAGMA optimize", "PRAGMA writable_schema = ON", "ATTACH 'new.sqlite' AS n",
		"DETACH main", "VACUUM", "VACUUM INTO 'new.sqlite'", "REINDEX", "ANALYZE", "DROP TABLE run",
		"INSERT INTO rebuilt VALUES (1, 2)", "UPDATE run SET seed = 1",
		"UPDATE outcome SET id = 1", "CREATE TEMP TABLE t (x)",
		"DELETE FROM run RETURNING id", "EXPLAIN DELETE FROM run"};
	static const struct {
		const char *sql, *says;
	} answered[] = {
		{"PRAGMA user_version", "3"}, {"PRAGMA table_info(run)", "settings"}, {"VALUES (4)", "4"},
		{"SELECT count(*) AS n FROM pragma_table_info('run')", "8"}, {"PRAGMA integrity_check", "ok"},
		{"WITH RECURSIVE c (x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM c LIMIT 9) SELECT sum(x) FROM c",
			"45"},
		{"SELECT count(*) AS n FROM samples", "20"}, {"EXPLAIN QUERY PLAN SELECT * FROM run", "SCAN run"},
		{"SELECT name FROM sqlite_schema WHERE name = 'chain'", "chain"},
	};

	CHECK(make("read.sqlite", 1, 1, 20, "g"));
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		CHECK_INT(sh("$S query read.sqlite \"%s\"", refused[i]), 1);
		if (!CHECK_SAYS("only reads"))
			printf("  of %s\n", refused[i]);
	}
	CHECK_INT(sh("test -e new.sqlite"), 1);
	for (size_t i = 0; i < sizeof answered / sizeof *answered; i++) {
		CHECK_INT(sh("$S query read.sqlite --csv \"%s\"", answered[i].sql), 0);
		CHECK_SAYS(answered[i].says);
	}
}

/* What was gathered before a query failed is let go; the address sanitizer sees if it is not. */
static void an_answer_that_fails_is_dropped(void)
{
	CHECK(make("drop.sqlite", 1, 1, 20, "g"));
	CHECK_INT(alter("drop.sqlite", "DROP TABLE failure"), SQLITE_OK);
	CHECK_INT(sh("$S show drop.sqlite 1"), 1);
	CHECK_STR(said.data, "store: drop.sqlite: SQLite says: no such table: failure\n");
	CHECK_INT(sh("$S info drop.sqlite --json"), 1);
	CHECK_STR(said.data, "store: drop.sqlite: SQLite says: no such table: failure\n");
}

/* Shifted by 32 bits such a number would be that of another run, or none at all. */
static void a_number_that_no_run_can_have_is_refused(void)
{
	static const char *const number[] = {"0", "-1", "2147483647", "2147483648", "0x100000001",
		"0x7fffffffffffffff"};
	static const char *const commands[] = {"info bad.sqlite", "verify bad.sqlite", "export bad.sqlite",
		"compact bad.sqlite", "merge xout.sqlite bad.sqlite"};
	char sql[120];

	CHECK(make("r1.sqlite", 1, 1, 20, "g"));
	for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
		CHECK_INT(sh("cp r1.sqlite bad.sqlite"), 0);
		snprintf(sql, sizeof sql, "PRAGMA ignore_check_constraints = ON; UPDATE run SET id = %s", number[i]);
		CHECK_INT(alter("bad.sqlite", sql), SQLITE_OK);
		for (size_t k = 0; k < sizeof commands / sizeof *commands; k++) {
			CHECK_INT(sh("$S %s", commands[k]), 1);
			CHECK_SAYS("which no run can have");
		}
	}
}

/* A damaged description of a space is found: its configurations are not read, and merging does not spread it. */
static void a_space_that_was_changed_is_refused(void)
{
	static const char *const commands[] = {"verify", "export", "rebuild", "merge out.sqlite",
		"export --format npz"};

	CHECK(make("u.sqlite", 1, 1, 50, "g"));
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
		CHECK_INT(sh("cp u.sqlite s.sqlite; rm -f out.sqlite*"), 0);
		CHECK_INT(alter("s.sqlite", "UPDATE space SET hash = hash + 1"), 0);
		CHECK_INT(sh("$S %s s.sqlite", commands[i]), 1);
		if (!CHECK_SAYS("is not the one its identity is of"))
			printf("  of: store %s\n", commands[i]);
	}
}

static void words_too_many_are_refused(void)
{
	static const char *const verb[] = {"info", "verify", "rebuild", "compact"};

	CHECK(make("x.sqlite", 1, 1, 10, "g"));
	for (size_t i = 0; i < sizeof verb / sizeof *verb; i++) {
		CHECK_INT(sh("$S %s x.sqlite y.sqlite", verb[i]), 1);
		CHECK_SAYS("\"y.sqlite\" is one word too many");
	}
	CHECK_INT(sh("$S ls x.sqlite runs graphs"), 1);
	CHECK_SAYS("\"graphs\" is one word too many");
	CHECK_INT(sh("$S verify --db x.sqlite y.sqlite"), 1);
}

static void exports_are_whole(void)
{
	CHECK(make("e.sqlite", 1, 1, 90, "a,b"));
	CHECK_INT(sh("$S export e.sqlite --format csv -o e.csv && python3 -c "
		"\"import csv; r=list(csv.DictReader(open('e.csv'))); print(len({x['step'] for x in r}), "
		"r[0]['graph'], r[0]['delta'], r[0]['kind'])\""), 0);
	CHECK_STR(said.data, "90 a,b 0 modelled\n");
	CHECK_INT(sh("$S export e.sqlite --every 9 --graph '^a' | python3 -c \"import "
		"json,sys; r=[json.loads(l) for l in sys.stdin]; print(len(r), r[0]['above_default'], r[3]['step'], "
		"len(r[0]['choices']) > 1)\""), 0);
	CHECK_STR(said.data, "10 0 27 True\n");
	CHECK_INT(sh("$S export e.sqlite --graph '^b' | wc -c"), 0);
	CHECK_STR(said.data, "0\n");
}

/* Reads the archive with Python's zipfile (which checks sums) and the headers by their definition. */
static void npz_has_the_layout(void)
{
	static const char reader[] =
		"import ast, glob, struct, sys, zipfile, json, array\n"
		"z = zipfile.ZipFile(glob.glob('npz/*.npz')[0])\n"
		"assert z.testzip() is None\n"
		"d = {}\n"
		"for n in z.namelist():\n"
		"    b = z.read(n)\n"
		"    assert b[:8] == b'\\x93NUMPY\\x01\\0', n\n"
		"    k = struct.unpack('<H', b[8:10])[0]\n"
		"    assert (10 + k) % 64 == 0\n"
		"    h = ast.literal_eval(b[10:10+k].decode())\n"
		"    d[n[:-4]] = (h['descr'], h['shape'], b[10+k:])\n"
		"run = array.array('d', d['config_runtime'][2])\n"
		"feat = d['node_config_feat'][2]\n"
		"steps = [json.loads(l) for l in open('n.jsonl')]\n"
		"n = d['node_config_feat'][1]\n"
		"assert n == (120, 40, 1) and d['config_runtime'][1] == (120,), n\n"
		"assert list(array.array('q', d['node_config_ids'][2])) == [3*i+1 for i in range(40)]\n"
		"for i, s in enumerate(steps):\n"
		"    assert feat[40*i + s['site']] == s['chosen']\n"
		"    if i: assert abs(run[i-1] - 1e-3 - s['above_default']) < 1e-12, i\n"
		"print('fine')\n";
	struct err err = {0};

	CHECK(make("n.sqlite", 3, 1, 120, "toy-bytes"));
	CHECK_INT(io_write_file(at("read.py"), reader, strlen(reader), &err), 0);
	CHECK_INT(sh("$S export n.sqlite >n.jsonl && $S export n.sqlite --format npz --out npz && python3 read.py"), 0);
	CHECK(says("has no node arrays") && says("120 configurations of 40 sites") && says("\nfine\n"));
}

/* What is not asked for is not read: damage there does not matter. */
static void exports_read_the_runs_that_they_write(void)
{
	CHECK(make("gh.sqlite", 1, 2, 50, "g") && make("gh.sqlite", 7, 3, 20, "h"));
	CHECK_INT(sh("$S export gh.sqlite --format npz --out both && ls both | wc -l"), 0);
	CHECK(says("/g.toy") && says(": 100 configurations") && says("/h.toy") && says(": 60 configurations"));
	CHECK_SAYS("\n2\n");
	CHECK_INT(alter("gh.sqlite", "UPDATE sample SET site = 1000 WHERE id = (1 << 32) + 7"), SQLITE_OK);
	CHECK_INT(sh("$S export gh.sqlite --format npz --out all"), 1);
	CHECK_SAYS("run 1, step 7");
	CHECK_INT(sh("$S export gh.sqlite --format npz --out h --graph h && cmp h/h.* both/h.*"), 0);
	CHECK_INT(sh("$S export gh.sqlite --graph h | wc -l"), 0);
	CHECK_SAYS("60");
}

/* Reads the npz file and prints how many nodes, edges, sites and parameters it has. */
static const char graph_reader[] =
	"import ast, glob, struct, zipfile, array, sys\n"
	"z = zipfile.ZipFile(glob.glob('real/*.npz')[0])\n"
	"d = {}\n"
	"for n in z.namelist():\n"
	"    b = z.read(n)\n"
	"    k = struct.unpack('<H', b[8:10])[0]\n"
	"    d[n[:-4]] = (ast.literal_eval(b[10:10+k].decode()), b[10+k:])\n"
	"e = array.array('q', d['edge_index'][1])\n"
	"names = [d['opcode_names'][1][32*i:32*i+32].rstrip(b'\\0') for i in range(d['opcode_names'][0]['shape'][0])]\n"
	"ops = d['node_opcode'][1]\n"
	"ids = array.array('q', d['node_config_ids'][1])\n"
	"feat = d['node_feat'][0]['shape']\n"
	"assert feat[0] == len(ops) and feat[1] == d['node_feat_names'][0]['shape'][0] "
	"and d['node_feat'][0]['descr'] == '<f4'\n"
	"assert all(e[i] > e[i+1] for i in range(0, len(e), 2))\n" /* operands come first */
	"assert all(0 <= i < len(ops) for i in ids)\n"
	"print(len(ops), len(e) // 2, len(ids), sum(1 for o in ops if names[o] == b'parameter'))\n";

/* A toy's graph is a real module: every edge must come out, consumer first. */
static void npz_has_the_graph(void)
{
	struct err err = {0};
	struct toy_spec toy = {30, 2, 1};
	struct graph g = {0};
	struct buf bytes = {0};
	struct made m = {.n_sites = 0};
	struct store *s = store_open(at("r.sqlite"), STORE_CREATE, NULL, &err);
	char want[100];
	uint32_t parameters = 0;
	struct run *run;

	toy_graph(&toy, &bytes);
	CHECK_INT(graph_parse(&g, bytes.data, bytes.len, "toy", &err), 0);
	struct space *p = space_open("toy:1:2", "toy", &g, NULL, 0, &err);
	struct graph_facts gf = {"toy", bytes.data, bytes.len, g.n_nodes, g.n_comps, g.n_edges};
	m.n_sites = p->n_sites;
	m.choices = mem_alloc(p->n_sites);
	m.dflt = mem_alloc(p->n_sites);
	m.node = MEM_NEW(p->n_sites, uint32_t);
	space_default(p, m.dflt);
	for (uint32_t i = 0; i < p->n_sites; i++) {
		m.choices[i] = p->site[i].choices;
		m.node[i] = p->site[i].node;
	}
	struct environment e = {"m", "toy", "formula", "1", "", COST_MODELLED, NULL, NULL, QUANTITY_SECONDS};
	CHECK_INT(store_environment(s, &e, &m.environment, &err), 0);
	CHECK_INT(store_graph(s, &gf, &m.graph, &err), 0);
	struct space_facts sf = {m.graph, p->kind, "toy", p->hash, p->n_sites, p->n_ties, m.choices, m.dflt, m.node};
	CHECK_INT(store_space(s, &sf, &m.space, &err), 0);
	run = made_run(s, &m, 1, 25, &err);
	run_free(run);
	store_close(s);
	for (uint32_t v = 0; v < g.n_nodes; v++)
		parameters += g.node[v].opcode == OP_PARAMETER;
	snprintf(want, sizeof want, "%u %u %u %u\n", g.n_nodes, g.n_edges, p->n_sites, parameters);
	CHECK_INT(io_write_file(at("real.py"), graph_reader, strlen(graph_reader), &err), 0);
	CHECK_INT(sh("$S export r.sqlite --format npz --out real >/dev/null && python3 real.py"), 0);
	CHECK_STR(said.data, want);
	CHECK_STR(err.text, "");
	space_free(p);
	graph_release(&g);
	buf_release(&bytes);
	made_release(&m);
}

int main(void)
{
	shell_open();
	RUN(help_and_errors_are_sentences);
	RUN(looking_is_tables_and_json);
	RUN(verify_tells_damage);
	RUN(verify_tells_what_belongs_to_no_run);
	RUN(an_output_that_is_lost_is_an_error);
	RUN(query_reads_and_does_nothing_else);
	RUN(an_answer_that_fails_is_dropped);
	RUN(a_number_that_no_run_can_have_is_refused);
	RUN(a_space_that_was_changed_is_refused);
	RUN(words_too_many_are_refused);
	RUN(exports_are_whole);
	RUN(npz_has_the_layout);
	RUN(exports_read_the_runs_that_they_write);
	RUN(npz_has_the_graph);
	return shell_close();
}
