/* What all escapes need. */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

static char **arguments;

static const char *arg(const char *key) {
    size_t length = strlen(key);
    for (char **at = arguments; *at; at++)
        if (!strncmp(*at, key, length) && (*at)[length] == '=') return *at + length + 1;
    return "";
}
static int number(const char *key) { return atoi(arg(key)); }

/* A path below the value of a key. The results rotate, so that two can be used at once. */
static const char *below(const char *key, const char *name) {
    static char paths[4][4096];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, 4096, "%s/%s", arg(key), name);
    return path;
}
static const char *of_process(const char *key, const char *name) {
    static char path[4096];
    snprintf(path, sizeof path, "/proc/%d/%s", number(key), name);
    return path;
}
static int opens(const char *path, int flags) {
    int fd = open(path, flags | O_CLOEXEC, 0600);
    if (fd < 0) return 0;
    close(fd);
    return 1;
}
static int reads(const char *path) {
    char byte;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int got = fd >= 0 && read(fd, &byte, 1) == 1;
    close(fd);
    return got;
}
static int lists(const char *path) {
    DIR *folder = opendir(path);
    int got = folder && readdir(folder) != NULL;
    if (folder) closedir(folder);
    return got;
}
static int call_ok(long result) { return result >= 0; }
static int same_link(const char *path, const char *key) {
    char target[256] = "";
    return readlink(path, target, sizeof target - 1) > 0 && !strcmp(target, arg(key));
}
static int connects_unix(const char *path) {
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    strncpy(to.sun_path, path, sizeof to.sun_path - 1);
    return fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0;
}
static int socket_of(int family, int type, int protocol) {
    return call_ok(socket(family, type, protocol));
}
static void pause_ms(int ms) {
    struct timespec time = {ms / 1000, ms % 1000 * 1000000L};
    nanosleep(&time, NULL);
}

#define E(id) static int id(void)

