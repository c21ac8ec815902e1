package dev.larder.server.reader;

import dev.larder.error.LarderException;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.layout.Names;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.reader.Offer;
import dev.larder.reader.Selection;
import dev.larder.server.source.Partitioning;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.SourceIdentity;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/** The arrays that a reader has offered, after all checks. One thread fills it, then it never changes. */
final class Offers {
    private static final int MOST_OFFERS = 1_000_000;
    private static final String CLASSES = ".classes";
    private static final String ELEMENT_MASK = ".items.mask";
    private static final String OFFSETS = ".offsets";
    private static final Pattern OF_ITEMS = Pattern.compile("\\.items(?=[./]|$)");

    /** All words of all offers together take no more of the heap. */
    private static final long MOST_WORDS_BYTES = Runtime.getRuntime().maxMemory() / 16;

    private final ReaderSpec reader;
    private final List<SourceIdentity> files;
    private final List<Offer> all = new ArrayList<>();
    private final List<NpyHeader> headers = new ArrayList<>();
    private long wordsBytes;

    /** Starts without offers of arrays in some files. */
    Offers(ReaderSpec reader, List<SourceIdentity> files) {
        this.reader = reader;
        this.files = files;
    }

    /** Returns whether there may be this many more. */
    boolean hasRoom(int more) {
        return more <= MOST_OFFERS - all.size();
    }

    /** Adds an offer; fails if the array is impossible. */
    void add(Offer offer, ReaderTalk talk) {
        wordsBytes += (long) offer.name().length()
                + offer.part().length()
                + offer.dtype().length();
        if (wordsBytes > MOST_WORDS_BYTES) {
            throw impossible(offer, talk, "its arrays have names of more than " + MOST_WORDS_BYTES + " bytes together");
        }
        NpyHeader header = header(offer, talk);
        requirePlace(offer, talk, header.byteSize());
        all.add(offer);
        headers.add(header);
    }

    /** Fails where two have one name. */
    void requireDistinct(ReaderTalk talk) {
        Set<String> names = new HashSet<>();
        for (Offer offer : all) {
            if (!names.add(offer.name())) {
                throw impossible(offer, talk, "it is offered twice");
            }
        }
    }

    private NpyHeader header(Offer offer, ReaderTalk talk) {
        try {
            Dtype dtype = Dtype.parse(offer.dtype());
            return NpyHeader.of(
                    dtype,
                    Order.C,
                    offer.shape().stream().mapToLong(Long::longValue).toArray());
        } catch (LarderException | IllegalArgumentException | ArithmeticException e) {
            throw impossible(offer, talk, String.valueOf(e.getMessage()));
        }
    }

    private void requirePlace(Offer offer, ReaderTalk talk, long byteSize) {
        if (Arrays.stream(ColumnPart.values()).noneMatch(part -> part.name().equals(offer.part()))) {
            throw impossible(offer, talk, "no such part of a column: " + Names.printable(offer.part()));
        } else if (offer.file() == Offer.WRITTEN) {
            return;
        } else if (offer.file() < 0 || offer.file() >= files.size()) {
            throw impossible(offer, talk, "no such file: " + offer.file());
        }
        SourceIdentity file = files.get(offer.file());
        if (offer.offset() < 0 || offer.offset() > file.byteSize() - byteSize) {
            throw Refusal.of(
                    file.file(),
                    Math.max(0, offer.offset()),
                    "column " + Names.printable(offer.name()) + ": its " + byteSize
                            + " bytes would not lie within the file");
        }
    }

    private LarderException impossible(Offer offer, ReaderTalk talk, String reason) {
        return talk.impossible("a reader offered an impossible array")
                .with("file", files.get(0).file())
                .with("array", Names.printable(offer.name()))
                .with("reason", reason)
                .remedy("replace the reader " + reader.kind());
    }

    int count() {
        return all.size();
    }

    Offer get(int index) {
        return all.get(index);
    }

    /** Returns the header of an array. */
    NpyHeader header(int index) {
        return headers.get(index);
    }

    /** Returns how many characters all words have. */
    long wordsBytes() {
        return wordsBytes;
    }

    boolean isSameAs(Offers other) {
        return all.equals(other.all);
    }

    /** Returns how to cut an array into shards, as its name and the plain array that it belongs to show. */
    Partitioning partitioning(Offer offer) {
        return partitioning(offer, all);
    }

    static Partitioning partitioning(Offer offer, List<Offer> all) {
        String column = offer.column();
        if (isPartOf(column, CLASSES, all)) {
            return Partitioning.REPLICATED;
        } else if (isPartOf(column, ELEMENT_MASK, all)) {
            return Partitioning.BY_ROWS;
        }
        boolean isOffsets = offer.part().equals("NONE") && column.endsWith(OFFSETS);
        return isOffsets || OF_ITEMS.matcher(column).find() ? Partitioning.IMPOSSIBLE : Partitioning.BY_ROWS;
    }

    /** Returns whether a name is that of an array without parts, and this suffix. */
    private static boolean isPartOf(String name, String suffix, List<Offer> all) {
        String base = name.substring(0, Math.max(0, name.length() - suffix.length()));
        return name.endsWith(suffix)
                && all.stream().anyMatch(other -> other.part().equals("NONE") && other.name().equals(base));
    }

    /** Returns whether a name means a column. */
    boolean has(String name) {
        return all.stream().anyMatch(offer -> Selection.isNameOf(name, column(offer)));
    }

    /** Returns the name of the column of an offer. */
    private static String column(Offer offer) {
        ColumnPart part = ColumnPart.valueOf(offer.part());
        return offer.name().endsWith("/" + part.suffix()) ? part.columnName(offer.name()) : offer.name();
    }
}
