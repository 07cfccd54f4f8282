/* What the stand-ins for NVIDIA's libraries call instead of launching kernels. */
#ifndef PTX_DRIVER_LIBRARY_H
#define PTX_DRIVER_LIBRARY_H

#include <stddef.h>

/* Runs function(data) as work of the stream, in its order or as a part of the graph that it captures. Copies the `size`
 * bytes of data. Returns a CUresult. */
int ptx_library_work(void *stream, void (*function)(void *), const void *data, size_t size);

#endif
