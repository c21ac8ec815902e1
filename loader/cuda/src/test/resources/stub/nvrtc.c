// libnvrtc.so without a GPU: compiles kernels by the C++ compiler of this machine, given CUDA's words, for cuda.c to run. "Code of the
// device" is the path of a shared library. It insists on the options without which results would be others.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SUCCESS = 0, INVALID_OPTION = 5, COMPILATION = 6 };

typedef struct program { char *source, *log, *image; } program;

static const char BEFORE[] =
  "#define __CUDACC__ 1\n"
  "#define __global__\n"
  "#define __device__\n"
  "struct stub_dim { unsigned x, y, z; };\n"
  "static __thread stub_dim blockIdx, threadIdx, blockDim, gridDim;\n"
  "static inline unsigned __float_as_uint(float x) { unsigned y; __builtin_memcpy(&y, &x, 4); return y; }\n"
  "static inline float __uint_as_float(unsigned x) { float y; __builtin_memcpy(&y, &x, 4); return y; }\n"
  "static inline long long __double_as_longlong(double x) { long long y; __builtin_memcpy(&y, &x, 8); return y; }\n"
  "static inline double __longlong_as_double(long long x) { double y; __builtin_memcpy(&y, &x, 8); return y; }\n"
  "static inline float larder_from_half(unsigned bits) {\n"
  "  unsigned exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff, sign = (bits & 0x8000) << 16;\n"
  "  unsigned tiny = __float_as_uint(fraction * 0x1.0p-24f), wide = exponent == 0x1f ? 0x7f800000 : (exponent + 112) << 23;\n"
  "  return __uint_as_float(sign | (exponent == 0 ? tiny : wide | fraction << 13));\n"
  "}\n"
  "static inline unsigned larder_to_half(float value) {\n"
  "  unsigned bits = __float_as_uint(value), sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;\n"
  "  unsigned tiny = __float_as_uint(__uint_as_float(size) + 0.5f) - 0x3f000000;\n"
  "  unsigned normal = (size - 0x38000000 + 0xfff + (size >> 13 & 1)) >> 13, large = size > 0x7f800000 ? 0x7fff : 0x7c00;\n"
  "  return sign | (size >= 0x477ff000 ? large : size < 0x38800000 ? tiny : normal);\n"
  "}\n"
  "#line 1 \"larder.cu\"\n";

static const char AFTER[] =
  "\ntemplate <int... I> struct stub_places {};\n"
  "template <class... A, int... I> static void stub_call(void (*f)(A...), void **p, stub_places<I...>) { f(*(A *) p[I]...); }\n"
  "template <class... A> static void stub_any(void (*f)(A...), void **p) {\n"
  "  stub_call(f, p, stub_places<__integer_pack(sizeof...(A))...>());\n"
  "}\n"
  "template <class... A> static const int *stub_list(void (*)(A...), int *count) {\n"
  "  static const int sizes[] = {sizeof(A)...};\n"
  "  *count = sizeof...(A);\n"
  "  return sizes;\n"
  "}\n"
  "extern \"C\" const int *stub_sizes(int *count) { return stub_list(larder_samples, count); }\n"
  "extern \"C\" void stub_launch(void **p, const unsigned *grid, const unsigned *block) {\n"
  "  gridDim = {grid[0], grid[1], grid[2]};\n"
  "  blockDim = {block[0], block[1], block[2]};\n"
  "  for (unsigned z = 0; z < grid[2]; z++) for (unsigned y = 0; y < grid[1]; y++) for (unsigned x = 0; x < grid[0]; x++) {\n"
  "    blockIdx = {x, y, z};\n"
  "    for (unsigned v = 0; v < block[1]; v++) for (unsigned u = 0; u < block[0]; u++) {\n"
  "      threadIdx = {u, v, 0};\n"
  "      stub_any(larder_samples, p);\n"
  "    }\n"
  "  }\n"
  "}\n";

int nvrtcVersion(int *major, int *minor) { *major = 13; *minor = 0; return SUCCESS; }
int nvrtcGetNumSupportedArchs(int *count) { *count = 2; return SUCCESS; }
int nvrtcGetSupportedArchs(int *all) { all[0] = 80; all[1] = 90; return SUCCESS; }
const char *nvrtcGetErrorString(int code) {
  return code == COMPILATION ? "NVRTC_ERROR_COMPILATION" : code == INVALID_OPTION ? "NVRTC_ERROR_INVALID_OPTION" : "NVRTC_ERROR";
}

int nvrtcCreateProgram(program **p, const char *source, const char *name, int headers, void *texts, void *names) {
  *p = calloc(1, sizeof **p);
  (*p)->source = strdup(source);
  (*p)->log = strdup("");
  return SUCCESS;
}

int nvrtcDestroyProgram(program **p) {
  free((*p)->source);
  free((*p)->log);
  free((*p)->image);
  free(*p);
  *p = 0;
  return SUCCESS;
}

static int has(int count, const char **options, const char *wanted) {
  for (int i = 0; i < count; i++) if (!strcmp(options[i], wanted)) return 1;
  return 0;
}

static char *read_all(const char *path) {
  FILE *file = fopen(path, "r");
  char *text = calloc(1, 1 << 16);
  if (file) {
    if (fread(text, 1, (1 << 16) - 1, file) == 0) text[0] = 0;
    fclose(file);
  }
  return text;
}

int nvrtcCompileProgram(program *p, int count, const char **options) {
  if (!has(count, options, "--fmad=false") || !has(count, options, "--gpu-architecture=sm_90")
      || !has(count, options, "--device-as-default-execution-space")) {
    return INVALID_OPTION;
  }
  uint64_t hash = 14695981039346656037u;
  for (const char *at = p->source; *at; at++) hash = (hash ^ (unsigned char) *at) * 1099511628211u;
  Dl_info own; // what is compiled lies beside this library
  dladdr((void *) nvrtcCompileProgram, &own);
  char path[1024], command[8192];
  snprintf(path, sizeof path, "%.*s%016llx", (int) (strrchr(own.dli_fname, '/') + 1 - own.dli_fname), own.dli_fname,
      (unsigned long long) hash);
  snprintf(command, sizeof command, "%s.so", path);
  if (access(command, R_OK)) {
    char text[1100];
    snprintf(text, sizeof text, "%s.cpp", path);
    FILE *file = fopen(text, "w");
    fputs(BEFORE, file);
    fputs(p->source, file);
    fputs(AFTER, file);
    fclose(file);
    snprintf(command, sizeof command,
        "g++ -std=c++17 -O1 -w -ffp-contract=off -shared -fPIC -o '%s.tmp' '%s.cpp' 2>'%s.log' && mv '%s.tmp' '%s.so'", path, path, path, path, path);
    if (system(command)) {
      snprintf(text, sizeof text, "%s.log", path);
      free(p->log);
      p->log = read_all(text);
      return COMPILATION;
    }
  }
  if (asprintf(&p->image, "STUB %s.so", path) < 0) return COMPILATION;
  return SUCCESS;
}

int nvrtcGetProgramLogSize(program *p, size_t *size) { *size = strlen(p->log) + 1; return SUCCESS; }
int nvrtcGetProgramLog(program *p, char *log) { strcpy(log, p->log); return SUCCESS; }
int nvrtcGetCUBINSize(program *p, size_t *size) { *size = strlen(p->image) + 1; return SUCCESS; }
int nvrtcGetCUBIN(program *p, char *image) { strcpy(image, p->image); return SUCCESS; }
int nvrtcGetPTXSize(program *p, size_t *size) { return nvrtcGetCUBINSize(p, size); }
int nvrtcGetPTX(program *p, char *image) { return nvrtcGetCUBIN(p, image); }
