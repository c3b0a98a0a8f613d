/* A layer below SQLite that fails, and that remembers what is on the disk for certain. Loaded into the program with
 * LD_PRELOAD; it concerns the database and its -wal file only.
 *
 *   SHIM_DATABASE  the path of the database
 *   SHIM_DURABLE   a directory: after each sync, the file as it was then. What was not synced is lost in a power cut.
 *   SHIM_CONTROL   a file with one line "KIND AFTER ERRNO": the operation of this kind after so many of them fails, and all
 *                  later ones too, until the file says something else. Kinds:
 *                    write, sync, truncate, open   fail
 *                    full                          writing beyond the end of a file fails
 *                    lie                           a sync succeeds and does nothing
 *                    hang                          reading waits
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char plan[128];
static int seen;

/* The ending of a tracked path, or NULL. */
static const char *tracked_path(const char *path) {
    const char *database = getenv("SHIM_DATABASE");
    if (!database || strncmp(path, database, strlen(database)) != 0) return NULL;
    const char *ending = path + strlen(database);
    return *ending == 0 || strcmp(ending, "-wal") == 0 ? ending : NULL;
}

static const char *tracked(int fd, char *path, size_t size) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, size - 1);
    if (length <= 0) return NULL;
    path[length] = 0;
    return tracked_path(path);
}

/* Whether an operation fails now; sets errno. Counts operations since the plan was last changed. */
static int fails(const char *kind) {
    const char *control = getenv("SHIM_CONTROL");
    int fd = control ? syscall(SYS_openat, AT_FDCWD, control, O_RDONLY | O_CLOEXEC, 0) : -1;
    if (fd < 0) return 0;
    char text[sizeof plan] = {0};
    ssize_t length = syscall(SYS_read, fd, text, sizeof text - 1);
    syscall(SYS_close, fd);
    if (length <= 0) return 0;
    char planned[32];
    int after, error, result = 0;
    pthread_mutex_lock(&lock);
    if (strcmp(text, plan) != 0) {
        strcpy(plan, text);
        seen = 0;
    }
    if (sscanf(text, "%31s %d %d", planned, &after, &error) == 3 && strcmp(planned, kind) == 0 && seen++ >= after) {
        errno = error;
        result = 1;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

/* Copies a file that was synced. It is read through its own descriptor: closing another one would drop SQLite's locks. */
static void keep(int fd, const char *ending) {
    const char *durable = getenv("SHIM_DURABLE");
    if (!durable) return;
    static char buffer[1 << 16];
    char name[2048], part[2060];
    snprintf(name, sizeof name, "%s/chat.sqlite%s", durable, ending);
    snprintf(part, sizeof part, "%s.part", name);
    pthread_mutex_lock(&lock);
    int to = syscall(SYS_openat, AT_FDCWD, part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    off_t at = 0;
    ssize_t length;
    while ((length = syscall(SYS_pread64, fd, buffer, sizeof buffer, at)) > 0) {
        at += syscall(SYS_write, to, buffer, length);
    }
    syscall(SYS_close, to);
    rename(part, name);
    pthread_mutex_unlock(&lock);
}

static int sync_file(int fd, long call) {
    char path[4096];
    int before = errno;
    const char *ending = tracked(fd, path, sizeof path);
    errno = before;
    if (ending) {
        if (fails("sync")) return -1;
        if (fails("lie")) return 0;
    }
    int result = syscall(call, fd);
    if (result == 0 && ending) keep(fd, ending);
    return result;
}

int fsync(int fd) { return sync_file(fd, SYS_fsync); }
int fdatasync(int fd) { return sync_file(fd, SYS_fdatasync); }

/* Whether writing so much fails. */
static int write_fails(int fd, off_t end) {
    char path[4096];
    int before = errno;
    const char *ending = tracked(fd, path, sizeof path);
    errno = before;
    if (!ending) return 0;
    if (fails("write")) return 1;
    struct stat found;
    return fstat(fd, &found) == 0 && end > found.st_size && fails("full");
}

ssize_t write(int fd, const void *bytes, size_t length) {
    off_t at = lseek(fd, 0, SEEK_CUR);
    if (at >= 0 && write_fails(fd, at + (off_t)length)) return -1;
    return syscall(SYS_write, fd, bytes, length);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) {
    if (write_fails(fd, at + (off_t)length)) return -1;
    return syscall(SYS_pwrite64, fd, bytes, length, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at) { return pwrite(fd, bytes, length, at); }

static void wait_to_read(int fd) {
    char path[4096];
    int before = errno;
    if (tracked(fd, path, sizeof path)) {
        while (fails("hang")) usleep(1000);
    }
    errno = before;
}

ssize_t read(int fd, void *bytes, size_t length) {
    wait_to_read(fd);
    return syscall(SYS_read, fd, bytes, length);
}

ssize_t pread(int fd, void *bytes, size_t length, off_t at) {
    wait_to_read(fd);
    return syscall(SYS_pread64, fd, bytes, length, at);
}

ssize_t pread64(int fd, void *bytes, size_t length, off64_t at) { return pread(fd, bytes, length, at); }

int ftruncate(int fd, off_t length) {
    char path[4096];
    int before = errno;
    const char *ending = tracked(fd, path, sizeof path);
    errno = before;
    if (ending && fails("truncate")) return -1;
    return syscall(SYS_ftruncate, fd, length);
}

int ftruncate64(int fd, off64_t length) { return ftruncate(fd, length); }

int open(const char *path, int flags, ...) {
    mode_t mode = 0;
    if (flags & (O_CREAT | O_TMPFILE)) {
        va_list rest;
        va_start(rest, flags);
        mode = va_arg(rest, mode_t);
        va_end(rest);
    }
    if (tracked_path(path) && fails("open")) return -1;
    return syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    mode_t mode = 0;
    if (flags & (O_CREAT | O_TMPFILE)) {
        va_list rest;
        va_start(rest, flags);
        mode = va_arg(rest, mode_t);
        va_end(rest);
    }
    return open(path, flags | O_LARGEFILE, mode);
}
