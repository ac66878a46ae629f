/* A kernel that fills its buffer, and on the way does what `FAULT_DEED` says at the place that `FAULT_PLACE` names. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aclsim.h"

typedef int32_t (*Enqueue)(void *, const char *, aclsimRun, aclsimDrop, void *);

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value == NULL ? "" : value;
}

static int is(const char *deed)
{
    return strcmp(variable("FAULT_DEED"), deed) == 0;
}

static void wait_for_ever(void)
{
    for (;;) pause();
}

/* A handler may let it pass once. */
static void die_by(int signal)
{
    for (;;) raise(signal);
}

static int dig(volatile char *above)
{
    volatile char frame[4096];
    frame[0] = *above;
    return dig(frame) + frame[0];
}

/* A tree of processes, of which every other one leads a session of its own. */
static void breed(int depth)
{
    for (int child = 0; depth > 0 && child < 2; child++) {
        if (fork() != 0) continue;
        if (child == 0) setsid();
        signal(SIGTERM, SIG_IGN);
        breed(depth - 1);
        wait_for_ever();
    }
}

/* A process that has left its parent, its session and its environment, and is known by its name alone. */
static void become_a_daemon(void)
{
    const char *mark = variable("PTO_LAUNCH_TEST_MARK");
    pid_t child = fork();
    if (child == 0) {
        setsid();
        if (fork() == 0) {
            char *const none[] = {NULL};
            for (int fd = 0; fd < 1024; fd++) close(fd);
            execle("/bin/sleep", mark, "1000", NULL, none);
        }
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

static void shout(void)
{
    char garbage[4096];
    for (size_t i = 0; i < sizeof garbage; i++) garbage[i] = (char)(i * 37);
    for (int i = 0; i < 256; i++)
        for (int fd = 1; fd <= 2; fd++) (void)!write(fd, garbage, sizeof garbage);
}

static void fill_the_disk(void)
{
    const struct rlimit none = {0, 0};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &none);
}

static void remove_everything(void)
{
    char command[4096];
    snprintf(command, sizeof command, "rm -rf '%s'/pto-launch-*", variable("TMPDIR"));
    (void)!system(command);
}

static void do_the_deed(void)
{
    if (is("segv")) for (;;) *(volatile int *)64 = 1;
    if (is("abort")) abort();
    if (is("ill")) die_by(SIGILL);
    if (is("fpe")) die_by(SIGFPE);
    if (is("bus")) die_by(SIGBUS);
    if (is("term")) die_by(SIGTERM);
    if (is("kill")) die_by(SIGKILL);
    if (is("kill-group")) kill(0, SIGKILL), wait_for_ever();
    if (is("kill-parent")) kill(getppid(), SIGKILL), wait_for_ever();
    if (is("exit-0")) exit(0);
    if (is("exit-7")) exit(7);
    if (is("quick-exit-9")) _exit(9);
    if (is("exec-true")) execl("/bin/true", "true", NULL);
    if (is("stack")) {
        volatile char first = 1;
        dig(&first);
    }
    if (is("memory")) {
        /* Its address space is limited; the memory itself is not touched. */
        while (mmap(NULL, 64 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED) continue;
        abort();
    }

    if (is("pause")) wait_for_ever();
    if (is("spin")) for (volatile int going = 1; going;) continue;
    if (is("ignore-term")) signal(SIGTERM, SIG_IGN), wait_for_ever();
    if (is("block-all")) {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, NULL);
        wait_for_ever();
    }
    if (is("stop")) for (;;) raise(SIGSTOP);
    if (is("exec-sleep")) execl("/bin/sleep", "sleep", "1000", NULL);
    if (is("breed-and-pause")) breed(4), wait_for_ever();

    if (is("daemon")) become_a_daemon();
    if (is("breed")) breed(5);
    if (is("shout")) shout();
    if (is("close-all")) for (int fd = 0; fd < 1024; fd++) close(fd);
    if (is("full-disk")) fill_the_disk();
    if (is("remove-all")) remove_everything();
}

static void at(const char *place)
{
    if (strcmp(variable("FAULT_PLACE"), place) == 0) do_the_deed();
}

static void *thread_of(void *place)
{
    at(place);
    return NULL;
}

static void in_a_thread(char *place)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, thread_of, place) == 0) pthread_join(thread, NULL);
}

typedef struct {
    int32_t *y;
    uint32_t n;
    uint32_t blocks;
} Args;

static int launches;

static int32_t run(void *arg, char *reason, size_t size)
{
    Args *args = arg;
    (void)reason, (void)size;
    at("kernel");
    in_a_thread("kernel-thread");
    if (launches == 2) at("second-repeat");
    for (uint32_t i = 0; i < args->n; i++) args->y[i] = (int32_t)(i + args->blocks);
    return 0;
}

static void at_the_end(void)
{
    at("atexit");
}

void faulty(uint32_t blocks, void *stream, int32_t *y, uint32_t n)
{
    if (++launches == 1) atexit(at_the_end);
    at("launcher");
    in_a_thread("launcher-thread");
    Args *args = malloc(sizeof *args);
    *args = (Args){y, n, blocks};
    ((Enqueue)dlsym(RTLD_DEFAULT, "aclsimLaunchKernel"))(stream, "faulty", run, free, args);
}

__attribute__((constructor)) static void loaded(void)
{
    at("constructor");
}

__attribute__((destructor)) static void unloaded(void)
{
    at("destructor");
}
