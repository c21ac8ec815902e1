/*
 * Gathers random rows of a file with memcpy, as fast as C can here: what Larder and others are measured against.
 *
 *   gather FILE OFFSET ROW_BYTES INDICES BATCH
 *
 * OFFSET is where the rows begin in FILE, INDICES a file of 64-bit row numbers. Says "ready memcpy SUM", SUM being that of the first
 * batch. Then it gathers for so many seconds of the processor as each line of its input says ("memcpy 0.2"), and says the bytes per
 * such second.
 *
 * It prefetches in the way that is fastest: which one that is, it tries first.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

enum { LINE = 64, HUGE_PAGE = 2 << 20, LOOK_BYTES = 1 << 20, TRIALS = 3 };

struct prefetch {
    int rows_ahead; /* 0: none */
    long bytes;     /* of each row, from its beginning */
};

static const char *rows;
static const int64_t *indices;
static long row_bytes, batch, batches, next;
static char *target;

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void *map(const char *path, size_t *length) {
    int file = open(path, O_RDONLY);
    struct stat status;
    if (file < 0 || fstat(file, &status) < 0)
        fail(path);
    *length = status.st_size;
    /* At a multiple of 2 MiB, or the kernel cannot map huge pages whole. */
    char *place = mmap(NULL, *length + HUGE_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED)
        fail("mmap");
    place = (char *)(((uintptr_t)place + HUGE_PAGE - 1) & -(uintptr_t)HUGE_PAGE);
    if (mmap(place, *length, PROT_READ, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
        fail(path);
    return place;
}

static void gather(const int64_t *wanted, struct prefetch ahead) {
    char *to = target;
    for (long i = 0; i < batch; i++, to += row_bytes) {
        if (ahead.rows_ahead && i + ahead.rows_ahead < batch) {
            const char *later = rows + wanted[i + ahead.rows_ahead] * row_bytes;
            for (long at = 0; at < ahead.bytes; at += LINE)
                __builtin_prefetch(later + at, 0, 3);
        }
        memcpy(to, rows + wanted[i] * row_bytes, row_bytes);
    }
}

/* Returns the seconds that the processor has spent on this. */
static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time); /* others may run meanwhile */
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

/* Returns bytes per second. */
static double measure(double seconds, struct prefetch ahead) {
    double start = now(), taken;
    long count = 0;
    do {
        for (long done = 0; done < LOOK_BYTES; done += batch * row_bytes, count++) {
            gather(indices + next * batch, ahead);
            next = (next + 1) % batches;
        }
        taken = now() - start;
    } while (taken < seconds);
    return (double)count * batch * row_bytes / taken;
}

static struct prefetch best(void) {
    static const int rows_ahead[] = {1, 2, 4, 8, 16};
    long bytes[] = {LINE, 1 << 10, row_bytes};
    struct prefetch chosen = {0, 0};
    double most = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        double rate = measure(0.03, (struct prefetch){0, 0});
        most = rate > most ? rate : most;
    }
    for (int a = 0; a < 5; a++)
        for (int b = 0; b < 3; b++) {
            struct prefetch one = {rows_ahead[a], bytes[b]};
            for (int trial = 0; trial < TRIALS && one.bytes <= row_bytes; trial++) {
                double rate = measure(0.03, one);
                if (rate > most) {
                    most = rate;
                    chosen = one;
                }
            }
        }
    return chosen;
}

int main(int count, char **words) {
    if (count != 6) {
        fputs("usage: gather FILE OFFSET ROW_BYTES INDICES BATCH\n", stderr);
        return 2;
    }
    size_t length;
    const char *file = map(words[1], &length);
    uint64_t sum = 0;
    for (size_t at = 0; at < length; at += 4096) /* touch it */
        sum += file[at];
    rows = file + atol(words[2]);
    row_bytes = atol(words[3]);
    indices = map(words[4], &length);
    batch = atol(words[5]);
    batches = length / sizeof(int64_t) / batch;
    target = aligned_alloc(4096, (batch * row_bytes + 4095) / 4096 * 4096);
    if (!target || sum == 1)
        fail("aligned_alloc");
    gather(indices, (struct prefetch){0, 0});
    sum = 0;
    for (long i = 0; i < batch * row_bytes / 8; i++)
        sum += ((uint64_t *)target)[i] * (2 * i + 1);
    struct prefetch ahead = best();
    fprintf(stderr, "memcpy: prefetches %ld bytes of the row %d ahead\n", ahead.bytes, ahead.rows_ahead);
    printf("ready memcpy %" PRIu64 "\n", sum);
    fflush(stdout);
    char line[256], way[32];
    double seconds;
    while (fgets(line, sizeof line, stdin) && sscanf(line, "%31s %lf", way, &seconds) == 2) {
        printf("%.0f\n", measure(seconds, ahead));
        fflush(stdout);
    }
    return 0;
}
