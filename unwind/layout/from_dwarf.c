/* SPDX-License-Identifier: Apache-2.0 */
/* Offsets of members from DWARF: the names of fields.def looked up in debug information. */
#include "unwind/layout/from_dwarf.h"
#include "unwind/layout/dwarf_file.h"
#include "unwind/layout/rows.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#define FILES_MAX   8
#define NAMES_MAX   160 /* spellings of structures in fields.def */
#define BUCKETS	    512 /* open addressing, a power of two */
#define PEEL_MAX    16 /* typedefs and qualifiers around one type */
#define NEST_MAX    6 /* anonymous structures inside each other */
#define MEMBERS_MAX 16384 /* looked at for one path */

struct type_name {
	const char *text;
	size_t len;
	bool found;
	Dwarf_Die die; /* a complete structure or union */
};

struct dwarf_types {
	struct type_name names[NAMES_MAX];
	size_t count;
	int16_t bucket[BUCKETS]; /* index in names; -1 empty */
	struct dwarf_file files[FILES_MAX];
	size_t file_count;
};

static size_t name_hash(const char *text, size_t len)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)text[i]) * 16777619u;
	return h & (BUCKETS - 1);
}

static struct type_name *name_find(struct dwarf_types *types, const char *text, size_t len)
{
	for (size_t b = name_hash(text, len);; b = (b + 1) & (BUCKETS - 1)) {
		struct type_name *n;

		if (types->bucket[b] < 0)
			return NULL;
		n = &types->names[types->bucket[b]];
		if (n->len == len && memcmp(n->text, text, len) == 0)
			return n;
	}
}

static void name_add(struct dwarf_types *types, const char *text, size_t len)
{
	size_t b = name_hash(text, len);

	if (types->count >= NAMES_MAX || name_find(types, text, len))
		return;
	while (types->bucket[b] >= 0)
		b = (b + 1) & (BUCKETS - 1);
	types->names[types->count] = (struct type_name){.text = text, .len = len};
	types->bucket[b] = (int16_t)types->count++;
}

/* Calls for each spelling of "a|b"; *rest moves on. False at the end. */
static bool next_spelling(const char **rest, const char **text, size_t *len)
{
	if (!**rest)
		return false;
	*text = *rest;
	*len = strcspn(*rest, "|");
	*rest += *len;
	if (**rest)
		(*rest)++;
	return true;
}

enum err dwarf_types_create(struct dwarf_types **ret)
{
	struct dwarf_types *types = calloc(1, sizeof(*types));

	if (!types)
		return ERR_NOMEM;
	memset(types->bucket, 0xff, sizeof(types->bucket));
	for (size_t i = 0; i < LAYOUT_ROW_COUNT; i++) {
		const char *rest = layout_rows[i].type, *text;
		size_t len;

		while (next_spelling(&rest, &text, &len))
			name_add(types, text, len);
	}
	*ret = types;
	return ERR_OK;
}

void dwarf_types_destroy(struct dwarf_types *types)
{
	if (!types)
		return;
	for (size_t i = 0; i < types->file_count; i++)
		dwarf_file_close(&types->files[i]);
	free(types);
}

/* Follows typedefs and qualifiers. False: no type, or too deep. */
static bool peel(Dwarf_Die *die, Dwarf_Die *ret)
{
	*ret = *die;
	for (int i = 0; i < PEEL_MAX; i++) {
		Dwarf_Attribute attr;
		Dwarf_Die next;

		switch (dwarf_tag(ret)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
			break;
		default:
			return true;
		}
		if (!dwarf_attr_integrate(ret, DW_AT_type, &attr) ||
		    !dwarf_formref_die(&attr, &next))
			return false;
		*ret = next;
	}
	return false;
}

static bool is_record(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
}

static void index_die(struct dwarf_types *types, Dwarf_Die *die)
{
	struct type_name *n;
	const char *text;
	Dwarf_Die record;

	if (!is_record(die) && dwarf_tag(die) != DW_TAG_typedef)
		return;
	text = dwarf_diename(die);
	if (!text)
		return;
	n = name_find(types, text, strlen(text));
	if (!n || n->found || !peel(die, &record) || !is_record(&record) ||
	    dwarf_hasattr(&record, DW_AT_declaration) || dwarf_bytesize(&record) <= 0)
		return;
	n->die = record;
	n->found = true;
}

/* The next one; a file whose siblings lead backwards would never end. */
static bool next_sibling(Dwarf_Die *die)
{
	Dwarf_Off before = dwarf_dieoffset(die);

	return dwarf_siblingof(die, die) == 0 && dwarf_dieoffset(die) > before;
}

static void index_file(struct dwarf_types *types, Dwarf *dw)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die top;

	while (dwarf_get_units(dw, cu, &cu, NULL, NULL, &top, NULL) == 0) {
		Dwarf_Die child;

		if (dwarf_child(&top, &child))
			continue;
		do {
			index_die(types, &child);
		} while (next_sibling(&child));
	}
}

enum err dwarf_types_add(struct dwarf_types *types, int fd, const char *root)
{
	struct dwarf_file *f;
	enum err r;

	if (types->file_count >= FILES_MAX)
		return ERR_BOUND;
	f = &types->files[types->file_count];
	r = dwarf_file_open(fd, root, f);
	if (r)
		return r;
	types->file_count++;
	index_file(types, f->dw);
	return ERR_OK;
}

struct place {
	uint64_t byte; /* from the start of the outermost structure */
	int64_t bit; /* bit fields: from the start of it, in bits; -1: none */
	uint64_t bits;
	Dwarf_Die type; /* peeled */
};

static bool attr_number(Dwarf_Die *die, unsigned name, uint64_t *ret)
{
	Dwarf_Attribute attr;
	Dwarf_Word w;

	if (!dwarf_attr_integrate(die, name, &attr) || dwarf_formudata(&attr, &w))
		return false;
	*ret = w;
	return true;
}

/* Where a member lies in its structure; libdw turns the block form of old producers into one operation. */
static bool member_offset(Dwarf_Die *member, uint64_t *ret)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t count;

	*ret = 0;
	if (!dwarf_hasattr(member, DW_AT_data_member_location))
		return true; /* a union's member, or a bit field with DW_AT_data_bit_offset */
	if (attr_number(member, DW_AT_data_member_location, ret))
		return true;
	if (!dwarf_attr_integrate(member, DW_AT_data_member_location, &attr) ||
	    dwarf_getlocation(&attr, &ops, &count) || count != 1 ||
	    ops[0].atom != DW_OP_plus_uconst)
		return false;
	*ret = ops[0].number;
	return true;
}

static bool member_place(Dwarf_Die *member, uint64_t base, struct place *ret)
{
	Dwarf_Attribute attr;
	Dwarf_Die type;
	uint64_t at, bits, bit, storage;

	if (!dwarf_attr_integrate(member, DW_AT_type, &attr) || !dwarf_formref_die(&attr, &type) ||
	    !peel(&type, &ret->type) || !member_offset(member, &at))
		return false;
	ret->byte = base + at;
	ret->bit = -1;
	ret->bits = 0;
	if (!attr_number(member, DW_AT_bit_size, &bits))
		return true;
	ret->bits = bits;
	if (attr_number(member, DW_AT_data_bit_offset, &bit)) {
		ret->bit = (int64_t)(base * 8 + bit);
	} else if (attr_number(member, DW_AT_bit_offset, &bit)) { /* DWARF 3: from the big end */
		if (!attr_number(member, DW_AT_byte_size, &storage)) {
			int size = dwarf_bytesize(&ret->type);

			if (size <= 0)
				return false;
			storage = (uint64_t)size;
		}
		ret->bit = (int64_t)(ret->byte * 8 + storage * 8 - bit - bits);
	} else {
		ret->bit = (int64_t)(ret->byte * 8);
	}
	return ret->bit >= 0;
}

struct search {
	const char *name;
	size_t len;
	unsigned budget; /* members that may still be looked at */
};

/* The member of that name in a record, also inside its anonymous members. */
static bool find_member(Dwarf_Die *record, struct search *s, uint64_t base, int nest,
			struct place *ret)
{
	Dwarf_Die child;

	if (!is_record(record) || dwarf_child(record, &child))
		return false;
	do {
		const char *text;

		if (!s->budget--) {
			s->budget = 0;
			return false;
		}
		if (dwarf_tag(&child) != DW_TAG_member)
			continue;
		text = dwarf_diename(&child);
		if (text) {
			if (strlen(text) == s->len && memcmp(text, s->name, s->len) == 0)
				return member_place(&child, base, ret);
			continue;
		}
		if (nest < NEST_MAX && member_place(&child, base, ret)) {
			Dwarf_Die inner = ret->type;

			if (find_member(&inner, s, ret->byte, nest + 1, ret))
				return true;
		}
	} while (next_sibling(&child));
	return false;
}

static bool find_path(Dwarf_Die record, const char *path, size_t len, struct place *ret)
{
	struct search s = {.budget = MEMBERS_MAX};
	uint64_t base = 0;

	while (len) {
		s.name = path;
		s.len = 0;
		while (s.len < len && path[s.len] != '.')
			s.len++;
		if (!find_member(&record, &s, base, 0, ret))
			return false;
		base = ret->byte;
		record = ret->type;
		path += s.len + (s.len < len);
		len -= s.len + (s.len < len);
	}
	return true;
}

/* The narrowest word that holds a bit field; the member's own width otherwise, 0 for what is no scalar. */
static bool place_to_field(struct place *p, struct field *ret)
{
	int size;

	if (p->bits) {
		uint64_t byte = (uint64_t)p->bit / 8, bit = (uint64_t)p->bit % 8;
		uint64_t word = 1;

		while (word < 8 && bit + p->bits > word * 8)
			word *= 2;
		if (byte >= FIELD_ABSENT || bit + p->bits > word * 8)
			return false;
		*ret = (struct field){(uint16_t)byte, (uint8_t)word, (uint8_t)bit,
				      (uint8_t)p->bits};
		return true;
	}
	if (p->byte >= FIELD_ABSENT)
		return false;
	*ret = (struct field){.offset = (uint16_t)p->byte};
	switch (dwarf_tag(&p->type)) {
	case DW_TAG_pointer_type:
		ret->size = 8;
		break;
	case DW_TAG_base_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_structure_type: /* wrapped scalars: _Py_atomic_int, _PyStackRef */
	case DW_TAG_union_type:
		size = dwarf_bytesize(&p->type);
		if (size == 1 || size == 2 || size == 4 || size == 8)
			ret->size = (uint8_t)size;
		break;
	default:
		break;
	}
	return true;
}

static struct type_name *row_type(struct dwarf_types *types, const struct layout_row *row)
{
	const char *rest = row->type, *text;
	size_t len;

	while (next_spelling(&rest, &text, &len)) {
		struct type_name *n = name_find(types, text, len);

		if (n && n->found)
			return n;
	}
	return NULL;
}

bool dwarf_types_fill_row(struct dwarf_types *types, struct layout *lay, size_t index)
{
	const struct layout_row *row = &layout_rows[index];
	struct type_name *n = row_type(types, row);
	const char *rest = row->member, *text;
	size_t len;

	if (!n)
		return false;
	if (!row->member) {
		*row_size(lay, row) = (uint32_t)dwarf_bytesize(&n->die);
		return true;
	}
	*row_field(lay, row) = (struct field){.offset = FIELD_ABSENT};
	while (next_spelling(&rest, &text, &len)) {
		struct place p = {0};

		if (find_path(n->die, text, len, &p) && place_to_field(&p, row_field(lay, row)))
			break;
	}
	return true;
}

unsigned dwarf_types_fill(struct dwarf_types *types, struct layout *lay)
{
	unsigned count = 0;

	for (size_t i = 0; i < LAYOUT_ROW_COUNT; i++)
		count += dwarf_types_fill_row(types, lay, i);
	return count;
}
