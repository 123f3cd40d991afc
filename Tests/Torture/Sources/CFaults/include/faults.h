// Lets system calls fail, end the process, lie or be recorded, for the files below one directory.
//
// The program defines `write`, `fsync` and the like itself. The dynamic linker therefore resolves
// the calls of LMDB, Foundation and the engine to these definitions, which call the system's.
#ifndef TORTURE_FAULTS_H
#define TORTURE_FAULTS_H

#include <stdint.h>

// Kinds of calls, to be combined.
enum faults_kind {
    faults_open = 1,      // open, openat
    faults_write = 2,     // write, pwrite, writev, pwritev
    faults_sync = 4,      // fsync, fdatasync
    faults_size = 8,      // ftruncate
    faults_map = 16,      // mmap
    faults_rename = 32,   // rename, renameat
    faults_remove = 64,   // unlink, unlinkat, rmdir
    faults_folder = 128,  // mkdir, mkdirat
    faults_lock = 256,    // flock
    faults_read = 512,    // read, pread
    faults_changes = 511,  // all except reads
    faults_all = 1023,
};

// What happens at the chosen call.
enum faults_action {
    faults_fail_once = 0,  // it fails with the error number
    faults_fail_on = 1,    // it and all later ones fail
    faults_short = 2,      // a write stores half of its bytes and says so
    faults_die = 3,        // the process is killed before the call
    faults_die_after = 4,  // the process is killed after the call
    faults_abort = 5,      // the process aborts before the call
    faults_lie = 6,        // a write says that it has stored its bytes, and has not
};

// Watches the files below a directory, which need not exist. The path is absolute.
void faults_watch(const char *directory);

// Plans one fault, at the n-th watched call of some kinds, counted from 1 and from now.
void faults_plan(int kinds, int64_t number, int action, int error_number);

// The number of watched calls of the planned kinds so far.
int64_t faults_count(void);

// Appends every change of the watched files to a file. See PowerLog for its format.
void faults_record(const char *path);

// Appends an entry of the caller's own: what it has submitted or what was acknowledged.
void faults_note(int64_t a, int64_t b, int64_t c);

// Writes out what is recorded and stops recording.
void faults_finish(void);

// Makes the process die when its parent does, and leave no core file when it crashes.
void faults_die_with_parent(void);

#endif
