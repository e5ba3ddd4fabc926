/* SPDX-License-Identifier: Apache-2.0 */
/* One number for what moves in a picture, so that two pictures of a process can be compared without keeping the first. */
#ifndef AIOTRACE_MODEL_DIGEST_H
#define AIOTRACE_MODEL_DIGEST_H

#include "model/model.h"

/*
 * Of tasks: identity, state, chain, what they wait on, requests to cancel. Of loops: current task, which turn (the callback that runs; of a loop that polls, how often its
 * thread ran, since it wakes for a turn alone), length of _ready, deadlines. Of threads: which there are, where they stand in Python. Not the time left of a sleep, nor
 * anything else that passes by itself. The order of rows does not matter.
 */
uint64_t model_digest(const struct model *m);

#endif
