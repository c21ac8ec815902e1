package dev.larder.server.reader;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ArrayName;
import dev.larder.internal.layout.ByteSums;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.layout.Names;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.reader.Answer;
import dev.larder.reader.BadSource;
import dev.larder.reader.Offer;
import dev.larder.reader.ReadRequest;
import dev.larder.reader.Target;
import dev.larder.reader.Wire;
import dev.larder.server.source.ArrayData;
import dev.larder.server.source.FileData;
import dev.larder.server.source.FileRegion;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.ScanSettings;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.LongConsumer;
import java.util.regex.Pattern;

/**
 * Files that a reader has looked at, and will write the arrays of when they are wanted: all at once, each into a file that this daemon makes,
 * reserves and never maps. Ends the reader when it is closed, or when it misbehaves. Thread-safe.
 */
public final class ReaderSource implements AutoCloseable {
    private static final int MOST_OFFERS = 1_000_000;
    private static final Pattern NOT_ALLOWED = Pattern.compile("[^\\p{L}\\p{Nd}+._=/-]+");

    /** All words of all offers together take no more of the heap. */
    private static final long MOST_WORDS_BYTES = Runtime.getRuntime().maxMemory() / 16;

    private final Readers.Known reader;
    private final List<SourceIdentity> files;
    private final ReadRequest request;
    private final ScanSettings settings;
    private final ReaderFolder folder;
    private final ReaderProcess process;
    private final ReaderTalk talk;
    private final List<Offer> offers = new ArrayList<>();
    private final List<NpyHeader> headers = new ArrayList<>();
    private long wordsBytes;
    private boolean isDelivered;
    private boolean closed;

    private ReaderSource(Readers.Known reader, List<SourceIdentity> files, ReadRequest request, ScanSettings settings) {
        this.reader = reader;
        this.files = List.copyOf(files);
        this.request = request;
        this.settings = settings;
        ReaderLimits limits = ReaderLimits.now();
        this.folder = ReaderFolder.in(settings.scratch());
        try {
            this.process = ReaderProcess.start(reader, folder.path(), limits.heap(), request.workers());
            this.talk = new ReaderTalk(process, limits.patience(), settings.isCancelled(), folder);
        } catch (RuntimeException | Error e) {
            folder.close();
            throw e;
        }
    }

    /**
     * Starts a reader and has it look at files. The caller closes it, or releases its arrays.
     *
     * @param files those of the request, as they are now
     */
    public static ReaderSource open(
            Readers.Known reader, List<SourceIdentity> files, ReadRequest request, ScanSettings settings) {
        ReaderSource source = new ReaderSource(reader, files, request, settings);
        try {
            source.look();
            return source;
        } catch (RuntimeException | Error e) {
            source.close();
            throw e;
        }
    }

    private void look() {
        long sourceBytes = ByteSums.sum(files.stream().mapToLong(SourceIdentity::byteSize));
        process.send(out -> Wire.write(out, reader.spec().kind(), request));
        talk.await(sourceBytes, 0, bytes -> {}, answer -> {
            if (answer instanceof Answer.Offered offered && offers.size() < MOST_OFFERS) {
                add(offered.offer());
            } else {
                throw refusal(answer);
            }
        });
        settings.onChecked().accept(files.size());
    }

    private void add(Offer offer) {
        wordsBytes += (long) offer.name().length()
                + offer.part().length()
                + offer.dtype().length();
        if (wordsBytes > MOST_WORDS_BYTES) {
            throw lie(offer, "its arrays have names of more than " + MOST_WORDS_BYTES + " bytes together");
        }
        headers.add(header(offer));
        offers.add(offer);
        requirePlace(offer, headers.get(headers.size() - 1).byteSize());
    }

    private NpyHeader header(Offer offer) {
        try {
            Dtype dtype = Dtype.parse(offer.dtype());
            return NpyHeader.of(
                    dtype,
                    Order.C,
                    offer.shape().stream().mapToLong(Long::longValue).toArray());
        } catch (LarderException | IllegalArgumentException | ArithmeticException e) {
            throw lie(offer, String.valueOf(e.getMessage()));
        }
    }

    private void requirePlace(Offer offer, long byteSize) {
        if (Arrays.stream(ColumnPart.values()).noneMatch(part -> part.name().equals(offer.part()))) {
            throw lie(offer, "no such part of a column: " + Names.printable(offer.part()));
        } else if (offer.file() == Offer.WRITTEN) {
            return;
        } else if (offer.file() < 0 || offer.file() >= files.size()) {
            throw lie(offer, "no such file: " + offer.file());
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

    private LarderException lie(Offer offer, String reason) {
        return process.failure("a reader offers what cannot be", null)
                .with("file", files.get(0).file())
                .with("array", Names.printable(offer.name()))
                .with("reason", reason)
                .remedy("replace the reader " + reader.spec().kind());
    }

    /** Words what a reader says is wrong with a file. */
    private LarderException refusal(Answer answer) {
        if (answer instanceof Answer.Refused refused && refused.file() >= 0 && refused.file() < files.size()) {
            Failure failure = Failure.of(ErrorCode.BAD_INPUT, "cannot read source file")
                    .with("file", files.get(refused.file()).file());
            if (refused.offset() != BadSource.NOWHERE) {
                failure = failure.with("offset", refused.offset());
            }
            if (!refused.column().isEmpty()) {
                failure = failure.with("column", Names.printable(refused.column()));
            }
            return failure.with("reason", refused.reason()).remedy(refused.remedy());
        } else if (answer instanceof Answer.Failed failed) {
            return process.failure("a reader failed", null)
                    .with("file", files.get(0).file())
                    .with("reason", failed.reason())
                    .remedy("nothing else is affected; check the file, or report what it said");
        }
        return process.failure("a reader broke the protocol", null)
                .remedy("replace the reader " + reader.spec().kind());
    }

    /**
     * Returns the arrays of a dataset, none read yet. Closed with the first that is released.
     *
     * @param refusals takes one for each array that cannot be called as it is
     */
    public List<SourceArray> arrays(String dataset, List<LarderException> refusals) {
        Map<String, List<SourceIdentity>> levels = new TreeMap<>();
        for (int i = 0; i < files.size(); i++) {
            levels.computeIfAbsent(request.files().get(i).level(), level -> new ArrayList<>())
                    .add(files.get(i));
        }
        Set<String> names = new HashSet<>();
        List<SourceArray> arrays = new ArrayList<>();
        for (int i = 0; i < offers.size(); i++) {
            Offer offer = offers.get(i);
            List<SourceIdentity> own = filesOf(offer, levels);
            if (!names.add(offer.name())) {
                throw lie(offer, "it is offered twice");
            }
            // As for tables of text: what no name may have is replaced, and two that become one are refused later.
            String name = NOT_ALLOWED.matcher(offer.name()).replaceAll("_");
            String objection = Names.arrayObjection(name);
            if (objection != null) {
                refusals.add(Refusal.unfit(
                        own.get(0).file(),
                        "its array cannot be called " + Names.printable(offer.name()) + ": " + objection,
                        "rename it, or name the columns that are wanted with --columns"));
                continue;
            }
            arrays.add(new SourceArray(
                    new ArrayName(dataset, name), headers.get(i), data(i), own, ColumnPart.valueOf(offer.part())));
        }
        return arrays;
    }

    /** Tells whether there is a column of a name: all of what it is called in the files, or a part of that. */
    public boolean has(String column) {
        return offers.stream().anyMatch(offer -> ("/" + offer.name() + "/").contains("/" + column + "/"));
    }

    /** Returns the files of the deepest level that an array lies below. */
    private static List<SourceIdentity> filesOf(Offer offer, Map<String, List<SourceIdentity>> levels) {
        String level = offer.name().substring(0, offer.name().lastIndexOf('/') + 1);
        while (!levels.containsKey(level) && !level.isEmpty()) {
            level = level.substring(0, level.lastIndexOf('/', level.length() - 2) + 1);
        }
        List<SourceIdentity> own = levels.get(level);
        return own == null ? levels.values().iterator().next() : own;
    }

    private ArrayData data(int index) {
        Offer offer = offers.get(index);
        return offer.file() == Offer.WRITTEN
                ? new ReaderData(this, index)
                : new RegionData(
                        this,
                        new FileData(
                                new FileRegion(
                                        files.get(offer.file()).file(),
                                        offer.offset(),
                                        headers.get(index).byteSize()),
                                false));
    }

    /** Returns what is to be written. */
    NpyHeader header(int index) {
        return headers.get(index);
    }

    ScanSettings settings() {
        return settings;
    }

    /** Has everything written that no file has, once; then the reader ends, so that nobody can write any more. */
    synchronized Path deliver(int index, LongConsumer beforeWriting, LongConsumer onBytes) {
        if (closed) {
            throw new IllegalStateException("source is closed");
        }
        if (!isDelivered) {
            try {
                deliverAll(beforeWriting, onBytes);
                isDelivered = true;
            } catch (RuntimeException | Error e) {
                close();
                throw e;
            }
        }
        return folder.file(index);
    }

    private void deliverAll(LongConsumer beforeWriting, LongConsumer onBytes) {
        List<Integer> written = new ArrayList<>();
        long bytes = 0;
        for (int i = 0; i < offers.size(); i++) {
            if (offers.get(i).file() == Offer.WRITTEN) {
                written.add(i);
                bytes = ByteSums.add(bytes, headers.get(i).byteSize());
            }
        }
        beforeWriting.accept(bytes);
        List<Target> targets = new ArrayList<>();
        for (int index : written) {
            targets.add(folder.newTarget(index, headers.get(index)));
        }
        process.send(out -> Wire.write(out, targets));
        talk.await(bytes, folder.expectedBytes(), onBytes, answer -> {
            throw refusal(answer);
        });
        process.awaitEnd();
        if (!process.kill()) {
            throw process.failure("a reader left a process that cannot be killed", null)
                    .exception();
        }
        files.forEach(SourceIdentity::requireUnchanged);
        targets.forEach(folder::requireLength);
    }

    /** Ends the reader and removes what it wrote. Idempotent. */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            process.close();
            folder.close();
        }
    }
}
