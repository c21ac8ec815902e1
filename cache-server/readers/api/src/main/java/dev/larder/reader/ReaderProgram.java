package dev.larder.reader;

import dev.larder.message.Messages;
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.ServiceLoader;
import java.util.concurrent.atomic.AtomicLong;

/** The process of a reader: looks at one source, writes its arrays, and ends. */
public final class ReaderProgram {
    /** The number of bytes between two messages about progress. */
    private static final long STEP_BYTES = 4 << 20;

    /** So often, where bytes come slowly. */
    private static final long STEP_NS = 1_000_000_000;

    /** So often objects are sent, as a message for each of very many objects costs more than listing them. */
    private static final long LISTED_NS = 100_000_000;

    /** So many objects fit a message as a rule. */
    private static final int LISTED_TOGETHER = 256;

    private final Requests requests;
    private final OutputStream out;
    private final List<Answer.ListedObject> listed = new ArrayList<>();
    private final AtomicLong untold = new AtomicLong();
    private volatile long toldNs = System.nanoTime();
    private long listedNs = System.nanoTime();

    private ReaderProgram(Requests requests, OutputStream out) {
        this.requests = requests;
        this.out = out;
    }

    /** Serves the requests on standard input. Libraries that print do so on standard error. */
    public static void main(String[] args) {
        PrintStream words = new PrintStream(new FileOutputStream(FileDescriptor.err), true);
        OutputStream out = new FileOutputStream(FileDescriptor.out);
        System.setOut(words);
        Requests requests = new Requests(new BufferedInputStream(new FileInputStream(FileDescriptor.in)));
        int code = new ReaderProgram(requests, out).run(words) ? 0 : 1;
        Runtime.getRuntime().halt(code); // threads and mappings of libraries go with the process
    }

    private boolean run(PrintStream words) {
        try {
            try {
                serve();
                return true;
            } catch (BadSource e) {
                tell(new Answer.Refused(e.file(), e.offset(), e.column(), String.valueOf(e.getMessage()), e.remedy()));
            } catch (EOFException e) {
                return true; // the daemon wants no more
            } catch (IOException | RuntimeException e) {
                e.printStackTrace(words);
                tell(new Answer.Failed(e.toString()));
            }
        } catch (IOException e) {
            e.printStackTrace(words);
        }
        return false;
    }

    private void serve() throws IOException {
        String kind = requests.kind();
        for (PlaceReader place : ServiceLoader.load(PlaceReader.class)) {
            if (place.kind().equals(kind)) {
                new PlaceProgram(place, requests, this, this::advance).serve();
                return;
            }
        }
        FormatReader reader = reader(kind);
        ReadRequest request = requests.read();
        try (OpenedSource source = reader.open(request, this::advance)) {
            List<Offer> offers = source.offers();
            if (!offers.isEmpty()) {
                send(Messages.pages(Answer.class, offers, Answer.Offered::new));
            }
            untold.set(0); // progress is that of writing from now on
            tell(new Answer.Finished());
            List<Target> targets = requests.targets();
            try (OutputFiles files = new OutputFiles(targets, this::advance)) {
                source.read(files);
                files.requireComplete(offers);
            }
            finish();
        }
    }

    /** Sends the remaining progress, and that targets are filled. */
    void finish() throws IOException {
        tell(new Answer.Progressed(untold.getAndSet(0)));
        tell(new Answer.Finished());
    }

    private static FormatReader reader(String kind) throws IOException {
        for (FormatReader reader : ServiceLoader.load(FormatReader.class)) {
            if (reader.kind().equals(kind)) {
                return reader;
            }
        }
        throw new IOException("no reader of this kind is on the class path: kind=" + kind);
    }

    private void advance(long bytes) {
        if (untold.addAndGet(bytes) >= STEP_BYTES || System.nanoTime() - toldNs > STEP_NS) {
            toldNs = System.nanoTime();
            long step = untold.getAndSet(0);
            try {
                tell(new Answer.Progressed(step));
            } catch (IOException e) { // the daemon is gone
                Runtime.getRuntime().halt(1);
            }
        }
    }

    /** Sends an object, together with others if many are found. */
    synchronized void list(Answer.ListedObject object) throws IOException {
        listed.add(object);
        if (listed.size() == LISTED_TOGETHER || System.nanoTime() - listedNs > LISTED_NS) {
            sendListed();
        }
    }

    /** Sends an answer. */
    synchronized void tell(Answer answer) throws IOException {
        sendListed();
        out.write(Wire.message(answer));
    }

    private synchronized void send(Iterator<byte[]> messages) throws IOException {
        while (messages.hasNext()) {
            out.write(messages.next());
        }
    }

    private void sendListed() throws IOException {
        if (!listed.isEmpty()) {
            send(Messages.pages(Answer.class, listed, Answer.Listed::new));
            listed.clear();
        }
        listedNs = System.nanoTime();
    }
}
