#pragma once
#include <stdint.h>

/// Calls of malloc, calloc, realloc and the aligned ones by this thread so far. 0 where they can't be counted.
uint64_t allocation_count(void);

/// The same by all threads that there are and were.
uint64_t process_allocation_count(void);

/// Bytes of the heap that are in use. 0 where they can't be told.
uint64_t heap_bytes(void);
