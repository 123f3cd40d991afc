// Counts heap allocations by standing before the C library's functions. Linux with glibc only.
#include "allocations.h"

#ifdef __GLIBC__
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

// Every thread has a counter of its own, so that counting costs no more than an addition. Those of threads that ended stay.
struct counter {
    _Atomic uint64_t count;
    struct counter *next;
};
static __thread struct counter *own;
static struct counter *_Atomic all;

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static struct counter *counter(void) {
    if (own == NULL) {
        struct counter *made = __libc_calloc(1, sizeof *made);
        if (made == NULL) return NULL;
        made->next = atomic_load(&all);
        while (!atomic_compare_exchange_weak(&all, &made->next, made)) {}
        own = made;
    }
    return own;
}

static inline void add(void) {
    struct counter *mine = counter();
    if (mine == NULL) return;
    // This thread alone writes it.
    uint64_t count = atomic_load_explicit(&mine->count, memory_order_relaxed);
    atomic_store_explicit(&mine->count, count + 1, memory_order_relaxed);
}

void *malloc(size_t size) { add(); return __libc_malloc(size); }
void *calloc(size_t number, size_t size) { add(); return __libc_calloc(number, size); }
void *realloc(void *old, size_t size) { add(); return __libc_realloc(old, size); }
void *memalign(size_t alignment, size_t size) { add(); return __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { add(); return __libc_memalign(alignment, size); }

int posix_memalign(void **result, size_t alignment, size_t size) {
    add();
    *result = __libc_memalign(alignment, size);
    return *result == NULL ? ENOMEM : 0;
}

uint64_t allocation_count(void) { return own == NULL ? 0 : atomic_load_explicit(&own->count, memory_order_relaxed); }

uint64_t process_allocation_count(void) {
    uint64_t sum = 0;
    for (struct counter *each = atomic_load(&all); each != NULL; each = each->next)
        sum += atomic_load_explicit(&each->count, memory_order_relaxed);
    return sum;
}
#else
uint64_t allocation_count(void) { return 0; }
uint64_t process_allocation_count(void) { return 0; }
#endif

#ifdef __GLIBC__
#include <malloc.h>
uint64_t heap_bytes(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}
#else
uint64_t heap_bytes(void) { return 0; }
#endif
