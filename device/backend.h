/*
 * backend.h - the compilers we know (schemas/backend.def), their versions (schemas/plugin.def), and where their plugins
 * lie.
 */
#ifndef DEVICE_BACKEND_H
#define DEVICE_BACKEND_H

#include "device/device.h"

enum backend_trait { RUNS = 1, COMPILES = 2, ON_HOST = 4, TOPOLOGIES = 8, HERE = 16, NVIDIA = 32, ONEDNN = 64 };

struct backend {
	const char *name, *plugin, *client_options, *topology, *environment;
	const char *region; /* debug options for regions that run */
	unsigned traits; /* of enum backend_trait */
	enum cost_kind kind;
	const char *fetch; /* the make target that fetches its plugin */
};

/*
 * Finds a backend by name. A target may follow behind a colon ("cuda:h100", "tpu:v5e:2x2"), or a version behind an @. A
 * path to a plugin stands for the first backend with that plugin. Returns NULL with a sentence that lists the known
 * names.
 */
const struct backend *backend_find(const char *name, struct err *err);

/*
 * Finds the target that a name asks for ("cuda:h100"), or the backend's usual one if it asks for none. A target is
 * hardware that the backend compiles for; it need not be here, and nothing runs on it. A backend that runs programs has
 * no targets: `out` is then empty. Returns -1 with a sentence for an unknown target.
 */
int backend_target(const struct backend *b, const char *name, char *out, size_t n, struct err *err);

/* The names of all backends, the default first, and `more`, for --help; the text lasts as long as the process. */
const char *backend_words(const char *more);
/* The name of the default backend. */
const char *backend_first(void);

struct plugin { /* a row of schemas/plugin.def */
	const char *backend, *version;
	const char *package, *package_version, *file, *sha256;
	const char *fingerprint, *api, *source;
};

/* The known plugin whose file has this fingerprint (device_info.build); NULL: it is none of them. */
const struct plugin *backend_known(const struct backend *b, const char *fingerprint);

/*
 * Appends the path of the plugin's file: the name itself if it is a path. Otherwise the file is looked for in
 * VANTAGE_PLUGIN_DIR, and if it is not there, in the fetched folder (.deps beside or above the program's folder),
 * installed folders, and Python's site-packages. A name without @VERSION means the first known version that is found.
 * Returns -1 with a sentence that says where it looked and how to fetch the plugin.
 */
int backend_plugin(const struct backend *b, const char *name, struct buf *path, struct err *err);

/* Calls `each` for every name=value of a list as in backend.def. Stops at the first call that returns < 0; -1 then. */
int options_each(const char *list, int (*each)(void *ctx, const char *name, const char *value),
	void *ctx, struct err *err);

/* The folder of the running program, without a slash at the end; "." if unknown. */
void program_folder(char *out, size_t n);

#endif
