package dev.larder.readers.parquet;

import dev.larder.reader.BadSource;
import dev.larder.reader.InputFile;
import dev.larder.reader.Offer;
import dev.larder.reader.Output;
import dev.larder.reader.RefusedColumns;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One column of a table: its pieces, one from each file, and where in its arrays each of them goes. Of the columns below a list of items, the first
 * one also has the arrays of that list.
 */
final class TableColumn {
    static final String CLASSES = ".classes";
    private static final String OFFSETS = ".offsets";
    static final String MASK = ".mask";
    private static final String SCALE = ".scale";
    private static final String INTEGERS = "<i4";
    private static final int NONE = -1;

    private final String whole;
    private final String level;
    private final String name;
    private final List<String> lists;
    private final boolean[] ownsList;
    private final boolean areNames;
    private ColumnKind kind;
    private @Nullable Words words;
    private final List<ColumnPiece> pieces = new ArrayList<>();
    private final int[] offsetsOffers;
    private final int[] maskOffers;
    private int firstOffer;
    private int classesOffer;
    private int scaleOffer = NONE;
    private int elementMaskOffer = NONE;

    /**
     * Starts without pieces.
     *
     * @param owners which column has the arrays of a list, by the whole name of the list; the first one that was made
     */
    TableColumn(String level, FileFields.Leaf leaf, ColumnKind kind, Map<String, String> owners) {
        this.whole = level + leaf.name();
        this.level = level;
        this.name = leaf.name();
        this.lists = leaf.lists();
        this.areNames = leaf.areNames();
        this.ownsList = new boolean[lists.size()];
        this.kind = kind;
        this.words = wordsOf(kind);
        this.offsetsOffers = new int[lists.size()];
        this.maskOffers = new int[lists.size() + 1];
        for (int depth = 0; depth < lists.size(); depth++) {
            String owner = owners.computeIfAbsent(level + lists.get(depth), list -> whole);
            ownsList[depth] = owner.equals(whole);
        }
    }

    private static @Nullable Words wordsOf(ColumnKind kind) {
        return kind.words() == null ? null : new Words(kind.words());
    }

    /** Returns the kind that holds the values of all files, once these are open. */
    ColumnKind kind() {
        return kind;
    }

    String name() {
        return name;
    }

    /** Returns the whole names of the lists of items that it is within. */
    List<String> lists() {
        return lists.stream().map(list -> level + list).toList();
    }

    /** Returns how many lists of items it is within. */
    int depth() {
        return lists.size();
    }

    /** Returns the words that its codes number; null if it has no codes. */
    @Nullable
    Words words() {
        return words;
    }

    int firstOffer() {
        return firstOffer;
    }

    int classesOffer() {
        return classesOffer;
    }

    /** Returns the number of the offer of a list's offsets; -1 if another column has them. */
    int offsetsOffer(int depth) {
        return ownsList[depth] ? offsetsOffers[depth] : NONE;
    }

    /** Returns the number of the offer of the mask of the rows at a depth; -1 if there is none. */
    int maskOffer(int depth) {
        return maskOffers[depth];
    }

    /** Returns the number of the offer of the mask of the elements of its lists of numbers; -1 if there is none. */
    int elementMaskOffer() {
        return elementMaskOffer;
    }

    /** Writes the digits behind the point, if its numbers are decimals without it. */
    void putScale(Output output) {
        if (scaleOffer != NONE) {
            output.at(scaleOffer, 0, Long.BYTES).putLong(kind.change().digits());
        }
    }

    /** Returns whether it has arrays: names that are all null have none. */
    boolean isOffered() {
        return !areNames || pieces.stream().anyMatch(ColumnPiece::hasValues);
    }

    /** Returns whether null rows without a mask are a mistake. */
    boolean mustShowNulls() {
        return !areNames;
    }

    /** Returns how long a number of it is in its array. */
    int itemBytes() {
        return words == null ? kind.itemBytes() : words.codeBytes(kind.dtype(), kind.itemBytes());
    }

    List<ColumnPiece> pieces() {
        return pieces;
    }

    void add(ColumnPiece piece) {
        pieces.add(piece);
    }

    /** Takes the kind that a file has; fails if no kind holds its values and those of the files before it. */
    void take(int file, ColumnKind other, List<String> itsLists) throws BadSource {
        ColumnKind both = lists.equals(itsLists) ? kind.with(other) : null;
        if (both == null) {
            throw new BadSource(
                    file,
                    BadSource.NOWHERE,
                    name,
                    "it is " + other.description() + ", but in the files before it " + kind.description(),
                    "write all files with one schema, or leave some out with --exclude");
        }
        kind = both;
        words = wordsOf(both);
    }

    /** Refuses a column that is missing in a file of its table, or occurs there more than once. */
    void requireIn(List<InputFile> files, long[] rows, RefusedColumns refused) {
        int[] timesOf = new int[files.size()];
        pieces.forEach(piece -> timesOf[piece.file()]++);
        for (int file = 0; file < files.size(); file++) {
            long times = timesOf[file];
            if (files.get(file).level().equals(level) && rows[file] > 0 && times != 1) {
                String reason = times > 1
                        ? "it has " + times + " fields with this name"
                        : "it has no such column, and "
                                + files.get(pieces.get(0).file()).path().getFileName() + " has";
                refused.add(new BadSource(file, BadSource.NOWHERE, name, reason, "leave files out with --exclude"));
                return;
            }
        }
    }

    /** Lays the pieces out, once they are measured, and offers the arrays. */
    void offer(List<Offer> offers) throws IOException {
        if (!isOffered()) {
            return;
        }
        long[] rows = new long[lists.size() + 1];
        boolean[] hasNulls = new boolean[rows.length];
        long elements = 0;
        for (ColumnPiece piece : pieces) {
            elements = piece.place(rows, elements, hasNulls);
        }
        requireProof(rows[lists.size()]);
        for (int depth = 0; depth < lists.size(); depth++) {
            String list = level + lists.get(depth);
            maskOffers[depth] = NONE;
            if (ownsList[depth]) {
                offsetsOffers[depth] = offers.size();
                offers.add(Offer.array(list + OFFSETS, "<i8", List.of(rows[depth] + 1)));
                maskOffers[depth] = offerMask(offers, list, rows[depth], hasNulls[depth]);
            }
        }
        firstOffer = offers.size();
        offerRows(offers, rows[lists.size()], elements);
        maskOffers[lists.size()] = offerMask(offers, whole, rows[lists.size()], hasNulls[lists.size()] && !areNames);
        if (pieces.stream().anyMatch(ColumnPiece::hasNullElements)) {
            elementMaskOffer = offers.size();
            offers.add(Offer.array(whole + FileFields.ITEMS + MASK, "|b1", elementShape(rows[lists.size()], elements)));
        }
        if (kind.isScaled()) {
            scaleOffer = offers.size();
            offers.add(Offer.array(whole + SCALE, "<i8", List.of()));
        }
        if (words != null) {
            classesOffer = offers.size();
            offerClasses(offers, words);
        }
    }

    /** Refuses rows of a length that stands in schemas alone, because all rows are null, if they would take far more than the files have. */
    private void requireProof(long rows) throws IOException {
        if (kind.cell().isEmpty() || pieces.stream().anyMatch(ColumnPiece::hasValues)) {
            return;
        }
        long packedBytes = 0;
        for (ColumnPiece piece : pieces) {
            packedBytes += piece.packedBytes();
        }
        if (!ColumnPiece.isBelievable(rows, kind, packedBytes)) {
            throw BadSource.damaged(
                    pieces.get(0).file(),
                    BadSource.NOWHERE,
                    name,
                    "no value shows that its rows have " + kind.rowBytes() + " bytes each, as in its schema");
        }
    }

    private static int offerMask(List<Offer> offers, String column, long rows, boolean hasNulls) {
        if (!hasNulls) {
            return NONE;
        }
        offers.add(Offer.array(column + MASK, "|b1", List.of(rows)));
        return offers.size() - 1;
    }

    /** Returns the shape of the elements of its lists of numbers. */
    private List<Long> elementShape(long rows, long elements) {
        if (kind.form() == ColumnKind.Form.LISTS) {
            return List.of(elements);
        }
        List<Long> shape = new ArrayList<>(List.of(rows));
        shape.addAll(kind.cell());
        return shape;
    }

    private void offerRows(List<Offer> offers, long rows, long elements) {
        switch (kind.form()) {
            case NUMBERS -> offers.add(Offer.array(whole, kind.dtype(), elementShape(rows, elements)));
            case CODES ->
                offers.add(
                        Offer.array(whole, itemBytes() == kind.itemBytes() ? kind.dtype() : INTEGERS, List.of(rows)));
            case STRINGS -> offers.addAll(Offer.strings(whole, rows, elements));
            case BYTES -> offers.addAll(Offer.bytes(whole, rows, elements));
            case LISTS ->
                offers.addAll(Offer.ragged(
                        whole, kind.dtype(), rows, elements, kind.lists().size()));
        }
    }

    private void offerClasses(List<Offer> offers, Words its) {
        String column = whole + CLASSES;
        long count = its.all().size();
        switch (Objects.requireNonNull(kind.words()).form()) {
            case STRINGS -> offers.addAll(Offer.strings(column, count, its.byteSize()));
            case BYTES -> offers.addAll(Offer.bytes(column, count, its.byteSize()));
            default -> offers.add(Offer.array(column, its.kind().dtype(), List.of(count)));
        }
    }
}
