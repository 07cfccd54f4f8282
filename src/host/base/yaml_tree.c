/* Builds the tree of yaml_tree.h from libyaml's events.
 *
 * libyaml's document loader is not used, because its time grows with the square of the nesting depth and of the number
 * of anchors. Here a file that exceeds the limits on nesting or aliases is rejected at the event that exceeds them. */
#include "host/base/yaml_tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "host/base/fail.h"

/* ---- memory: blocks that live as long as the tree ---- */

enum { BLOCK_SIZE = 16 << 10, BLOCK_ALIGN = 16 };

typedef struct Block {
    struct Block *next;
    size_t used, size;
    _Alignas(BLOCK_ALIGN) unsigned char bytes[];
} Block;

struct SapYamlTree {
    const char *name;
    Block *blocks;
    SapYamlEntry root;
};

static void *tree_alloc(SapYamlTree *tree, size_t size) {
    size = (size + BLOCK_ALIGN - 1) / BLOCK_ALIGN * BLOCK_ALIGN;
    Block *block = tree->blocks;
    if (block == NULL || block->size - block->used < size) {
        size_t capacity = size > BLOCK_SIZE ? size : BLOCK_SIZE;
        block = malloc(sizeof *block + capacity);
        if (block == NULL)
            return NULL;
        *block = (Block){.next = tree->blocks, .size = capacity};
        tree->blocks = block;
    }
    void *memory = block->bytes + block->used;
    block->used += size;
    return memory;
}

void sap_yaml_destroy(SapYamlTree *tree) {
    if (tree == NULL)
        return;
    for (Block *block = tree->blocks, *next; block != NULL; block = next) {
        next = block->next;
        free(block);
    }
    free(tree);
}

/* ---- messages ---- */

enum { TEXT_SIZE = 1024 };

SapStatus sap_yaml_fail(const SapYamlEntry *at, SapStatus status, const char *format, ...) {
    char text[TEXT_SIZE], quote[SAP_QUOTE_SIZE];
    int length = 0;
    if (at->key != NULL) {
        /* The key without the quotes of sap_quote. */
        sap_quote(at->key, quote);
        length = snprintf(text, sizeof text, "%.*s", (int)strlen(quote) - 2, quote + 1);
        if (at->index >= 0)
            length += snprintf(text + length, sizeof text - (size_t)length, "[%d]", at->index);
        length += snprintf(text + length, sizeof text - (size_t)length, ": ");
    }
    va_list args;
    va_start(args, format);
    vsnprintf(text + length, sizeof text - (size_t)length, format, args);
    va_end(args);
    /* A map or list is reported at the line of its key, a scalar at its own line, which may be a later one. */
    int line = at->node->kind == SAP_YAML_SCALAR ? at->node->line : at->line;
    return sap_fail_at(at->node->tree->name, line, status, "%s", text);
}

const char *sap_yaml_describe(const SapYamlNode *node, char buffer[SAP_QUOTE_SIZE]) {
    switch (node->kind) {
    case SAP_YAML_MAP: return "a map";
    case SAP_YAML_LIST: return "a list";
    case SAP_YAML_SCALAR: break;
    }
    return sap_yaml_is_null(node) ? "null" : sap_quote(node->text, buffer);
}

/* ---- lookup ---- */

const char *sap_yaml_name(const SapYamlTree *tree) {
    return tree->name;
}

const SapYamlEntry *sap_yaml_root(const SapYamlTree *tree) {
    return &tree->root;
}

const SapYamlEntry *sap_yaml_find(const SapYamlNode *map, const char *key) {
    for (int i = 0; map->kind == SAP_YAML_MAP && i < map->count; i++)
        if (strcmp(map->entries[i].key, key) == 0)
            return &map->entries[i];
    return NULL;
}

bool sap_yaml_is_null(const SapYamlNode *node) {
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};
    for (size_t i = 0; node->kind == SAP_YAML_SCALAR && node->plain && i < sizeof nulls / sizeof *nulls; i++)
        if (strcmp(node->text, nulls[i]) == 0)
            return true;
    return false;
}

/* ---- building ---- */

/* A list or map that is not closed yet. Its entries are at the top of the entry stack. */
typedef struct Open {
    SapYamlNode *node;
    SapYamlEntry entry; /* where the container goes in its parent */
    const char *key;    /* in a map: the key that waits for its value */
    int key_line;
    int first; /* index of its first entry */
    char *anchor;
} Open;

typedef struct Anchor {
    const char *name;
    const SapYamlNode *node; /* NULL while the node is still open */
} Anchor;

typedef struct Loader {
    SapYamlTree *tree;
    yaml_parser_t parser;
    Open open[SAP_YAML_MAX_DEPTH];
    int depth;
    SapYamlEntry *entries;
    int num_entries, capacity;
    Anchor anchors[SAP_YAML_MAX_ANCHORS];
    int num_anchors;
    bool has_root;
} Loader;

#define FAIL(loader, line, ...) sap_fail_at((loader)->tree->name, line, SAP_ERROR_PARSE, __VA_ARGS__)

static SapStatus out_of_memory(const Loader *loader) {
    return sap_fail_at(loader->tree->name, 0, SAP_ERROR_MEMORY, "out of memory while reading the file");
}

static int line_of(yaml_mark_t mark) {
    return (int)mark.line + 1;
}

static SapStatus push_entry(Loader *loader, SapYamlEntry entry) {
    if (loader->num_entries == loader->capacity) {
        int capacity = loader->capacity == 0 ? 64 : 2 * loader->capacity;
        SapYamlEntry *larger = realloc(loader->entries, (size_t)capacity * sizeof *larger);
        if (larger == NULL)
            return out_of_memory(loader);
        loader->entries = larger;
        loader->capacity = capacity;
    }
    loader->entries[loader->num_entries++] = entry;
    return SAP_OK;
}

/* Where the next node goes in the innermost open container. */
static SapStatus next_place(Loader *loader, int line, SapYamlEntry *entry) {
    *entry = (SapYamlEntry){.index = -1, .line = line};
    if (loader->depth == 0) {
        if (loader->has_root)
            return FAIL(loader, line, "a second value at the top of the document");
        return SAP_OK;
    }
    Open *parent = &loader->open[loader->depth - 1];
    if (parent->node->kind == SAP_YAML_LIST) {
        entry->index = loader->num_entries - parent->first;
    } else {
        entry->key = parent->key;
        entry->line = parent->key_line;
        parent->key = NULL;
    }
    return SAP_OK;
}

/* Adds the size of `node` to the container that holds it. */
static SapStatus account(Loader *loader, const SapYamlNode *node, int line) {
    if (loader->depth == 0)
        return SAP_OK;
    SapYamlNode *parent = loader->open[loader->depth - 1].node;
    if (node->height >= parent->height)
        parent->height = node->height + 1;
    if (loader->depth + node->height > SAP_YAML_MAX_DEPTH + 1)
        return FAIL(loader, line, "more than %d lists and maps inside each other", SAP_YAML_MAX_DEPTH);
    parent->size += node->size;
    if (parent->size > SAP_YAML_MAX_NODES)
        return FAIL(loader, line, "more than %d values in the file, with its aliases written out", SAP_YAML_MAX_NODES);
    return SAP_OK;
}

static SapStatus place_node(Loader *loader, SapYamlEntry entry, const SapYamlNode *node, int line) {
    entry.node = node;
    SAP_TRY(account(loader, node, line));
    if (loader->depth == 0) {
        loader->tree->root = entry;
        loader->has_root = true;
        return SAP_OK;
    }
    return push_entry(loader, entry);
}

static SapStatus copy_text(Loader *loader, const unsigned char *text, size_t length, int line, const char **out) {
    if (memchr(text, '\0', length) != NULL)
        return FAIL(loader, line, "a text with a NUL character in it");
    char *copy = tree_alloc(loader->tree, length + 1);
    if (copy == NULL)
        return out_of_memory(loader);
    memcpy(copy, text, length);
    copy[length] = '\0';
    *out = copy;
    return SAP_OK;
}

static SapStatus new_node(Loader *loader, SapYamlKind kind, int line, SapYamlNode **out) {
    SapYamlNode *node = tree_alloc(loader->tree, sizeof *node);
    if (node == NULL)
        return out_of_memory(loader);
    *node = (SapYamlNode){.tree = loader->tree, .kind = kind, .line = line, .height = 1, .size = 1};
    *out = node;
    return SAP_OK;
}

static Anchor *find_anchor(Loader *loader, const char *name) {
    for (int i = 0; i < loader->num_anchors; i++)
        if (strcmp(loader->anchors[i].name, name) == 0)
            return &loader->anchors[i];
    return NULL;
}

/* Registers `node` under an anchor name (NULL: not complete yet). If a name is defined again, the last definition
 * counts. */
static SapStatus set_anchor(Loader *loader, const char *name, const SapYamlNode *node, int line) {
    if (name == NULL)
        return SAP_OK;
    Anchor *anchor = find_anchor(loader, name);
    if (anchor == NULL) {
        if (loader->num_anchors == SAP_YAML_MAX_ANCHORS)
            return FAIL(loader, line, "more than %d anchors", SAP_YAML_MAX_ANCHORS);
        anchor = &loader->anchors[loader->num_anchors];
        SAP_TRY(copy_text(loader, (const unsigned char *)name, strlen(name), line, &anchor->name));
        loader->num_anchors++;
    }
    anchor->node = node;
    return SAP_OK;
}

static bool key_expected(const Loader *loader) {
    if (loader->depth == 0)
        return false;
    const Open *open = &loader->open[loader->depth - 1];
    return open->node->kind == SAP_YAML_MAP && open->key == NULL;
}

static SapStatus refuse_as_key(const Loader *loader, int line, const char *what) {
    return FAIL(loader, line, "a key must be text, not %s", what);
}

static SapStatus refuse_tag(const Loader *loader, const yaml_char_t *tag, int line) {
    char quote[SAP_QUOTE_SIZE];
    if (tag == NULL)
        return SAP_OK;
    return FAIL(loader, line, "tag %s; tags are not supported", sap_quote((const char *)tag, quote));
}

static SapStatus on_scalar(Loader *loader, const yaml_event_t *event) {
    int line = line_of(event->start_mark);
    const char *text = NULL;
    SAP_TRY(refuse_tag(loader, event->data.scalar.tag, line));
    SAP_TRY(copy_text(loader, event->data.scalar.value, event->data.scalar.length, line, &text));
    if (key_expected(loader)) {
        if (event->data.scalar.anchor != NULL)
            return FAIL(loader, line, "an anchor on a key");
        loader->open[loader->depth - 1].key = text;
        loader->open[loader->depth - 1].key_line = line;
        return SAP_OK;
    }
    SapYamlEntry entry;
    SapYamlNode *node = NULL;
    SAP_TRY(next_place(loader, line, &entry));
    SAP_TRY(new_node(loader, SAP_YAML_SCALAR, line, &node));
    node->text = text;
    node->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    SAP_TRY(set_anchor(loader, (const char *)event->data.scalar.anchor, node, line));
    return place_node(loader, entry, node, line);
}

static SapStatus on_alias(Loader *loader, const yaml_event_t *event) {
    int line = line_of(event->start_mark);
    char quote[SAP_QUOTE_SIZE];
    const char *name = (const char *)event->data.alias.anchor;
    if (key_expected(loader))
        return refuse_as_key(loader, line, "an alias");
    const Anchor *anchor = find_anchor(loader, name);
    if (anchor == NULL)
        return FAIL(loader, line, "alias %s without an anchor before it", sap_quote(name, quote));
    if (anchor->node == NULL)
        return FAIL(loader, line, "alias %s inside of what it stands for", sap_quote(name, quote));
    SapYamlEntry entry;
    SAP_TRY(next_place(loader, line, &entry));
    return place_node(loader, entry, anchor->node, line);
}

static SapStatus on_start(Loader *loader, const yaml_event_t *event, SapYamlKind kind, const yaml_char_t *anchor,
                          const yaml_char_t *tag) {
    int line = line_of(event->start_mark);
    if (key_expected(loader))
        return refuse_as_key(loader, line, kind == SAP_YAML_LIST ? "a list" : "a map");
    if (loader->depth == SAP_YAML_MAX_DEPTH)
        return FAIL(loader, line, "more than %d lists and maps inside each other", SAP_YAML_MAX_DEPTH);
    SAP_TRY(refuse_tag(loader, tag, line));
    Open open = {.first = loader->num_entries};
    SAP_TRY(next_place(loader, line, &open.entry));
    SAP_TRY(new_node(loader, kind, line, &open.node));
    SAP_TRY(set_anchor(loader, (const char *)anchor, NULL, line));
    if (anchor != NULL) {
        size_t length = strlen((const char *)anchor) + 1;
        open.anchor = tree_alloc(loader->tree, length);
        if (open.anchor == NULL)
            return out_of_memory(loader);
        memcpy(open.anchor, anchor, length);
    }
    loader->open[loader->depth++] = open;
    return SAP_OK;
}

static int compare_entries(const void *a, const void *b) {
    const SapYamlEntry *x = *(const SapYamlEntry *const *)a, *y = *(const SapYamlEntry *const *)b;
    int order = strcmp(x->key, y->key);
    return order != 0 ? order : (x > y) - (x < y);
}

static SapStatus refuse_duplicate_keys(const Loader *loader, const SapYamlNode *map) {
    if (map->count < 2)
        return SAP_OK;
    const SapYamlEntry **sorted = malloc((size_t)map->count * sizeof *sorted);
    if (sorted == NULL)
        return out_of_memory(loader);
    for (int i = 0; i < map->count; i++)
        sorted[i] = &map->entries[i];
    qsort(sorted, (size_t)map->count, sizeof *sorted, compare_entries);
    SapStatus status = SAP_OK;
    char quote[SAP_QUOTE_SIZE];
    for (int i = 1; i < map->count && status == SAP_OK; i++)
        if (strcmp(sorted[i - 1]->key, sorted[i]->key) == 0)
            status = FAIL(loader, sorted[i]->line, "key %s a second time; the first is in line %d",
                          sap_quote(sorted[i]->key, quote), sorted[i - 1]->line);
    free(sorted);
    return status;
}

static SapStatus on_end(Loader *loader) {
    Open open = loader->open[--loader->depth];
    SapYamlNode *node = open.node;
    node->count = loader->num_entries - open.first;
    if (node->count > 0) {
        size_t size = (size_t)node->count * sizeof(SapYamlEntry);
        SapYamlEntry *entries = tree_alloc(loader->tree, size);
        if (entries == NULL)
            return out_of_memory(loader);
        memcpy(entries, loader->entries + open.first, size);
        /* Items of a list are reported under the key of the list. */
        for (int i = 0; node->kind == SAP_YAML_LIST && i < node->count; i++)
            entries[i].key = open.entry.key;
        node->entries = entries;
        loader->num_entries = open.first;
    }
    if (node->kind == SAP_YAML_MAP)
        SAP_TRY(refuse_duplicate_keys(loader, node));
    SAP_TRY(set_anchor(loader, open.anchor, node, node->line));
    return place_node(loader, open.entry, node, node->line);
}

/* An error of libyaml itself. Its reader reports byte offsets, the other parts report lines. */
static SapStatus fail_parser(const Loader *loader, const char *text, size_t length) {
    const yaml_parser_t *parser = &loader->parser;
    if (parser->error == YAML_MEMORY_ERROR)
        return out_of_memory(loader);
    const char *problem = parser->problem != NULL ? parser->problem : "not YAML";
    if (parser->error != YAML_READER_ERROR)
        return FAIL(loader, line_of(parser->problem_mark), "%s%s%s", problem, parser->context != NULL ? " " : "",
                    parser->context != NULL ? parser->context : "");
    int line = 1;
    for (size_t i = 0; i < length && i < parser->problem_offset; i++)
        line += text[i] == '\n';
    return FAIL(loader, line, "%s", problem);
}

static SapStatus on_event(Loader *loader, const yaml_event_t *event) {
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (loader->has_root)
            return FAIL(loader, line_of(event->start_mark), "a second document; a file holds one");
        return SAP_OK;
    case YAML_SCALAR_EVENT: return on_scalar(loader, event);
    case YAML_ALIAS_EVENT: return on_alias(loader, event);
    case YAML_SEQUENCE_START_EVENT:
        return on_start(loader, event, SAP_YAML_LIST, event->data.sequence_start.anchor,
                        event->data.sequence_start.tag);
    case YAML_MAPPING_START_EVENT:
        return on_start(loader, event, SAP_YAML_MAP, event->data.mapping_start.anchor, event->data.mapping_start.tag);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: return on_end(loader);
    default: return SAP_OK;
    }
}

static SapStatus load_text(Loader *loader, const char *text, size_t length) {
    for (bool more = true; more;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&loader->parser, &event))
            return fail_parser(loader, text, length);
        SapStatus status = on_event(loader, &event);
        more = event.type != YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
        SAP_TRY(status);
    }
    if (!loader->has_root)
        return FAIL(loader, 1, "the file is empty");
    return SAP_OK;
}

static SapStatus parse_into(SapYamlTree *tree, const char *text, size_t length) {
    Loader *loader = calloc(1, sizeof *loader);
    SapStatus status = SAP_ERROR_MEMORY;
    if (loader != NULL && yaml_parser_initialize(&loader->parser)) {
        loader->tree = tree;
        yaml_parser_set_input_string(&loader->parser, (const unsigned char *)text, length);
        status = load_text(loader, text, length);
        yaml_parser_delete(&loader->parser);
        free(loader->entries);
    } else {
        sap_fail_at(tree->name, 0, status, "out of memory while reading the file");
    }
    free(loader);
    return status;
}

SapStatus sap_yaml_parse(const char *text, size_t length, const char *name, SapYamlTree **out) {
    *out = NULL;
    if (length > SAP_YAML_MAX_BYTES)
        return sap_fail_at(name, 0, SAP_ERROR_PARSE, "the file has more than %d bytes", SAP_YAML_MAX_BYTES);
    SapYamlTree *tree = calloc(1, sizeof *tree);
    if (tree == NULL)
        return sap_fail_at(name, 0, SAP_ERROR_MEMORY, "out of memory while reading the file");
    tree->name = name;
    SapStatus status = parse_into(tree, text, length);
    if (status != SAP_OK) {
        sap_yaml_destroy(tree);
        return status;
    }
    *out = tree;
    return SAP_OK;
}
