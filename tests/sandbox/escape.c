/* Tries to leave a sandbox: `escape NAME KEY=VALUE…`. Exits with 0 if it succeeds, and with 7 if
 * it is stopped; a signal also means that it is stopped. Everything is bounded in number and time,
 * and nothing is sent beyond the loopback interface. `escape --list` prints all names. */
#define _GNU_SOURCE
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

/* Files. */
E(read_opponent_file) { return reads(below("opponent", "work/secret")); }
E(read_worker_file) { return reads(arg("secret")); }
E(list_opponent_folder) { return lists(below("opponent", "work")); }
E(list_worker_folder) { return lists(arg("worker_folder")); }
E(overwrite_opponent_file) { return opens(below("opponent", "work/secret"), O_WRONLY); }
E(append_opponent_output) { return opens(below("opponent", "work/secret"), O_WRONLY | O_APPEND); }
E(create_in_opponent_folder) { return opens(below("opponent", "work/new"), O_WRONLY | O_CREAT); }
E(folder_in_opponent_folder) { return call_ok(mkdir(below("opponent", "work/folder"), 0700)); }
E(link_in_opponent_folder) { return call_ok(symlink("/", below("opponent", "work/link"))); }
E(delete_opponent_file) { return call_ok(unlink(below("opponent", "work/victim"))); }
E(rename_opponent_file) {
    return call_ok(rename(below("opponent", "work/secret"), below("opponent", "work/moved")));
}
E(steal_opponent_file) {
    return call_ok(rename(below("opponent", "work/secret"), below("own", "work/stolen")));
}
E(hard_link_opponent_file) {
    return call_ok(link(below("opponent", "work/secret"), below("own", "work/hard")));
}
E(read_through_link) {
    symlink(below("opponent", "work/secret"), below("own", "work/soft"));
    return reads(below("own", "work/soft"));
}
E(read_through_dots) { return reads(below("own", "work/../../opponent/work/secret")); }
E(read_through_process_root) {
    char path[4096];
    snprintf(path, sizeof path, "/proc/self/root%s", arg("secret"));
    return reads(path);
}
E(write_own_program) { return opens(arg("cached"), O_WRONLY); }
E(replace_own_program) { return call_ok(rename(below("own", "work"), arg("cached"))) || call_ok(unlink(arg("cached"))); }
E(write_own_package) { return opens(below("own", "package/new"), O_WRONLY | O_CREAT); }
E(socket_in_opponent_folder) {
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof at.sun_path, "%s", below("opponent", "run/other.sock"));
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    return call_ok(bind(fd, (struct sockaddr *)&at, sizeof at));
}
E(link_as_own_socket) {
    return call_ok(symlink(below("opponent", "run/agent.sock"), below("own", "run/agent.sock")));
}
E(read_passwd) { return reads("/etc/passwd"); }
E(read_hosts) { return reads("/etc/hostname") || reads("/etc/hosts"); }
E(write_tmp) {
    char path[] = "/tmp/arena-escape-XXXXXX";
    int fd = mkstemp(path);
    if (fd >= 0) unlink(path);
    return fd >= 0;
}
E(write_shared_memory) {
    int made = opens("/dev/shm/arena-escape", O_RDWR | O_CREAT);
    char real[4096] = "";
    /* A strict sandbox leads this name to the scratch folder. */
    int is_own = realpath("/dev/shm", real) && !strcmp(real, below("own", "work"));
    if (made) unlink("/dev/shm/arena-escape");
    return made && !is_own;
}
E(read_worker_environment) { return reads(of_process("worker", "environ")); }
E(read_worker_maps) { return opens(of_process("worker", "maps"), O_RDONLY); }
E(read_worker_memory) { return opens(of_process("worker", "mem"), O_RDONLY); }
E(write_worker_memory) { return opens(of_process("worker", "mem"), O_RDWR); }
E(list_worker_descriptors) { return lists(of_process("worker", "fd")); }
E(read_worker_command) { return reads(of_process("worker", "cmdline")); }
E(read_worker_status) { return reads(of_process("worker", "status")); }
E(read_opponent_environment) { return reads(of_process("opponent_pid", "environ")); }
E(read_opponent_memory) { return opens(of_process("opponent_pid", "mem"), O_RDONLY); }
E(read_opponent_command) { return reads(of_process("opponent_pid", "cmdline")); }
E(enter_worker_root) { return lists(of_process("worker", "root")); }
E(read_guard_environment) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/environ", getppid());
    return reads(path);
}
E(list_processes) {
    DIR *folder = opendir("/proc");
    char name[16];
    snprintf(name, sizeof name, "%d", number("worker"));
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (!strcmp(entry->d_name, name)) return 1;
    return 0;
}
E(open_kernel_log) { return opens("/dev/kmsg", O_RDONLY | O_NONBLOCK); }
E(write_core_pattern) { return opens("/proc/sys/kernel/core_pattern", O_WRONLY); }
E(write_cgroup) { return opens("/sys/fs/cgroup/memory/cgroup.procs", O_WRONLY) || opens("/sys/fs/cgroup/cgroup.procs", O_WRONLY); }
E(read_kernel_symbols) { return reads("/proc/kallsyms"); }

/* Signals. */
E(stop_opponent) {
    int sent = kill(number("opponent_pid"), SIGSTOP) == 0;
    if (sent) kill(number("opponent_pid"), SIGCONT);
    return sent;
}
E(signal_worker) { return call_ok(kill(number("worker"), SIGURG)); }
E(signal_worker_thread) { return call_ok(syscall(SYS_tgkill, number("worker"), number("worker"), SIGURG)); }
E(signal_guard) { return getppid() > 1 ? call_ok(kill(getppid(), SIGURG)) : call_ok(kill(1, SIGURG)); }
E(signal_group_of_worker) { return call_ok(kill(-number("worker_group"), SIGURG)); }
E(own_signals_of_worker) {
    int pair[2];
    return socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0 &&
           call_ok(fcntl(pair[0], F_SETOWN, number("worker")));
}
E(queue_signal) {
    siginfo_t info = {.si_signo = SIGURG, .si_code = SI_QUEUE};
    return call_ok(syscall(SYS_rt_sigqueueinfo, number("worker"), SIGURG, &info));
}

/* Sockets. */
E(connect_coordinator) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(number("port"))};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    return fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0;
}
E(fast_open_coordinator) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(number("port"))};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    return call_ok(sendto(fd, "x", 1, MSG_FASTOPEN, (struct sockaddr *)&to, sizeof to));
}
E(connect_coordinator_over_ipv6) { return socket_of(AF_INET6, SOCK_STREAM, 0); }
E(connect_opponent) { return connects_unix(below("opponent", "run/agent.sock")); }
E(connect_own_listener) {
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof at.sun_path, "%s", below("own", "work/s"));
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(fd, (struct sockaddr *)&at, sizeof at) || listen(fd, 1)) return 0;
    return connects_unix(at.sun_path);
}
E(bind_port) {
    struct sockaddr_in at = {.sin_family = AF_INET};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    return fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 1) == 0;
}
E(datagram_to_abstract_socket) {
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    strcpy(to.sun_path + 1, arg("abstract"));
    socklen_t length = offsetof(struct sockaddr_un, sun_path) + 1 + strlen(arg("abstract"));
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    return call_ok(sendto(fd, "x", 1, 0, (struct sockaddr *)&to, length));
}
E(udp_socket) { return socket_of(AF_INET, SOCK_DGRAM, 0); }
E(raw_socket) { return socket_of(AF_INET, SOCK_RAW, IPPROTO_ICMP); }
E(packet_socket) { return socket_of(AF_PACKET, SOCK_RAW, 0); }
E(netlink_socket) { return socket_of(AF_NETLINK, SOCK_RAW, 0); }
E(kernel_crypto_socket) { return socket_of(AF_ALG, SOCK_SEQPACKET, 0) || socket_of(AF_UNIX, SOCK_SEQPACKET, 0); }
E(datagram_pair) {
    int pair[2];
    return call_ok(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
}

/* System calls. */
E(trace_me) { return call_ok(ptrace(PTRACE_TRACEME, 0, 0, 0)); }
E(trace_opponent) { return call_ok(ptrace(PTRACE_SEIZE, number("opponent_pid"), 0, 0)); }
E(trace_worker) { return call_ok(ptrace(PTRACE_SEIZE, number("worker"), 0, 0)); }
static int reads_memory(int pid) {
    char from = 1, to = 0;
    struct iovec local = {&to, 1}, remote = {&from, 1};
    /* Another process may have nothing at this address: only the check of permission counts. */
    long got = syscall(SYS_process_vm_readv, pid, &local, 1, &remote, 1, 0);
    return got == 1 || errno == EFAULT;
}
E(copy_worker_memory) { return reads_memory(number("worker")); }
E(copy_own_memory) { return reads_memory(getpid()); }
E(open_process) { return call_ok(syscall(SYS_pidfd_open, getpid(), 0)); }
E(open_worker_process) { return call_ok(syscall(SYS_pidfd_open, number("worker"), 0)); }
E(compare_processes) { return call_ok(syscall(SYS_kcmp, getpid(), getpid(), 1, 0, 0)); }
E(session_keyring) { return call_ok(syscall(SYS_keyctl, 0, -3, 1)); }
E(new_key) { return call_ok(syscall(SYS_add_key, "user", "arena", "x", 1L, -2)); }
E(request_key) {
    return call_ok(syscall(SYS_request_key, "user", "arena-none", NULL, -2)) || errno == ENOKEY;
}
E(io_uring) {
    char parameters[120] = {0};
    return call_ok(syscall(SYS_io_uring_setup, 1, parameters));
}
E(performance_events) {
    struct perf_event_attr event = {.type = PERF_TYPE_SOFTWARE, .size = sizeof event};
    event.config = PERF_COUNT_SW_TASK_CLOCK;
    event.exclude_kernel = 1;
    return call_ok(syscall(SYS_perf_event_open, &event, 0, -1, -1, 0));
}
E(bpf_map) {
    struct { uint32_t type, key, value, entries; char rest[112]; } map = {2, 4, 4, 1, ""};
    return call_ok(syscall(SYS_bpf, 0, &map, sizeof map));
}
E(user_fault) { return call_ok(syscall(SYS_userfaultfd, 1)); }
E(new_user_namespace) { return call_ok(unshare(CLONE_NEWUSER)); }
E(clone_user_namespace) {
    long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
    if (pid == 0) _exit(0);
    return call_ok(pid);
}
E(clone3_user_namespace) {
    uint64_t options[8] = {CLONE_NEWUSER, 0, 0, 0, SIGCHLD};
    long pid = syscall(SYS_clone3, options, sizeof options);
    if (pid == 0) _exit(0);
    return call_ok(pid);
}
E(enter_namespace) {
    /* Without privileges the system refuses it, but only after it has found the namespace. */
    int fd = open("/proc/self/ns/uts", O_RDONLY);
    return call_ok(setns(fd, CLONE_NEWUTS)) || errno == EPERM;
}
E(mount_folder) { return call_ok(mount("none", below("own", "work"), "tmpfs", 0, "")); }
E(unmount_folder) { return call_ok(umount2("/nowhere", 0)) || errno == ENOENT; }
E(open_mount_tree) { return call_ok(syscall(SYS_open_tree, AT_FDCWD, "/usr", 0)); }
E(change_root) { return call_ok(chroot(below("own", "work"))); }
E(make_device) { return call_ok(mknod(below("own", "work/device"), S_IFCHR | 0600, 259)); }
E(make_fifo) { return call_ok(mknod(below("own", "work/fifo"), S_IFIFO | 0600, 0)); }
E(change_personality) { return call_ok(syscall(SYS_personality, 0x0040000)); }
E(anonymous_file) { return call_ok(syscall(SYS_memfd_create, "x", 0)); }
E(shared_segment) { return call_ok(syscall(SYS_shmget, 0, 4096, 0600)); }
E(semaphores) { return call_ok(syscall(SYS_semget, 0, 1, 0600)); }
E(messages) { return call_ok(syscall(SYS_msgget, 0, 0600)); }
E(set_user) { return call_ok(syscall(SYS_setresuid, getuid(), getuid(), getuid())); }
E(set_groups) { return call_ok(syscall(SYS_setgroups, 0, NULL)); }
E(set_clock) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return call_ok(syscall(SYS_clock_settime, CLOCK_REALTIME, &now));
}
E(query_clock_discipline) {
    struct timex none = {0};
    return call_ok(syscall(SYS_adjtimex, &none));
}
E(set_host_name) {
    char name[256];
    gethostname(name, sizeof name);
    return call_ok(sethostname(name, strlen(name)));
}
E(kernel_messages) { return call_ok(syscall(SYS_syslog, 10, NULL, 0)); }
E(watch_files) { return call_ok(syscall(SYS_inotify_init1, 0)); }
E(watch_filesystem) { return call_ok(syscall(SYS_fanotify_init, 0x200, 0)); }
E(unprotect_opponent_file) { return call_ok(chmod(below("opponent", "work/secret"), 0666)); }
E(unprotect_own_program) { return call_ok(chmod(arg("cached"), 0777)); }
E(protect_opponent_folder) { return call_ok(fchmodat(AT_FDCWD, below("opponent", "work"), 0700, 0)); }
E(touch_opponent_file) { return call_ok(utimensat(AT_FDCWD, below("opponent", "work/secret"), NULL, 0)); }
E(mark_opponent_file) {
    return call_ok(setxattr(below("opponent", "work/secret"), "user.arena", "x", 1, 0));
}
E(give_file_away) { return call_ok(chown(below("own", "work"), getuid(), getgid())); }
E(empty_own_program) { return call_ok(truncate(arg("spare"), 0)); }
E(limit_worker) {
    struct rlimit limit;
    return call_ok(syscall(SYS_prlimit64, number("worker"), RLIMIT_CORE, NULL, &limit));
}
E(slow_worker) {
    int now = getpriority(PRIO_PROCESS, number("worker"));
    return call_ok(setpriority(PRIO_PROCESS, number("worker"), now));
}
E(slow_user) { return call_ok(setpriority(PRIO_USER, 0, getpriority(PRIO_USER, 0))); }
E(take_cores) {
    cpu_set_t cores;
    return sched_getaffinity(0, sizeof cores, &cores) == 0 && call_ok(sched_setaffinity(0, sizeof cores, &cores));
}
E(change_scheduler) {
    struct sched_param none = {0};
    return call_ok(sched_setscheduler(0, SCHED_BATCH, &none));
}
E(change_io_priority) { return call_ok(syscall(SYS_ioprio_set, 1, 0, 2 << 13 | 4)); }
E(outlive_guard) { return call_ok(prctl(PR_SET_PDEATHSIG, 0)); }
E(dump_memory) { return call_ok(prctl(PR_SET_DUMPABLE, 1)); }
E(allow_tracer) { return call_ok(prctl(PR_SET_CHILD_SUBREAPER, 1)); }
E(foreign_call) {
#ifdef __x86_64__
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(20L) : "memory", "r8", "r9", "r10", "r11");
    return result > 0;
#else
    return 1;
#endif
}
E(control_device) {
    int size, fd = open("/usr/bin", O_RDONLY);
    return call_ok(ioctl(fd, 2 /* FIGETBSZ */, &size));
}
E(file_handle) {
    struct { unsigned bytes; int type; char rest[128]; } handle = {128, 0, ""};
    int mount;
    return call_ok(syscall(SYS_name_to_handle_at, AT_FDCWD, "/usr", &handle, &mount, 0)) || errno == EOPNOTSUPP;
}
E(move_pages) { return call_ok(syscall(SYS_move_pages, 0, 0, NULL, NULL, NULL, 0)); }
E(filter_calls) {
    uint32_t action = 0x7fff0000;
    return call_ok(syscall(SYS_seccomp, 2, 0, &action));
}
E(query_landlock) { return call_ok(syscall(444, NULL, 0L, 1)); }
E(map_into_pipe) {
    int ends[2];
    char byte = 1;
    struct iovec part = {&byte, 1};
    return pipe(ends) == 0 && call_ok(syscall(SYS_vmsplice, ends[1], &part, 1, 0));
}
E(account_processes) { return call_ok(acct(NULL)); }
E(change_ldt) {
#ifdef __x86_64__
    char buffer[64];
    return call_ok(syscall(SYS_modify_ldt, 0, buffer, sizeof buffer));
#else
    return 1;
#endif
}
E(open_without_reading) { return opens(arg("spare"), O_RDONLY | O_TRUNC); }

/* What a process inherits. */
E(inherit_secret) { return getenv("CANARY") != NULL; }
E(inherit_secret_in_proc) {
    char text[65536];
    int fd = open("/proc/self/environ", O_RDONLY);
    ssize_t got = read(fd, text, sizeof text);
    return got > 0 && memmem(text, got, "CANARY", 6) != NULL;
}
E(inherit_descriptor) {
    char byte;
    for (int fd = 3; fd < 256; fd++)
        if (pread(fd, &byte, 1, 0) == 1) return 1;
    return 0;
}

/* Limits of a process. */
E(reserve_message_queues) {
    struct rlimit limit;
    return getrlimit(RLIMIT_MSGQUEUE, &limit) == 0 && limit.rlim_max > 0;
}
E(huge_file) {
    int fd = open(below("own", "work/huge"), O_RDWR | O_CREAT, 0600);
    signal(SIGXFSZ, SIG_IGN);
    return call_ok(ftruncate(fd, 1L << 40)) || errno == ENOSPC;
}

/* Privileges. */
E(run_setuid_program) {
    char *command[] = {(char *)arg("setuid"), "print_user", NULL};
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) {
        execv(command[0], command);
        _exit(99);
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
E(print_user) { return geteuid() == 0 && getuid() != 0; }
E(have_capability) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2] = {{0}};
    return syscall(SYS_capget, &header, data) == 0 && (data[0].effective || data[1].effective);
}
E(gain_capability) {
    char *command[] = {(char *)arg("program"), "have_capability", NULL};
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) {
        execv(command[0], command);
        _exit(99);
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
E(raise_priority) {
    return setpriority(PRIO_PROCESS, 0, 10) == 0 && call_ok(setpriority(PRIO_PROCESS, 0, 9));
}

/* Limits of the tree. It counts as an escape if it lasts. */
E(fork_bomb) {
    for (int count = 0; count < 200; count++) {
        pid_t pid = fork();
        if (pid == 0) {
            pause_ms(2000);
            _exit(0);
        }
        if (pid < 0) return 0;
    }
    pause_ms(1000);
    return 1;
}
E(detached_bomb) {
    for (int count = 0; count < 200; count++) {
        pid_t pid = fork();
        if (pid == 0) {
            setsid();
            if (fork() == 0) pause_ms(2000);
            _exit(0);
        }
        if (pid < 0) return 0;
        waitpid(pid, NULL, 0);
    }
    pause_ms(1000);
    return 1;
}
E(memory_bomb) {
    for (int count = 0; count < 8; count++)
        if (fork() == 0) {
            size_t size = 24 << 20;
            volatile char *memory = malloc(size);
            for (size_t at = 0; memory && at < size; at += 4096) memory[at] = 1;
            pause_ms(2000);
            _exit(memory ? 0 : 1);
        }
    pause_ms(1000);
    return 1;
}
E(shared_memory_bomb) {
    size_t size = 192 << 20;
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 0;
    memset(memory, 1, size);
    pause_ms(1000);
    return 1;
}
static int fills_disk(void) {
    static char block[1 << 20];
    memset(block, 1, sizeof block);
    for (int count = 0; count < 64; count++) {
        char name[64];
        snprintf(name, sizeof name, "work/block-%d", count);
        int fd = open(below("own", name), O_WRONLY | O_CREAT, 0600);
        if (fd < 0 || write(fd, block, sizeof block) != sizeof block) return 0;
        close(fd);
    }
    pause_ms(1000);
    return 1;
}
E(disk_bomb) { return fills_disk(); }
E(write_to_disk) {
    struct stat found;
    return stat(below("own", "work"), &found) == 0 && found.st_dev == strtoull(arg("device"), NULL, 10);
}
E(burn_processor) {
    struct timespec used;
    do clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    while (used.tv_sec < 1);
    return 1;
}

/* Namespaces. */
E(share_users) { return same_link("/proc/self/ns/user", "ns_user"); }
E(share_processes) { return same_link("/proc/self/ns/pid", "ns_pid"); }
E(share_mounts) { return same_link("/proc/self/ns/mnt", "ns_mnt"); }
E(share_network) { return same_link("/proc/self/ns/net", "ns_net"); }
E(share_ipc) { return same_link("/proc/self/ns/ipc", "ns_ipc"); }
E(share_host_name) { return same_link("/proc/self/ns/uts", "ns_uts"); }
E(find_worker_process) {
    struct stat found;
    return call_ok(stat(of_process("worker", "status"), &found));
}
E(find_worker_file) {
    struct stat found;
    return call_ok(stat(arg("secret"), &found));
}
E(find_opponent_folder) {
    struct stat found;
    return call_ok(stat(arg("opponent"), &found));
}
E(enter_opponent_folder) { return call_ok(chdir(arg("opponent"))); }
E(read_host_name) {
    struct utsname host;
    return uname(&host) == 0 && !strcmp(host.nodename, arg("host"));
}
E(read_listeners) {
    char text[65536];
    int fd = open("/proc/self/net/unix", O_RDONLY);
    for (ssize_t got; (got = read(fd, text, sizeof text)) > 0;)
        if (memmem(text, got, arg("opponent"), strlen(arg("opponent")))) return 1;
    return 0;
}
E(be_user_of_worker) { return getuid() == (uid_t)number("uid"); }
E(stay_in_group_of_worker) {
    char text[4096] = "", name[32];
    int fd = open("/proc/self/cgroup", O_RDONLY);
    snprintf(name, sizeof name, "arena-agent-");
    return read(fd, text, sizeof text - 1) > 0 && !strstr(text, name);
}

static const struct { const char *name; int (*try)(void); } ESCAPES[] = {
#define X(id) {#id, id}
    X(read_opponent_file),
    X(read_worker_file),
    X(list_opponent_folder),
    X(list_worker_folder),
    X(overwrite_opponent_file),
    X(append_opponent_output),
    X(create_in_opponent_folder),
    X(folder_in_opponent_folder),
    X(link_in_opponent_folder),
    X(delete_opponent_file),
    X(rename_opponent_file),
    X(steal_opponent_file),
    X(hard_link_opponent_file),
    X(read_through_link),
    X(read_through_dots),
    X(read_through_process_root),
    X(write_own_program),
    X(replace_own_program),
    X(write_own_package),
    X(socket_in_opponent_folder),
    X(link_as_own_socket),
    X(read_passwd),
    X(read_hosts),
    X(write_tmp),
    X(write_shared_memory),
    X(read_worker_environment),
    X(read_worker_maps),
    X(read_worker_memory),
    X(write_worker_memory),
    X(list_worker_descriptors),
    X(read_worker_command),
    X(read_worker_status),
    X(read_opponent_environment),
    X(read_opponent_memory),
    X(read_opponent_command),
    X(enter_worker_root),
    X(read_guard_environment),
    X(list_processes),
    X(open_kernel_log),
    X(write_core_pattern),
    X(write_cgroup),
    X(read_kernel_symbols),
    X(stop_opponent),
    X(signal_worker),
    X(signal_worker_thread),
    X(signal_guard),
    X(signal_group_of_worker),
    X(own_signals_of_worker),
    X(queue_signal),
    X(connect_coordinator),
    X(fast_open_coordinator),
    X(connect_coordinator_over_ipv6),
    X(connect_opponent),
    X(connect_own_listener),
    X(bind_port),
    X(datagram_to_abstract_socket),
    X(udp_socket),
    X(raw_socket),
    X(packet_socket),
    X(netlink_socket),
    X(kernel_crypto_socket),
    X(datagram_pair),
    X(trace_me),
    X(trace_opponent),
    X(trace_worker),
    X(copy_worker_memory),
    X(copy_own_memory),
    X(open_process),
    X(open_worker_process),
    X(compare_processes),
    X(session_keyring),
    X(new_key),
    X(request_key),
    X(io_uring),
    X(performance_events),
    X(bpf_map),
    X(user_fault),
    X(new_user_namespace),
    X(clone_user_namespace),
    X(clone3_user_namespace),
    X(enter_namespace),
    X(mount_folder),
    X(unmount_folder),
    X(open_mount_tree),
    X(change_root),
    X(make_device),
    X(make_fifo),
    X(change_personality),
    X(anonymous_file),
    X(shared_segment),
    X(semaphores),
    X(messages),
    X(set_user),
    X(set_groups),
    X(set_clock),
    X(query_clock_discipline),
    X(set_host_name),
    X(kernel_messages),
    X(watch_files),
    X(watch_filesystem),
    X(unprotect_opponent_file),
    X(unprotect_own_program),
    X(protect_opponent_folder),
    X(touch_opponent_file),
    X(mark_opponent_file),
    X(give_file_away),
    X(empty_own_program),
    X(limit_worker),
    X(slow_worker),
    X(slow_user),
    X(take_cores),
    X(change_scheduler),
    X(change_io_priority),
    X(outlive_guard),
    X(dump_memory),
    X(allow_tracer),
    X(foreign_call),
    X(control_device),
    X(file_handle),
    X(move_pages),
    X(filter_calls),
    X(query_landlock),
    X(map_into_pipe),
    X(account_processes),
    X(change_ldt),
    X(open_without_reading),
    X(inherit_secret),
    X(inherit_secret_in_proc),
    X(inherit_descriptor),
    X(reserve_message_queues),
    X(huge_file),
    X(run_setuid_program),
    X(print_user),
    X(have_capability),
    X(gain_capability),
    X(raise_priority),
    X(fork_bomb),
    X(detached_bomb),
    X(memory_bomb),
    X(shared_memory_bomb),
    X(disk_bomb),
    X(write_to_disk),
    X(burn_processor),
    X(share_users),
    X(share_processes),
    X(share_mounts),
    X(share_network),
    X(share_ipc),
    X(share_host_name),
    X(find_worker_process),
    X(find_worker_file),
    X(find_opponent_folder),
    X(enter_opponent_folder),
    X(read_host_name),
    X(read_listeners),
    X(be_user_of_worker),
    X(stay_in_group_of_worker),
};

int main(int count, char **values) {
    size_t escapes = sizeof ESCAPES / sizeof *ESCAPES;
    if (count == 2 && !strcmp(values[1], "--list")) {
        for (size_t at = 0; at < escapes; at++) puts(ESCAPES[at].name);
        return 0;
    }
    if (count < 2) return 2;
    arguments = values + 2;
    alarm(20);
    for (size_t at = 0; at < escapes; at++)
        if (!strcmp(values[1], ESCAPES[at].name)) {
            errno = 0;
            int escaped = ESCAPES[at].try();
            fprintf(stderr, "%s: %s\n", escaped ? "escaped" : "stopped", strerror(errno));
            return escaped ? 0 : 7;
        }
    return 2;
}
