package dev.larder.command.doctor;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import dev.larder.command.doctor.Probes.DeviceAnswer;
import dev.larder.command.doctor.Probes.DeviceAnswer.Ending;
import dev.larder.command.output.Units;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Lists devices in a separate process, because drivers crash and hang.
 *
 * @param command the words of {@code larder devices --json}
 * @param patience how long the process may take
 */
public record DeviceQuestion(List<String> command, Duration patience) {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int LAST_OWN_CODE = 128;

    /** The main class, as a string: this package must not import the commands that use it. */
    private static final String MAIN_CLASS = "dev.larder.command.LarderCommand";

    /** Returns a question that uses the JDK and the class path of this process. */
    public static DeviceQuestion ofThisCommand() {
        return new DeviceQuestion(
                List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xlog:disable",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-Xmx128m",
                        "-XX:-CreateCoredumpOnCrash",
                        "-XX:ErrorFile=/dev/null",
                        "-XX:-UsePerfData",
                        "-cp",
                        System.getProperty("java.class.path"),
                        MAIN_CLASS,
                        "devices",
                        "--json"),
                PATIENCE);
    }

    /** Starts the process and waits for its end. */
    public DeviceAnswer ask() {
        return ask(DeviceQuestion::describe);
    }

    /** Starts the process and waits for its end; {@code words} describes each device. */
    public DeviceAnswer ask(Function<JsonObject, String> words) {
        try {
            Path folder = Files.createTempDirectory("larder-devices");
            Path out = folder.resolve("out");
            Path err = folder.resolve("err");
            try {
                return ask(out, err, words);
            } finally {
                Files.deleteIfExists(out);
                Files.deleteIfExists(err);
                Files.deleteIfExists(folder);
            }
        } catch (IOException | JsonParseException | IllegalStateException e) {
            return DeviceAnswer.without(Ending.REFUSED, "cannot list devices: reason=" + e);
        }
    }

    private DeviceAnswer ask(Path out, Path err, Function<JsonObject, String> words) throws IOException {
        Process process = start(out, err);
        try {
            if (!process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS)) {
                return DeviceAnswer.without(Ending.SILENT, "waited=" + patience.toSeconds() + "s");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return DeviceAnswer.without(Ending.SILENT, "interrupted");
        } finally {
            process.destroyForcibly(); // without a wait: a process that hangs in the kernel does not end
        }
        int code = process.exitValue();
        if (code != 0) {
            return DeviceAnswer.without(
                    code > LAST_OWN_CODE ? Ending.DIED : Ending.REFUSED, "exitCode=" + code + lastLine(err));
        }
        return DeviceAnswer.listed(parse(Files.readString(out), words));
    }

    private Process start(Path out, Path err) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectInput(Path.of("/dev/null").toFile())
                .redirectOutput(out.toFile())
                .redirectError(err.toFile());
        builder.environment().put("POCL_SIGFPE_HANDLER", "0");
        return builder.start();
    }

    private static String lastLine(Path file) throws IOException {
        String text = new String(Files.readAllBytes(file), StandardCharsets.UTF_8).strip();
        return text.isEmpty() ? "" : " said=" + text.substring(text.lastIndexOf('\n') + 1);
    }

    private static List<String> parse(String json, Function<JsonObject, String> words) {
        List<String> devices = new ArrayList<>();
        for (JsonElement element : JsonParser.parseString(json).getAsJsonArray()) {
            devices.add(words.apply(element.getAsJsonObject()));
        }
        return devices;
    }

    private static String describe(JsonObject device) {
        return text(device, "backend") + ":" + text(device, "index") + " " + text(device, "name")
                + " kind=" + text(device, "kind")
                + " memory=" + size(device, "memoryBytes")
                + " largestAllocation=" + size(device, "maxAllocationBytes")
                + " units=" + text(device, "computeUnits");
    }

    private static String text(JsonObject device, String key) {
        return device.get(key).getAsString();
    }

    private static String size(JsonObject device, String key) {
        return Units.size(device.get(key).getAsLong());
    }
}
