// Keeps ffmpeg and ffprobe loaded between tests. Debian's link to 250 libraries, so a start of either takes 0.2 s of processor
// time, more than most of what tests ask of it; a fork takes 0.01 s. The server is the program itself, held before its main().
//
//   cc -shared -fPIC -DSERVER -o fork-server.so fork-server.c
//   cc -static -o ffmpeg fork-server.c
//   LD_PRELOAD=./fork-server.so FORK_SERVER=ffmpeg.socket /usr/bin/ffmpeg      ends with its standard input
//   ln -s /usr/bin/ffmpeg ffmpeg.program                                       what `./ffmpeg` runs without a server
//
// `./ffmpeg` hands over its arguments, environment, working directory, limits, ignored signals and open files, passes signals
// on, and ends as the fork does.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MOST_FILES = 64, MOST_STARTS = 64, ASIDE = 512 };

/// What comes with the open files; `size` bytes of strings follow: arguments, then the environment.
struct start {
  uint32_t arguments, variables, files, size;
  int32_t numbers[MOST_FILES];
  uint64_t ignored;
  mode_t mask;
  struct rlimit limits[RLIM_NLIMITS];
};

static int all(ssize_t (*move)(int, void *, size_t), int fd, void *bytes, size_t size)
{
  for (size_t done = 0; done < size;) {
    const ssize_t now = move(fd, (char *)bytes + done, size - done);
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) return -1;
    done += (size_t)now;
  }
  return 0;
}

/// A message of one start with room for its files; the working directory comes after them.
struct envelope {
  struct iovec part;
  struct msghdr message;
  union {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int) * (MOST_FILES + 1))];
  } control;
};

static void address(struct envelope *to, struct start *start)
{
  memset(to, 0, sizeof *to);
  to->part = (struct iovec){start, sizeof *start};
  to->message.msg_iov = &to->part;
  to->message.msg_iovlen = 1;
  to->message.msg_control = to->control.room;
  to->message.msg_controllen = sizeof to->control.room;
}

#ifdef SERVER

typedef int program(int, char **, char **);

static program *real_main;

static struct {
  int client;
  pid_t pid;
} running[MOST_STARTS];

static void put_files(const struct start *start, const int *files)
{
  int aside[MOST_FILES + 1];
  for (uint32_t i = 0; i <= start->files; i++) aside[i] = fcntl(files[i], F_DUPFD, ASIDE);
  close_range(0, ASIDE - 1, 0);
  for (uint32_t i = 0; i < start->files; i++) dup2(aside[i], start->numbers[i]);
  if (fchdir(aside[start->files]) != 0) _exit(127);
  close_range(ASIDE, ~0U, 0);
}

/// Becomes the program that a client asked for.
static int become(const struct start *start, char *strings, const int *files)
{
  char **words = calloc(start->arguments + start->variables + 2, sizeof *words);
  char **word = words;
  for (uint32_t i = 0; i < start->arguments + start->variables; i++) {
    if (i == start->arguments) word++;
    *word++ = strings;
    strings += strlen(strings) + 1;
  }
  put_files(start, files);
  umask(start->mask);
  for (int i = 0; i < RLIM_NLIMITS; i++) setrlimit(i, &start->limits[i]);
  for (int i = 1; i < 64; i++) {
    if (start->ignored >> i & 1) signal(i, SIG_IGN);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  environ = words + start->arguments + 1;
  const char *slash = strrchr(words[0], '/');
  prctl(PR_SET_NAME, slash ? slash + 1 : words[0]);
  return real_main((int)start->arguments, words, environ);
}

static void begin(int client, int slot)
{
  struct start start;
  struct envelope envelope;
  address(&envelope, &start);
  const ssize_t got = recvmsg(client, &envelope.message, MSG_WAITALL);
  char *strings = NULL;
  const struct cmsghdr *header = CMSG_FIRSTHDR(&envelope.message);
  if (got != sizeof start || !header || start.files > MOST_FILES) goto refused;
  strings = malloc(start.size);
  if (!strings || all(read, client, strings, start.size) != 0) goto refused;
  const int *files = (const int *)CMSG_DATA(header);
  const pid_t pid = fork();
  if (pid == 0) exit(become(&start, strings, files));
  for (uint32_t i = 0; i <= start.files; i++) close(files[i]);
  free(strings);
  if (pid < 0) goto refused;
  running[slot].client = client;
  running[slot].pid = pid;
  return;
refused:
  close(client);
}

static void tell_the_ended(void)
{
  int status;
  for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
    for (int i = 0; i < MOST_STARTS; i++) {
      if (running[i].pid != pid) continue;
      if (running[i].client >= 0) {
        send(running[i].client, &status, sizeof status, MSG_NOSIGNAL);
        close(running[i].client);
      }
      running[i].pid = 0;
    }
  }
}

static int serve(int argc, char **argv, char **variables)
{
  const char *path = getenv("FORK_SERVER");
  if (!path) return real_main(argc, argv, variables);
  prctl(PR_SET_NAME, "fork-server");
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child, NULL);
  const int ended = signalfd(-1, &child, SFD_CLOEXEC);
  const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  if (snprintf(name.sun_path, sizeof name.sun_path, "%s", path) >= (int)sizeof name.sun_path) return 1;
  if (bind(listener, (struct sockaddr *)&name, sizeof name) != 0 || listen(listener, 128) != 0) return 1;
  for (;;) {
    struct pollfd wait[3 + MOST_STARTS] = {{0, POLLIN, 0}, {ended, POLLIN, 0}, {listener, POLLIN, 0}};
    int free_slot = -1;
    for (int i = 0; i < MOST_STARTS; i++) {
      if (!running[i].pid) free_slot = i;
      const int client = running[i].pid ? running[i].client : -1;
      wait[3 + i] = (struct pollfd){client, POLLIN, 0};
    }
    if (free_slot < 0) wait[2].fd = -1;
    if (poll(wait, 3 + MOST_STARTS, -1) < 0) continue;
    if (wait[0].revents) break;
    for (int i = 0; i < MOST_STARTS; i++) {
      if (!wait[3 + i].revents) continue;
      unsigned char number;
      if (recv(running[i].client, &number, 1, 0) == 1) {
        kill(running[i].pid, number);
        continue;
      }
      // A client that was killed leaves no program behind.
      kill(running[i].pid, SIGKILL);
      close(running[i].client);
      running[i].client = -1;
    }
    if (wait[1].revents) {
      struct signalfd_siginfo one;
      if (read(ended, &one, sizeof one) > 0) tell_the_ended();
    }
    if (wait[2].revents) {
      const int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
      if (client >= 0) begin(client, free_slot);
    }
  }
  for (int i = 0; i < MOST_STARTS; i++)
    if (running[i].pid) kill(running[i].pid, SIGKILL);
  _exit(0);
}

/// Libraries clean up at the end, which would copy all memory that the fork shares with the server.
void exit(int status)
{
  fflush(NULL);
  _exit(status);
}

int __libc_start_main(program *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end)
{
  int (*real)(program *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *) =
      (__typeof__(real))dlsym(RTLD_NEXT, "__libc_start_main");
  real_main = main;
  return real(serve, argc, argv, init, fini, rtld_fini, stack_end);
}

#else

static int server;

static void pass_on(int number)
{
  const unsigned char byte = (unsigned char)number;
  send(server, &byte, 1, MSG_NOSIGNAL);
}

static size_t add(struct start *start, char *strings, char **words, uint32_t *count)
{
  size_t size = 0;
  for (; *words; words++, ++*count) {
    const size_t one = strlen(*words) + 1;
    if (strings) memcpy(strings + start->size + size, *words, one);
    size += one;
  }
  return size;
}

/// Hands over what the program starts with; 0 if the server took it.
static int hand_over(char **argv)
{
  struct start start = {0};
  struct envelope envelope;
  address(&envelope, &start);
  struct cmsghdr *header = CMSG_FIRSTHDR(&envelope.message);
  int *files = (int *)CMSG_DATA(header);
  const int folder = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return -1;
  for (int fd = 0; fd < ASIDE; fd++) {
    if (fd == server || fd == folder || fcntl(fd, F_GETFD) < 0) continue;
    if (start.files == MOST_FILES) return -1;
    start.numbers[start.files] = fd;
    files[start.files++] = fd;
  }
  files[start.files] = folder;
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int) * (start.files + 1));
  envelope.message.msg_controllen = CMSG_SPACE(sizeof(int) * (start.files + 1));
  start.mask = umask(0);
  umask(start.mask);
  for (int i = 0; i < RLIM_NLIMITS; i++) getrlimit(i, &start.limits[i]);
  for (int i = 1; i < 64; i++) {
    struct sigaction action;
    if (sigaction(i, NULL, &action) == 0 && action.sa_handler == SIG_IGN) start.ignored |= 1ULL << i;
  }
  uint32_t count = 0;
  char *strings = malloc(add(&start, NULL, argv, &count) + add(&start, NULL, environ, &count));
  start.size += add(&start, strings, argv, &start.arguments);
  start.size += add(&start, strings, environ, &start.variables);
  if (sendmsg(server, &envelope.message, MSG_NOSIGNAL) != sizeof start) return -1;
  return all((ssize_t(*)(int, void *, size_t))write, server, strings, start.size);
}

int main(int argc, char **argv)
{
  (void)argc;
  char program[4096];
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 16);
  if (length < 0) return 127;
  program[length] = 0;
  const int fits = snprintf(name.sun_path, sizeof name.sun_path, "%s.socket", program) < (int)sizeof name.sun_path;
  strcat(program, ".program");
  server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  // The program may ask for a signal before this process can pass it on.
  const int passed[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
  sigset_t held, before;
  sigemptyset(&held);
  for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) sigaddset(&held, passed[i]);
  sigprocmask(SIG_BLOCK, &held, &before);
  if (!fits || connect(server, (struct sockaddr *)&name, sizeof name) != 0 || hand_over(argv) != 0) {
    sigprocmask(SIG_SETMASK, &before, NULL);
    execv(program, argv);
    return 127;
  }
  for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) signal(passed[i], pass_on);
  sigprocmask(SIG_SETMASK, &before, NULL);
  // Whoever reads the program's output waits for all who have it open.
  if (server > 0) close_range(0, (unsigned)server - 1, 0);
  close_range((unsigned)server + 1, ~0U, 0);
  int status;
  if (all(read, server, &status, sizeof status) != 0) return 127;
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  signal(WTERMSIG(status), SIG_DFL);
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  raise(WTERMSIG(status));
  return 127;
}

#endif
