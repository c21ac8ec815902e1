package dev.larder.server.source.arrow;

import dev.larder.internal.column.ColumnBuilder;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.reader.arrow.ArrowField;
import dev.larder.reader.arrow.ArrowField.Encoding;
import dev.larder.reader.arrow.ArrowField.Kind;
import dev.larder.server.source.ArrayData;
import dev.larder.server.source.Partitioning;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Codes of the words of a dictionary, and these words. Codes are stored as in the file if each dictionary begins with all words of the
 * one before it; else they are translated. Words are kept in the heap, within a limit.
 */
final class CodesColumn extends FieldColumn {
    private static final String CLASSES = ".classes";
    private static final String WIDE = "<i4";
    private static final int LONGEST_WORD = 1 << 20;

    /** The heap that a word takes besides its bytes. */
    private static final long WORD_BYTES = 128;

    private static final int HEAP_PARTS = 16;

    /** The translation of a code that the dictionary lacks, as may be stored for a null. */
    private static final int UNKNOWN = -1;

    private final ArrowField words;
    private final Encoding encoding;
    private final ElementData codes;
    private final Pieces pieces = new Pieces(1);

    /** The translation of each piece, from the codes of its dictionary. */
    private final List<int[]> translations = new ArrayList<>();

    /** The words of all dictionaries with their numbers, in this order. */
    private final Map<ByteBuffer, Integer> numbers = new LinkedHashMap<>();

    private long budget = Runtime.getRuntime().maxMemory() / HEAP_PARTS;
    private int[] current = new int[0];
    private boolean isTranslated;
    private boolean hasNullWords;
    private long id;

    CodesColumn(String name, @Nullable Nulls above, ArrowField field) {
        super(name, above);
        this.words = field;
        this.encoding = Objects.requireNonNull(field.encoding());
        this.codes = new ElementData(Kind.FIXED, encoding.type(), encoding.size());
        this.id = encoding.id();
    }

    /** Returns whether the words of a dictionary can be kept. */
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

    /** Returns the number of its dictionary in the file that is being read. */
    long id() {
        return id;
    }

    /** Takes a dictionary, or words that follow those of the current one. */
    void takeWords(BatchCursor batch, boolean isMore) {
        long count = batch.length();
        int known = isMore ? current.length : 0;
        if (count > Integer.MAX_VALUE / 2 - known) {
            throw tooLong(batch);
        }
        batch.begin(count);
        batch.node(count);
        hasNullWords |= batch.bitmap() != null;
        if (hasNullWords) {
            return; // the column is refused with its first rows
        }
        RowReader reader = new RowReader(batch, name + CLASSES, words, count, LONGEST_WORD);
        int[] next = new int[known + (int) count]; // the file has as many, as has been checked
        System.arraycopy(current, 0, next, 0, known);
        for (int i = known; i < next.length; i++) {
            next[i] = number(reader.row(i - known), batch);
            isTranslated |= next[i] != i;
        }
        current = next;
    }

    private int number(ByteBuffer word, BatchCursor batch) {
        Integer known = numbers.get(word);
        if (known != null) {
            return known;
        }
        budget -= WORD_BYTES + word.remaining();
        if (budget < 0) {
            throw tooLong(batch);
        }
        numbers.put(ByteBuffer.allocate(word.remaining()).put(word).flip(), numbers.size());
        return numbers.size() - 1;
    }

    private RuntimeException tooLong(BatchCursor batch) {
        return batch.refusal("the dictionary of column " + name + " has too many elements for 1/" + HEAP_PARTS
                + " of the heap (LARDER_DAEMON_HEAP): write the column without a dictionary");
    }

    @Override
    void takeRows(BatchCursor batch, long from, long to) {
        if (hasNullWords) {
            throw new Unfit(name + CLASSES, "its dictionary has nulls");
        }
        BatchBuffer buffer = codes.take(batch, from, to);
        pieces.add(buffer.file(), to - from, buffer.offset() + from * encoding.size());
        translations.add(current);
    }

    @Override
    void addArrays(FoundArrays arrays) {
        String type = isTranslated ? WIDE : codes.type();
        ArrayData data = isTranslated ? new ConvertedData(pieces, Integer.BYTES, this::translate) : codes.data();
        arrays.add(name, ColumnPart.NONE, type, data, pieces.rows());
        nulls.addMask(name, arrays);
        arrays.addingAs(Partitioning.REPLICATED, () -> addClasses(arrays));
    }

    private void addClasses(FoundArrays arrays) {
        if (words.kind() == Kind.FIXED) {
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            numbers.keySet().forEach(word -> all.write(word.array(), word.arrayOffset(), word.remaining()));
            ArrayData data = () -> Channels.newChannel(new ByteArrayInputStream(all.toByteArray()));
            arrays.add(name + CLASSES, ColumnPart.NONE, words.type(), data, numbers.size());
            return;
        }
        ColumnBuilder builder = ViewColumn.builder(words, arrays.memory());
        try {
            numbers.keySet().forEach(word -> ViewColumn.add(builder, word.duplicate()));
        } catch (RuntimeException | Error e) {
            builder.close();
            throw e;
        }
        arrays.add(name + CLASSES, builder);
    }

    private void translate(ArrowFile in, int piece, long row, int count, ByteBuffer out) {
        int width = encoding.size();
        int[] translation = translations.get(piece);
        ByteBuffer its = in.read(pieces.number(piece, 0) + row * width, count * width);
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
                in.enter(pieces.number(piece, 0));
                throw in.refusal("column " + name + " has a code that is not in its dictionary: code=" + code);
            }
            out.putInt(isKnown ? translation[(int) code] : UNKNOWN);
        }
    }
}
