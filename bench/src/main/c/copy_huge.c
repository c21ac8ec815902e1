// Copies a file into a tmpfs the way the daemon does, with nothing around it: for each 2 MiB piece a huge page, then pread into the map.
// usage: copy_huge SOURCE TARGET THREADS collapse|advise
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

enum { PAGE = 4096, PIECE = 2 << 20, BATCH = 8 << 20 };

static int source;
static char *target;
static int64_t size;
static int collapses;
static _Atomic int64_t next;

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static void reserve(char *piece, int64_t length) {
  if (collapses && length == PIECE && !madvise(piece, PAGE, MADV_POPULATE_WRITE) && !madvise(piece, PIECE, MADV_COLLAPSE)) return;
  if (madvise(piece, length, MADV_POPULATE_WRITE)) fail("madvise");
}

static void *work(void *unused) {
  for (int64_t start; (start = atomic_fetch_add(&next, BATCH)) < size;) {
    int64_t end = start + BATCH < size ? start + BATCH : size;
    for (int64_t at = start; at < end;) {
      int64_t length = at + PIECE < end ? PIECE : end - at;
      reserve(target + at, length);
      for (int64_t stop = at + length; at < stop;) {
        ssize_t read = pread(source, target + at, stop - at, at);
        if (read <= 0) fail("pread");
        at += read;
      }
    }
  }
  return unused;
}

int main(int count, char **words) {
  if (count != 5) {
    fprintf(stderr, "usage: copy_huge SOURCE TARGET THREADS collapse|advise\n");
    return 2;
  }
  struct stat status;
  if ((source = open(words[1], O_RDONLY)) < 0 || fstat(source, &status)) fail(words[1]);
  size = status.st_size;
  collapses = !strcmp(words[4], "collapse");
  int file = open(words[2], O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || ftruncate(file, size)) fail(words[2]);
  char *room = mmap(NULL, size + PIECE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) fail("mmap");
  char *aligned = (char *)(((uintptr_t)room + PIECE - 1) / PIECE * PIECE);
  target = mmap(aligned, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
  if (target == MAP_FAILED) fail("mmap");
  if (!collapses) madvise(target, size, MADV_HUGEPAGE);
  int threads = atoi(words[3]);
  pthread_t others[threads];
  for (int i = 1; i < threads; i++)
    if (pthread_create(&others[i], NULL, work, NULL)) fail("pthread_create");
  work(NULL);
  for (int i = 1; i < threads; i++) pthread_join(others[i], NULL);
  return 0;
}
