package dev.larder.server.reader;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ArrayName;
import dev.larder.internal.layout.ByteSums;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.layout.Names;
import dev.larder.npy.NpyHeader;
import dev.larder.reader.Answer;
import dev.larder.reader.BadSource;
import dev.larder.reader.Offer;
import dev.larder.reader.ReadRequest;
import dev.larder.reader.Selection;
import dev.larder.reader.Target;
import dev.larder.reader.Wire;
import dev.larder.server.source.ArrayData;
import dev.larder.server.source.Extent;
import dev.larder.server.source.Extents;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.ScanSettings;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Files that a reader has looked at, and will write the arrays of when they are wanted: all at once, each into a file that this daemon makes
 * and reserves, and no longer maps by then. Ends the reader when it is closed, or when it misbehaves. Thread-safe.
 */
public final class ReaderSource implements AutoCloseable {
    private final Readers.Known reader;
    private final List<SourceIdentity> files;
    private final ReadRequest request;
    private final ScanSettings settings;
    private final ReaderFolder folder;
    private final ReentrantLock lock = new ReentrantLock();
    private final Offers offers;
    private @Nullable Talking talking;
    private boolean isDelivered;
    private @Nullable RuntimeException failure;
    private boolean closed;

    /** A process that lives, and the conversation with it. */
    private record Talking(ReaderProcess process, ReaderTalk talk) {}

    private ReaderSource(Readers.Known reader, List<SourceIdentity> files, ReadRequest request, ScanSettings settings) {
        this.reader = reader;
        this.files = List.copyOf(files);
        this.request = request;
        this.settings = settings;
        this.folder = ReaderFolder.in(settings.scratch());
        try {
            Offers known = KnownLooks.find(reader.spec(), this.files, request);
            this.offers = known == null ? look() : known;
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    /**
     * Has a reader look at files; none is started where files look as they did when one has looked at them lately. The caller closes it, or
     * releases its arrays.
     *
     * @param files those of the request, as they are now
     */
    public static ReaderSource open(
            Readers.Known reader, List<SourceIdentity> files, ReadRequest request, ScanSettings settings) {
        ReaderSource source = new ReaderSource(reader, files, request, settings);
        if (source.isTalking()) {
            KnownLooks.add(reader.spec(), source.files, request, source.offers);
            IdleReaders.add(source);
        }
        settings.onChecked().accept(files.size());
        return source;
    }

    private boolean isTalking() {
        lock.lock();
        try {
            return talking != null;
        } finally {
            lock.unlock();
        }
    }

    /** Starts a reader and asks it what there is. */
    private Offers look() {
        ReaderLimits limits = ReaderLimits.now();
        long sourceBytes = ByteSums.sum(files.stream().mapToLong(SourceIdentity::byteSize));
        ReaderProcess process =
                ReaderProcess.start(reader, folder.path(), limits.heap(), request.workers(), sourceBytes);
        ReaderTalk talk = new ReaderTalk(process, limits.patience(), settings.isCancelled(), folder);
        talking = new Talking(process, talk);
        Offers found = new Offers(reader.spec(), files);
        process.send(Wire.start(reader.spec().kind(), request));
        talk.await(sourceBytes, 0, bytes -> {}, answer -> {
            if (answer instanceof Answer.Offered offered
                    && found.hasRoom(offered.offers().size())) {
                offered.offers().forEach(offer -> found.add(offer, process));
            } else {
                throw refusal(answer, process);
            }
        });
        found.requireDistinct(process);
        return found;
    }

    /** Ends a process that nobody asks, to be started again by whoever does. */
    void endProcess() {
        if (lock.tryLock()) { // else it is asked just now
            try {
                Talking idle = talking;
                if (idle != null && !isDelivered) {
                    talking = null;
                    idle.process.close();
                }
            } finally {
                lock.unlock();
            }
        }
    }

    private Talking awake() {
        Talking idle = talking;
        if (idle != null) {
            return idle;
        }
        Offers again = look();
        if (!again.isSameAs(offers)) {
            KnownLooks.remove(reader.spec(), files, request);
            throw Refusal.changed(files.get(0).file());
        }
        return Objects.requireNonNull(talking);
    }

    /** Words what a reader says is wrong with a file. */
    private LarderException refusal(Answer answer, ReaderProcess process) {
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
        List<SourceArray> arrays = new ArrayList<>();
        for (int i = 0; i < offers.count(); i++) {
            Offer offer = offers.get(i);
            List<SourceIdentity> own =
                    offer.file() == Offer.WRITTEN ? filesOf(offer, levels) : List.of(files.get(offer.file()));
            // As for tables of text: what no name may have is replaced, and two that become one are refused later.
            String name = Selection.storedName(offer.name());
            String objection = Names.arrayObjection(name);
            if (objection != null) {
                refusals.add(Refusal.unfit(
                        own.get(0).file(),
                        "its array cannot be called " + Names.printable(offer.name()) + ": " + objection,
                        "rename it, or name the columns that are wanted with --columns"));
                continue;
            }
            arrays.add(new SourceArray(
                    new ArrayName(dataset, name), offers.header(i), data(i), own, ColumnPart.valueOf(offer.part())));
        }
        return arrays;
    }

    /** Tells whether there is a column of a name: all of what it is called in the files, or a part of that. */
    public boolean has(String column) {
        return offers.has(column);
    }

    /** Returns the files that an array may come from: those of all levels that its name begins with. */
    private static List<SourceIdentity> filesOf(Offer offer, Map<String, List<SourceIdentity>> levels) {
        List<SourceIdentity> own = levels.entrySet().stream()
                .filter(level -> offer.name().startsWith(level.getKey()))
                .flatMap(level -> level.getValue().stream())
                .toList();
        return own.isEmpty() ? levels.values().iterator().next() : own;
    }

    private ArrayData data(int index) {
        Offer offer = offers.get(index);
        if (offer.file() == Offer.WRITTEN) {
            return new ReaderData(this, index);
        }
        Path file = files.get(offer.file()).file();
        long byteSize = offers.header(index).byteSize();
        return Extents.of(new Extent(file, offer.offset(), byteSize)).releasing(this::close);
    }

    /** Fails unless there is an array of bytes for each of so many files. */
    void requireOffers(int count) {
        boolean fits = offers.count() == count;
        for (int i = 0; i < count && fits; i++) {
            Offer offer = offers.get(i);
            fits = offer.name().equals(String.valueOf(i))
                    && offer.file() == Offer.WRITTEN
                    && offer.dtype().equals("|u1")
                    && offer.shape().size() == 1;
        }
        if (!fits) {
            throw Failure.of(ErrorCode.UNEXPECTED, "a reader offers other than what it was asked for")
                    .with("kind", reader.spec().kind())
                    .remedy("replace the reader");
        }
    }

    /** Returns what is to be written. */
    NpyHeader header(int index) {
        return offers.header(index);
    }

    ScanSettings settings() {
        return settings;
    }

    /**
     * Has everything written that no file has, once; then the reader ends, so that nobody can write any more. Of several threads that ask,
     * each hears of the same failure.
     */
    Path deliver(int index, LongConsumer beforeWriting, LongConsumer onBytes) {
        lock.lock();
        try {
            RuntimeException known = failure;
            if (known != null) {
                throw known;
            }
            if (closed) {
                throw new IllegalStateException("source is closed");
            }
            if (!isDelivered) {
                IdleReaders.remove(this);
                deliverAll(awake(), beforeWriting, onBytes);
                isDelivered = true;
            }
            return folder.file(index);
        } catch (RuntimeException e) {
            failure = e;
            close();
            throw e;
        } catch (Error e) {
            close();
            throw e;
        } finally {
            lock.unlock();
        }
    }

    private void deliverAll(Talking reading, LongConsumer beforeWriting, LongConsumer onBytes) {
        List<Integer> written = new ArrayList<>();
        long bytes = 0;
        for (int i = 0; i < offers.count(); i++) {
            if (offers.get(i).file() == Offer.WRITTEN) {
                written.add(i);
                bytes = ByteSums.add(bytes, offers.header(i).byteSize());
            }
        }
        beforeWriting.accept(bytes);
        List<Target> targets = new ArrayList<>();
        for (int index : written) {
            targets.add(folder.newTarget(index, offers.header(index)));
        }
        ReaderProcess process = reading.process;
        process.send(Wire.fill(targets));
        reading.talk.await(bytes, folder.expectedBytes(), onBytes, answer -> {
            throw refusal(answer, process);
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
    public void close() {
        lock.lock();
        try {
            if (!closed) {
                closed = true;
                IdleReaders.remove(this);
                Talking reading = talking;
                if (reading != null) {
                    reading.process.close();
                }
                folder.close();
            }
        } finally {
            lock.unlock();
        }
    }
}
