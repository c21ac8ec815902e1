package dev.larder.server.reader;

import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.layout.Names;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.reader.Offer;
import dev.larder.reader.Selection;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.SourceIdentity;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** What a reader has offered, proved to be possible. Filled by one thread, then never changed. */
final class Offers {
    private static final int MOST_OFFERS = 1_000_000;

    /** All words of all offers together take no more of the heap. */
    private static final long MOST_WORDS_BYTES = Runtime.getRuntime().maxMemory() / 16;

    private final ReaderSpec reader;
    private final List<SourceIdentity> files;
    private final List<Offer> all = new ArrayList<>();
    private final List<NpyHeader> headers = new ArrayList<>();
    private long wordsBytes;

    /** Starts without any; {@code files} are what the reader looks at. */
    Offers(ReaderSpec reader, List<SourceIdentity> files) {
        this.reader = reader;
        this.files = files;
    }

    /** Returns whether there may be this many more. */
    boolean hasRoom(int more) {
        return more <= MOST_OFFERS - all.size();
    }

    /** Adds one that a process has made; fails where it cannot be. */
    void add(Offer offer, ReaderProcess process) {
        wordsBytes += (long) offer.name().length()
                + offer.part().length()
                + offer.dtype().length();
        if (wordsBytes > MOST_WORDS_BYTES) {
            throw lie(offer, process, "its arrays have names of more than " + MOST_WORDS_BYTES + " bytes together");
        }
        NpyHeader header = header(offer, process);
        requirePlace(offer, process, header.byteSize());
        all.add(offer);
        headers.add(header);
    }

    /** Fails where two have one name. */
    void requireDistinct(ReaderProcess process) {
        Set<String> names = new HashSet<>();
        for (Offer offer : all) {
            if (!names.add(offer.name())) {
                throw lie(offer, process, "it is offered twice");
            }
        }
    }

    private NpyHeader header(Offer offer, ReaderProcess process) {
        try {
            Dtype dtype = Dtype.parse(offer.dtype());
            return NpyHeader.of(
                    dtype,
                    Order.C,
                    offer.shape().stream().mapToLong(Long::longValue).toArray());
        } catch (LarderException | IllegalArgumentException | ArithmeticException e) {
            throw lie(offer, process, String.valueOf(e.getMessage()));
        }
    }

    private void requirePlace(Offer offer, ReaderProcess process, long byteSize) {
        if (Arrays.stream(ColumnPart.values()).noneMatch(part -> part.name().equals(offer.part()))) {
            throw lie(offer, process, "no such part of a column: " + Names.printable(offer.part()));
        } else if (offer.file() == Offer.WRITTEN) {
            return;
        } else if (offer.file() < 0 || offer.file() >= files.size()) {
            throw lie(offer, process, "no such file: " + offer.file());
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

    private LarderException lie(Offer offer, ReaderProcess process, String reason) {
        Failure failure = process.failure("a reader offers what cannot be", null)
                .with("file", files.get(0).file())
                .with("array", Names.printable(offer.name()));
        return failure.with("reason", reason).remedy("replace the reader " + reader.kind());
    }

    int count() {
        return all.size();
    }

    Offer get(int index) {
        return all.get(index);
    }

    /** Returns the header of what an offer becomes. */
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

    /** Tells whether there is a column that a name means. */
    boolean has(String name) {
        return all.stream().anyMatch(offer -> Selection.isNameOf(name, column(offer)));
    }

    /** Returns the column that is offered, without what its part is called. */
    private static String column(Offer offer) {
        ColumnPart part = ColumnPart.valueOf(offer.part());
        return offer.name().endsWith("/" + part.suffix()) ? part.columnName(offer.name()) : offer.name();
    }
}
