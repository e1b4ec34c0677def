/* Escapes by what a process inherits, by privileges, limits and namespaces. */
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
    int fd = open(below("own", "scratch/huge"), O_RDWR | O_CREAT, 0600);
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
        snprintf(name, sizeof name, "scratch/block-%d", count);
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
    return stat(below("own", "scratch"), &found) == 0 && found.st_dev == strtoull(arg("device"), NULL, 10);
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

