package dev.larder.bench.client;

import dev.larder.bench.Quantiles;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.control.ControlClient;
import dev.larder.internal.control.ProgressListener;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.internal.protocol.LoadRequest;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Times a daemon's answers while it loads and evicts, and its readers are killed or stopped at random; in turns with the same where
 * readers come and go as often, but end by themselves. Prints one JSON object.
 */
final class DisturbedReadersBenchmark {
    private static final int READERS = 6;
    private static final List<String> DATASETS = List.of("churn-0", "churn-1", "churn-2");
    private static final long SEED = 7;
    private static final long REQUEST_PAUSE_MS = 4;
    private static final long DISTURB_PAUSE_MS = 700;
    private static final long STOP_MS = 500;

    private final Path store;
    private final LoadRequest.Source[] sources;
    private final ControlClient control;
    private final Random random = new Random(SEED);
    private final List<Reader> readers = new ArrayList<>();
    private final List<Long> calmNs = new ArrayList<>();
    private final List<Long> disturbedNs = new ArrayList<>();
    private volatile boolean ended;
    private volatile @Nullable Throwable failure;
    private int loads;
    private int refusals;
    private int evictions;
    private int kills;
    private int stops;

    private DisturbedReadersBenchmark(Path store, Path source) {
        this.store = store;
        this.control = ControlClient.at(store);
        this.sources = DATASETS.stream()
                .map(name -> new LoadRequest.Source(name, source.toString()))
                .toArray(LoadRequest.Source[]::new);
    }

    /** Takes store, a file to load, seconds of a phase, and pairs of phases. */
    public static void main(String[] arguments) throws Exception {
        new DisturbedReadersBenchmark(
                        Path.of(arguments[0]),
                        Path.of(arguments[1]).toAbsolutePath().normalize())
                .run(Long.parseLong(arguments[2]), Integer.parseInt(arguments[3]));
    }

    private void run(long phaseSeconds, int pairs) throws Exception {
        for (LoadRequest.Source source : sources) {
            load(source);
        }
        for (int i = 0; i < READERS; i++) {
            readers.add(startReader());
        }
        Thread churn = new Thread(this::churn, "churn");
        churn.start();
        try {
            phase(phaseSeconds, false, new ArrayList<>()); // warms up
            for (int pair = 0; pair < pairs; pair++) {
                phase(phaseSeconds, false, calmNs);
                phase(phaseSeconds, true, disturbedNs);
            }
        } finally {
            ended = true;
            churn.join();
            for (Reader reader : readers) {
                reader.kill();
            }
        }
        if (failure != null) {
            throw new IllegalStateException("the daemon failed", failure);
        }
        print();
    }

    private void print() {
        Quantiles calm = Quantiles.of(calmNs);
        Quantiles disturbed = Quantiles.of(disturbedNs);
        System.out.printf(
                Locale.ROOT,
                "{\"readers\": %d, \"loads\": %d, \"refusals\": %d, \"evictions\": %d, \"kills\": %d, \"stops\": %d, \"calm\": %s, \"disturbed\": %s,"
                        + " \"p99Ratio\": %.3f}%n",
                READERS,
                loads,
                refusals,
                evictions,
                kills,
                stops,
                calm.json(),
                disturbed.json(),
                disturbed.p99Ms() / calm.p99Ms());
    }

    private void phase(long seconds, boolean disturbed, List<Long> nanos) throws InterruptedException {
        long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        Thread disturber = new Thread(() -> disturb(endNs, disturbed), "disturber");
        disturber.start();
        for (int request = 0; System.nanoTime() < endNs; request++) {
            long startNs = System.nanoTime();
            if (request % 2 == 0) {
                control.status();
            } else {
                control.list("", false);
            }
            nanos.add(System.nanoTime() - startNs);
            TimeUnit.MILLISECONDS.sleep(REQUEST_PAUSE_MS);
        }
        disturber.join();
    }

    private void churn() {
        Random choice = new Random(~SEED);
        try {
            while (!ended) {
                LoadRequest.Source source = sources[choice.nextInt(sources.length)];
                tryLoad(source);
                evict(sources[choice.nextInt(sources.length)].name());
                TimeUnit.MILLISECONDS.sleep(50);
            }
        } catch (InterruptedException | RuntimeException e) {
            failure = e;
        }
    }

    private void tryLoad(LoadRequest.Source source) {
        try {
            load(source);
            loads++;
        } catch (LarderException e) {
            if (e.code() != ErrorCode.REFUSED && e.code() != ErrorCode.NO_SPACE) {
                throw e;
            }
            refusals++; // a reader has it loaded already, or all versions are being read
        }
    }

    private void load(LoadRequest.Source source) {
        LoadOptions again = LoadOptions.none().withEvenIfUnchanged(true);
        control.load(new LoadRequest(List.of(source), again, 0), ProgressListener.NONE);
    }

    private void evict(String dataset) {
        try {
            control.evict(dataset);
            evictions++;
        } catch (LarderException leased) {
            return; // as it should be
        }
    }

    /** One reader goes and another one comes, again and again; where disturbed it is killed, and a third one is stopped for a while. */
    private void disturb(long endNs, boolean disturbed) {
        try {
            while (System.nanoTime() < endNs) {
                int at = random.nextInt(readers.size());
                Reader reader = readers.get(at);
                if (disturbed) {
                    Reader stopped = readers.get((at + 1) % readers.size());
                    stopped.signal("STOP");
                    stops++;
                    TimeUnit.MILLISECONDS.sleep(STOP_MS);
                    stopped.signal("CONT");
                    reader.kill();
                    kills++;
                } else {
                    TimeUnit.MILLISECONDS.sleep(STOP_MS);
                    reader.close();
                }
                readers.set(at, startReader());
                TimeUnit.MILLISECONDS.sleep(DISTURB_PAUSE_MS);
            }
        } catch (IOException | InterruptedException e) {
            failure = e;
        }
    }

    private Reader startReader() throws IOException {
        Reader reader = Reader.start(store, DATASETS);
        reader.tell("loop");
        return reader;
    }
}
