/*
 * open.c - opens the store, the devices and the programs that the command line names, and chooses sites.
 *
 * The store is always opened before any device, so that two collectors cannot wait for each other's store and
 * device forever. The programs of --graph come first, in their order, then those of the folder, by name. So the
 * same command opens the same programs in the same order.
 *
 * A program of --graph that cannot be measured is an error. One of the folder is left out with a warning: one
 * broken file, or one program without a decision, must not cost a night.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/re.h"
#include "base/stop.h"
#include "collect/plan_own.h"
#include "device/machine.h"

static void add_path(struct plan *p, const char *path)
{
	p->path = mem_realloc(p->path, p->n_programs + 1, sizeof *p->path);
	p->path[p->n_programs++] = mem_strdup(path);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_program(const char *name)
{
	size_t n = strlen(name);

	if (n > 4 && strcmp(name + n - 4, ".zst") == 0)
		n -= 4;
	return name[0] != '.' && n > 3 && memcmp(name + n - 3, ".pb", 3) == 0;
}

static int find_in_folder(struct plan *p, const char *folder, struct err *err)
{
	struct buf path = {0};
	uint32_t first = p->n_programs;
	struct dirent *e;
	DIR *d = opendir(folder);

	if (!d)
		return err_errno(err, "cannot read the folder %s", folder);
	while ((e = readdir(d))) {
		if (!is_program(e->d_name))
			continue;
		buf_reset(&path);
		buf_addf(&path, "%s/%s", folder, e->d_name);
		add_path(p, path.data);
	}
	closedir(d);
	buf_release(&path);
	if (p->n_programs == first)
		return err_set(err, "the folder %s holds no .pb and no .pb.zst", folder);
	qsort(p->path + first, p->n_programs - first, sizeof *p->path, by_name);
	return 0;
}

/* Lists the programs: those of --graph in order, then what each folder of --graphs holds, by name. */
static int find_programs(struct plan *p, struct err *err)
{
	for (size_t i = 0; i < p->set->graphs.n; i++)
		add_path(p, p->set->graphs.item[i]);
	p->n_named = p->n_programs;
	for (size_t i = 0; i < p->set->folders.n; i++)
		if (find_in_folder(p, p->set->folders.item[i], err) < 0)
			return -1;
	if (p->n_programs == 0)
		return err_set(err, "no program to measure: name one with --graph FILE or a folder with --graphs DIR");
	return 0;
}

/*
 * Chooses the sites that matter and whose instruction name or op_name matches --nodes, or all that matter without it.
 * None is an error.
 */
static int choose_sites(const struct plan *p, const char *path, const struct lab *lab, uint32_t **out, uint32_t *n,
	struct err *err)
{
	const struct space *s = lab->space;
	struct re *re = NULL;

	*n = 0;
	*out = mem_alloc((s->n_sites + 1) * sizeof **out);
	if (p->set->nodes && !(re = re_new(p->set->nodes, err)))
		return err_prefix(err, "--nodes");
	for (uint32_t i = 0; i < s->n_sites; i++) {
		const Hlo__HloInstructionProto *in = s->graph->node[s->site[i].node].proto;
		const char *op = in->metadata ? in->metadata->op_name : "";
		bool named = !re || re_match(re, in->name, strlen(in->name)) || re_match(re, op, strlen(op));
		if (named && space_matters(s, i, lab->quantity))
			(*out)[(*n)++] = i;
	}
	re_free(re);
	if (*n == 0)
		return err_set(err, "%s has no site%s%s", path, p->set->nodes ? " that --nodes matches" : "",
			space_idle_sites(s, lab->quantity) ? " in a part of the program that runs"
				: p->set->nodes ? "" : ": there is nothing to decide");
	return 0;
}

/*
 * Measures the default of a program with which no run began yet, so that one that does not run is found now. The lab's
 * cost remembers the figure, so it is not measured again.
 */
static int try_default(struct plan *p, struct lab *lab, struct err *err)
{
	double seconds;
	int begun = store_space_begun(p->archive.db, lab->space_id, p->archive.environment, err);

	return begun ? begun : cost_default_seconds(lab->cost, &seconds, NULL, err);
}

static int open_program(struct plan *p, struct worker *k, uint32_t i, const struct cost_options *co, struct err *err)
{
	uint32_t *sites = NULL, n;
	bool enough;
	int rc;

	archive_lock(&p->archive);
	enough = k == p->worker ? stop_asked() : plan_over(p);
	archive_unlock(&p->archive);
	if (enough)
		return err_set(err, "told to stop before the programs were open");
	if (lab_open(&k->lab[i], p->path[i], p->set->space, k->device, co, &p->archive, err) < 0)
		return err_prefix(err, "%s", p->path[i]);
	rc = choose_sites(p, p->path[i], &k->lab[i], &sites, &n, err);
	mem_free(sites);
	if (rc == 0 && k == p->worker && try_default(p, &k->lab[i], err) < 0)
		rc = err_prefix(err, "%s", p->path[i]);
	if (rc < 0)
		lab_release(&k->lab[i]);
	return rc;
}

/* Leaves out program i, which lay in the folder and cannot be measured. */
static void leave_out(struct plan *p, uint32_t i, const struct err *why)
{
	fprintf(stderr, "collect: left out: %s\n", why->text);
	mem_free(p->path[i]);
	p->n_programs--;
	memmove(p->path + i, p->path + i + 1, (p->n_programs - i) * sizeof *p->path);
	p->opening[i] = 0; /* of the next one, which is not open yet */
}

static int open_device(struct plan *p, uint32_t w, struct err *err)
{
	const struct settings *set = p->set;
	struct device_options o = {.backend = set->device, .wait = set->wait, .seed = (uint64_t)set->seed,
		.deadline = set->deadline,
		.kind = set->space};

	if (lab_place(&o, set->cores, set->replicas, set->partitions, err) < 0)
		return -1;
	if (p->n_workers == 1) { /* several measure on cores of their own: there are none left to compile on */
		o.jobs = o.crew = (int)set->jobs;
		o.quiet_pairs = set->quiet_pairs;
	} else if (set->jobs > 0) {
		return err_set(err, "--jobs compiles ahead for one "
			"worker; several (--workers) compile each for itself");
	}
	if (set->core >= 0)
		o.core = (int)set->core + 1 + (int)w * (o.cores > 1 ? o.cores : 1);
	if (strcmp(set->device, "none") != 0 && !(p->worker[w].device = device_open(&o, err)))
		return -1;
	return 0;
}

int plan_open_programs(struct plan *p, struct worker *k, struct err *err)
{
	struct cost_options co = {.policy = (enum cost_policy)p->set->measure,
		.seed = (uint64_t)p->set->seed + (uint64_t)(k - p->worker)};
	uint32_t i = 0;

	if (lab_objective(p->set->objective, &co.quantity, err) < 0)
		return -1;
	k->lab = MEM_NEW(p->n_programs, struct lab);
	while (i < p->n_programs) {
		bool first = k == p->worker, may_go = first && i >= p->n_named && p->n_programs > 1;
		double start = now_seconds();
		int rc = open_program(p, k, i, &co, err);
		archive_lock(&p->archive);
		p->opening[i] += now_seconds() - start;
		archive_unlock(&p->archive);
		if (rc < 0 && !(may_go && !stop_asked()))
			return -1;
		if (rc < 0)
			leave_out(p, i, err);
		else
			i++;
		if (first)
			progress_update(&p->progress, i, NULL);
	}
	return 0;
}

static int init_chains(struct plan *p, struct err *err)
{
	p->chain = MEM_NEW(plan_n_chains(p), struct chain);
	for (uint32_t i = 0; i < p->n_programs; i++) {
		struct lab *lab = &p->worker[0].lab[i];
		uint32_t *sites = NULL, n;
		int rc = choose_sites(p, p->path[i], lab, &sites, &n, err);
		for (uint32_t k = 0; k < p->n_chains && rc == 0; k++)
			chain_init(&plan_chains_of(p, i)[k], lab, (uint64_t)p->set->seed, i * p->n_chains + k,
				sites, n);
		mem_free(sites);
		if (rc < 0)
			return -1;
	}
	return 0;
}

/* Checks settings before anything is compiled: a bad --nodes; more workers than chains, which would only wait. */
static int check_settings(struct plan *p, struct err *err)
{
	struct re *re = p->set->nodes ? re_new(p->set->nodes, err) : NULL;

	if (p->set->nodes && !re)
		return err_prefix(err, "--nodes");
	re_free(re);
	if (plan_n_chains(p) > STORE_CHAINS)
		return err_set(err, "%u programs with %u chains each are more than the %d chains a run may have",
			p->n_programs, p->n_chains, STORE_CHAINS);
	if (p->n_workers > plan_n_chains(p))
		p->n_workers = plan_n_chains(p);
	return 0;
}

static void show_from(struct plan *p, const char *what)
{
	progress_start(&p->progress, what, p->n_programs, p->set->silent ? PROGRESS_QUIET : PROGRESS_AUTO);
}

static void show_end(struct plan *p)
{
	if (p->progress.shown) /* a log has nothing of what took less than a minute */
		progress_end(&p->progress);
}

/* Opens the programs and begins their chains, which may take minutes: a log has a line a minute. */
static int open_all(struct plan *p, struct err *err)
{
	int rc;

	show_from(p, "opening");
	rc = plan_open_programs(p, p->worker, err);
	show_end(p);
	if (rc < 0 || init_chains(p, err) < 0)
		return -1;
	show_from(p, "probing");
	rc = plan_begin(p, err);
	show_end(p);
	return rc;
}

int plan_open(struct plan *p, const struct settings *set, struct err *err)
{
	struct store_options so = {.force = set->force, .wait = set->wait};

	*p = (struct plan){.set = set, .n_workers = (uint32_t)set->workers,
		.n_chains = (uint32_t)(set->chains ? set->chains : set->start == START_MIXED ? 2 : 1),
		.started = now_seconds()};
	pthread_mutex_init(&p->lock, NULL);
	p->deadline = set->seconds > 0 ? p->started + set->seconds : 0;
	p->archive.raw = set->raw;
	p->archive.lock = &p->lock;
	if (find_programs(p, err) < 0 || check_settings(p, err) < 0)
		return -1;
	for (uint32_t i = 0; i < p->n_named; i++)
		if (!space_maker(p->path[i]) && access(p->path[i], R_OK) < 0)
			return err_errno(err, "%s cannot be read", p->path[i]);
	p->worker = MEM_NEW(p->n_workers, struct worker);
	p->opening = MEM_NEW(p->n_programs, double);
	if (!(p->archive.db = store_open(set->db, STORE_CREATE, &so, err)) ||
		(set->cache && !(p->archive.cache = store_open(set->cache, STORE_READ, &so, err))))
		return -1;
	for (uint32_t w = 0; w < p->n_workers; w++)
		if (open_device(p, w, err) < 0)
			return -1;
	if (open_all(p, err) < 0)
		return -1;
	worker_count(p->worker, p->n_programs, &p->worker->opening);
	p->worker->totals = p->worker->opening;
	return 0;
}

void plan_close(struct plan *p)
{
	for (uint32_t k = 0; p->chain && k < plan_n_chains(p); k++)
		chain_release(&p->chain[k]);
	for (uint32_t w = 0; p->worker && w < p->n_workers; w++) {
		for (uint32_t i = 0; p->worker[w].lab && i < p->n_programs; i++)
			lab_release(&p->worker[w].lab[i]);
		mem_free(p->worker[w].lab);
		device_close(p->worker[w].device);
	}
	run_free(p->archive.run);
	store_close(p->archive.db);
	store_close(p->archive.cache);
	for (uint32_t i = 0; i < p->n_programs; i++)
		mem_free(p->path[i]);
	mem_free(p->path);
	mem_free(p->opening);
	mem_free(p->chain);
	mem_free(p->worker);
	pthread_mutex_destroy(&p->lock);
}
