/* An agent that tries to read the memory and the environment of its worker at its first decision:
 * `memory PID FILE`. It appends all that it gets to FILE, or to its own scratch folder, and prints a
 * line for each way: how many bytes it got, or `refused`. Then it plays on. */
#define _GNU_SOURCE
#include "../../agents/kits/c/arena.h"
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

/* Larger mappings hold no secrets: stacks of threads, reserved space. */
#define MAPPING_MAX (256l << 20)
#define MAPPINGS_MAX 4096

static struct { unsigned long start, end; } mappings[MAPPINGS_MAX];
static int found, out = -1;
static char page[1 << 16];

static void report(const char *way, long got) {
    if (got < 0) fprintf(stderr, "WAY %s refused\n", way);
    else fprintf(stderr, "WAY %s read %ld bytes\n", way, got);
}
static void keep(const char *bytes, long count) {
    static const char nothing[sizeof page];
    if (!memcmp(bytes, nothing, count)) return;
    if (out >= 0 && write(out, bytes, count) != count) perror("write");
}
static int open_of(long pid, const char *name, int flags) {
    char path[128];
    snprintf(path, sizeof path, "/proc/%ld/%s", pid, name);
    return open(path, flags | O_CLOEXEC);
}

/* A file of the process, from its start to its end. */
static void read_file(long pid, const char *name) {
    long all = -1, got;
    int fd = open_of(pid, name, O_RDONLY);
    while (fd >= 0 && (got = read(fd, page, sizeof page)) > 0) {
        keep(page, got);
        all = (all < 0 ? 0 : all) + got;
    }
    if (fd >= 0) close(fd);
    report(name, all);
}

/* The writable mappings, from `maps`. Without it, places where most programs have some. */
static void find_mappings(long pid) {
    static char text[4 << 20];
    long length = 0, got;
    int fd = open_of(pid, "maps", O_RDONLY);
    while (fd >= 0 && (got = read(fd, text + length, sizeof text - 1 - length)) > 0) length += got;
    if (fd >= 0) close(fd);
    for (char *line = strtok(text, "\n"); line && found < MAPPINGS_MAX; line = strtok(NULL, "\n")) {
        unsigned long start, end;
        char mode[8];
        if (sscanf(line, "%lx-%lx %7s", &start, &end, mode) != 3 || strncmp(mode, "rw", 2)) continue;
        if ((long)(end - start) > MAPPING_MAX) continue;
        mappings[found].start = start;
        mappings[found++].end = end;
    }
    report("maps", length > 0 ? length : -1);
    if (found == 0) {
        mappings[found].start = (unsigned long)&pid & ~0xffful;
        mappings[found].end = mappings[found].start + 0x1000;
        found++;
    }
}

static void read_mem(long pid, const char *name, bool kept) {
    long all = -1;
    int fd = open_of(pid, name, O_RDONLY);
    if (fd >= 0) all = 0;
    for (int i = 0; fd >= 0 && i < found; i++)
        for (unsigned long at = mappings[i].start; at < mappings[i].end; at += sizeof page) {
            unsigned long left = mappings[i].end - at;
            long got = pread(fd, page, left < sizeof page ? left : sizeof page, at);
            if (got > 0) all += got;
            if (got > 0 && kept) keep(page, got);
        }
    if (fd >= 0) close(fd);
    report(name, all);
}

/* A call that reaches the process, but no memory at this place, is not refused. */
static void read_with_call(long pid) {
    long all = -1;
    for (int i = 0; i < found; i++)
        for (unsigned long at = mappings[i].start; at < mappings[i].end; at += sizeof page) {
            unsigned long left = mappings[i].end - at;
            struct iovec to = {page, left < sizeof page ? left : sizeof page};
            struct iovec from = {(void *)at, to.iov_len};
            long got = syscall(SYS_process_vm_readv, pid, &to, 1, &from, 1, 0);
            if (got < 0 && errno != EFAULT) continue;
            if (all < 0) all = 0;
            if (got > 0) all += got;
        }
    report("process_vm_readv", all);
}

static void trace(long pid, const char *way, int request) {
    long all = -1;
    if (ptrace(request, pid, NULL, NULL) == 0) {
        all = 0;
        if (request == PTRACE_SEIZE) ptrace(PTRACE_INTERRUPT, pid, NULL, NULL);
        waitpid(pid, NULL, __WALL);
        errno = 0;
        long word = ptrace(PTRACE_PEEKDATA, pid, (void *)mappings[0].start, NULL);
        if (errno == 0 && word != 0) all += sizeof word;
        ptrace(PTRACE_DETACH, pid, NULL, NULL);
    }
    report(way, all);
}

static void attack(long pid, const char *file) {
    const char *scratch = getenv("TMPDIR");
    char own[4096];
    fprintf(stderr, "ATTACK %ld as user %d\n", pid, (int)getuid());
    snprintf(own, sizeof own, "%s/copy", scratch ? scratch : ".");
    out = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    report("file", out >= 0 ? 0 : -1);
    if (out < 0) out = open(own, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    find_mappings(pid);
    read_file(pid, "environ");
    read_file(pid, "cmdline");
    read_mem(pid, "mem", true);
    char task[64];
    snprintf(task, sizeof task, "task/%ld/mem", pid);
    read_mem(pid, task, false);
    read_with_call(pid);
    trace(pid, "PTRACE_SEIZE", PTRACE_SEIZE);
    trace(pid, "PTRACE_ATTACH", PTRACE_ATTACH);
    close(out);
    /* What was copied is printed, too: records and logs must not have it. */
    int copy = open(own, O_RDONLY | O_CLOEXEC);
    for (long got; copy >= 0 && (got = read(copy, page, sizeof page)) > 0;)
        if (write(2, page, got) != got) break;
    if (copy >= 0) close(copy);
    fprintf(stderr, "\nATTACKED\n");
}

static const char *file;
static long worker;

static long choose(arena_decision *decision) {
    static int done;
    if (!done++) attack(worker, file);
    return decision->legal_moves[0];
}

int main(int count, char **arguments) {
    if (count != 3) return 2;
    worker = atol(arguments[1]);
    file = arguments[2];
    for (char **variable = environ; *variable; variable++) fprintf(stderr, "ENV %s\n", *variable);
    return arena_serve(choose, (arena_about){.name = "memory", .version = "1.0.0",
        .deterministic = true, .uses_seed = "no"});
}
