/* SPDX-License-Identifier: Apache-2.0 */
/* What the dashboard knows beyond one picture, as the document's key "watched" (aiotrace-json(5)). */
#ifndef AIOTRACE_TUI_WATCHED_JSON_H
#define AIOTRACE_TUI_WATCHED_JSON_H

#include "report/json_writer.h"
#include "tui/ui.h"

/* Asks for the lines of source that belong into it, which may take until the next picture. */
void watched_json_want(const struct scene *s);
/* A json_more; the context is the scene, which must have a picture and source. */
void watched_json(struct json_writer *w, const void *scene);

#endif
