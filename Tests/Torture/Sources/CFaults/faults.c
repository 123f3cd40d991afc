#define _GNU_SOURCE
// Both names of each function are defined here, with and without 64.
#undef _FILE_OFFSET_BITS
#include "faults.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { most_files = 1024, longest_path = 256 };

// An open file below the watched directory. `path` is relative to it, and empty if the descriptor
// is not watched.
static struct {
    char path[longest_path];
    int is_synchronous;
} files[most_files];

static char watched[PATH_MAX];
static size_t watched_length;
static _Atomic int plan_kinds;
static int64_t plan_number;
static int plan_action, plan_error;
static _Atomic int64_t count;
static FILE *record;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

// The types of entries in the record.
enum { entry_open = 1, entry_write, entry_sync, entry_size, entry_rename, entry_remove,
       entry_folder, entry_note };

struct entry {
    uint32_t type, flags;
    int64_t a, b, c;
    uint32_t path_length, data_length;
    // The guard file, which is changed through a memory map and not by calls.
    uint8_t guard[64];
};

#define REAL(name) \
    static __typeof__(&name) real; \
    if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

// --- The watched files

static const char *path_of(int descriptor) {
    if (descriptor < 0 || descriptor >= most_files || !files[descriptor].path[0]) return NULL;
    return files[descriptor].path;
}

// Returns the part of an absolute path below the watched directory, or NULL. The directory itself
// is ".".
static const char *below(const char *path) {
    if (!watched_length || strncmp(path, watched, watched_length)) return NULL;
    if (!path[watched_length]) return ".";
    return path[watched_length] == '/' ? path + watched_length + 1 : NULL;
}

// Writes the watched path of `name` in a directory into `result`. Returns NULL for other files.
static const char *resolve(int directory, const char *name, char *result) {
    if (!watched_length || !name) return NULL;
    if (name[0] == '/') {
        const char *found = below(name);
        return found ? strncpy(result, found, longest_path - 1) : NULL;
    }
    const char *parent = directory == AT_FDCWD ? NULL : path_of(directory);
    if (!parent) return NULL;
    if (!strcmp(parent, ".")) snprintf(result, longest_path, "%s", name);
    else snprintf(result, longest_path, "%s/%s", parent, name);
    return result;
}

// --- Faults

static void die(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

// Counts a call. Returns what happens to it, or -1 for nothing.
static int strike(int kind) {
    if (!(atomic_load(&plan_kinds) & kind)) return -1;
    int64_t number = atomic_fetch_add(&count, 1) + 1;
    int goes_on = plan_action == faults_fail_on && number > plan_number;
    if (number != plan_number && !goes_on) return -1;
    if (plan_action == faults_die) die();
    if (plan_action == faults_abort) abort();
    return plan_action;
}

// Whether the call fails. Actions that only a write can take let other calls pass.
static int fails(int action) {
    if (action != faults_fail_once && action != faults_fail_on) return 0;
    errno = plan_error;
    return 1;
}

static void after(int action) {
    if (action == faults_die_after) die();
}

void faults_watch(const char *directory) {
    snprintf(watched, sizeof watched, "%s", directory);
    watched_length = strlen(watched);
}

void faults_plan(int kinds, int64_t number, int action, int error_number) {
    plan_number = number;
    plan_action = action;
    plan_error = error_number;
    atomic_store(&count, 0);
    atomic_store(&plan_kinds, kinds);
}

int64_t faults_count(void) { return atomic_load(&count); }

// --- The record

void faults_record(const char *path) { record = fopen(path, "wb"); }

static void append(uint32_t type, uint32_t flags, int64_t a, int64_t b, int64_t c,
                   const char *path, const void *data, size_t length) {
    struct entry entry = {type, flags, a, b, c, path ? strlen(path) : 0, length, {0}};
    char name[PATH_MAX + 8];
    snprintf(name, sizeof name, "%s/guard", watched);
    REAL(open);
    int guard = real(name, O_RDONLY | O_CLOEXEC);
    if (guard >= 0) {
        if (pread(guard, entry.guard, sizeof entry.guard, 0) < 0) memset(entry.guard, 0, 64);
        close(guard);
    }
    fwrite(&entry, sizeof entry, 1, record);
    if (path) fwrite(path, entry.path_length, 1, record);
    if (length) fwrite(data, length, 1, record);
}

// Calls are recorded in the order in which they take effect: the mutex is held from before a call
// to after its entry.
static int begin(const char *path) {
    if (!record || !path) return 0;
    pthread_mutex_lock(&mutex);
    return 1;
}

static void end(int is_recorded) {
    if (is_recorded) pthread_mutex_unlock(&mutex);
}

void faults_note(int64_t a, int64_t b, int64_t c) {
    if (!record) return;
    pthread_mutex_lock(&mutex);
    append(entry_note, 0, a, b, c, NULL, NULL, 0);
    pthread_mutex_unlock(&mutex);
}

void faults_finish(void) {
    if (!record) return;
    pthread_mutex_lock(&mutex);
    fclose(record);
    record = NULL;
    pthread_mutex_unlock(&mutex);
}

// --- Opening and closing

static int finish_open(int result, const char *path, int flags, int is_recorded) {
    int error = errno;
    if (result >= 0 && result < most_files) {
        snprintf(files[result].path, longest_path, "%s", path ? path : "");
        files[result].is_synchronous = (flags & O_DSYNC) != 0;
    }
    if (is_recorded && result >= 0) {
        if (flags & O_CREAT) append(entry_open, 0, 0, 0, 0, path, NULL, 0);
        if (flags & O_TRUNC) append(entry_size, 0, 0, 0, 0, path, NULL, 0);
    }
    errno = error;
    return result;
}

#define DEFINE_OPEN(name) \
    int name(const char *file, int flags, ...) { \
        mode_t mode = 0; \
        if (flags & (O_CREAT | O_TMPFILE)) { \
            va_list list; va_start(list, flags); mode = va_arg(list, mode_t); va_end(list); \
        } \
        REAL(name); \
        char buffer[longest_path] = ""; \
        const char *path = resolve(AT_FDCWD, file, buffer); \
        int action = path ? strike(faults_open) : -1; \
        if (fails(action)) return -1; \
        int is_recorded = begin(path); \
        int result = finish_open(real(file, flags, mode), path, flags, is_recorded); \
        end(is_recorded); \
        after(action); \
        return result; \
    }
DEFINE_OPEN(open)
DEFINE_OPEN(open64)

#define DEFINE_OPENAT(name) \
    int name(int directory, const char *file, int flags, ...) { \
        mode_t mode = 0; \
        if (flags & (O_CREAT | O_TMPFILE)) { \
            va_list list; va_start(list, flags); mode = va_arg(list, mode_t); va_end(list); \
        } \
        REAL(name); \
        char buffer[longest_path] = ""; \
        const char *path = resolve(directory, file, buffer); \
        int action = path ? strike(faults_open) : -1; \
        if (fails(action)) return -1; \
        int is_recorded = begin(path); \
        int result = finish_open(real(directory, file, flags, mode), path, flags, is_recorded); \
        end(is_recorded); \
        after(action); \
        return result; \
    }
DEFINE_OPENAT(openat)
DEFINE_OPENAT(openat64)

int close(int descriptor) {
    REAL(close);
    if (descriptor >= 0 && descriptor < most_files) files[descriptor].path[0] = 0;
    return real(descriptor);
}

// --- Writing

// Returns the bytes that a write may store, or -1 if it fails. `lies` says that it stores none.
static ssize_t allowance(int action, size_t length, int *lies) {
    *lies = action == faults_lie;
    if (fails(action)) return -1;
    return action == faults_short && length > 1 ? (ssize_t)(length / 2) : (ssize_t)length;
}

static void record_write(const char *path, int descriptor, off_t offset, const void *data,
                         ssize_t length) {
    if (length <= 0) return;
    append(entry_write, files[descriptor].is_synchronous, offset, 0, 0, path, data, length);
}

#define DEFINE_PWRITE(name) \
    ssize_t name(int descriptor, const void *data, size_t length, off_t offset) { \
        REAL(name); \
        const char *path = path_of(descriptor); \
        if (!path) return real(descriptor, data, length, offset); \
        int lies, action = strike(faults_write); \
        ssize_t allowed = allowance(action, length, &lies); \
        if (allowed < 0) return -1; \
        int is_recorded = begin(path); \
        ssize_t result = lies ? allowed : real(descriptor, data, allowed, offset); \
        int error = errno; \
        if (is_recorded) record_write(path, descriptor, offset, data, result); \
        end(is_recorded); \
        after(action); \
        errno = error; \
        return result; \
    }
DEFINE_PWRITE(pwrite)
DEFINE_PWRITE(pwrite64)

ssize_t write(int descriptor, const void *data, size_t length) {
    REAL(write);
    const char *path = path_of(descriptor);
    if (!path) return real(descriptor, data, length);
    int lies, action = strike(faults_write);
    ssize_t allowed = allowance(action, length, &lies);
    if (allowed < 0) return -1;
    int is_recorded = begin(path);
    off_t offset = lseek(descriptor, 0, SEEK_CUR);
    ssize_t result = lies ? allowed : real(descriptor, data, allowed);
    int error = errno;
    if (lies) lseek(descriptor, allowed, SEEK_CUR);
    if (is_recorded) record_write(path, descriptor, offset, data, result);
    end(is_recorded);
    after(action);
    errno = error;
    return result;
}

// Joins the parts of a write, so that one function stores and records it.
static char *join(const struct iovec *parts, int number, size_t *length) {
    *length = 0;
    for (int i = 0; i < number; i++) *length += parts[i].iov_len;
    char *joined = malloc(*length + 1), *end = joined;
    for (int i = 0; joined && i < number; i++) {
        end = mempcpy(end, parts[i].iov_base, parts[i].iov_len);
    }
    return joined;
}

ssize_t writev(int descriptor, const struct iovec *parts, int number) {
    REAL(writev);
    if (!path_of(descriptor)) return real(descriptor, parts, number);
    size_t length;
    char *joined = join(parts, number, &length);
    ssize_t result = write(descriptor, joined, length);
    int error = errno;
    free(joined);
    errno = error;
    return result;
}

#define DEFINE_PWRITEV(name) \
    ssize_t name(int descriptor, const struct iovec *parts, int number, off_t offset) { \
        REAL(name); \
        if (!path_of(descriptor)) return real(descriptor, parts, number, offset); \
        size_t length; \
        char *joined = join(parts, number, &length); \
        ssize_t result = pwrite(descriptor, joined, length, offset); \
        int error = errno; \
        free(joined); \
        errno = error; \
        return result; \
    }
DEFINE_PWRITEV(pwritev)
DEFINE_PWRITEV(pwritev64)

// --- Everything else of one open file

#define DEFINE_OF_FILE(name, kind, type, size, parameters, ...) \
    int name parameters { \
        REAL(name); \
        const char *path = path_of(descriptor); \
        if (!path) return real(__VA_ARGS__); \
        int action = strike(kind); \
        if (fails(action)) return -1; \
        int is_recorded = type ? begin(path) : 0; \
        int result = real(__VA_ARGS__); \
        int error = errno; \
        if (is_recorded && !result) append(type, 0, size, 0, 0, path, NULL, 0); \
        end(is_recorded); \
        after(action); \
        errno = error; \
        return result; \
    }
DEFINE_OF_FILE(fsync, faults_sync, entry_sync, 0, (int descriptor), descriptor)
DEFINE_OF_FILE(fdatasync, faults_sync, entry_sync, 0, (int descriptor), descriptor)
DEFINE_OF_FILE(ftruncate, faults_size, entry_size, size, (int descriptor, off_t size),
               descriptor, size)
DEFINE_OF_FILE(ftruncate64, faults_size, entry_size, size, (int descriptor, off_t size),
               descriptor, size)
DEFINE_OF_FILE(flock, faults_lock, 0, 0, (int descriptor, int operation), descriptor, operation)

ssize_t pread(int descriptor, void *data, size_t length, off_t offset) {
    REAL(pread);
    int action = path_of(descriptor) ? strike(faults_read) : -1;
    if (fails(action)) return -1;
    ssize_t result = real(descriptor, data, length, offset);
    after(action);
    return result;
}

ssize_t read(int descriptor, void *data, size_t length) {
    REAL(read);
    int action = path_of(descriptor) ? strike(faults_read) : -1;
    if (fails(action)) return -1;
    ssize_t result = real(descriptor, data, length);
    after(action);
    return result;
}

#define DEFINE_MMAP(name) \
    void *name(void *address, size_t length, int access, int flags, int descriptor, \
               off_t offset) { \
        REAL(name); \
        int action = path_of(descriptor) ? strike(faults_map) : -1; \
        if (fails(action)) return MAP_FAILED; \
        void *result = real(address, length, access, flags, descriptor, offset); \
        after(action); \
        return result; \
    }
DEFINE_MMAP(mmap)
DEFINE_MMAP(mmap64)

// --- Names

#define DEFINE_OF_NAME(name, kind, type, directory, parameters, ...) \
    int name parameters { \
        REAL(name); \
        char buffer[longest_path] = ""; \
        const char *path = resolve(directory, file, buffer); \
        int action = path ? strike(kind) : -1; \
        if (fails(action)) return -1; \
        int is_recorded = begin(path); \
        int result = real(__VA_ARGS__); \
        int error = errno; \
        if (is_recorded && !result) append(type, 0, 0, 0, 0, path, NULL, 0); \
        end(is_recorded); \
        after(action); \
        errno = error; \
        return result; \
    }
DEFINE_OF_NAME(unlink, faults_remove, entry_remove, AT_FDCWD, (const char *file), file)
DEFINE_OF_NAME(rmdir, faults_remove, entry_remove, AT_FDCWD, (const char *file), file)
DEFINE_OF_NAME(unlinkat, faults_remove, entry_remove, parent,
               (int parent, const char *file, int flags), parent, file, flags)
DEFINE_OF_NAME(mkdir, faults_folder, entry_folder, AT_FDCWD, (const char *file, mode_t mode),
               file, mode)
DEFINE_OF_NAME(mkdirat, faults_folder, entry_folder, parent,
               (int parent, const char *file, mode_t mode), parent, file, mode)

#define DEFINE_RENAME(name, from_directory, to_directory, parameters, ...) \
    int name parameters { \
        REAL(name); \
        char from_buffer[longest_path] = "", to_buffer[longest_path] = ""; \
        const char *from_path = resolve(from_directory, from, from_buffer); \
        const char *to_path = resolve(to_directory, to, to_buffer); \
        int action = to_path ? strike(faults_rename) : -1; \
        if (fails(action)) return -1; \
        int is_recorded = begin(to_path); \
        int result = real(__VA_ARGS__); \
        int error = errno; \
        if (is_recorded && !result && from_path) { \
            append(entry_rename, 0, 0, 0, 0, from_path, to_path, strlen(to_path)); \
        } \
        end(is_recorded); \
        after(action); \
        errno = error; \
        return result; \
    }
DEFINE_RENAME(rename, AT_FDCWD, AT_FDCWD, (const char *from, const char *to), from, to)
DEFINE_RENAME(renameat, parent, other,
              (int parent, const char *from, int other, const char *to), parent, from, other, to)
