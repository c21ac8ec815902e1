package dev.larder.reader;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;

/** Serves places in the process of a reader: lists them, then writes objects into the files that the daemon has made. */
final class PlaceProgram {
    private final PlaceReader reader;
    private final Requests requests;
    private final ReaderProgram program;
    private final ReadProgress progress;
    private final List<PlaceObject> objects = Collections.synchronizedList(new ArrayList<>());

    PlaceProgram(PlaceReader reader, Requests requests, ReaderProgram program, ReadProgress progress) {
        this.reader = reader;
        this.requests = requests;
        this.program = program;
        this.progress = progress;
    }

    void serve() throws IOException {
        PlaceRequest request = requests.places();
        List<WorkerThreads.Part> listings = new ArrayList<>();
        for (int number = 0; number < request.addresses().size(); number++) {
            int place = number;
            listings.add(() -> list(place, request));
        }
        WorkerThreads.runAll(request.connections(), listings);
        program.tell(new Answer.Finished());
        List<Target> targets = requests.targets();
        while (!targets.isEmpty()) {
            new PlaceFetch(reader, progress).run(objects, targets, request.connections());
            program.finish();
            targets = requests.targets();
        }
    }

    private void list(int place, PlaceRequest request) throws IOException {
        int connections =
                Math.max(1, request.connections() / request.addresses().size());
        try {
            reader.list(request.addresses().get(place), connections, object -> offer(place, object));
        } catch (BadSource e) {
            throw new BadSource(place, BadSource.NOWHERE, "", String.valueOf(e.getMessage()), e.remedy());
        } catch (UncheckedIOException e) {
            throw e.getCause();
        } catch (IOException e) {
            throw gaveUp(place, BadSource.NOWHERE, e);
        }
    }

    /** Sends an object. Its number is the order in which the daemon receives it. */
    private void offer(int place, PlaceObject object) {
        synchronized (objects) {
            objects.add(object);
            try {
                program.list(new Answer.ListedObject(
                        place,
                        object.name(),
                        object.isAlone(),
                        object.byteSize(),
                        object.modifiedNanos(),
                        object.tag(),
                        object.hasRanges()));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** Returns the failure of a server that did not respond, after all retries. */
    static BadSource gaveUp(int number, long offset, IOException failure) {
        int failures = failure instanceof Retries.GaveUp end ? end.failures() : 0;
        Throwable last = failures == 0 ? failure : Objects.requireNonNullElse(failure.getCause(), failure);
        String said = last instanceof UnknownHostException ? "unknown host " + last.getMessage() : last.getMessage();
        String reason = said == null || said.isEmpty() ? last.getClass().getSimpleName() : said;
        BadSource bad = new BadSource(
                number,
                offset,
                "",
                "the server does not respond (" + reason + ")" + (failures > 1 ? ", tried " + failures + " times" : ""),
                "check the address and the network, and load it again");
        bad.initCause(last);
        return bad;
    }
}
