/* A YAML (or JSON) document as a tree of scalars, lists and maps, each with its line.
 *
 * libyaml parses the text. This layer adds the checks that untrusted files need: keys are unique scalars, aliases share
 * their node and can neither form a cycle nor expand without bound, nesting is limited, and every error names file and
 * line. */
#ifndef SAPWOOD_HOST_BASE_YAML_TREE_H
#define SAPWOOD_HOST_BASE_YAML_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include <sapwood/error.h>

#include "host/base/keyword.h"

enum {
    SAP_YAML_MAX_BYTES = 16 << 20, /* size of a document */
    SAP_YAML_MAX_DEPTH = 32,       /* nesting depth of lists and maps */
    SAP_YAML_MAX_NODES = 1 << 20,  /* counted with every alias expanded */
    SAP_YAML_MAX_ANCHORS = 1 << 10 /* they are searched linearly */
};

typedef enum SapYamlKind { SAP_YAML_SCALAR, SAP_YAML_LIST, SAP_YAML_MAP } SapYamlKind;

typedef struct SapYamlTree SapYamlTree;
typedef struct SapYamlNode SapYamlNode;

/* A position in a list or a map, and the node at that position. */
typedef struct SapYamlEntry {
    const char *key; /* key in a map; in a list, the key of the list itself; NULL if there is none */
    int index;       /* index in a list, from 0; -1 in a map */
    int line;        /* line of the key or item, from 1 */
    const SapYamlNode *node;
} SapYamlEntry;

struct SapYamlNode {
    const SapYamlTree *tree;
    SapYamlKind kind;
    bool plain;                  /* scalar without quotes */
    int line;                    /* from 1 */
    const char *text;            /* text of a scalar, NUL-terminated */
    int count;                   /* number of entries; 0 for a scalar */
    const SapYamlEntry *entries; /* in file order */
    int height;                  /* 1 for a scalar or an empty container */
    int size;                    /* number of nodes in this subtree, aliases expanded */
};

/* Parses `text` of `length` bytes, which must hold exactly one document. `name` is the file name in messages and must
 * outlive the tree. */
SapStatus sap_yaml_parse(const char *text, size_t length, const char *name, SapYamlTree **out);
void sap_yaml_destroy(SapYamlTree *tree); /* NULL is allowed */

/* The name passed to sap_yaml_parse. */
const char *sap_yaml_name(const SapYamlTree *tree);

/* The document itself: an entry without a key. */
const SapYamlEntry *sap_yaml_root(const SapYamlTree *tree);

/* The entry of a map with that key, or NULL if there is none or the node is not a map. */
const SapYamlEntry *sap_yaml_find(const SapYamlNode *map, const char *key);

/* Whether a node is YAML's null: empty, "~" or "null" without quotes. */
bool sap_yaml_is_null(const SapYamlNode *node);

/* "map", "list", "null" or the quoted text of a scalar, for messages. */
const char *sap_yaml_describe(const SapYamlNode *node, char buffer[SAP_QUOTE_SIZE]);

/* Fails with "FILE:LINE: KEY: message"; the key of a list item is followed by its index. */
SapStatus sap_yaml_fail(const SapYamlEntry *at, SapStatus status, const char *format, ...) SAP_PRINTF(3, 4);

#endif
