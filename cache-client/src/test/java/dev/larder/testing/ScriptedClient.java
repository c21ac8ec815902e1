package dev.larder.testing;

import dev.larder.client.Dataset;
import dev.larder.client.DatasetBuilder;
import dev.larder.client.Larder;
import dev.larder.error.LarderException;
import dev.larder.internal.control.ControlClient;
import dev.larder.internal.protocol.DaemonStatus;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.ErrorRow;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.internal.protocol.Retention;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * A client that does what lines on its standard input say, each in a thread of its own, until that ends or it is killed.
 *
 * <p>A line is {@code ID VERB ARGUMENT…}; answers begin with the same {@code ID}: {@code progress} or {@code building} while it
 * goes on, and at the end {@code done}, {@code failed CODE MESSAGE}, or {@code WRONG} with what was read and must not be.
 */
public final class ScriptedClient {
    private static final String PROGRESS = "progress";
    private static final int PAUSE_MS = 10;

    private final Path store;
    private final ControlClient control;
    private final List<Dataset> held = new ArrayList<>();
    private volatile boolean halted;

    private ScriptedClient(Path store) {
        this.store = store;
        this.control = ControlClient.at(store);
    }

    /** Takes the store, which need not be there yet. */
    public static void main(String[] arguments) throws IOException {
        ScriptedClient client = new ScriptedClient(Path.of(arguments[0]));
        say("0", "ready");
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ", -1);
            Thread thread = new Thread(() -> client.answer(words), "step-" + words[0]);
            thread.setDaemon(true);
            thread.start();
        }
    }

    private static synchronized void say(String id, Object... words) {
        StringBuilder line = new StringBuilder(id);
        for (Object word : words) {
            line.append(' ').append(String.valueOf(word).replace('\n', '|'));
        }
        System.out.println(line);
    }

    private void answer(String[] words) {
        String id = words[0];
        long start = System.nanoTime();
        try {
            Object result = step(id, words);
            say(id, "done", millisSince(start), result);
        } catch (LarderException e) {
            say(id, "failed", millisSince(start), e.code(), String.valueOf(e.getMessage()));
        } catch (AssertionError e) {
            say(id, "WRONG", millisSince(start), String.valueOf(e.getMessage()));
        } catch (RuntimeException e) {
            say(id, "failed", millisSince(start), "BROKEN", e);
        }
    }

    private static long millisSince(long start) {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
    }

    private Object step(String id, String[] words) {
        return switch (words[1]) {
            case "load" -> load(id, words).message();
            case "register" ->
                control.load(request(words).withRegisterOnly(true), progress -> {})
                        .message();
            case "reload" ->
                control.reload(words[2], progress -> say(id, PROGRESS)).message();
            case "open" -> open(words[2], Duration.ofMillis(Long.parseLong(words[3])));
            case "read" -> read(id, words);
            case "halt" -> halt();
            case "hold" -> hold(words[2]);
            case "check" -> check();
            case "release" -> release();
            case "build" -> build(id, words);
            case "evict" -> control.evict(words[2]).message();
            case "forget" -> control.forget(words[2]).message();
            case "pin" -> control.pin(words[2]).message();
            case "unpin" -> control.unpin(words[2]).message();
            case "verify" -> control.verify("", progress -> {}).bytes();
            case "status" -> status();
            case "errors" -> errors();
            case "stop" -> stopped(control.stop(words[2].equals("keep"), progress -> {}));
            default -> throw new IllegalArgumentException(words[1]);
        };
    }

    private Done load(String id, String[] words) {
        AtomicBoolean told = new AtomicBoolean();
        return control.load(request(words), progress -> {
            if (told.compareAndSet(false, true)) {
                say(id, PROGRESS);
            }
        });
    }

    /** Reads {@code NAME PATH [pin|TTL-MILLIS]}. */
    private static LoadRequest request(String[] words) {
        LoadRequest request =
                new LoadRequest(List.of(new LoadRequest.Source(words[2], words[3])), LoadOptions.none(), 0);
        if (words.length < 5) {
            return request;
        }
        return request.withRetention(
                words[4].equals("pin")
                        ? new Retention(true, Duration.ZERO)
                        : new Retention(false, Duration.ofMillis(Long.parseLong(words[4]))));
    }

    private String open(String name, Duration timeout) {
        try (Larder larder = Larder.connect(store);
                Dataset dataset = larder.dataset(name, timeout)) {
            Ramp.check(dataset);
            return "version=" + dataset.version();
        }
    }

    /** Opens, checks and closes {@code MILLIS-EACH NAME…} until halted; says which were read, or refused, and after how long. */
    private String read(String id, String[] words) {
        halted = false;
        for (int turn = 0; !halted; turn++) {
            String name = words[3 + turn % (words.length - 3)];
            long start = System.nanoTime();
            try {
                open(name, Duration.ofMillis(Long.parseLong(words[2])));
                say(id, "read", millisSince(start), name);
            } catch (LarderException e) {
                say(id, "refused", millisSince(start), name, e.code(), String.valueOf(e.getMessage()));
            }
            rest(PAUSE_MS);
        }
        return "halted";
    }

    private String halt() {
        halted = true;
        return "";
    }

    private synchronized String hold(String name) {
        @SuppressWarnings("resource") // it stays open as long as the process, or until release
        Dataset dataset = Larder.connect(store).dataset(name, Duration.ofSeconds(20));
        Ramp.check(dataset); // what is mapped can be read also when the store is gone
        held.add(dataset);
        return "version=" + dataset.version();
    }

    private synchronized String check() {
        long bytes = 0;
        for (Dataset dataset : held) {
            bytes += Ramp.check(dataset);
        }
        return "bytes=" + bytes;
    }

    private synchronized String release() {
        held.forEach(Dataset::close);
        held.clear();
        return "";
    }

    /** Builds {@code NAME KEY COUNT REST-MILLIS}: two arrays, and a rest after every part of them. */
    private String build(String id, String[] words) {
        int key = Integer.parseInt(words[3]);
        int count = Integer.parseInt(words[4]);
        int restMs = Integer.parseInt(words[5]);
        try (Larder larder = Larder.connect(store);
                DatasetBuilder builder = larder.build(words[2])) {
            say(id, "building");
            Ramp.fill(builder, "a", key, count, () -> rest(restMs));
            Ramp.fill(builder, "b", key, count / 4, () -> rest(restMs));
            say(id, "publishing");
            builder.publish();
            return "key=" + key;
        }
    }

    private static void rest(int millis) {
        if (millis > 0) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(millis));
        }
    }

    private String status() {
        DaemonStatus status = control.status();
        return "pid=" + status.pid() + " used=" + status.usedBytes() + " leased=" + status.leasedBytes() + " pinned="
                + status.pinnedBytes() + " retired=" + status.retiredBytes() + " arrays=" + status.arrays();
    }

    private String errors() {
        List<String> errors = control.errors().stream().map(ErrorRow::message).toList();
        return String.join(" // ", errors);
    }

    private static String stopped(Done done) {
        return "held=" + done.heldBytes() + " holders=" + done.holders();
    }
}
