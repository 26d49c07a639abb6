// Has Node.js start programs without a copy of itself: libuv calls fork(), which takes 20 ms of a process of 250 MB, and a page
// fault for whatever that touches afterwards. What libuv does between fork() and exec() is fit for vfork(), but for three things,
// which are undone here: it writes on the stack, sets `environ`, and returns from the function that forks.
//
//   cc -shared -fPIC -o vfork.so vfork.c      LD_PRELOAD=./vfork.so node      x86-64 Linux
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char **environ;

// More than the frames of uv_spawn() take, and less than there are above it.
enum { FRAMES = 8192 };

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static char frames[FRAMES];
static pid_t (*plain)(void);

/// Programs that Node.js starts are to fork as usual, and so is all that is not Node.js.
__attribute__((constructor)) static void begin(void)
{
  unsetenv("LD_PRELOAD");
  if (strcmp(program_invocation_short_name, "node") != 0) plain = (pid_t(*)(void))dlsym(RTLD_NEXT, "fork");
}

pid_t fork(void)
{
  if (plain) return plain();
  pthread_mutex_lock(&one_at_a_time);
  char **variables = environ;
  long pid = SYS_vfork;
  // The parent goes on once the child is another program, and puts its frames back first.
  __asm__ volatile(
      "cld\n"
      "leaq -128(%%rsp), %%rsi\n"
      "leaq %[frames], %%rdi\n"
      "movl %[size], %%ecx\n"
      "rep movsb\n"
      "syscall\n"
      "testq %%rax, %%rax\n"
      "jz 1f\n"
      "leaq %[frames], %%rsi\n"
      "leaq -128(%%rsp), %%rdi\n"
      "movl %[size], %%ecx\n"
      "rep movsb\n"
      "1:\n"
      : "+a"(pid)
      : [frames] "m"(frames), [size] "i"(FRAMES)
      : "rcx", "rsi", "rdi", "r11", "cc", "memory");
  if (pid == 0) return 0;
  environ = variables;
  pthread_mutex_unlock(&one_at_a_time);
  if (pid > 0) return (pid_t)pid;
  errno = (int)-pid;
  return -1;
}
