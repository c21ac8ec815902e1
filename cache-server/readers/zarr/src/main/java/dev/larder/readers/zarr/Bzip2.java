package dev.larder.readers.zarr;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.util.Arrays;

/** Unpacks bzip2: streams one after the other, each of blocks. Compares the checksums of blocks and streams. */
final class Bzip2 {
    private static final int STREAM = 'B' << 16 | 'Z' << 8 | 'h';
    private static final int BLOCK_HIGH = 0x314159;
    private static final int BLOCK_LOW = 0x265359;
    private static final int END_HIGH = 0x177245;
    private static final int END_LOW = 0x385090;
    private static final int UNIT_BYTES = 100_000;
    private static final int MOST_TABLES = 6;
    private static final int TABLE_SYMBOLS = 50;
    private static final int MOST_CODE_BITS = 20;
    private static final int MOST_RUN_BITS = 21;
    private static final int EQUAL_BEFORE_COUNT = 4;
    private static final int[] CRC = crcTable();

    private final byte[] packed;
    private final int most;
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private int at;
    private long window;
    private int held;

    private Bzip2(byte[] packed, int most) {
        this.packed = packed;
        this.most = most;
    }

    /** See {@link Unpacker#undo}. */
    static byte[] undo(byte[] packed, int most) throws IOException {
        Bzip2 unpacking = new Bzip2(packed, most);
        do {
            unpacking.stream();
        } while (unpacking.at - unpacking.held / Byte.SIZE < packed.length);
        return unpacking.out.toByteArray();
    }

    private void stream() throws IOException {
        int start = bits(24);
        int level = bits(Byte.SIZE) - '0';
        require(start == STREAM && level > 0 && level < 10, "no stream begins here");
        int[] block = new int[level * UNIT_BYTES];
        int sum = 0;
        while (true) {
            int high = bits(24);
            int low = bits(24);
            int expected = bits(Integer.SIZE);
            if (high == END_HIGH && low == END_LOW) {
                require(expected == sum, "the checksum of a stream is wrong");
                held -= held % Byte.SIZE;
                return;
            }
            require(high == BLOCK_HIGH && low == BLOCK_LOW, "no block begins here");
            require(bits(1) == 0, "a block has the order of a very old release");
            int first = bits(24);
            int length = symbols(block);
            require(first < length, "a block begins behind its end");
            require(write(block, length, first) == expected, "the checksum of a block is wrong");
            sum = Integer.rotateLeft(sum, 1) ^ expected;
        }
    }

    /** Reads the bytes of a block in their sorted order; returns their number. */
    private int symbols(int[] block) throws IOException {
        int[] recent = bytesInUse();
        int end = recent.length + 1;
        int tables = bits(3);
        int selectors = bits(15);
        require(tables > 1 && tables <= MOST_TABLES && selectors > 0 && recent.length > 0, "a block has no tables");
        int[] selected = selected(tables, selectors);
        Codes[] codes = new Codes[tables];
        for (int i = 0; i < tables; i++) {
            codes[i] = codes(end + 1);
        }
        int length = 0;
        int run = 0;
        int runBits = 0;
        for (int i = 0; ; i++) {
            require(i / TABLE_SYMBOLS < selectors, "a block has no end");
            int symbol = next(codes[selected[i / TABLE_SYMBOLS]]);
            if (symbol <= 1) { // a digit of the length of a run, in base 2 with the digits 1 and 2
                require(runBits < MOST_RUN_BITS, "a run is too long");
                run += (symbol + 1) << runBits++;
                continue;
            }
            require(run <= block.length - length, "a block is too long");
            Arrays.fill(block, length, length + run, recent[0]);
            length += run;
            run = 0;
            runBits = 0;
            if (symbol == end) {
                return length;
            }
            require(length < block.length, "a block is too long");
            block[length++] = toFront(recent, symbol - 1);
        }
    }

    private int[] bytesInUse() throws IOException {
        int groups = bits(16);
        int[] used = new int[256];
        int count = 0;
        for (int group = 0; group < 16; group++) {
            int members = (groups >> (15 - group) & 1) == 0 ? 0 : bits(16);
            for (int member = 0; member < 16; member++) {
                if ((members >> (15 - member) & 1) != 0) {
                    used[count++] = group * 16 + member;
                }
            }
        }
        return Arrays.copyOf(used, count);
    }

    /** Reads which table each group of symbols has. */
    private int[] selected(int tables, int count) throws IOException {
        int[] recent = {0, 1, 2, 3, 4, 5};
        int[] selected = new int[count];
        for (int i = 0; i < count; i++) {
            int place = 0;
            while (bits(1) != 0) {
                require(++place < tables, "a block has a table too few");
            }
            selected[i] = toFront(recent, place);
        }
        return selected;
    }

    private static int toFront(int[] recent, int place) {
        int value = recent[place];
        System.arraycopy(recent, 0, recent, 1, place);
        recent[0] = value;
        return value;
    }

    /**
     * A canonical Huffman code.
     *
     * @param symbols in the order of their codes
     * @param counts how many codes have each length
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Codes(int[] symbols, int[] counts) {}

    private Codes codes(int count) throws IOException {
        int[] lengths = new int[count];
        int[] counts = new int[MOST_CODE_BITS + 1];
        int length = bits(5);
        for (int symbol = 0; symbol < count; symbol++) {
            while (bits(1) != 0) {
                length += bits(1) == 0 ? 1 : -1;
                require(length > 0 && length <= MOST_CODE_BITS, "a code is too long");
            }
            require(length > 0 && length <= MOST_CODE_BITS, "a code is too long");
            lengths[symbol] = length;
            counts[length]++;
        }
        int[] starts = new int[MOST_CODE_BITS + 2];
        for (int i = 1; i <= MOST_CODE_BITS; i++) {
            starts[i + 1] = starts[i] + counts[i];
        }
        int[] symbols = new int[count];
        for (int symbol = 0; symbol < count; symbol++) {
            symbols[starts[lengths[symbol]]++] = symbol;
        }
        return new Codes(symbols, counts);
    }

    private int next(Codes codes) throws IOException {
        int code = 0;
        int first = 0;
        int before = 0;
        for (int length = 1; length <= MOST_CODE_BITS; length++) {
            code = code << 1 | bits(1);
            int count = codes.counts[length];
            if (code - first < count) {
                return codes.symbols[before + code - first];
            }
            before += count;
            first = (first + count) << 1;
        }
        throw damaged("a code stands for nothing");
    }

    /** Writes a block in the order that it had before it was sorted, with runs at full length; returns its checksum. */
    private int write(int[] block, int length, int first) throws IOException {
        int[] starts = new int[257];
        for (int i = 0; i < length; i++) {
            starts[block[i] + 1]++;
        }
        for (int i = 1; i < starts.length; i++) {
            starts[i] += starts[i - 1];
        }
        for (int i = 0; i < length; i++) {
            block[starts[block[i] & 0xff]++] |= i << Byte.SIZE; // the upper bits are the next place
        }
        int sum = -1;
        int equal = 0;
        int last = 0;
        int place = block[first] >>> Byte.SIZE;
        for (int i = 0; i < length; i++) {
            int value = block[place] & 0xff;
            place = block[place] >>> Byte.SIZE;
            if (equal == EQUAL_BEFORE_COUNT) {
                sum = put(last, value, sum);
                equal = 0;
            } else {
                equal = equal > 0 && value == last ? equal + 1 : 1;
                last = value;
                sum = put(value, 1, sum);
            }
        }
        return ~sum;
    }

    private int put(int value, int times, int sum) throws IOException {
        if (times > most - out.size()) {
            throw Unpackers.tooLong(most);
        }
        int next = sum;
        for (int i = 0; i < times; i++) {
            out.write(value);
            next = next << Byte.SIZE ^ CRC[next >>> 24 ^ value];
        }
        return next;
    }

    private int bits(int count) throws IOException {
        while (held < count) {
            if (at == packed.length) {
                throw new EOFException();
            }
            window = (window << Byte.SIZE) | (packed[at++] & 0xff);
            held += Byte.SIZE;
        }
        held -= count;
        return (int) ((window >>> held) & ((1L << count) - 1));
    }

    private static void require(boolean isRight, String what) throws IOException {
        if (!isRight) {
            throw damaged(what);
        }
    }

    private static IOException damaged(String what) {
        return new IOException("bzip2: " + what);
    }

    private static int[] crcTable() {
        int[] table = new int[256];
        for (int value = 0; value < table.length; value++) {
            int sum = value << 24;
            for (int bit = 0; bit < Byte.SIZE; bit++) {
                sum = sum << 1 ^ (sum < 0 ? 0x04c1_1db7 : 0);
            }
            table[value] = sum;
        }
        return table;
    }
}
