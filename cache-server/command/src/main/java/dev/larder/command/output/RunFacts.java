package dev.larder.command.output;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The run of a process, from its environment: a rank that {@code larder launch} or torchrun started, or a job of a grid.
 *
 * @param kind {@code launch} or {@code grid}
 * @param name the name of the run; empty if it has none
 * @param number the rank, or the number of the job
 * @param size the number of ranks; 0 for a grid
 */
public record RunFacts(String kind, String name, long number, long size) {
    private static final int LONGEST_NAME = 200;
    private static final String NUMBER = "\\d{1,9}";
    private static final String NONE = "none"; // torchrun's name for a run without one

    /** Returns the run of a process; null if it has none, or must not be inspected. */
    static @Nullable RunFacts of(Path folder) {
        try {
            // Values are bytes that may not be UTF-8. Other variables are not stored, because they may be secret.
            return of(Files.readString(folder.resolve("environ"), StandardCharsets.ISO_8859_1));
        } catch (IOException gone) {
            return null;
        }
    }

    static @Nullable RunFacts of(String environment) {
        Map<String, String> variables = Arrays.stream(environment.split("\0", -1))
                .filter(variable -> variable.indexOf('=') > 0)
                .collect(Collectors.toMap(
                        variable -> variable.substring(0, variable.indexOf('=')),
                        variable -> variable.substring(variable.indexOf('=') + 1),
                        (first, second) -> first));
        String rank = variables.getOrDefault("RANK", "");
        String size = variables.getOrDefault("WORLD_SIZE", "");
        if (rank.matches(NUMBER) && size.matches(NUMBER)) {
            String name = variables.getOrDefault("TORCHELASTIC_RUN_ID", "");
            return new RunFacts(
                    "launch", name.equals(NONE) ? "" : text(name), Long.parseLong(rank), Long.parseLong(size));
        }
        String job = variables.getOrDefault("LARDER_JOB", "");
        String grid = variables.getOrDefault("LARDER_GRID", "");
        return job.matches(NUMBER)
                ? new RunFacts("grid", text(grid.substring(grid.lastIndexOf('/') + 1)), Long.parseLong(job), 0)
                : null;
    }

    private static String text(String bytes) {
        String text = new String(bytes.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
        return text.substring(0, Math.min(LONGEST_NAME, text.length())).replaceAll("\\p{C}", "?");
    }

    /** Returns the run in words. */
    public String inWords() {
        String what = kind.equals("launch") ? "rank " + number + "/" + size : "job " + number;
        return name.isEmpty() ? what : what + " of " + name;
    }

    JsonFields fields() {
        return new JsonFields()
                .with("kind", kind)
                .with("name", name)
                .with("number", number)
                .with("size", size);
    }
}
