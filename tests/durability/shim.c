/* A layer below SQLite that fails, and that remembers what is on the disk for certain. Loaded into the program with
 * LD_PRELOAD; it concerns the database and its -wal file, and the size and kind of all file systems.
 *
 *   SHIM_DATABASE  the path of the database
 *   SHIM_DURABLE   a directory: after each sync, the file as it was then. What was not synced is lost in a power cut.
 *   SHIM_CONTROL   a file with one line "KIND AFTER ERRNO": the operation of this kind after AFTER of them fails, and all later
 *                  ones too, until the file says something else. Kinds:
 *                    write, sync, truncate, open   fail
 *                    full                          writing beyond the end of a file fails
 *                    lie                           a sync succeeds and does nothing
 *                    hang                          reading waits
 *                    flip                          reading changes a bit
 *                    stall                         asking for the space left waits, with a processor of 64 bits
 *                  Of two kinds, ERRNO is an answer about file systems. They need a processor with 64 bits.
 *                    free                          the space left, in MiB
 *                    type                          the kind, as in statfs(2)
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <ucontext.h>
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

static void change_what_was_read(int fd, char *bytes, ssize_t length) {
    char path[4096];
    int before = errno;
    if (length > 0 && tracked(fd, path, sizeof path) && fails("flip")) bytes[length - 1] ^= 1;
    errno = before;
}

ssize_t read(int fd, void *bytes, size_t length) {
    wait_to_read(fd);
    ssize_t result = syscall(SYS_read, fd, bytes, length);
    change_what_was_read(fd, bytes, result);
    return result;
}

ssize_t pread(int fd, void *bytes, size_t length, off_t at) {
    wait_to_read(fd);
    ssize_t result = syscall(SYS_pread64, fd, bytes, length, at);
    change_what_was_read(fd, bytes, result);
    return result;
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

/* The registers of a system call: its first two arguments, and its result. */
#if defined __x86_64__
#define FIRST gregs[REG_RDI]
#define SECOND gregs[REG_RSI]
#define RESULT gregs[REG_RAX]
#elif defined __aarch64__
#define FIRST regs[0]
#define SECOND regs[1]
#define RESULT regs[0]
#endif

#ifdef RESULT
/* The third argument of the calls of this layer. The system ignores it. */
#define OWN 0x7368696d

/* Answers statfs, which the program calls without the C library. */
static void answer_statfs(int number, siginfo_t *info, void *context) {
    (void)number;
    (void)info;
    int before = errno;
    while (fails("stall")) usleep(1000);
    mcontext_t *registers = &((ucontext_t *)context)->uc_mcontext;
    struct statfs *found = (struct statfs *)registers->SECOND;
    long result = syscall(SYS_statfs, registers->FIRST, found, OWN);
    registers->RESULT = result < 0 ? -errno : 0;
    if (result == 0) {
        long long unit = found->f_frsize != 0 ? found->f_frsize : found->f_bsize;
        if (fails("free")) found->f_bavail = ((long long)errno << 20) / unit;
        if (fails("type")) found->f_type = errno;
    }
    errno = before;
}

/* Has the system ask this layer for each statfs. */
__attribute__((constructor)) static void trap_statfs(void) {
    struct sigaction action = {.sa_sigaction = answer_statfs, .sa_flags = SA_SIGINFO};
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_statfs, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};
    sigaction(SIGSYS, &action, NULL);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        perror("statfs cannot be answered");
    }
}
#endif
