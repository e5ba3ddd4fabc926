/* SPDX-License-Identifier: Apache-2.0 */
/* The detectors' functions: each in the file of its name. */
#ifndef AIOTRACE_DETECT_DETECTORS_H
#define AIOTRACE_DETECT_DETECTORS_H

#include "detect/detect.h"

enum err detect_await_cycle(struct detection *d);
enum err detect_blocked_loop(struct detection *d);
enum err detect_cancelled_timer_leak(struct detection *d);
enum err detect_dead_loop(struct detection *d);
enum err detect_enter_task_window(struct detection *d);
enum err detect_executor_saturated(struct detection *d);
enum err detect_gil_starved(struct detection *d);
enum err detect_lost_wakeup(struct detection *d);
enum err detect_never_retrieved(struct detection *d);
enum err detect_ready_backlog(struct detection *d);
enum err detect_shared_loop(struct detection *d);
enum err detect_stalled_loop(struct detection *d);
enum err detect_swallowed_cancel(struct detection *d);

#endif
