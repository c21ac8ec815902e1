package dev.larder.server.reader;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.Names;
import dev.larder.reader.Answer;
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
 * Places of one kind, which a reader in a process of its own lists and fetches. Closing it ends the reader and removes the fetched files. Used by one
 * thread.
 */
public final class PlaceSource implements AutoCloseable {
    /** The data passes through few buffers, so more collector threads would only take processor time from the reader. */
    private static final int COLLECTORS = 1;

    private static final int MOST_OBJECTS = 10_000_000;
    private static final int MOST_NAME_BYTES = 3_000;
    private static final long WORDS_OF_EACH = 100;

    /** All words of all objects together take no more of the heap. */
    private static final long MOST_WORDS_BYTES = Runtime.getRuntime().maxMemory() / 8;

    private final Readers.Known reader;
    private final PlaceRequest request;
    private final ReaderFolder folder;
    private final ReaderTalk talk;
    private final List<Answer.ListedObject> objects = new ArrayList<>();
    private final Map<Integer, Set<String>> names = new HashMap<>();
    private long wordsBytes;
    private boolean closed;

    private PlaceSource(Readers.Known reader, PlaceRequest request, ScanSettings settings) {
        this.reader = reader;
        this.request = request;
        this.folder = ReaderFolder.in(settings.scratch());
        try {
            this.talk = ReaderTalk.start(reader, folder, settings, COLLECTORS, Long.MAX_VALUE);
        } catch (RuntimeException | Error e) {
            folder.close();
            throw e;
        }
    }

    /** Starts a reader, which lists the objects at some addresses. The caller closes it. */
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
        talk.send(Wire.start(reader.spec().kind(), request));
        talk.await(0, 0, bytes -> {}, answer -> {
            if (answer instanceof Answer.Listed listed && listed.objects().size() <= MOST_OBJECTS - objects.size()) {
                listed.objects().forEach(this::add);
            } else {
                throw talk.refusal(answer, request.addresses().size(), request.addresses()::get);
            }
        });
    }

    private void add(Answer.ListedObject object) {
        if (object.place() < 0 || object.place() >= request.addresses().size() || object.byteSize() < 0) {
            throw talk.impossible("a reader listed an impossible object")
                    .with("object", Names.printable(object.name()))
                    .with("bytes", object.byteSize())
                    .remedy("replace the reader " + reader.spec().kind());
        }
        String objection = objection(object.name());
        if (objection != null) {
            throw Failure.of(ErrorCode.BAD_INPUT, "cannot read source file")
                    .with("file", request.addresses().get(object.place()) + "/" + Names.printable(object.name()))
                    .with("reason", objection)
                    .remedy("rename it, or load the other folders and files by their names");
        }
        if (!names.computeIfAbsent(object.place(), place -> new HashSet<>()).add(object.name())) {
            throw Failure.of(ErrorCode.BAD_INPUT, "cannot read source file")
                    .with("file", request.addresses().get(object.place()) + "/" + Names.printable(object.name()))
                    .with("reason", "the server listed it twice")
                    .remedy("rename one of them, or load the other folders and files by their names");
        }
        wordsBytes += object.name().length() + object.tag().length() + WORDS_OF_EACH;
        if (wordsBytes > MOST_WORDS_BYTES) {
            throw Failure.of(ErrorCode.BAD_INPUT, "a place has more objects than fit the memory")
                    .with("objects", objects.size())
                    .remedy("name folders below it, or give the daemon a larger heap");
        }
        objects.add(object);
    }

    /** Returns why an object cannot be a file below a folder; null if it can. */
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

    /** Returns the objects, in the order of their numbers. */
    public List<Answer.ListedObject> objects() {
        return objects;
    }

    /** Returns the folder that files are to lie in; it goes when this is closed. */
    public Path folder() {
        return folder.path();
    }

    /** Fetches objects into files in the folder, and ends the reader, so that no process can write to them any more. */
    public void fetch(List<Target> targets, long byteSize, LongConsumer onBytes) {
        peek(targets, byteSize, onBytes);
        talk.send(Wire.fill(List.of()));
        talk.end();
    }

    /** Has parts of objects fetched; more can be wanted after. */
    public void peek(List<Target> targets, long byteSize, LongConsumer onBytes) {
        folder.expect(objects.size(), byteSize);
        talk.send(Wire.fill(targets));
        talk.await(byteSize, byteSize, onBytes, answer -> {
            throw talk.refusal(answer, objects.size(), this::addressOf);
        });
    }

    /** Returns the address of an object, for messages. */
    private String addressOf(int number) {
        Answer.ListedObject object = objects.get(number);
        String place = request.addresses().get(object.place());
        return object.isAlone() ? place : place + (place.endsWith("/") ? "" : "/") + object.name();
    }

    /** Ends the reader, and removes the fetched files that have not been moved. Idempotent. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            talk.close();
            folder.close();
        }
    }
}
