/* Tells a person at a terminal what takes long. */
#ifndef SAPWOOD_HOST_BASE_ANNOUNCE_H
#define SAPWOOD_HOST_BASE_ANNOUNCE_H

/* Writes "sapwood: ..." as a line to standard error if that is a terminal. Text for printf. */
void sap_announce(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
