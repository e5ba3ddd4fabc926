/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPython's own headers, compiled for their debug information alone (tools/layout-tables): stands in for a --with-pydebug build of 3.11 and 3.12, as
 * which nobody packages. Structures that are private to a C file come from the release build: none of them depends on Py_DEBUG.
 */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_code.h>
#include <internal/pycore_dict.h>
#include <internal/pycore_frame.h>
#include <internal/pycore_gc.h>
#include <internal/pycore_genobject.h>
#include <internal/pycore_gil.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_long.h>
#include <internal/pycore_runtime.h>
#include <internal/pycore_unicodeobject.h>
