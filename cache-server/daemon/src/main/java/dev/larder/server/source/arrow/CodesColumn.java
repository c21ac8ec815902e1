package dev.larder.server.source.arrow;

import dev.larder.internal.column.BytesBuilder;
import dev.larder.internal.column.ColumnBuilder;
import dev.larder.internal.column.StringsBuilder;
import dev.larder.npy.Dtype;
import dev.larder.reader.arrow.ArrowField;
import dev.larder.reader.arrow.ArrowField.Encoding;
import dev.larder.reader.arrow.ArrowField.Kind;
import dev.larder.server.source.ArrayData;
import dev.larder.server.source.Partitioning;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Numbers that stand for the elements of a dictionary, and beside them those elements. As long as every dictionary has what those
 * before it have, in the same places, numbers are copied from where they lie; else they are translated.
 */
final class CodesColumn extends ArrowColumn {
    /** What is appended to the name of a column for what its numbers stand for. */
    static final String CLASSES = ".classes";

    private static final String WIDE = "<i4";
    private static final int LONGEST_WORD = 1 << 20;

    /** Stands in columns that have nulls for what is in no dictionary, as it may be under a null. */
    private static final int UNKNOWN = -1;

    private final String name;
    private final Nulls nulls;
    private final ArrowField words;
    private final Encoding encoding;
    private final Elements codes;
    private final Pieces pieces = new Pieces(1);
    private final List<int[]> translations = new ArrayList<>();
    private final Vocabulary vocabulary = new Vocabulary();
    private int[] current = new int[0];
    private boolean isTranslated;
    private long id;

    CodesColumn(String name, Nulls nulls, ArrowField field) {
        this.name = name;
        this.nulls = nulls;
        this.words = field;
        this.encoding = Objects.requireNonNull(field.encoding());
        this.codes = new Elements(Kind.FIXED, encoding.type(), encoding.size());
        this.id = encoding.id();
    }

    /** Tells whether a dictionary has elements that can be kept. */
    static boolean isReadable(ArrowField field) {
        return switch (field.kind()) {
            case TEXTS, BYTES, TEXT_VIEWS, BYTES_VIEWS, FIXED -> true;
            default -> false;
        };
    }

    @Override
    void enter(ArrowField field) {
        id = Objects.requireNonNull(field.encoding()).id();
        current = new int[0];
    }

    /** Returns which dictionary it has in the file that is being read. */
    long id() {
        return id;
    }

    /** Takes a dictionary, or what comes after what is known of it. */
    void takeWords(BatchCursor batch, boolean isMore) {
        long count = batch.length();
        int known = isMore ? current.length : 0;
        if (count > Integer.MAX_VALUE / 2 - known) {
            throw tooLong(batch);
        }
        batch.requireNextRows(count);
        Nulls.requireNone(batch, count, name + CLASSES);
        WordReader reader = new WordReader(batch, count);
        int[] next = new int[known + (int) count]; // which are in the file, as is proved by now
        System.arraycopy(current, 0, next, 0, known);
        for (int i = known; i < next.length; i++) {
            next[i] = vocabulary.number(reader.word(i - known));
            if (next[i] < 0) {
                throw tooLong(batch);
            }
            isTranslated |= next[i] != i;
        }
        current = next;
    }

    private RuntimeException tooLong(BatchCursor batch) {
        return batch.file()
                .refusal("the dictionary of column " + name + " has too many elements for 1/16 of the heap"
                        + " (LARDER_DAEMON_HEAP): write the column without a dictionary");
    }

    /** Reads the elements of one dictionary in their order. */
    private final class WordReader {
        private final BatchCursor batch;
        private final @Nullable Views views;
        private final @Nullable FileWindow offsets;
        private final @Nullable FileWindow data;

        WordReader(BatchCursor batch, long count) {
            this.batch = batch;
            boolean isViewed = words.kind().hasMoreBuffers();
            boolean isFixed = words.kind() == Kind.FIXED;
            views = isViewed ? new Views(batch, name + CLASSES, count, LONGEST_WORD) : null;
            offsets = isViewed || isFixed ? null : offsets();
            data = isViewed ? null : data(isFixed ? Math.multiplyExact(count, words.size()) : 0);
        }

        private FileWindow offsets() {
            batch.nextOffsets(words.size());
            return new FileWindow(batch.file(), batch.bufferOffset(), batch.bufferBytes());
        }

        private FileWindow data(long atLeast) {
            batch.nextBuffer(atLeast);
            return new FileWindow(batch.file(), batch.bufferOffset(), batch.bufferBytes());
        }

        ByteBuffer word(int index) {
            if (views != null) {
                ByteBuffer row = views.row(index);
                return ByteBuffer.allocate(row.remaining()).put(row).flip();
            }
            long from = (long) index * words.size();
            long to = from + words.size();
            if (offsets != null) {
                from = offsets.number(index, words.size());
                to = offsets.number(index + 1L, words.size());
            }
            if (to < from || to - from > LONGEST_WORD) {
                throw batch.file()
                        .refusal("the dictionary of column " + name + " is malformed, or has elements of more than "
                                + LONGEST_WORD + " bytes");
            }
            return Objects.requireNonNull(data).copy(from, (int) (to - from));
        }
    }

    @Override
    void take(BatchCursor batch, long from, long to) {
        nulls.take(batch, from, to);
        codes.take(batch, from, to);
        pieces.add(batch.file().identity(), to - from, batch.bufferOffset() + from * encoding.size());
        translations.add(current);
    }

    @Override
    void addArrays(FoundArrays arrays) {
        Dtype dtype = isTranslated ? Dtype.parse(WIDE) : codes.dtype();
        ArrayData data = isTranslated ? new Translated() : codes.data();
        arrays.add(name, dtype, data, pieces.rows());
        nulls.addMask(name, arrays);
        arrays.addingAs(Partitioning.REPLICATED, () -> addClasses(arrays));
    }

    private void addClasses(FoundArrays arrays) {
        if (words.kind() == Kind.FIXED) {
            vocabulary.addNumbers(name + CLASSES, words.type(), arrays);
            return;
        }
        boolean isText = words.kind() == Kind.TEXTS || words.kind() == Kind.TEXT_VIEWS;
        ColumnBuilder builder = isText ? new StringsBuilder(arrays.memory()) : new BytesBuilder(arrays.memory());
        try {
            vocabulary.elements().forEach(word -> add(builder, word.duplicate()));
        } catch (RuntimeException | Error e) {
            builder.close();
            throw e;
        }
        arrays.add(name + CLASSES, builder);
    }

    /** Adds a text, or else bytes, to a builder of such. */
    static void add(ColumnBuilder builder, ByteBuffer row) {
        if (builder instanceof StringsBuilder texts) {
            texts.addUtf8(row);
        } else if (builder instanceof BytesBuilder bytes) {
            bytes.add(row);
        }
    }

    /** Numbers of many dictionaries become those of one. */
    private final class Translated extends ConvertedData {
        Translated() {
            super(pieces, Integer.BYTES);
        }

        @Override
        void convert(Input in, int piece, long row, int count, ByteBuffer out) {
            int width = encoding.size();
            int[] translation = translations.get(piece);
            ByteBuffer its = in.read(pieces.number(piece, 0) + row * width, count * width)
                    .order(ByteOrder.LITTLE_ENDIAN);
            for (int i = 0; i < count; i++) {
                long code = switch (width) {
                    case Byte.BYTES -> its.get();
                    case Short.BYTES -> its.getShort();
                    case Integer.BYTES -> its.getInt();
                    default -> its.getLong();
                };
                if (encoding.type().contains("u") && width < Long.BYTES) {
                    code &= (1L << (width * Byte.SIZE)) - 1;
                }
                boolean isKnown = code >= 0 && code < translation.length;
                if (!isKnown && !nulls.any()) {
                    throw in.refusal(
                            pieces.number(piece, 0), "column " + name + " has a number that is not in its dictionary");
                }
                out.putInt(isKnown ? translation[(int) code] : UNKNOWN);
            }
        }
    }
}
