/* SAP_API marks the symbols that the shared library exports; all others are hidden. */
#ifndef SAPWOOD_EXPORT_H
#define SAPWOOD_EXPORT_H

#if defined(__GNUC__)
#define SAP_API __attribute__((visibility("default")))
#else
#define SAP_API
#endif

/* Checks the arguments of a printf-like function at compile time. text is the position of the format, first the
 * position of its first argument. */
#if defined(__GNUC__)
#define SAP_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define SAP_PRINTF(text, first)
#endif

/* The version of these headers. */
#define SAP_VERSION_MAJOR 0
#define SAP_VERSION_MINOR 2
#define SAP_VERSION_PATCH 0

#ifdef __cplusplus
#define SAP_BEGIN_DECLS extern "C" {
#define SAP_END_DECLS   }
#else
#define SAP_BEGIN_DECLS
#define SAP_END_DECLS
#endif

#endif
