/* SAP_API marks what the shared library exports; every other symbol is hidden. */
#ifndef SAPWOOD_EXPORT_H
#define SAPWOOD_EXPORT_H

#if defined(__GNUC__)
#define SAP_API __attribute__((visibility("default")))
#else
#define SAP_API
#endif

/* Checks the arguments of printf-like functions at compile time. */
#if defined(__GNUC__)
#define SAP_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define SAP_PRINTF(text, first)
#endif

#define SAP_VERSION_MAJOR 0
#define SAP_VERSION_MINOR 1
#define SAP_VERSION_PATCH 0

#ifdef __cplusplus
#define SAP_BEGIN_DECLS extern "C" {
#define SAP_END_DECLS   }
#else
#define SAP_BEGIN_DECLS
#define SAP_END_DECLS
#endif

#endif
