package dev.larder.readers.parquet;

import dev.hardwood.internal.reader.Dictionary;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The words that the codes of a column number: those of the dictionaries of its files in their order, then those that only rows have. On the heap,
 * within a limit. Thread-safe once it is complete.
 */
final class Words {
    /** The heap that a word takes besides its bytes. */
    private static final long WORD_BYTES = 128;

    private static final int HEAP_PARTS = 16;

    private final ColumnKind kind;
    private final Map<ByteBuffer, Integer> numbers = new HashMap<>();
    private final List<ByteBuffer> words = new ArrayList<>();
    private long budget = Runtime.getRuntime().maxMemory() / HEAP_PARTS;
    private boolean areDifferent;
    private boolean isComplete;

    /** Starts without words; {@code kind} is that of one. */
    Words(ColumnKind kind) {
        this.kind = kind;
    }

    ColumnKind kind() {
        return kind;
    }

    /** Takes the dictionary of a row group; writers keep the order of the words there. */
    void take(Dictionary dictionary) {
        if (dictionary instanceof Dictionary.ByteArrayDictionary its) {
            byte[][] values = its.values();
            for (int i = 0; i < values.length; i++) {
                areDifferent |= number(values[i], 0, values[i].length) != i;
            }
        }
    }

    /** Returns the number of a word, which is a new one if the word is. */
    int number(byte[] bytes, int from, int length) {
        ByteBuffer word = ByteBuffer.wrap(bytes, from, length);
        Integer known = numbers.get(word);
        if (known != null) {
            return known;
        } else if (isComplete) {
            throw new IllegalStateException("it has a word that it had not before");
        }
        budget -= WORD_BYTES + length;
        if (budget < 0) {
            throw new OutOfMemoryError("its dictionary has more words than 1/" + HEAP_PARTS + " of the heap holds");
        }
        ByteBuffer copy = ByteBuffer.allocate(length).put(word.duplicate()).flip();
        numbers.put(copy, words.size());
        words.add(copy);
        return words.size() - 1;
    }

    void complete() {
        isComplete = true;
    }

    /** Returns the bytes of a code: {@code bytes} if this type can count all words and the dictionaries are equal; else those of int32. */
    int codeBytes(String dtype, int bytes) {
        int bits = bytes * Byte.SIZE - (dtype.charAt(1) == 'i' ? 1 : 0);
        boolean isEnough = bits >= Integer.SIZE || words.size() <= 1L << bits;
        return isEnough && !areDifferent ? bytes : Integer.BYTES;
    }

    List<ByteBuffer> all() {
        return words;
    }

    /** Returns how long all words are together. */
    long byteSize() {
        return words.stream().mapToLong(ByteBuffer::remaining).sum();
    }
}
