#pragma once
#include <stdint.h>

/// Calls of malloc, calloc, realloc and the aligned ones by this thread so far. 0 where they can't be counted.
uint64_t allocation_count(void);
