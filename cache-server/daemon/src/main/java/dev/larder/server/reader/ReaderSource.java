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
 * The arrays that a reader has found in files. When the first of them is loaded, the reader writes all, each into a file that this daemon makes and
 * reserves. A reader that misbehaves is ended. Thread-safe.
 */
public final class ReaderSource implements AutoCloseable {
    private final Readers.Known reader;
    private final List<SourceIdentity> files;
    private final ReadRequest request;
    private final ScanSettings settings;
    private final ReaderFolder folder;
    private final ReentrantLock lock = new ReentrantLock();
    private final Offers offers;
    private @Nullable ReaderTalk talking;
    private boolean isDelivered;
    private @Nullable RuntimeException failure;
    private boolean closed;

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

    /** Starts a reader, which looks for arrays. */
    private Offers look() {
        long sourceBytes = ByteSums.sum(files.stream().mapToLong(SourceIdentity::byteSize));
        ReaderTalk talk = ReaderTalk.start(reader, folder, settings, request.workers(), sourceBytes);
        talking = talk;
        Offers found = new Offers(reader.spec(), files);
        talk.send(Wire.start(reader.spec().kind(), request));
        talk.await(sourceBytes, 0, bytes -> {}, answer -> {
            if (answer instanceof Answer.Offered offered
                    && found.hasRoom(offered.offers().size())) {
                offered.offers().forEach(offer -> found.add(offer, talk));
            } else {
                throw refusal(talk, answer);
            }
        });
        found.requireDistinct(talk);
        return found;
    }

    /** Ends an idle process. {@link #awake} starts another. */
    void endProcess() {
        if (lock.tryLock()) { // else it is just busy
            try {
                ReaderTalk idle = talking;
                if (idle != null && !isDelivered) {
                    talking = null;
                    idle.close();
                }
            } finally {
                lock.unlock();
            }
        }
    }

    private ReaderTalk awake() {
        ReaderTalk idle = talking;
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

    private LarderException refusal(ReaderTalk talk, Answer answer) {
        return talk.refusal(answer, files.size(), number -> files.get(number).file());
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
            ColumnPart part = ColumnPart.valueOf(offer.part());
            arrays.add(new SourceArray(new ArrayName(dataset, name), offers.header(i), data(i), own, part)
                    .withPartitioning(offers.partitioning(offer)));
        }
        return arrays;
    }

    /** Returns whether a name means a column: its whole name in the files, or levels of it. */
    public boolean has(String column) {
        return offers.has(column);
    }

    /** Returns the files that an array may come from: those of all levels that its name begins with, else all. */
    private static List<SourceIdentity> filesOf(Offer offer, Map<String, List<SourceIdentity>> levels) {
        List<SourceIdentity> own = levels.entrySet().stream()
                .filter(level -> (offer.name() + "/").startsWith(level.getKey()))
                .flatMap(level -> level.getValue().stream())
                .toList();
        return own.isEmpty() ? levels.values().stream().flatMap(List::stream).toList() : own;
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

    /** Fails unless there is an array of bytes for each file. */
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
            throw Failure.of(ErrorCode.UNEXPECTED, "a reader offered other arrays than requested")
                    .with("kind", reader.spec().kind())
                    .remedy("replace the reader");
        }
    }

    /** Returns the header of an array. */
    NpyHeader header(int index) {
        return offers.header(index);
    }

    ScanSettings settings() {
        return settings;
    }

    /**
     * Lets the reader write its arrays, unless it has, and returns the file of one. Then the reader ends, so that no process can write to the files
     * any more. All threads get the same failure.
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

    private void deliverAll(ReaderTalk talk, LongConsumer beforeWriting, LongConsumer onBytes) {
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
        talk.send(Wire.fill(targets));
        talk.await(bytes, folder.expectedBytes(), onBytes, answer -> {
            throw refusal(talk, answer);
        });
        talk.end();
        files.forEach(SourceIdentity::requireUnchanged);
        targets.forEach(folder::requireLength);
    }

    /** Ends the reader and removes its files. Idempotent. */
    @Override
    public void close() {
        lock.lock();
        try {
            if (!closed) {
                closed = true;
                IdleReaders.remove(this);
                ReaderTalk talk = talking;
                if (talk != null) {
                    talk.close();
                }
                folder.close();
            }
        } finally {
            lock.unlock();
        }
    }
}
