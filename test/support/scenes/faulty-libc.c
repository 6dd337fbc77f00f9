/*
 * Preloaded into a service under test (LD_PRELOAD): a disk that is full, one that can't sync, a clock that jumps. What
 * is wrong just now stands in a file that both this library and the test have open: see faulty-libc.ts, which writes it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* In this order and these sizes in faulty-libc.ts too. */
struct faults {
  /* One call of so many fails; 0: none. */
  volatile int64_t disk_full;
  volatile int64_t sync_fails;
  volatile int64_t clock_ms;
  int64_t writes_refused;
  int64_t syncs_refused;
  int64_t calls;
  /* Only files whose path contains it are touched. */
  volatile char word[4096 - 48];
};

static struct faults *faults;

__attribute__((constructor)) static void open_faults(void) {
  const char *path = getenv("FAULTY_LIBC");
  int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
  if (fd < 0) return;
  void *page = mmap(NULL, sizeof(struct faults), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (page != MAP_FAILED) faults = page;
}

static int is_ours(int fd) {
  char link[32], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return strstr(path, (const char *)faults->word) != NULL;
}

static int refused(int fd, const volatile int64_t *fault, int64_t *count, int error) {
  int64_t one_of = *fault;
  if (one_of == 0 || !is_ours(fd)) return 0;
  if (__atomic_add_fetch(&faults->calls, 1, __ATOMIC_RELAXED) % one_of != 0) return 0;
  __atomic_add_fetch(count, 1, __ATOMIC_RELAXED);
  errno = error;
  return 1;
}

#define NO_SPACE(fd) (faults && refused(fd, &faults->disk_full, &faults->writes_refused, ENOSPC))
#define NO_SYNC(fd) (faults && refused(fd, &faults->sync_fails, &faults->syncs_refused, EIO))
#define REAL(name) static __typeof__(name) *real; if (!real) real = dlsym(RTLD_NEXT, #name)

ssize_t write(int fd, const void *bytes, size_t size) { REAL(write); return NO_SPACE(fd) ? -1 : real(fd, bytes, size); }

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at) {
  REAL(pwrite);
  return NO_SPACE(fd) ? -1 : real(fd, bytes, size, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at) {
  REAL(pwrite64);
  return NO_SPACE(fd) ? -1 : real(fd, bytes, size, at);
}

int ftruncate(int fd, off_t size) { REAL(ftruncate); return NO_SPACE(fd) ? -1 : real(fd, size); }

int ftruncate64(int fd, off64_t size) { REAL(ftruncate64); return NO_SPACE(fd) ? -1 : real(fd, size); }

int fsync(int fd) { REAL(fsync); return NO_SYNC(fd) ? -1 : real(fd); }

int fdatasync(int fd) { REAL(fdatasync); return NO_SYNC(fd) ? -1 : real(fd); }

static int64_t shift_ns(void) { return faults ? faults->clock_ms * 1000000 : 0; }

int clock_gettime(clockid_t clock, struct timespec *now) {
  REAL(clock_gettime);
  int result = real ? real(clock, now) : (int)syscall(SYS_clock_gettime, clock, now);
  if (result != 0 || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return result;
  int64_t ns = (int64_t)now->tv_sec * 1000000000 + now->tv_nsec + shift_ns();
  now->tv_sec = ns / 1000000000;
  now->tv_nsec = ns % 1000000000;
  return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  (void)zone;
  struct timespec precise;
  if (clock_gettime(CLOCK_REALTIME, &precise) != 0) return -1;
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *result) {
  struct timespec precise;
  clock_gettime(CLOCK_REALTIME, &precise);
  if (result) *result = precise.tv_sec;
  return precise.tv_sec;
}
