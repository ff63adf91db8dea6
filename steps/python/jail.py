"""The walls of the sandbox, put up by the sandbox process around itself. Standard library only: it is read as a file by
`python -I -S`, where no module of Pawl can be imported.

Each function raises OSError where its wall cannot stand. Linux only.
"""

import ctypes
import os
import platform
import resource
import signal
import sysconfig
from collections.abc import Iterable, Sequence
from pathlib import Path

LIBC = ctypes.CDLL(None, use_errno=True)

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 1, 4, 24, 38, 47
PR_CAP_AMBIENT_CLEAR_ALL = 4
CAPABILITY_VERSION_3 = 0x20080522


def _check(result: int, what: str) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


# ------------------------------------------------------------------ process


def die_with_parent(parent: int | None) -> None:
    """Killed as soon as the thread that started us ends, even where that was before this call.

    None: bubblewrap stands between, and sees to it; in its namespace our parent has another number.
    """
    _check(LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "prctl(PDEATHSIG)")
    if parent is not None and os.getppid() != parent:
        os._exit(1)


RESERVE_BYTES = 64 * 1024 * 1024


def set_limits(*, cpu_s: int, memory_bytes: int) -> None:
    for limit, value in (
        (resource.RLIMIT_CPU, cpu_s),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
    ):
        _, hard = resource.getrlimit(limit)
        wanted = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(limit, (wanted, wanted))
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = memory_bytes + RESERVE_BYTES if hard == resource.RLIM_INFINITY else min(memory_bytes + RESERVE_BYTES, hard)
    resource.setrlimit(resource.RLIMIT_AS, (min(memory_bytes, most), most))


def use_reserve() -> None:
    """Room to tell of the error after the code has used up its memory."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def drop_privileges() -> None:
    """No new privileges by exec, no capability in any set. The user stays the same: root's own interpreter must stay
    readable where it lies under /root; what root without capabilities could still do is stopped by the other walls.
    """
    _check(LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl(NO_NEW_PRIVS)")
    LIBC.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    for capability in range(64):
        LIBC.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)  # fails for an ordinary user, who has none to drop
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    _check(LIBC.capset(header, (ctypes.c_uint32 * 6)()), "capset")
    _check(LIBC.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "prctl(DUMPABLE)")


# ------------------------------------------------------------------ files: Landlock

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the same numbers on every architecture
RULE_PATH_BENEATH = 1
READ_FILE, READ_DIR = 1 << 2, 1 << 3
# by ABI: 1 the first thirteen rights, 2 REFER, 3 TRUNCATE, 5 IOCTL_DEV
FILE_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
NET_RIGHTS = 0b11  # bind and connect TCP, from ABI 4
SCOPES = 0b11  # abstract unix sockets and signals, from ABI 6


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def landlock_version() -> int:
    """The kernel's ABI of Landlock; 0 where it has none, or has it switched off."""
    return max(0, int(LIBC.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1))))


def lock_files(readable: Iterable[str]) -> None:
    """From here on only what lies below `readable` can be opened, for reading. Nothing can be made or removed."""
    version = landlock_version()
    rights = FILE_RIGHTS[min(version, 5)]
    attributes = _Ruleset(rights, NET_RIGHTS if version >= 4 else 0, SCOPES if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = _check(
        LIBC.syscall(CREATE_RULESET, ctypes.byref(attributes), ctypes.c_size_t(size), ctypes.c_uint32(0)), "landlock"
    )
    for path in readable:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        rule = _PathBeneath(READ_FILE | READ_DIR if Path(path).is_dir() else READ_FILE, place)
        _check(LIBC.syscall(ADD_RULE, ruleset, RULE_PATH_BENEATH, ctypes.byref(rule), 0), "landlock_add_rule")
        os.close(place)
    _check(LIBC.syscall(RESTRICT_SELF, ruleset, 0), "landlock_restrict_self")
    os.close(ruleset)


def places() -> tuple[str, ...]:
    """What `import` needs: the standard library, the system's shared libraries, time zones."""
    paths = sysconfig.get_paths()
    return (
        paths["stdlib"], paths["platstdlib"], "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo",
        "/etc/ld.so.cache", "/etc/localtime",
    )  # fmt: skip


def readable_places() -> list[str]:
    return [path for path in dict.fromkeys(map(os.path.realpath, places())) if Path(path).exists()]


# ------------------------------------------------------------------ system calls: seccomp

ALLOW, REFUSE = 0x7FFF0000, 0x00050000
EPERM, ENOSYS = 1, 38
EQUAL, MASKED_EQUAL = 4, 7
CLONE_THREAD, AF_UNIX = 0x00010000, 1
HARMLESS_IOCTLS = (0x5401, 0x5421, 0x5450, 0x5451, 0x541B)  # TCGETS, FIONBIO, FIONCLEX, FIOCLEX, FIONREAD

_ALLOWED = """
read write readv writev pread64 pwrite64 close close_range fstat newfstatat stat lstat statx lseek
open openat readlink readlinkat getdents64 access faccessat faccessat2 getcwd
mmap mprotect munmap mremap madvise brk mincore
rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait rt_sigsuspend sigaltstack restart_syscall
pipe pipe2 select pselect6 poll ppoll epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait eventfd2
fcntl dup dup2 dup3 sendto recvfrom shutdown
sched_yield sched_getaffinity sched_getparam sched_getscheduler sched_get_priority_min sched_get_priority_max
nanosleep clock_nanosleep clock_gettime clock_getres gettimeofday time times
timer_create timer_settime timer_gettime timer_delete timerfd_create timerfd_settime timerfd_gettime
setitimer getitimer alarm pause
getpid getppid gettid getuid geteuid getgid getegid getresuid getresgid getgroups getpgrp getpgid getsid
futex futex_waitv set_robust_list get_robust_list set_tid_address rseq membarrier arch_prctl
uname getrlimit getrusage sysinfo getrandom getcpu exit exit_group
"""
ALLOWED = tuple(_ALLOWED.split())


class _Argument(ctypes.Structure):
    _fields_ = (
        ("number", ctypes.c_uint), ("operation", ctypes.c_int), ("first", ctypes.c_uint64), ("second", ctypes.c_uint64),
    )  # fmt: skip


def seccomp_library() -> ctypes.CDLL | None:
    try:
        library = ctypes.CDLL("libseccomp.so.2", use_errno=True)
    except OSError:
        return None
    library.seccomp_init.restype = ctypes.c_void_p
    library.seccomp_init.argtypes = (ctypes.c_uint32,)
    library.seccomp_load.argtypes = (ctypes.c_void_p,)
    library.seccomp_syscall_resolve_name.argtypes = (ctypes.c_char_p,)
    library.seccomp_rule_add_array.argtypes = (
        ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint, ctypes.c_void_p,
    )  # fmt: skip
    return library


def lock_system_calls(library: ctypes.CDLL) -> None:
    """Only calls that computing needs: no socket, no new process, no signal to another, no change of a file's marks.

    It lists what is allowed, so that the next kernel's calls are refused too.
    """
    context = library.seccomp_init(REFUSE | EPERM)
    if not context:
        raise OSError("seccomp_init failed")

    def add(action: int, name: str, arguments: Sequence[tuple[int, int, int, int]] = ()) -> None:
        number = library.seccomp_syscall_resolve_name(name.encode())
        if number < 0:
            return  # this architecture has no such call
        array = (_Argument * len(arguments))(*(_Argument(*each) for each in arguments)) if arguments else None
        result = library.seccomp_rule_add_array(context, action, number, len(arguments), array)
        if result < 0:
            raise OSError(-result, f"seccomp rule for {name}: {os.strerror(-result)}")

    for name in ALLOWED:
        add(ALLOW, name)
    add(ALLOW, "clone", [(0, MASKED_EQUAL, CLONE_THREAD, CLONE_THREAD)])
    add(REFUSE | ENOSYS, "clone3")  # its flags lie in memory, where no filter sees them: glibc then uses clone
    add(ALLOW, "tgkill", [(0, EQUAL, os.getpid(), 0)])
    add(ALLOW, "prlimit64", [(0, EQUAL, 0, 0)])
    add(ALLOW, "socketpair", [(0, EQUAL, AF_UNIX, 0)])  # asyncio wakes its loop by one
    for request in HARMLESS_IOCTLS:
        add(ALLOW, "ioctl", [(1, EQUAL, request, 0)])
    result = library.seccomp_load(context)
    if result < 0:
        raise OSError(-result, f"seccomp_load: {os.strerror(-result)}")


def enclose(*, allow_weak: bool, below_bubblewrap: bool) -> list[str]:
    """Puts the walls up; answers which stand. Raises OSError where one is missing and nobody has said: go on."""
    if platform.system() != "Linux":
        raise OSError("the sandbox needs Linux")
    library = seccomp_library()  # loaded while its file can still be opened
    walls = ["bubblewrap"] if below_bubblewrap else []
    drop_privileges()
    if landlock_version():
        lock_files(readable_places())
        walls.append("landlock")
    if library is not None:
        lock_system_calls(library)
        walls.append("seccomp")
    missing = {"landlock", "seccomp"} - set(walls)
    if missing and not (below_bubblewrap or allow_weak):
        names = {"landlock": "Landlock (Linux 5.13 or newer)", "seccomp": "libseccomp (package libseccomp2)"}
        lacking = " and ".join(names[each] for each in sorted(missing))
        raise OSError(f"this machine lacks {lacking}, and bubblewrap, which would do instead")
    return walls
