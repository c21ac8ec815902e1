package dev.larder.loader.internal.transform;

/** The functions shared by kernels: the work of {@link Half}, {@link Bfloat16} and {@link NumberBlock}, in OpenCL C that is valid C++. */
final class KernelFunctions {
    /** Divides a byte by 255 with two products: 255 times the upper part is exact, the lower part corrects the rest. */
    static final float UPPER_255TH = 0x1.01p-8f;

    static final float LOWER_255TH = 0x1.010102p-24f;

    private static final String COMMON =
            """
            ushort larder_swap2(ushort x) {
              return (ushort) ((x << 8) | (x >> 8));
            }
            uint larder_swap4(uint x) {
              return (x >> 24) | ((x >> 8) & 0xff00U) | ((x << 8) & 0xff0000U) | (x << 24);
            }
            ulong larder_swap8(ulong x) {
              return ((ulong) larder_swap4((uint) x) << 32) | larder_swap4((uint) (x >> 32));
            }
            float larder_divide_by_255(float x) {
              return x * %s + x * %s;
            }
            #ifndef __CUDACC__
            float larder_from_half(uint bits) {
              uchar half_bytes[2] __attribute__((aligned(2))) = {(uchar) bits, (uchar) (bits >> 8)};
              return vload_half(0, (const half *) half_bytes);
            }
            uint larder_to_half(float value) {
              uchar half_bytes[2] __attribute__((aligned(2)));
              vstore_half_rte(value, 0, (half *) half_bytes);
              return half_bytes[0] | half_bytes[1] << 8;
            }
            #endif
            uint larder_to_bfloat16(float value) {
              const uint bits = as_uint(value), upper = bits >> 16;
              return (bits & 0x7fffffff) > 0x7f800000 ? upper | 0x40 : (bits + 0x7fff + (upper & 1)) >> 16;
            }
            """.formatted(ElementText.number(UPPER_255TH), ElementText.number(LOWER_255TH));

    private static final String DOUBLES = """
            #pragma OPENCL EXTENSION cl_khr_fp64 : enable
            uint larder_half_of_double(double value) {
              const ulong bits = as_ulong(value), size = bits & 0x7fffffffffffffffUL;
              const uint sign = (uint) (bits >> 48) & 0x8000;
              const uint tiny = (uint) (as_ulong(as_double(size) + 0x1.0p28) - as_ulong(0x1.0p28));
              const uint normal = (uint) ((size - (1008UL << 52) + 0x1ffffffffffUL + ((size >> 42) & 1)) >> 42);
              const uint large = size > 0x7ff0000000000000UL ? 0x7e00 : 0x7c00;
              return sign | (size >= as_ulong(65520.0) ? large : size < as_ulong(0x1.0p-14) ? tiny : normal);
            }
            """;

    private KernelFunctions() {}

    static String text(boolean doubles) {
        return doubles ? COMMON + DOUBLES : COMMON;
    }
}
