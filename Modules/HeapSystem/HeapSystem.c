#include "HeapSystem.h"

#include <stdlib.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

void heap_return_large_buffers(size_t bytes) {
#if defined(__GLIBC__)
  // A threshold that is set does not grow with the sizes that are freed.
  mallopt(M_MMAP_THRESHOLD, (int)bytes);
#else
  (void)bytes;
#endif
}
