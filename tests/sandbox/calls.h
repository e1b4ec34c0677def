/* Escapes by system calls. */
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
E(mount_folder) { return call_ok(mount("none", below("own", "scratch"), "tmpfs", 0, "")); }
E(unmount_folder) { return call_ok(umount2("/nowhere", 0)) || errno == ENOENT; }
E(open_mount_tree) { return call_ok(syscall(SYS_open_tree, AT_FDCWD, "/usr", 0)); }
E(change_root) { return call_ok(chroot(below("own", "scratch"))); }
E(make_device) { return call_ok(mknod(below("own", "scratch/device"), S_IFCHR | 0600, 259)); }
E(make_fifo) { return call_ok(mknod(below("own", "scratch/fifo"), S_IFIFO | 0600, 0)); }
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
E(unprotect_opponent_file) { return call_ok(chmod(below("opponent", "scratch/secret"), 0666)); }
E(unprotect_own_program) { return call_ok(chmod(arg("cached"), 0777)); }
E(protect_opponent_folder) { return call_ok(fchmodat(AT_FDCWD, below("opponent", "scratch"), 0700, 0)); }
E(touch_opponent_file) { return call_ok(utimensat(AT_FDCWD, below("opponent", "scratch/secret"), NULL, 0)); }
E(mark_opponent_file) {
    return call_ok(setxattr(below("opponent", "scratch/secret"), "user.arena", "x", 1, 0));
}
E(give_file_away) { return call_ok(chown(below("own", "scratch"), getuid(), getgid())); }
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

