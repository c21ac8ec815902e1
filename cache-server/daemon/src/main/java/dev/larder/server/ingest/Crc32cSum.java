package dev.larder.server.ingest;

/**
 * Combines the CRC32Cs of consecutive pieces, as if one thread had read all of them.
 *
 * <p>A CRC is linear: appending n zero bytes multiplies it, as a vector over GF(2), by a matrix that squaring finds in log n steps. This is
 * the method of Mark Adler's {@code crc32_combine} in zlib 1.2.3 ({@code crc32.c}), here with Castagnoli's polynomial.
 */
public final class Crc32cSum {
    private static final int REVERSED_POLYNOMIAL = 0x82F63B78;
    private static final int BITS = Integer.SIZE;

    private Crc32cSum() {}

    /** Returns the CRC32C of two consecutive pieces. The second has {@code secondBytes}. */
    public static int of(int first, int second, long secondBytes) {
        return followedBy(first, secondBytes) ^ second;
    }

    /** Returns the CRC32C of the second of two pieces, from that of both and of the first. */
    public static int withoutFirst(int both, int first, long secondBytes) {
        return followedBy(first, secondBytes) ^ both;
    }

    /** Returns the CRC32C of a piece with this many zero bytes after it, without the constants at both ends of a CRC. */
    static int followedBy(int first, long secondBytes) {
        if (secondBytes == 0) {
            return first;
        }
        int[] operator = squareOf(squareOf(oneZeroBit())); // four bits
        int crc = first;
        for (long left = secondBytes; left != 0; left >>>= 1) {
            operator = squareOf(operator); // from here on a power of two of bytes
            if ((left & 1) != 0) {
                crc = product(operator, crc);
            }
        }
        return crc;
    }

    private static int[] oneZeroBit() {
        int[] matrix = new int[BITS];
        matrix[0] = REVERSED_POLYNOMIAL;
        for (int row = 1; row < BITS; row++) {
            matrix[row] = 1 << (row - 1);
        }
        return matrix;
    }

    private static int[] squareOf(int[] matrix) {
        int[] square = new int[BITS];
        for (int row = 0; row < BITS; row++) {
            square[row] = product(matrix, matrix[row]);
        }
        return square;
    }

    private static int product(int[] matrix, int vector) {
        int sum = 0;
        int row = 0;
        for (int left = vector; left != 0; left >>>= 1, row++) {
            if ((left & 1) != 0) {
                sum ^= matrix[row];
            }
        }
        return sum;
    }
}
