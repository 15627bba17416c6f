#ifndef HEAP_SYSTEM_H
#define HEAP_SYSTEM_H

#include <stddef.h>

/// Makes the heap return each buffer of at least `bytes` to the system as soon as it is freed. glibc keeps freed buffers
/// of up to 32 MiB for later ones; other systems return them already, and nothing changes there.
void heap_return_large_buffers(size_t bytes);

#endif
