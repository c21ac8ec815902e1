package dev.larder.loader.cuda.device;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Definitions that turn the text of kernels into C++: OpenCL's names for CUDA's functions. */
final class CudaPrelude {
    private static final String WORDS = """
            typedef unsigned char uchar;
            typedef unsigned short ushort;
            typedef unsigned int uint;
            typedef unsigned long ulong;
            #define char signed char
            #define __kernel extern "C" __global__
            #define __global
            #define __constant __device__ const
            #define INFINITY __builtin_bit_cast(float, 0x7f800000U)
            #define NAN __builtin_bit_cast(float, 0x7fc00000U)
            __device__ inline uint larder_global_id(int dimension) {
              return dimension == 0 ? blockIdx.x * blockDim.x + threadIdx.x
                                    : (blockIdx.z * gridDim.y + blockIdx.y) * blockDim.y + threadIdx.y;
            }
            #define get_global_id larder_global_id
            __device__ inline uint as_uint(float x) { return __float_as_uint(x); }
            __device__ inline float as_float(uint x) { return __uint_as_float(x); }
            __device__ inline ulong as_ulong(double x) { return (ulong) __double_as_longlong(x); }
            __device__ inline double as_double(ulong x) { return __longlong_as_double((long long) x); }
            #ifdef __CUDACC_RTC__ // the assembly language of NVRTC
            __device__ inline float larder_from_half(uint bits) {
              float value;
              asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"((ushort) bits));
              return value;
            }
            __device__ inline uint larder_to_half(float value) {
              ushort bits;
              asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
              return bits;
            }
            #endif
            """;

    /** All vectors that kernels have: of words of 1 to 8 bytes, up to 16 bytes long. */
    private static final List<String> TYPES = List.of("uchar", "ushort", "uint", "ulong");

    static final String TEXT = WORDS + vectors();

    private CudaPrelude() {}

    private static String vectors() {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < TYPES.size(); i++) {
            for (int lanes = 2; lanes << i <= 16; lanes *= 2) {
                text.append(vector(TYPES.get(i), lanes, lanes << i));
            }
        }
        return text.toString();
    }

    /** Defines a vector type. CUDA has some of these names for types without numbered lanes, which are not used here. */
    private static String vector(String word, int lanes, int byteSize) {
        String names = IntStream.range(0, lanes)
                .mapToObj(i -> "s" + Integer.toHexString(i))
                .collect(Collectors.joining(", "));
        String type = word + lanes;
        return "struct alignas(" + byteSize + ") larder_vector_" + type + " { " + word + " " + names + "; };\n"
                + "#define " + type + " larder_vector_" + type + "\n"
                + "#define larder_" + type + "(...) larder_vector_" + type + " { __VA_ARGS__ }\n";
    }
}
