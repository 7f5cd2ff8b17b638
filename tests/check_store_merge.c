/*
 * check_store_merge.c - `store merge`, on shards that were merged before, grew, went on elsewhere, or are damaged.
 */
#include "tests/store_shell.h"

/* Do two stores have the same steps, whatever their ids and the order of merging? */
static bool same_steps(const char *a, const char *b)
{
	int rc = sh("for f in '%s' '%s'; do n=$((n+1)); for s in $f; do $S export $s; done | "
		"sed 's/\"space\":[0-9]*,//' | sort >$$.$n; done; cmp $$.1 $$.2 && test -s $$.1", a, b);

	return CHECK_INT(rc, 0);
}

static void merging_twice_is_merging_once(void)
{
	CHECK(make("m1.sqlite", 1, 2, 150, "g"));
	CHECK(make("m2.sqlite", 7, 3, 60, "h"));
	CHECK(make("m3.sqlite", 20, 1, 10, "g"));
	CHECK_INT(sh("$S merge out.sqlite m1.sqlite m2.sqlite m3.sqlite"), 0);
	CHECK_SAYS("6 new runs and 490 new steps from 3 shards");
	CHECK_INT(sh("$S merge other.sqlite m3.sqlite m2.sqlite --quiet && $S merge other.sqlite m1.sqlite m2.sqlite"),
		0);
	CHECK_SAYS("2 new runs and 300 new steps");
	same_steps("out.sqlite", "m1.sqlite m2.sqlite m3.sqlite");
	same_steps("out.sqlite", "other.sqlite");
	CHECK_INT(sh("$S verify out.sqlite && $S verify other.sqlite"), 0);
	CHECK_INT(sh("$S query out.sqlite --csv 'SELECT (SELECT count(*) FROM "
		"region), (SELECT count(*) FROM measurement), (SELECT count(*) FROM failure), (SELECT count(*) FROM "
		"environment), (SELECT count(*) FROM graph), (SELECT count(*) FROM"
		" blob), (SELECT count(*) FROM resume)'"), 0);
	CHECK_SAYS("\n6,6,6,1,2,8,0\n");
	CHECK_INT(sh("$S merge out.sqlite m1.sqlite m2.sqlite m3.sqlite"), 0);
	CHECK_SAYS("0 new runs and 0 new steps");
	CHECK_INT(sh("$S merge tree.sqlite out.sqlite && $S verify tree.sqlite"), 0);
	same_steps("tree.sqlite", "out.sqlite");
}

/* Packs the file `from` into `to`, cut after `n` bytes. */
static bool pack_file(const char *from, const char *to, size_t n)
{
	struct buf plain = {0}, packed = {0};
	struct err err = {{0}};
	bool ok = io_read_file(at(from), IO_FILE_LIMIT, &plain, &err) == 0;

	if (ok)
		io_pack(plain.data, plain.len, 0, &packed);
	ok = ok && io_write_file(at(to), packed.data, packed.len < n ? packed.len : n, &err) == 0;
	buf_release(&plain);
	buf_release(&packed);
	return CHECK_STR(err.text, "") && ok;
}

static void graphs_can_be_left_out(void)
{
	CHECK(make("l1.sqlite", 1, 2, 150, "g"));
	CHECK(make("l2.sqlite", 7, 1, 60, "gh"));
	CHECK(make("l3.sqlite", 9, 1, 10, "h"));
	CHECK_INT(sh("$S merge all.sqlite l1.sqlite l2.sqlite l3.sqlite"), 0);
	CHECK_INT(sh("$S merge lout.sqlite all.sqlite --without '^g$'"), 0);
	CHECK_SAYS("2 new runs and 70 new steps from 1 shard; 2 runs left out\n");
	same_steps("lout.sqlite", "l2.sqlite l3.sqlite");
	CHECK_INT(sh("$S verify lout.sqlite && $S query lout.sqlite --csv 'SELECT count(*) FROM graph'"), 0);
	CHECK_SAYS("\n2\n");
	CHECK_INT(sh("$S merge lout.sqlite l1.sqlite"), 0);
	CHECK_SAYS("2 new runs and 300 new steps");
	CHECK_INT(sh("$S merge lout2.sqlite all.sqlite --without '('"), 1);
	CHECK_SAYS("missing closing parenthesis");
}

static void packed_shards_are_merged(void)
{
	CHECK(make("p1.sqlite", 31, 2, 50, "g") && pack_file("p1.sqlite", "p1.zst", SIZE_MAX));
	CHECK_INT(sh("$S merge pout.sqlite p1.zst && $S merge pout.sqlite p1.zst"), 0);
	CHECK_SAYS("2 new runs and 100 new steps");
	CHECK_SAYS("0 new runs and 0 new steps");
	same_steps("pout.sqlite", "p1.sqlite");
	CHECK_INT(sh("$S info p1.zst"), 1);
	CHECK_SAYS("p1.zst is packed: `store merge OUT");
	CHECK(pack_file("p1.sqlite", "short.zst", 1000) && sh("echo no store > text") == 0 &&
		pack_file("text", "text.zst", SIZE_MAX));
	CHECK_INT(sh("$S merge pout.sqlite short.zst"), 1);
	CHECK_SAYS("short.zst");
	CHECK_INT(sh("$S merge pout.sqlite text.zst"), 1);
	CHECK_INT(sh("ls | grep tmp"), 1); /* nothing of it is left */
}

/* Files of the user beside OUT stay, whatever they are called. */
static void files_beside_out_are_not_touched(void)
{
	static const char names[] = "fout.sqlite.snapshot fout.sqlite.unpacked x.csv.part";

	CHECK(make("f1.sqlite", 3, 1, 20, "g") && pack_file("f1.sqlite", "f1.zst", SIZE_MAX));
	CHECK_INT(sh("for f in %s; do echo mine >$f; done", names), 0);
	CHECK_INT(sh("$S merge fout.sqlite f1.zst && $S export fout.sqlite --format csv --out x.csv"), 0);
	CHECK_INT(sh("$S export fout.sqlite --format npz --out npz && n=$(ls npz) && echo mine >npz/$n.part && "
		"$S export fout.sqlite --format npz --out npz && cat npz/$n.part"), 0);
	CHECK_SAYS("mine");
	CHECK_INT(sh("for f in %s; do test \"$(cat $f)\" = mine || exit 1; done", names), 0);
	CHECK_INT(sh("ls . npz | grep tmp"), 1);
}

/* No process has a number as large as the first two; 1 is always there. */
static void what_a_killed_merge_left_goes_away(void)
{
	static const char left[] = "kout.sqlite.4999999.0.tmp kout.sqlite.4999999.12.tmp-journal",
		kept[] = "kout.sqlite.1.0.tmp kout.sqlite.4999999.tmp kout.sqlite.4999999.0.tmps "
			"kout.sqlite2.4999999.0.tmp mine.kout.sqlite.4999999.0.tmp";

	CHECK(make("k1.sqlite", 3, 1, 20, "g"));
	CHECK_INT(sh("mkdir k && for f in %s %s; do echo left >k/$f; done", left, kept), 0);
	CHECK_INT(sh("$S merge k/kout.sqlite k1.sqlite && cd k && cat %s >/dev/null", kept), 0);
	CHECK_INT(sh("cd k && ls %s 2>/dev/null", left), 2);
	CHECK_STR(said.data, "");
	CHECK_INT(sh("cd k && echo left >kout.sqlite.4999999.3.tmp && $S merge kout.sqlite ../k1.sqlite && "
		"! ls kout.sqlite.4999999.3.tmp"), 0);
}

static void a_shard_that_grew_is_merged_again(void)
{
	CHECK(make("g1.sqlite", 1, 2, 100, "g"));
	CHECK_INT(sh("cp g1.sqlite fork.sqlite; $S merge gout.sqlite g1.sqlite"), 0);
	CHECK(grow("g1.sqlite", 1, 30));
	CHECK_INT(sh("$S merge gout.sqlite g1.sqlite"), 0);
	CHECK_SAYS("0 new runs and 30 new steps");
	same_steps("gout.sqlite", "g1.sqlite");
	CHECK_INT(sh("$S verify gout.sqlite && $S show gout.sqlite 1"), 0);
	CHECK_SAYS("finished");
	/* An older copy brings nothing; a copy that was continued differently is reported. */
	CHECK_INT(sh("$S merge gout.sqlite fork.sqlite"), 0);
	CHECK_SAYS("0 new steps");
	CHECK_INT(alter("fork.sqlite", "UPDATE resume SET state = (SELECT "
		"state FROM resume WHERE run = 2) WHERE run = 1"), 0);
	CHECK(grow("fork.sqlite", 1, 30));
	CHECK_INT(sh("$S merge gout.sqlite fork.sqlite"), 1);
	CHECK_SAYS("have the same uuid but differ at step 100");
	CHECK_INT(sh("$S verify gout.sqlite"), 0);
}

/* Two copies went on, and their last common step is the same, as it may be where they parted in another chain. */
static void copies_that_parted_earlier_are_told(void)
{
	static const char *const parted[] = {
		"UPDATE sample SET costs = zeroblob(length(costs)) WHERE id = (1 << 32) + 103",
		"UPDATE sample SET chain = 1 WHERE id = (1 << 32) + 103",
		"DELETE FROM sample WHERE id = (1 << 32) + 103",
		"UPDATE keyframe SET hash = hash + 1 WHERE run = 1 AND step = 80",
	};

	CHECK(make("c1.sqlite", 1, 2, 100, "g") && sh("cp c1.sqlite c2.sqlite") == 0);
	CHECK(grow("c1.sqlite", 1, 20) && sh("$S merge cout.sqlite c1.sqlite && cp cout.sqlite was") == 0);
	CHECK(grow("c2.sqlite", 1, 30)); /* the same steps, and ten more */
	for (size_t i = 0; i < sizeof parted / sizeof *parted; i++) {
		CHECK_INT(sh("cp was cout.sqlite; cp c2.sqlite other.sqlite"), 0);
		CHECK_INT(alter("other.sqlite", parted[i]), SQLITE_OK);
		CHECK_INT(sh("$S merge cout.sqlite other.sqlite"), 1);
		CHECK_SAYS(i == 3 ? "differ at step 80" : "differ at step 103");
		CHECK_INT(sh("$S verify cout.sqlite"), 0);
	}
	CHECK_INT(sh("$S merge cout.sqlite c2.sqlite"), 0);
	CHECK_SAYS("0 new runs and 10 new steps");
}

/* The steps of a copy that went on come without its state, so the run does not go on from a state that is too old. */
static void a_copy_that_went_on_is_merged_back(void)
{
	CHECK(make("home.sqlite", 1, 2, 40, "g"));
	CHECK_INT(sh("cp home.sqlite away.sqlite; $S merge home.sqlite away.sqlite"), 0);
	CHECK_SAYS("0 new steps");
	CHECK(grow("away.sqlite", 1, 30));
	CHECK_INT(sh("$S merge home.sqlite away.sqlite && $S verify home.sqlite"), 0);
	CHECK_SAYS("0 new runs and 30 new steps");
	CHECK_INT(sh("$S query home.sqlite --csv 'SELECT group_concat(seed) "
		"FROM run r JOIN resume u ON u.run = r.id'"), 0);
	CHECK_SAYS("\n2\n"); /* the other run goes on as before */
	CHECK(grow("home.sqlite", 2, 30));
}

static void a_shard_being_written_is_merged(void)
{
	struct err err = {0};
	struct made m;
	struct store *s = store_open(at("w.sqlite"), STORE_CREATE, NULL, &err);
	struct run *run;
	struct failure f = {OUTCOME_OOM, 0, "in flight", {0, 0}};

	CHECK_INT(made_facts(s, "g", 40, 3, &m, &err), 0);
	run = made_run(s, &m, 5, 70, &err);
	CHECK_INT(run_failed(run, &f, &err), 0); /* a transaction is open */
	CHECK_INT(sh("$S merge wout.sqlite w.sqlite; ls | grep tmp"), 1);
	CHECK_SAYS("1 new runs and 70 new steps");
	CHECK_INT(sh("$S merge w.sqlite wout.sqlite"), 1);
	CHECK_SAYS("being written by another program");
	run_free(run);
	store_close(s);
	made_release(&m);
	CHECK_INT(sh("$S verify wout.sqlite"), 0);
	CHECK_STR(err.text, "");
}

static void a_damaged_shard_does_not_spread(void)
{
	CHECK(make("d.sqlite", 1, 1, 40, "g"));
	CHECK_INT(alter("d.sqlite", "UPDATE blob SET data = (SELECT data FROM blob WHERE id = 2) WHERE id = 1"), 0);
	CHECK_INT(sh("$S merge dout.sqlite d.sqlite"), 1);
	CHECK_SAYS("merging d.sqlite");
	CHECK_INT(sh("ls | grep dout"), 1); /* nothing came of it */
	CHECK(make("sound.sqlite", 2, 1, 10, "h"));
	CHECK_INT(sh("$S merge dout.sqlite sound.sqlite d.sqlite"), 1);
	CHECK_INT(sh("$S verify dout.sqlite"), 0);
	CHECK_SAYS("1 run");
}

/* A page that SQLite cannot read is not said to be of the store that the shard was to go into. */
static void a_damaged_page_is_the_shards(void)
{
	CHECK(make("p.sqlite", 1, 1, 2000, "g"));
	CHECK_INT(sh("python3 -c \"import sqlite3; d = sqlite3.connect('p.sqlite'); "
		"n, = d.execute('SELECT rootpage FROM sqlite_master WHERE name = ?', ('sample',)).fetchone(); "
		"size, = d.execute('PRAGMA page_size').fetchone(); d.close(); f = open('p.sqlite', 'r+b'); "
		"f.seek((n - 1) * size); f.write(b'A' * size)\""), 0);
	CHECK_INT(sh("$S verify p.sqlite"), 1);
	CHECK_INT(sh("$S merge pout.sqlite p.sqlite"), 1);
	CHECK_SAYS("p.sqlite is damaged, and nothing more of it was merged");
	CHECK(!says("pout.sqlite"));
	CHECK_INT(sh("$S verify pout.sqlite"), 0);
}

/* Shards are looked at before the store is opened. So if one is no store, none is made, and one that is there stays. */
static void what_is_no_store_leaves_no_trace(void)
{
	static const struct {
		const char *shards, *says;
	} table[] = {
		{"", "at least one to merge"},
		{"missing.sqlite", "missing.sqlite does not exist"},
		{"n1.sqlite missing.sqlite", "missing.sqlite does not exist"},
		{"nothing", "nothing is empty"},
		{"text", "text"},
		{"n1.sqlite text.zst", "text.zst is packed, and what is packed in it is no store"},
		{"alien.zst", "alien.zst is packed, and what is packed in it is no store"},
		{"alien.sqlite", "an SQLite file of another program"},
		{".", "not a regular file"},
	};

	CHECK(make("n1.sqlite", 1, 1, 10, "g") && make("old.sqlite", 2, 1, 10, "g"));
	CHECK_INT(sh("echo no store > text; : > nothing; cp old.sqlite was"), 0);
	CHECK_INT(alter("alien.sqlite", "CREATE TABLE t (x)"), SQLITE_OK);
	CHECK(pack_file("text", "text.zst", SIZE_MAX) && pack_file("alien.sqlite", "alien.zst", SIZE_MAX));
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		CHECK_INT(sh("$S merge new.sqlite %s", table[i].shards), 1);
		CHECK_SAYS(table[i].says);
		CHECK_INT(sh("ls | grep new"), 1);
		CHECK_INT(sh("$S merge old.sqlite %s", table[i].shards), 1);
		CHECK_INT(sh("cmp old.sqlite was && ! ls | grep old.sqlite-"), 0);
	}
	CHECK_INT(sh("$S merge old.sqlite n1.sqlite old.sqlite"), 1);
	CHECK_SAYS("old.sqlite cannot be merged into itself");
	CHECK_INT(sh("cmp old.sqlite was"), 0);
}

int main(void)
{
	shell_open();
	RUN(merging_twice_is_merging_once);
	RUN(graphs_can_be_left_out);
	RUN(packed_shards_are_merged);
	RUN(files_beside_out_are_not_touched);
	RUN(what_a_killed_merge_left_goes_away);
	RUN(a_shard_that_grew_is_merged_again);
	RUN(copies_that_parted_earlier_are_told);
	RUN(a_copy_that_went_on_is_merged_back);
	RUN(a_shard_being_written_is_merged);
	RUN(a_damaged_shard_does_not_spread);
	RUN(what_is_no_store_leaves_no_trace);
	RUN(a_damaged_page_is_the_shards);
	return shell_close();
}
