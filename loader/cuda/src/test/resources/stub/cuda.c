// libcuda.so.1 without a GPU: memory of the device is memory of the host, a stream is a thread with a queue, and kernels are what
// nvrtc.c compiled. It is as asynchronous as a device, keeps count of everything that it hands out, and fails, stops or waits where
// it is told to (stub_*). Codes and rules are those of cuda.h.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, DEINITIALIZED = 4, NO_DEVICE = 100, INVALID_DEVICE = 101,
  INVALID_IMAGE = 200, INVALID_CONTEXT = 201, INVALID_HANDLE = 400, NOT_FOUND = 500, NOT_READY = 600, ILLEGAL_ADDRESS = 700,
  ALREADY_REGISTERED = 712, NOT_REGISTERED = 713, LAUNCH_FAILED = 719, NOT_SUPPORTED = 801
};

typedef int result;
typedef struct event { uint64_t requested, done; int destroyed; } event;
typedef struct module {
  void *library;
  void (*launch)(void **, const unsigned *, const unsigned *);
  int count;
  const int *sizes;
} module;
typedef enum { COPY, FILL, RECORD, WAIT, HOLD, KERNEL } kind;
typedef struct operation {
  kind kind;
  char *to;
  const char *from;
  size_t size;
  int value;
  event *event;
  uint64_t version;
  module *module;
  unsigned grid[3], block[3];
  uint64_t arguments[80];
  struct operation *next;
} operation;
typedef struct stream {
  operation *first, *last;
  int destroyed;
  struct stream *next;
} stream;
typedef struct range { uintptr_t address; size_t size; struct range *next; } range;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static stream *streams;
static stream *default_stream;
static range *allocated, *pinned;
static int retained, live_streams, live_events, live_modules, entered, misuse, pageable_uploads;
static int sticky, executing, devices = 1, integrated, delay_us, gate_opened, no_registering, max_threads = 1024;
static long memory_bytes = 1L << 30, used_bytes;
static char failing_call[64];
static int failing_calls, call_failure, operation_failure;
static long failing_operation = -1, lost_operation = -1, operations;
static __thread int depth;
static int context_mark;

static int take(range **list, uintptr_t address, size_t *size);
static int pending(void);

// ---- what tests tell it

void stub_set(const char *name, long value) {
  pthread_mutex_lock(&lock);
  if (!strcmp(name, "devices")) devices = value;
  if (!strcmp(name, "integrated")) integrated = value;
  if (!strcmp(name, "delay_us")) delay_us = value;
  if (!strcmp(name, "memory")) memory_bytes = used_bytes + value;
  if (!strcmp(name, "no_registering")) no_registering = value;
  if (!strcmp(name, "max_threads")) max_threads = value;
  size_t size;
  if (!strcmp(name, "ended")) while (pinned) take(&pinned, pinned->address, &size);
  pthread_mutex_unlock(&lock);
}

// Lets the so-manieth call of a function fail, from 0, and all after it; "*" stands for any call that is not for cleaning up.
void stub_fail_call(const char *name, int nth, int code) {
  pthread_mutex_lock(&lock);
  snprintf(failing_call, sizeof failing_call, "%s", name);
  failing_calls = nth;
  call_failure = code;
  pthread_mutex_unlock(&lock);
}

// Lets the so-manieth copy, fill or kernel from now fail, from 0: with it the context, for good.
void stub_fail_operation(int nth, int code) {
  pthread_mutex_lock(&lock);
  failing_operation = operations + nth;
  operation_failure = code;
  pthread_mutex_unlock(&lock);
}

// Lets an operation never end, until stub_open.
void stub_lose_operation(int nth) {
  pthread_mutex_lock(&lock);
  lost_operation = operations + nth;
  pthread_mutex_unlock(&lock);
}

void stub_open(void) {
  pthread_mutex_lock(&lock);
  gate_opened++;
  lost_operation = -1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

long stub_live(const char *name) {
  pthread_mutex_lock(&lock);
  long count = -1;
  int ranges = 0, locked = 0;
  for (range *r = allocated; r; r = r->next) ranges++;
  for (range *r = pinned; r; r = r->next) locked++;
  if (!strcmp(name, "contexts")) count = retained;
  if (!strcmp(name, "streams")) count = live_streams;
  if (!strcmp(name, "events")) count = live_events;
  if (!strcmp(name, "modules")) count = live_modules;
  if (!strcmp(name, "memory")) count = ranges;
  if (!strcmp(name, "pinned")) count = locked;
  if (!strcmp(name, "entered")) count = entered;
  if (!strcmp(name, "misuse")) count = misuse;
  if (!strcmp(name, "pageable")) count = pageable_uploads;
  if (!strcmp(name, "pending")) count = pending();
  if (!strcmp(name, "lost")) count = sticky;
  pthread_mutex_unlock(&lock);
  return count;
}

// Forgets all faults, lets everything go on and waits until nothing is under way.
void stub_reset(void) {
  pthread_mutex_lock(&lock);
  devices = 1;
  integrated = delay_us = no_registering = 0;
  memory_bytes = 1L << 30;
  max_threads = 1024;
  failing_call[0] = 0;
  failing_operation = lost_operation = -1;
  gate_opened++;
  pthread_cond_broadcast(&changed);
  while (pending()) pthread_cond_wait(&changed, &lock);
  sticky = 0;
  misuse = pageable_uploads = 0;
  pthread_mutex_unlock(&lock);
}

// ---- inside

static int misused(const char *how) {
  fprintf(stderr, "stub: misuse: %s\n", how);
  return ++misuse;
}

static int is_cleanup(const char *name) {
  static const char *names[] = {"cuMemFree", "cuStreamDestroy", "cuEventDestroy", "cuModuleUnload", "cuMemHostUnregister", "cuCtxPopCurrent",
    "cuDevicePrimaryCtxRelease", "cuCtxPushCurrent", "cuStreamQuery", 0};
  for (int i = 0; names[i]; i++) if (!strncmp(names[i], name, strlen(names[i]))) return 1;
  return 0;
}

// Begins a call, with the lock: fails where it is to fail, where there is no context, and where the context is lost.
static result begin(const char *name, int in_context) {
  pthread_mutex_lock(&lock);
  if ((!strcmp(failing_call, name) || (!strcmp(failing_call, "*") && !is_cleanup(name))) && failing_calls-- <= 0) {
    return call_failure;
  }
  if (in_context && depth == 0) return INVALID_CONTEXT;
  return in_context && !is_cleanup(name) ? sticky : SUCCESS;
}

// Ends a call, with a code of its own or that of a context that is lost.
static result end(result code) {
  pthread_mutex_unlock(&lock);
  return code;
}

#define BEGIN(in_context) result code = begin(__func__, in_context); if (code) return end(code)

static range *find(range *list, const void *address, size_t size) {
  uintptr_t at = (uintptr_t) address;
  for (range *r = list; r; r = r->next) if (at >= r->address && at + size <= r->address + r->size) return r;
  return 0;
}

static void add(range **list, uintptr_t address, size_t size) {
  range *r = malloc(sizeof *r);
  *r = (range) {address, size, *list};
  *list = r;
}

static int take(range **list, uintptr_t address, size_t *size) {
  for (range **r = list; *r; r = &(*r)->next) {
    if ((*r)->address == address) {
      range *taken = *r;
      *size = taken->size;
      *r = taken->next;
      free(taken);
      return 1;
    }
  }
  return 0;
}

static int overlaps(uintptr_t a, size_t a_size, uintptr_t b, size_t b_size) {
  return a < b + b_size && b < a + a_size;
}

// Tells whether something that is under way uses memory.
static int in_use(uintptr_t address, size_t size) {
  if (sticky) return 0;
  for (stream *s = streams; s; s = s->next) {
    for (operation *o = s->first; o; o = o->next) {
      if (o->kind == COPY && overlaps((uintptr_t) o->from, o->size, address, size)) return 1;
      if ((o->kind == COPY || o->kind == FILL) && overlaps((uintptr_t) o->to, o->size, address, size)) return 1;
      for (int i = 0; o->kind == KERNEL && i < o->module->count; i++) {
        if (o->module->sizes[i] == 8 && overlaps(o->arguments[i], 1, address, size)) return 1;
      }
    }
  }
  return 0;
}

static int pending(void) {
  int count = 0;
  for (stream *s = streams; s; s = s->next) for (operation *o = s->first; o; o = o->next) count++;
  return count;
}

// Waits, where a context is lost, for what is just being done: a driver frees nothing under it.
static void settle(void) {
  while (sticky && executing) pthread_cond_wait(&changed, &lock);
}

static int is_data(const operation *o) {
  return o->kind == COPY || o->kind == FILL || o->kind == KERNEL;
}

static void execute(operation *o) {
  void *arguments[80];
  switch (o->kind) {
    case COPY: memcpy(o->to, o->from, o->size); break;
    case FILL: memset(o->to, o->value, o->size); break;
    case KERNEL:
      for (int i = 0; i < o->module->count; i++) arguments[i] = &o->arguments[i];
      o->module->launch(arguments, o->grid, o->block);
      break;
    default: break;
  }
}

static void run_first(stream *s) {
  operation *o = s->first;
  int gate = gate_opened;
  while (o->kind == WAIT && !sticky && !o->event->destroyed && o->event->done < o->version) pthread_cond_wait(&changed, &lock);
  while (o->kind == HOLD && (long) o->version == gate_opened) pthread_cond_wait(&changed, &lock);
  if (is_data(o) && !sticky) {
    long number = operations++;
    while (lost_operation >= 0 && number >= lost_operation && gate == gate_opened) pthread_cond_wait(&changed, &lock);
    if (number == failing_operation) {
      sticky = operation_failure;
    } else {
      int delay = delay_us;
      executing++;
      pthread_mutex_unlock(&lock);
      if (delay) usleep(delay);
      execute(o);
      pthread_mutex_lock(&lock);
      executing--;
    }
  }
  if (o->kind == RECORD && o->event->done < o->version) o->event->done = o->version;
}

static void *run(void *argument) {
  stream *s = argument;
  pthread_mutex_lock(&lock);
  while (s->first || !s->destroyed) {
    if (!s->first) {
      pthread_cond_wait(&changed, &lock);
      continue;
    }
    run_first(s);
    operation *done = s->first;
    s->first = done->next;
    if (!s->first) s->last = 0;
    free(done);
    pthread_cond_broadcast(&changed);
  }
  for (stream **each = &streams; *each; each = &(*each)->next) {
    if (*each == s) {
      *each = s->next;
      break;
    }
  }
  free(s);
  pthread_mutex_unlock(&lock);
  return 0;
}

static stream *create_stream(void) {
  stream *s = calloc(1, sizeof *s);
  pthread_t thread;
  pthread_create(&thread, 0, run, s);
  pthread_detach(thread);
  s->next = streams;
  streams = s;
  return s;
}

static stream *stream_of(uintptr_t handle) {
  if (handle <= 1) { // the default stream
    if (!default_stream) default_stream = create_stream();
    return default_stream;
  }
  for (stream *s = streams; s; s = s->next) if ((uintptr_t) s == handle && !s->destroyed) return s;
  return 0;
}

static result give(uintptr_t handle, operation given) {
  stream *s = stream_of(handle);
  if (!s) return INVALID_HANDLE;
  operation *o = malloc(sizeof *o);
  *o = given;
  o->next = 0;
  if (s->last) s->last->next = o; else s->first = o;
  s->last = o;
  pthread_cond_broadcast(&changed);
  return SUCCESS;
}

// Lets nothing further of a stream begin, until stub_open.
result stub_hold(uintptr_t handle) {
  pthread_mutex_lock(&lock);
  return end(give(handle, (operation) {.kind = HOLD, .version = gate_opened}));
}

// ---- the driver

result cuInit(unsigned flags) { BEGIN(0); return end(devices ? SUCCESS : NO_DEVICE); }

result cuDriverGetVersion(int *version) { *version = 13000; return SUCCESS; }

result cuDeviceGetCount(int *count) { BEGIN(0); *count = devices; return end(SUCCESS); }

result cuDeviceGet(int *device, int ordinal) { BEGIN(0); *device = ordinal; return end(ordinal < devices ? SUCCESS : INVALID_DEVICE); }

result cuDeviceGetName(char *name, int length, int device) { snprintf(name, length, "Stub %d", device); return SUCCESS; }

result cuDeviceTotalMem_v2(size_t *bytes, int device) { BEGIN(0); *bytes = memory_bytes; return end(SUCCESS); }

result cuDeviceGetAttribute(int *value, int attribute, int device) {
  BEGIN(0);
  *value = attribute == 16 ? 2 : attribute == 75 ? 9 : attribute == 76 ? 0 : attribute == 18 || attribute == 100 ? integrated : 0;
  return end(SUCCESS);
}

result cuDevicePrimaryCtxRetain(void **context, int device) {
  BEGIN(0);
  retained++;
  *context = &context_mark;
  return end(SUCCESS);
}

result cuDevicePrimaryCtxRelease_v2(int device) {
  BEGIN(0);
  settle();
  if (retained == 0) return end(INVALID_CONTEXT);
  if (--retained == 0 && !sticky && (live_streams || live_events || live_modules || allocated || pinned)) {
    misused("the context is left before what is in it");
  }
  return end(SUCCESS);
}

result cuCtxGetDevice(int *device) { BEGIN(0); *device = 0; return end(depth ? SUCCESS : INVALID_CONTEXT); }

result cuCtxPushCurrent_v2(void *context) {
  BEGIN(0);
  if (context != &context_mark || retained == 0) return end(INVALID_CONTEXT);
  depth++;
  entered++;
  return end(SUCCESS);
}

result cuCtxPopCurrent_v2(void **context) {
  BEGIN(0);
  if (depth == 0) return end(INVALID_CONTEXT);
  depth--;
  entered--;
  *context = &context_mark;
  return end(SUCCESS);
}

result cuMemAlloc_v2(uint64_t *address, size_t size) {
  BEGIN(1);
  if (size == 0) return end(INVALID_VALUE);
  if (used_bytes + (long) size > memory_bytes) return end(OUT_OF_MEMORY);
  char *bytes;
  if (posix_memalign((void **) &bytes, 512, size)) return end(OUT_OF_MEMORY);
  memset(bytes, 0xCD, size);
  used_bytes += size;
  add(&allocated, (uintptr_t) bytes, size);
  *address = (uintptr_t) bytes;
  return end(SUCCESS);
}

result cuMemFree_v2(uint64_t address) {
  BEGIN(1);
  settle();
  size_t size;
  if (!find(allocated, (void *) address, 1)) return end(INVALID_VALUE);
  if (in_use(address, find(allocated, (void *) address, 1)->size)) misused("memory is freed that is in use");
  if (!take(&allocated, address, &size)) return end(INVALID_VALUE);
  used_bytes -= size;
  memset((void *) address, 0xDD, size);
  free((void *) address);
  return end(sticky ? sticky : SUCCESS);
}

result cuMemGetInfo_v2(size_t *left, size_t *total) {
  BEGIN(1);
  *left = memory_bytes - used_bytes;
  *total = memory_bytes;
  return end(SUCCESS);
}

result cuMemHostRegister_v2(void *address, size_t size, unsigned flags) {
  BEGIN(1);
  if (no_registering) return end(NOT_SUPPORTED);
  for (range *r = pinned; r; r = r->next) if (overlaps(r->address, r->size, (uintptr_t) address, size)) return end(ALREADY_REGISTERED);
  add(&pinned, (uintptr_t) address, size);
  return end(SUCCESS);
}

result cuMemHostUnregister(void *address) {
  BEGIN(1);
  settle();
  size_t size;
  range *r = find(pinned, address, 1);
  if (r && in_use(r->address, r->size)) misused("memory of the host is unlocked that is in use");
  int taken = take(&pinned, (uintptr_t) address, &size);
  return end(sticky ? sticky : taken ? SUCCESS : NOT_REGISTERED);
}

result cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t size, uintptr_t s) {
  BEGIN(1);
  if (!find(allocated, (void *) to, size)) return end(INVALID_VALUE);
  if (!find(pinned, from, size)) pageable_uploads++;
  return end(give(s, (operation) {.kind = COPY, .to = (char *) to, .from = from, .size = size}));
}

result cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t size, uintptr_t s) {
  BEGIN(1);
  if (!find(allocated, (void *) from, size) && !integrated) return end(INVALID_VALUE);
  return end(give(s, (operation) {.kind = COPY, .to = to, .from = (char *) from, .size = size}));
}

result cuMemsetD8Async(uint64_t to, unsigned char value, size_t size, uintptr_t s) {
  BEGIN(1);
  if (!find(allocated, (void *) to, size)) return end(INVALID_VALUE);
  return end(give(s, (operation) {.kind = FILL, .to = (char *) to, .value = value, .size = size}));
}

result cuStreamCreate(void **s, unsigned flags) {
  BEGIN(1);
  *s = create_stream();
  live_streams++;
  return end(SUCCESS);
}

result cuStreamDestroy_v2(uintptr_t handle) {
  BEGIN(1);
  stream *s = stream_of(handle);
  if (!s || s == default_stream) return end(INVALID_HANDLE);
  s->destroyed = 1;
  live_streams--;
  pthread_cond_broadcast(&changed);
  return end(sticky ? sticky : SUCCESS);
}

result cuStreamQuery(uintptr_t handle) {
  BEGIN(1);
  stream *s = stream_of(handle);
  return end(sticky ? sticky : (!s ? INVALID_HANDLE : s->first ? NOT_READY : SUCCESS));
}

result cuStreamWaitEvent(uintptr_t s, event *e, unsigned flags) {
  BEGIN(1);
  if (e->destroyed) return end(INVALID_HANDLE);
  return end(give(s, (operation) {.kind = WAIT, .event = e, .version = e->requested}));
}

result cuEventCreate(event **e, unsigned flags) {
  BEGIN(1);
  *e = calloc(1, sizeof **e);
  live_events++;
  return end(SUCCESS);
}

result cuEventDestroy_v2(event *e) {
  BEGIN(1);
  if (e->destroyed) return end(INVALID_HANDLE);
  e->destroyed = 1; // never freed: what uses it later is seen
  live_events--;
  return end(sticky ? sticky : SUCCESS);
}

result cuEventRecord(event *e, uintptr_t s) {
  BEGIN(1);
  if (e->destroyed) return end(INVALID_HANDLE);
  return end(give(s, (operation) {.kind = RECORD, .event = e, .version = ++e->requested}));
}

result cuEventQuery(event *e) {
  BEGIN(1);
  if (e->destroyed) return end(INVALID_HANDLE);
  return end(e->done < e->requested ? NOT_READY : SUCCESS);
}

result cuModuleLoadData(module **m, const char *image) {
  BEGIN(1);
  if (strncmp(image, "STUB ", 5)) return end(INVALID_IMAGE);
  void *library = dlopen(image + 5, RTLD_NOW | RTLD_LOCAL);
  if (!library) return end(INVALID_IMAGE);
  *m = calloc(1, sizeof **m);
  (*m)->library = library;
  (*m)->launch = dlsym(library, "stub_launch");
  (*m)->sizes = ((const int *(*)(int *)) dlsym(library, "stub_sizes"))(&(*m)->count);
  live_modules++;
  return end(SUCCESS);
}

result cuModuleUnload(module *m) {
  BEGIN(1);
  settle();
  for (stream *s = streams; s; s = s->next) {
    for (operation *o = s->first; o; o = o->next) {
      if (!sticky && o->kind == KERNEL && o->module == m) misused("a module is unloaded whose kernel runs");
    }
  }
  live_modules--;
  return end(sticky ? sticky : SUCCESS);
}

result cuModuleGetFunction(void **function, module *m, const char *name) {
  BEGIN(1);
  *function = m;
  return end(dlsym(m->library, name) ? SUCCESS : NOT_FOUND);
}

result cuFuncGetAttribute(int *value, int attribute, void *function) {
  BEGIN(1);
  *value = attribute == 0 ? max_threads : 0;
  return end(SUCCESS);
}

result cuLaunchKernel(module *m, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
    uintptr_t s, void **arguments, void **extra) {
  BEGIN(1);
  if (!gx || !gy || !gz || gy > 65535 || gz > 65535 || bx * by * bz > 1024) return end(INVALID_VALUE);
  operation o = {.kind = KERNEL, .module = m, .grid = {gx, gy, gz}, .block = {bx, by, bz}};
  for (int i = 0; i < m->count; i++) memcpy(&o.arguments[i], arguments[i], m->sizes[i]);
  return end(give(s, o));
}

result cuGetErrorName(result code, const char **name) {
  static const struct { int code; const char *name; } names[] = {
    {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"}, {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
    {DEINITIALIZED, "CUDA_ERROR_DEINITIALIZED"}, {NO_DEVICE, "CUDA_ERROR_NO_DEVICE"},
    {INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE"}, {INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT"},
    {INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE"}, {ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS"},
    {LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED"}, {NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED"},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"}, {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (names[i].code == code) {
      *name = names[i].name;
      return SUCCESS;
    }
  }
  *name = 0;
  return INVALID_VALUE;
}
