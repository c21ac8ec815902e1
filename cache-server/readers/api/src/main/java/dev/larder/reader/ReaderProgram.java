package dev.larder.reader;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.util.List;
import java.util.ServiceLoader;
import java.util.concurrent.atomic.AtomicLong;

/** The process of a reader: looks at one source, writes its arrays, and ends. */
public final class ReaderProgram {
    /** So often, in bytes, the daemon is told of progress. */
    private static final long STEP_BYTES = 4 << 20;

    /** So often, where bytes come slowly. */
    private static final long STEP_NS = 1_000_000_000;

    /** So often the daemon hears of what was listed, as a write for each of very many objects costs more than listing them. */
    private static final long LISTED_NS = 100_000_000;

    private final DataInputStream in;
    private final DataOutputStream out;
    private final AtomicLong untold = new AtomicLong();
    private volatile long toldNs = System.nanoTime();
    private long flushedNs = System.nanoTime();

    private ReaderProgram(DataInputStream in, DataOutputStream out) {
        this.in = in;
        this.out = out;
    }

    /** Runs as the daemon says on standard input; libraries that print do so on standard error. */
    public static void main(String[] args) {
        PrintStream words = new PrintStream(new FileOutputStream(FileDescriptor.err), true);
        DataOutputStream out =
                new DataOutputStream(new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 64 << 10));
        System.setOut(words);
        DataInputStream in = new DataInputStream(new BufferedInputStream(new FileInputStream(FileDescriptor.in)));
        int code = new ReaderProgram(in, out).run(words) ? 0 : 1;
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
        String kind = Wire.readKind(in);
        for (PlaceReader place : ServiceLoader.load(PlaceReader.class)) {
            if (place.kind().equals(kind)) {
                new PlaceProgram(place, in, new Told(), this::advance).serve();
                return;
            }
        }
        FormatReader reader = reader(kind);
        ReadRequest request = Wire.readRequest(in);
        try (OpenedSource source = reader.open(request, this::advance)) {
            List<Offer> offers = source.offers();
            for (Offer offer : offers) {
                offer(offer);
            }
            untold.set(0); // what is told from now on is of what is written
            tell(new Answer.Finished());
            List<Target> targets = Wire.readTargets(in);
            try (OutputFiles files = new OutputFiles(targets, this::advance)) {
                source.read(files);
                files.requireComplete(offers);
            }
            finish();
        }
    }

    /** What a place says to the daemon. */
    private final class Told implements PlaceProgram.Listener {
        @Override
        public void tell(Answer answer) throws IOException {
            ReaderProgram.this.tell(answer);
        }

        @Override
        public void list(Answer.Listed object) throws IOException {
            ReaderProgram.this.list(object);
        }

        @Override
        public void finish() throws IOException {
            ReaderProgram.this.finish();
        }
    }

    private void finish() throws IOException {
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

    private synchronized void offer(Offer offer) throws IOException {
        new Answer.Offered(offer).write(out);
    }

    private synchronized void list(Answer.Listed object) throws IOException {
        object.write(out);
        if (System.nanoTime() - flushedNs > LISTED_NS) {
            flush();
        }
    }

    private synchronized void tell(Answer answer) throws IOException {
        answer.write(out);
        flush();
    }

    private void flush() throws IOException {
        out.flush();
        flushedNs = System.nanoTime();
    }
}
