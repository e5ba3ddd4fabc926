/* SPDX-License-Identifier: Apache-2.0 */
/* Files are opened below the folder's descriptor, so that the command can't lead them elsewhere by moving it. */
#include "cmd/run_report.h"

#include "base/cleanup.h"
#include "cmd/exit.h"
#include "cmd/read.h"
#include "report/json.h"
#include "report/junit.h"
#include "report/summary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum err cannot(const char *what, const char *name, struct error *e)
{
	return error_set(e, ERR_SYSTEM, errno, "can't %s %.200s: %s", what, name, strerror(errno));
}

enum err report_prepare(const char *folder, struct error *e)
{
	auto_free char *path = strdup(folder);
	struct stat s;

	if (!path)
		return error_set(e, ERR_NOMEM, 0, "out of memory");
	for (char *at = path + 1; *at; at++) {
		if (*at != '/')
			continue;
		*at = '\0';
		if (mkdir(path, 0777) != 0 && errno != EEXIST)
			return cannot("make", path, e);
		*at = '/';
	}
	if (mkdir(folder, 0777) != 0 && errno != EEXIST)
		return cannot("make", folder, e);
	if (stat(folder, &s) != 0 || access(folder, W_OK | X_OK) != 0)
		return cannot("write to", folder, e);
	if (!S_ISDIR(s.st_mode))
		return error_set(e, ERR_SYSTEM, ENOTDIR, "%.200s is no folder", folder);
	return ERR_OK;
}

/* An empty variable is as none. */
static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && value[0] ? value : NULL;
}

static enum err say_all(FILE *out, const struct stuck *all, const struct text_style *style,
			struct error *e)
{
	struct text t = {0};
	enum err err;

	text_add(&t, "aiotrace: ");
	stuck_headline(&t, style, all);
	text_printf(&t, "; %zu process%s, ended now\n", all->count, all->count == 1 ? "" : "es");
	err = text_write(&t, out, e);
	for (size_t i = 0; i < all->count && err == ERR_OK; i++) {
		fputc('\n', out);
		err = stuck_render(out, &all->v[i], style, e);
	}
	if (err == ERR_OK && variable("GITHUB_ACTIONS"))
		err = stuck_annotations(out, all, variable("GITHUB_WORKSPACE"), e);
	text_deinit(&t);
	return err;
}

enum err report_say(const struct cli *cli, const struct stuck *all, struct error *e)
{
	const struct text_style style = stream_style(cli, STDERR_FILENO);
	auto_free char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);
	enum err err;

	if (!memory)
		return error_set(e, ERR_NOMEM, 0, "out of memory");
	err = say_all(memory, all, &style, e);
	if (fclose(memory) != 0 && err == ERR_OK)
		err = error_set(e, ERR_NOMEM, 0, "out of memory");
	/* In one go, between lines of the command that writes there too. */
	if (err == ERR_OK && fwrite(text, 1, size, stderr) != size)
		err = cannot("write to", "standard error", e);
	return err;
}

typedef enum err (*write_file)(FILE *out, const void *what, struct error *e);

static enum err put_document(FILE *out, const void *what, struct error *e)
{
	return json_document(out, ((const struct stuck_process *)what)->picture, e);
}

static enum err put_junit(FILE *out, const void *what, struct error *e)
{
	return junit_write(out, what, e);
}

static enum err put_index(FILE *out, const void *what, struct error *e)
{
	return stuck_index_json(out, what, e);
}

static enum err put_file(int folder, const char *name, write_file put, const void *what,
			 struct error *e)
{
	int fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	enum err err;

	if (!out) {
		err = cannot("write", name, e);
		if (fd >= 0)
			close(fd);
		return err;
	}
	err = put(out, what, e);
	if (fclose(out) != 0 && err == ERR_OK)
		err = cannot("write", name, e);
	return err;
}

enum err report_files(const struct cli *cli, const struct stuck *all, struct error *e)
{
	auto_close int folder = open(cli->report, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	enum err err = ERR_OK;
	char name[40];

	if (folder < 0)
		return cannot("open", cli->report, e);
	for (size_t i = 0; i < all->count && err == ERR_OK; i++) {
		const struct stuck_process *p = &all->v[i];

		if (p->python)
			err = put_file(folder, stuck_file_name(p, name, sizeof(name)), put_document,
				       p, e);
	}
	if (err == ERR_OK)
		err = put_file(folder, "junit.xml", put_junit, all, e);
	if (err == ERR_OK)
		err = put_file(folder, "index.json", put_index, all, e);
	return err;
}
