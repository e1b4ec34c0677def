/* Escapes to the files, processes and sockets of others. */
/* Files. */
E(read_opponent_file) { return reads(below("opponent", "scratch/secret")); }
E(read_worker_file) { return reads(arg("secret")); }
E(read_local_token) { return reads(arg("local_token")); }
E(list_local_tokens) { return lists(arg("local_tokens")); }
E(list_opponent_folder) { return lists(below("opponent", "scratch")); }
E(list_worker_folder) { return lists(arg("worker_folder")); }
E(overwrite_opponent_file) { return opens(below("opponent", "scratch/secret"), O_WRONLY); }
E(append_opponent_output) { return opens(below("opponent", "scratch/secret"), O_WRONLY | O_APPEND); }
E(create_in_opponent_folder) { return opens(below("opponent", "scratch/new"), O_WRONLY | O_CREAT); }
E(folder_in_opponent_folder) { return call_ok(mkdir(below("opponent", "scratch/folder"), 0700)); }
E(link_in_opponent_folder) { return call_ok(symlink("/", below("opponent", "scratch/link"))); }
E(delete_opponent_file) { return call_ok(unlink(below("opponent", "scratch/victim"))); }
E(rename_opponent_file) {
    return call_ok(rename(below("opponent", "scratch/secret"), below("opponent", "scratch/moved")));
}
E(steal_opponent_file) {
    return call_ok(rename(below("opponent", "scratch/secret"), below("own", "scratch/stolen")));
}
E(hard_link_opponent_file) {
    return call_ok(link(below("opponent", "scratch/secret"), below("own", "scratch/hard")));
}
E(read_through_link) {
    symlink(below("opponent", "scratch/secret"), below("own", "scratch/soft"));
    return reads(below("own", "scratch/soft"));
}
E(read_through_dots) { return reads(below("own", "scratch/../../opponent/scratch/secret")); }
E(read_through_process_root) {
    char path[4096];
    snprintf(path, sizeof path, "/proc/self/root%s", arg("secret"));
    return reads(path);
}
E(write_own_program) { return opens(arg("cached"), O_WRONLY); }
E(replace_own_program) { return call_ok(rename(below("own", "scratch"), arg("cached"))) || call_ok(unlink(arg("cached"))); }
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
    int is_own = realpath("/dev/shm", real) && !strcmp(real, below("own", "scratch"));
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
    snprintf(at.sun_path, sizeof at.sun_path, "%s", below("own", "scratch/s"));
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

