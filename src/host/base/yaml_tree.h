/* A YAML (or JSON) document as a tree of scalars, lists and maps, each with its line.
 *
 * libyaml does the parsing; this adds what reading files of strangers needs: keys are unique scalars, aliases share their
 * node and can neither form a cycle nor blow the document up, nesting is bounded, and every failure names file and line. */
#ifndef SAPWOOD_HOST_BASE_YAML_TREE_H
#define SAPWOOD_HOST_BASE_YAML_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include <sapwood/error.h>

#include "host/base/keyword.h"

enum {
    SAP_YAML_MAX_BYTES = 16 << 20, /* of a document */
    SAP_YAML_MAX_DEPTH = 32,       /* of nested lists and maps */
    SAP_YAML_MAX_NODES = 1 << 20,  /* with every alias written out */
    SAP_YAML_MAX_ANCHORS = 1 << 10 /* they are searched one by one */
};

typedef enum SapYamlKind { SAP_YAML_SCALAR, SAP_YAML_LIST, SAP_YAML_MAP } SapYamlKind;

typedef struct SapYamlTree SapYamlTree;
typedef struct SapYamlNode SapYamlNode;

/* A place in a list or a map, and what stands there. */
typedef struct SapYamlEntry {
    const char *key; /* of a map; of a list, the key under which the list itself stands; NULL when there is none */
    int index;       /* in a list, from 0; -1 in a map */
    int line;        /* of the key or item, from 1 */
    const SapYamlNode *node;
} SapYamlEntry;

struct SapYamlNode {
    const SapYamlTree *tree;
    SapYamlKind kind;
    bool plain;                  /* a scalar without quotes */
    int line;                    /* from 1 */
    const char *text;            /* of a scalar, NUL-terminated */
    int count;                   /* of entries; 0 for a scalar */
    const SapYamlEntry *entries; /* in the order of the file */
    int height;                  /* 1 for a scalar or an empty container */
    int size;                    /* nodes below and including this one, aliases written out */
};

/* Parses `text` of `length` bytes; `name` stands for the file in messages and must outlive the tree. Exactly one document. */
SapStatus sap_yaml_parse(const char *text, size_t length, const char *name, SapYamlTree **out);
void sap_yaml_destroy(SapYamlTree *tree); /* NULL is allowed */

/* The name given to sap_yaml_parse. */
const char *sap_yaml_name(const SapYamlTree *tree);

/* The document itself: an entry without a key. */
const SapYamlEntry *sap_yaml_root(const SapYamlTree *tree);

/* The entry of a map with that key, or NULL (also when the node is no map). */
const SapYamlEntry *sap_yaml_find(const SapYamlNode *map, const char *key);

/* Whether a node is YAML's null: nothing, "~" or "null" without quotes. */
bool sap_yaml_is_null(const SapYamlNode *node);

/* "map", "list", "null" or the quoted text of a scalar: what a message says was found. */
const char *sap_yaml_describe(const SapYamlNode *node, char buffer[SAP_QUOTE_SIZE]);

/* Fails with "FILE:LINE: KEY: message", where the key of a list item is followed by its index. */
SapStatus sap_yaml_fail(const SapYamlEntry *at, SapStatus status, const char *format, ...) SAP_PRINTF(3, 4);

#endif
