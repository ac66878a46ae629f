/* Launchers that behave well and badly, over the simulated device's extension, as a kernel runtime for the CPU uses it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "aclsim.h"

typedef int32_t (*Enqueue)(void *, const char *, aclsimRun, aclsimDrop, void *);
typedef int32_t (*IsDevice)(const void *, size_t);
typedef void (*Describe)(const void *, char *, size_t);

typedef struct {
    int32_t *y;
    uint32_t n;
    uint32_t blocks;
} Args;

static void enqueue(void *stream, const char *name, aclsimRun run, uint32_t blocks, int32_t *y, uint32_t n)
{
    Args *args = malloc(sizeof *args);
    *args = (Args){y, n, blocks};
    Enqueue launch = (Enqueue)dlsym(RTLD_DEFAULT, "aclsimLaunchKernel");
    if (launch == NULL) abort();
    launch(stream, name, run, free, args);
}

static void say(const char *text)
{
    fprintf(stderr, "%s\n", text);
}

/* A launcher whose kernel has this body. */
#define KERNEL(name, ...)                                                    \
    static int32_t name##_run(void *arg, char *reason, size_t size)          \
    {                                                                        \
        Args *args = arg;                                                    \
        (void)args, (void)reason, (void)size;                                \
        __VA_ARGS__ return 0;                                                \
    }                                                                        \
    void name(uint32_t blocks, void *stream, int32_t *y, uint32_t n)         \
    {                                                                        \
        enqueue(stream, #name, name##_run, blocks, y, n);                    \
    }

/* A launcher that has this body itself. */
#define LAUNCHER(name, ...)                                                  \
    void name(uint32_t blocks, void *stream, int32_t *y, uint32_t n)         \
    {                                                                        \
        (void)blocks, (void)stream, (void)y, (void)n;                        \
        __VA_ARGS__                                                          \
    }

KERNEL(fill, {
    for (uint32_t i = 0; i < args->n; i++) args->y[i] = (int32_t)(i + args->blocks);
})
KERNEL(fill_half, {
    for (uint32_t i = 0; i < args->n / 2; i++) args->y[i] = (int32_t)i;
})
KERNEL(negate, {
    for (uint32_t i = 0; i < args->n; i++) args->y[i] = -args->y[i];
})
LAUNCHER(nothing, {})

/* Repeats: they share the process, and so what it remembers. */
static int launches;
KERNEL(add_one, {
    for (uint32_t i = 0; i < args->n; i++) args->y[i] += 1;
})
KERNEL(third_differs, {
    fill_run(args, reason, size);
    if (++launches == 3) args->y[7] = -1;
})
KERNEL(each_differs, {
    fill_run(args, reason, size);
    args->y[0] = ++launches;
})
KERNEL(third_hangs, {
    while (++launches >= 3) pause();
    fill_run(args, reason, size);
})

static void crash(void)
{
    *(volatile int *)64 = 1;
}
LAUNCHER(segv_in_launcher, {
    puts("about to write to 64");
    crash();
})
KERNEL(segv_in_kernel, {
    puts("kernel about to write to 64");
    crash();
})
LAUNCHER(abort_in_launcher, {
    say("assertion of mine failed");
    abort();
})
KERNEL(abort_in_kernel, {
    say("assertion of mine failed");
    abort();
})
LAUNCHER(exit_0, {
    say("thank you and good bye");
    exit(0);
})
LAUNCHER(exit_3, { exit(3); })
KERNEL(exit_3_in_kernel, { exit(3); })
LAUNCHER(exit_at_once, { _exit(0); })
LAUNCHER(killed, { kill(getpid(), SIGKILL); })

static int dig(volatile char *above)
{
    volatile char frame[4096];
    frame[0] = *above;
    return dig(frame) + frame[0];
}
LAUNCHER(stack_overflow_in_launcher, {
    volatile char first = 1;
    dig(&first);
})
KERNEL(stack_overflow_in_kernel, {
    volatile char first = 1;
    dig(&first);
})

static void allocate_without_end(void)
{
    for (;;) {
        const size_t step = 16u << 20;
        char *memory = malloc(step);
        if (memory == NULL) {
            say("out of memory");
            abort();
        }
        memset(memory, 1, step);
    }
}
LAUNCHER(allocate_in_launcher, { allocate_without_end(); })
KERNEL(allocate_in_kernel, { allocate_without_end(); })

LAUNCHER(hang_in_launcher, {
    say("launcher waits");
    for (;;) pause();
})
KERNEL(hang_in_kernel, {
    say("kernel waits");
    for (;;) pause();
})
KERNEL(spin_in_kernel, {
    for (volatile int going = 1; going;) continue;
})
LAUNCHER(hang_and_ignore_sigterm, {
    signal(SIGTERM, SIG_IGN);
    for (;;) pause();
})
static void grandchild(void)
{
    if (fork() == 0)
        for (;;) pause();
}
LAUNCHER(hang_with_grandchild, {
    grandchild();
    for (;;) pause();
})
void grandchild_stays(uint32_t blocks, void *stream, int32_t *y, uint32_t n)
{
    grandchild();
    fill(blocks, stream, y, n);
}
void returns_twice(uint32_t blocks, void *stream, int32_t *y, uint32_t n)
{
    if (fork() == 0) return;
    fill(blocks, stream, y, n);
}

KERNEL(shout, {
    for (int i = 0; i < 40000; i++) {
        printf("{\"launched\":{\"verdict\":{\"kind\":\"completed\"},\"notes\":[]}} %d\n", i);
        fprintf(stderr, "\x1b[2J\xff\xfe %d %0100d\n", i, i);
    }
    fill_run(args, reason, size);
})
KERNEL(last_words_without_end, {
    for (int i = 0; i < 100000; i++) fputc('x', stderr);
    fputs("\x1b[31mred\r", stderr);
    abort();
})
static void close_all(void)
{
    for (int fd = 0; fd < 1024; fd++) close(fd);
}
void close_everything(uint32_t blocks, void *stream, int32_t *y, uint32_t n)
{
    close_all();
    fill(blocks, stream, y, n);
}
KERNEL(close_and_fill, {
    close_all();
    fill_run(args, reason, size);
})
static void *print_without_end(void *arg)
{
    for (;;)
        for (int fd = 0; fd < 3; fd++) (void)!write(fd, "garbage", 7);
    return arg;
}
/* Its thread goes on printing while outputs and answer are written. */
LAUNCHER(close_and_go_on_printing, {
    pthread_t thread;
    close_and_fill(blocks, stream, y, n);
    pthread_create(&thread, NULL, print_without_end, NULL);
})

KERNEL(write_far_past_the_end, { args->y[args->n + 64] = 1; })
KERNEL(write_just_past_the_end, { args->y[args->n] = 1; })
LAUNCHER(write_from_the_host, { y[0] = 1; })
void host_pointer(uint32_t blocks, void *stream, int32_t *y, uint32_t n)
{
    (void)y;
    static int32_t host[16];
    IsDevice is_device = (IsDevice)dlsym(RTLD_DEFAULT, "aclsimIsDeviceRange");
    Describe describe = (Describe)dlsym(RTLD_DEFAULT, "aclsimDescribe");
    char what[160];
    describe(host, what, sizeof what);
    fprintf(stderr, "%d %s\n", is_device(host, sizeof host), what);
    enqueue(stream, "fill", fill_run, blocks, is_device(host, sizeof host) ? host : NULL, n);
}

static int32_t deadlock_run(void *arg, char *reason, size_t size)
{
    (void)arg;
    snprintf(reason, size, "deadlock: vector core 0.1 waits for flag 2");
    return 507034;
}
void deadlock(uint32_t blocks, void *stream, int32_t *y, uint32_t n)
{
    enqueue(stream, "deadlock", deadlock_run, blocks, y, n);
}

LAUNCHER(no_more_files, {
    const struct rlimit none = {0, 0};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &none);
})
LAUNCHER(tell_limits, {
    struct rlimit core, memory;
    getrlimit(RLIMIT_CORE, &core);
    getrlimit(RLIMIT_AS, &memory);
    printf("core %lu memory %lu\n", (unsigned long)core.rlim_max, (unsigned long)memory.rlim_max);
})
LAUNCHER(go_elsewhere, {
    if (chdir("/") != 0) abort();
    fill(blocks, stream, y, n);
})

/* What the CPU runtime has; it takes a lock, which a kernel that was stopped midway may hold. */
static size_t report_hangs;
LAUNCHER(hang_with_a_lock, {
    report_hangs = 1;
    hang_in_kernel(blocks, stream, y, n);
})
size_t ptocpu_report(char *text, size_t size)
{
    static const char notes[] = "[{\"text\":\"shape\",\"file\":\"a.hpp\",\"line\":7,\"count\":2}]";
    while (report_hangs) pause();
    if (size > 0) {
        const size_t length = sizeof notes - 1 < size - 1 ? sizeof notes - 1 : size - 1;
        memcpy(text, notes, length);
        text[length] = 0;
    }
    return sizeof notes - 1;
}
