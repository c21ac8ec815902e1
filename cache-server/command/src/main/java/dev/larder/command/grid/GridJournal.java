package dev.larder.command.grid;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.posix.Posix;
import dev.larder.launch.grid.Axis;
import dev.larder.launch.grid.GridPlan;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The history of a grid: a file in its folder with a JSON object in a line for each start and each end of a job, which is forced to the
 * disk before anything else happens.
 *
 * <p>The first line describes the grid. A torn last line, such as after a power cut, is dropped. While a journal is open, no other process
 * can open it. Thread-safe.
 */
public final class GridJournal implements AutoCloseable {
    private static final String FILE = "journal";
    private static final int MODE = 0644;
    private static final int FORMAT = 1;
    private static final int NO_LOCK = -1;

    private final Path folder;
    private final Path file;
    private final FileChannel channel;
    private final Map<Integer, JobRecord> records = new HashMap<>();
    private int lock;
    private @Nullable Begun begun;

    /**
     * A grid, and its devices.
     *
     * @param workFolder the working folder of its jobs
     * @param devices the choice of devices
     * @param perDevice the number of concurrent jobs on each
     */
    public record Begun(GridPlan plan, Path workFolder, String devices, int perDevice) {}

    private GridJournal(Path folder, Path file, int lock, FileChannel channel) {
        this.folder = folder;
        this.file = file;
        this.lock = lock;
        this.channel = channel;
    }

    /**
     * Opens the journal of a folder, and creates both if necessary.
     *
     * @throws LarderException REFUSED if another process has it open, or the folder has other files and no journal
     */
    public static GridJournal open(Path folder) {
        Path file = folder.resolve(FILE);
        Posix posix = Posix.system();
        int lock = NO_LOCK;
        FileChannel channel = null;
        try {
            Files.createDirectories(folder);
            requireOwn(folder, file);
            lock = posix.openOrCreate(file, MODE);
            if (!posix.tryLockExclusive(lock)) {
                throw Failure.of(ErrorCode.REFUSED, "another grid is running in this folder")
                        .with("folder", folder)
                        .remedy("wait for its end, or give another --out");
            }
            channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
            GridJournal journal = new GridJournal(folder, file, lock, channel);
            journal.read();
            return journal;
        } catch (IOException | RuntimeException e) {
            close(channel);
            if (lock != NO_LOCK) {
                posix.close(lock);
            }
            throw e instanceof LarderException known ? known : failed("open", file, e);
        }
    }

    private static void requireOwn(Path folder, Path file) throws IOException {
        if (Files.exists(file)) {
            return;
        }
        try (Stream<Path> others = Files.list(folder)) {
            if (others.findAny().isPresent()) {
                throw Failure.of(ErrorCode.REFUSED, "the folder has files that do not belong to a grid")
                        .with("folder", folder)
                        .remedy("give --out a folder that is new, empty, or from this grid");
            }
        }
    }

    /** Returns the folder of the grid. */
    public Path folder() {
        return folder;
    }

    /** Returns the grid; null if the journal is empty. */
    public synchronized @Nullable Begun begun() {
        return begun;
    }

    /** Returns the record of a job. */
    public synchronized JobRecord record(int job) {
        return records.getOrDefault(job, JobRecord.NEW);
    }

    /** Writes the description of the grid. */
    public synchronized void begin(Begun grid) {
        JsonObject line = event("grid");
        line.addProperty("format", FORMAT);
        JsonArray parameters = new JsonArray();
        for (Axis axis : grid.plan().axes()) {
            JsonObject parameter = new JsonObject();
            parameter.addProperty("name", axis.name());
            parameter.add("values", array(axis.values()));
            parameters.add(parameter);
        }
        line.add("parameters", parameters);
        line.add("command", array(grid.plan().command()));
        line.addProperty("folder", grid.workFolder().toString());
        line.addProperty("devices", grid.devices());
        line.addProperty("perDevice", grid.perDevice());
        append(line);
    }

    /** Writes that a job is about to start. */
    public synchronized void started(int job, String slot, String time) {
        JsonObject line = event("start");
        line.addProperty("job", job);
        line.addProperty("slot", slot);
        line.addProperty("time", time);
        append(line);
    }

    /** Writes that a job has ended. */
    public synchronized void ended(int job, JobRecord end) {
        JsonObject line = event("end");
        line.addProperty("job", job);
        line.addProperty("state", end.state().text());
        line.addProperty("exitCode", end.exitCode());
        line.addProperty("cause", end.cause());
        line.addProperty("ms", end.ran().toMillis());
        line.add("result", end.result());
        append(line);
    }

    private void append(JsonObject line) {
        long before = -1;
        try {
            before = channel.size();
            ByteBuffer bytes = StandardCharsets.UTF_8.encode(line + "\n");
            channel.position(before);
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            channel.force(false);
        } catch (IOException e) {
            takeBack(before);
            throw failed("write", file, e);
        }
        apply(line);
    }

    /** Removes the partial line after a write without room. */
    private void takeBack(long size) {
        try {
            if (size >= 0) {
                channel.truncate(size);
            }
        } catch (IOException e) {
            // the next reader drops the torn last line
        }
    }

    private void read() throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(Math.toIntExact(channel.size()));
        while (bytes.hasRemaining() && channel.read(bytes) >= 0) {
            // until all is read
        }
        String text = new String(bytes.array(), StandardCharsets.UTF_8);
        List<String> lines = new ArrayList<>(List.of(text.split("\n", -1)));
        String torn = lines.remove(lines.size() - 1);
        if (!torn.isEmpty()) {
            channel.truncate(channel.size() - tornLength(bytes.array()));
        }
        for (int i = 0; i < lines.size(); i++) {
            readLine(i + 1, lines.get(i));
        }
    }

    private static int tornLength(byte[] bytes) {
        int length = 0;
        while (length < bytes.length && bytes[bytes.length - 1 - length] != '\n') {
            length++;
        }
        return length;
    }

    private void readLine(int number, String line) {
        try {
            apply(JsonParser.parseString(line).getAsJsonObject());
        } catch (JsonParseException | IllegalStateException | IllegalArgumentException | NullPointerException e) {
            throw Failure.of(ErrorCode.BAD_INPUT, "the journal of the grid cannot be read")
                    .with("file", file)
                    .with("line", number)
                    .cause(e)
                    .remedy("give another --out, and start again");
        }
    }

    private void apply(JsonObject line) {
        switch (line.get("event").getAsString()) {
            case "grid" -> begun = grid(line);
            case "start" -> {
                int job = line.get("job").getAsInt();
                records.put(job, record(job).started(line.get("slot").getAsString()));
            }
            case "end" -> {
                int job = line.get("job").getAsInt();
                records.put(job, end(record(job), line));
            }
            default -> throw new IllegalArgumentException("event of a later version");
        }
    }

    private static JobRecord end(JobRecord before, JsonObject line) {
        JsonElement result = line.has("result") ? line.get("result") : JsonNull.INSTANCE;
        return before.ended(
                JobState.valueOf(line.get("state").getAsString().toUpperCase(Locale.ROOT)),
                line.get("exitCode").getAsInt(),
                line.get("cause").getAsString(),
                Duration.ofMillis(line.get("ms").getAsLong()),
                result);
    }

    private static Begun grid(JsonObject line) {
        if (line.get("format").getAsInt() != FORMAT) {
            throw new IllegalArgumentException("format of a later version");
        }
        List<Axis> axes = new ArrayList<>();
        for (JsonElement parameter : line.getAsJsonArray("parameters")) {
            JsonObject axis = parameter.getAsJsonObject();
            axes.add(new Axis(axis.get("name").getAsString(), list(axis.getAsJsonArray("values"))));
        }
        GridPlan plan = new GridPlan(axes, list(line.getAsJsonArray("command")));
        return new Begun(
                plan,
                Path.of(line.get("folder").getAsString()),
                line.get("devices").getAsString(),
                line.get("perDevice").getAsInt());
    }

    private static JsonObject event(String name) {
        JsonObject line = new JsonObject();
        line.addProperty("event", name);
        return line;
    }

    private static JsonArray array(List<String> texts) {
        JsonArray array = new JsonArray();
        texts.forEach(array::add);
        return array;
    }

    private static List<String> list(JsonArray array) {
        List<String> texts = new ArrayList<>();
        array.forEach(element -> texts.add(element.getAsString()));
        return texts;
    }

    private static LarderException failed(String what, Path file, Exception reason) {
        boolean isDenied = reason instanceof AccessDeniedException;
        return Failure.of(
                        isDenied ? ErrorCode.REFUSED : ErrorCode.NO_SPACE,
                        "cannot " + what + " the journal of the grid")
                .with("file", file)
                .with("reason", reason)
                .cause(reason)
                .remedy("check that the folder can be written to and has room");
    }

    private static void close(@Nullable FileChannel channel) {
        if (channel != null) {
            try {
                channel.close();
            } catch (IOException e) {
                // all its lines have been forced to the disk
            }
        }
    }

    /** Closes it for other processes to open. */
    @Override
    public synchronized void close() {
        close(channel);
        if (lock != NO_LOCK) {
            Posix.system().close(lock);
            lock = NO_LOCK;
        }
    }
}
