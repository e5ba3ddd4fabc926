/* SPDX-License-Identifier: Apache-2.0 */
/* A sorted list of pages; found by halving. */
#include "attach/image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct image_page {
	uint64_t number;
	unsigned char *bytes;
};

struct image {
	struct image_page *v;
	size_t count, room;
};

void *image_create(void)
{
	return calloc(1, sizeof(struct image));
}

static void image_close(void *ctx)
{
	struct image *image = ctx;

	for (size_t i = 0; i < image->count; i++)
		free(image->v[i].bytes);
	free(image->v);
	free(image);
}

/* Index of the first page with at least that number. */
static size_t image_index(const struct image *image, uint64_t number)
{
	size_t low = 0, high = image->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (image->v[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static unsigned char *image_page_add(struct image *image, uint64_t number)
{
	size_t at = image_index(image, number);
	unsigned char *bytes;

	if (at < image->count && image->v[at].number == number)
		return image->v[at].bytes;
	if (image->count == image->room) {
		size_t room = image->room ? image->room * 2 : 64;
		struct image_page *v = realloc(image->v, room * sizeof(*v));

		if (!v)
			return NULL;
		image->v = v;
		image->room = room;
	}
	bytes = calloc(1, MEM_PAGE);
	if (!bytes)
		return NULL;
	memmove(image->v + at + 1, image->v + at, (image->count - at) * sizeof(*image->v));
	image->v[at] = (struct image_page){number, bytes};
	image->count++;
	return bytes;
}

enum err image_map(void *ctx, vaddr at, const void *bytes, size_t len)
{
	const unsigned char *from = bytes;

	while (len) {
		size_t offset = at % MEM_PAGE, part = MEM_PAGE - offset;
		unsigned char *page = image_page_add(ctx, at / MEM_PAGE);

		if (!page)
			return ERR_NOMEM;
		if (part > len)
			part = len;
		memcpy(page + offset, from, part);
		from += part;
		at += part;
		len -= part;
	}
	return ERR_OK;
}

static int64_t image_read(void *ctx, const struct mem_range *ranges, size_t count)
{
	const struct image *image = ctx;
	int64_t total = 0;

	for (size_t i = 0; i < count; i++) {
		unsigned char *to = ranges[i].dst;
		vaddr at = ranges[i].at;
		size_t len = ranges[i].len;

		while (len) {
			size_t offset = at % MEM_PAGE, part = MEM_PAGE - offset;
			size_t index = image_index(image, at / MEM_PAGE);

			if (index == image->count || image->v[index].number != at / MEM_PAGE)
				return total ? total : -EFAULT;
			if (part > len)
				part = len;
			memcpy(to, image->v[index].bytes + offset, part);
			total += (int64_t)part;
			to += part;
			at += part;
			len -= part;
		}
	}
	return total;
}

const struct mem_source image_source = {
	.name = "image",
	.read = image_read,
	.close = image_close,
};
