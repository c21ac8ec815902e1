package dev.larder.server.reader;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Remedy;
import dev.larder.internal.layout.Names;
import dev.larder.reader.Answer;
import dev.larder.reader.BadSource;
import dev.larder.reader.PlaceRequest;
import dev.larder.reader.Target;
import dev.larder.reader.Wire;
import dev.larder.server.source.ScanSettings;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Places of one kind that a reader, a process of its own, lists and fetches from. Ends the reader and removes what it fetched when it is
 * closed. Used by one thread.
 */
public final class PlaceSource implements AutoCloseable {
    /** What is fetched passes through few buffers: more threads of the collector would only take the processors from it. */
    private static final int COLLECTORS = 1;

    private static final int MOST_OBJECTS = 10_000_000;
    private static final int MOST_NAME_BYTES = 3_000;
    private static final long WORDS_OF_EACH = 100;

    /** All words of all objects together take no more of the heap. */
    private static final long MOST_WORDS_BYTES = Runtime.getRuntime().maxMemory() / 8;

    private final Readers.Known reader;
    private final PlaceRequest request;
    private final ReaderFolder folder;
    private final ReaderProcess process;
    private final ReaderTalk talk;
    private final List<Answer.ListedObject> objects = new ArrayList<>();
    private final Map<Integer, Set<String>> names = new HashMap<>();
    private long wordsBytes;
    private boolean closed;

    private PlaceSource(Readers.Known reader, PlaceRequest request, ScanSettings settings) {
        this.reader = reader;
        this.request = request;
        ReaderLimits limits = ReaderLimits.now();
        this.folder = ReaderFolder.in(settings.scratch());
        try {
            this.process = ReaderProcess.start(reader, folder.path(), limits.heap(), COLLECTORS, Long.MAX_VALUE);
            this.talk = new ReaderTalk(process, limits.patience(), settings.isCancelled(), folder);
        } catch (RuntimeException | Error e) {
            folder.close();
            throw e;
        }
    }

    /** Starts a reader and has it list what lies at addresses. The caller closes it. */
    public static PlaceSource open(Readers.Known reader, PlaceRequest request, ScanSettings settings) {
        PlaceSource source = new PlaceSource(reader, request, settings);
        try {
            source.list();
            return source;
        } catch (RuntimeException | Error e) {
            source.close();
            throw e;
        }
    }

    private void list() {
        process.send(Wire.start(reader.spec().kind(), request));
        talk.await(0, 0, bytes -> {}, answer -> {
            if (answer instanceof Answer.Listed listed && listed.objects().size() <= MOST_OBJECTS - objects.size()) {
                listed.objects().forEach(this::add);
            } else {
                throw refusal(
                        answer,
                        number -> request.addresses().get(number),
                        request.addresses().size());
            }
        });
    }

    private void add(Answer.ListedObject object) {
        if (object.place() < 0 || object.place() >= request.addresses().size() || object.byteSize() < 0) {
            throw process.failure("a reader lists what cannot be", null)
                    .with("object", Names.printable(object.name()))
                    .with("bytes", object.byteSize())
                    .remedy("replace the reader " + reader.spec().kind());
        }
        String objection = objection(object.name());
        if (objection != null) {
            throw Failure.of(ErrorCode.BAD_INPUT, "cannot read source file")
                    .with("file", request.addresses().get(object.place()) + "/" + Names.printable(object.name()))
                    .with("reason", objection)
                    .remedy("rename it, or name folders and files beside it");
        }
        if (!names.computeIfAbsent(object.place(), place -> new HashSet<>()).add(object.name())) {
            throw Failure.of(ErrorCode.BAD_INPUT, "cannot read source file")
                    .with("file", request.addresses().get(object.place()) + "/" + Names.printable(object.name()))
                    .with("reason", "its place lists it twice")
                    .remedy("rename one of them, or name folders and files beside it");
        }
        wordsBytes += object.name().length() + object.tag().length() + WORDS_OF_EACH;
        if (wordsBytes > MOST_WORDS_BYTES) {
            throw Failure.of(ErrorCode.BAD_INPUT, "a place has more objects than fit the memory")
                    .with("objects", objects.size())
                    .remedy("name folders below it, or give the daemon a larger heap");
        }
        objects.add(object);
    }

    /** Returns why an object cannot be a file below a folder; null where it can. */
    private static @Nullable String objection(String name) {
        if (name.isEmpty() || name.length() > MOST_NAME_BYTES || name.indexOf('\0') >= 0) {
            return "its name is empty, too long or has a zero byte";
        }
        for (String part : name.split("/", -1)) {
            if (part.isEmpty() || part.equals(".") || part.equals("..") || part.length() > 255) {
                return "its name has a part that no file can be called: " + Names.printable(part);
            }
        }
        return null;
    }

    /** Returns what was listed, in the order in which the reader numbers it. */
    public List<Answer.ListedObject> objects() {
        return objects;
    }

    /** Returns the folder that files are to lie in; it goes when this is closed. */
    public Path folder() {
        return folder.path();
    }

    /** Has objects fetched into files that lie in the folder, and ends the reader, so that nobody can write to them any more. */
    public void fetch(List<Target> targets, long byteSize, LongConsumer onBytes) {
        peek(targets, byteSize, onBytes);
        process.send(Wire.fill(List.of()));
        process.awaitEnd();
        if (!process.kill()) {
            throw process.failure("a reader left a process that cannot be killed", null)
                    .exception();
        }
    }

    /** Has parts of objects fetched; more can be wanted after. */
    public void peek(List<Target> targets, long byteSize, LongConsumer onBytes) {
        folder.expect(objects.size(), byteSize);
        process.send(Wire.fill(targets));
        talk.await(byteSize, byteSize, onBytes, answer -> {
            throw refusal(answer, this::addressOf, objects.size());
        });
    }

    /** Returns where an object lies, for people. */
    private String addressOf(int number) {
        Answer.ListedObject object = objects.get(number);
        String place = request.addresses().get(object.place());
        return object.isAlone() ? place : place + (place.endsWith("/") ? "" : "/") + object.name();
    }

    /** Names what a number stands for. */
    private interface Numbered {
        String name(int number);
    }

    private LarderException refusal(Answer answer, Numbered numbered, int count) {
        if (answer instanceof Answer.Refused refused && refused.file() >= 0 && refused.file() < count) {
            Failure failure = Failure.of(ErrorCode.BAD_INPUT, "cannot read source file")
                    .with("file", numbered.name(refused.file()));
            if (refused.offset() != BadSource.NOWHERE) {
                failure = failure.with("offset", refused.offset());
            }
            return failure.with("reason", refused.reason()).remedy(refused.remedy());
        } else if (answer instanceof Answer.Failed failed && failed.reason().contains("No space left on device")) {
            return Failure.of(ErrorCode.NO_SPACE, "the store's file system is full")
                    .with("reason", failed.reason())
                    .remedy("something else used the space; " + Remedy.FREE_SPACE);
        } else if (answer instanceof Answer.Failed failed) {
            return process.failure("a reader failed", null)
                    .with("reason", failed.reason())
                    .remedy("nothing else is affected; load it again, or report what it said");
        }
        return process.failure("a reader broke the protocol", null)
                .remedy("replace the reader " + reader.spec().kind());
    }

    /** Ends the reader and removes what was fetched and has not been moved. Idempotent. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            process.close();
            folder.close();
        }
    }
}
