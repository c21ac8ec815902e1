package dev.larder.command;

import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.layout.ColumnPart;
import dev.larder.protocol.BuildTurn;
import dev.larder.protocol.Done;
import dev.larder.protocol.Request;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Lets another program build a dataset, one program at a time. */
@Command(
        name = "create",
        description = {
            "Let another program build a dataset, unless it is resident; of several programs one builds, the others wait.",
            "The first line of output is 'resident', and that is all, or 'build FOLDER': then write .npy files into FOLDER,"
                    + " one an array, close them, and give the line 'publish' on standard input; 'published' answers it."
                    + " A line 'part ARRAY PART' before it names a part of a column (ops/docs/FORMAT.md). Standard input"
                    + " that ends without 'publish' gives the build up, and the next program has its turn."
        })
final class Create implements Callable<Integer> {
    private static final String PUBLISH = "publish";
    private static final String PART = "part ";

    @ParentCommand
    LarderCommand larder;

    @Parameters(paramLabel = "NAME", description = "The dataset.")
    String name;

    @Option(
            names = "--timeout",
            paramLabel = "D",
            defaultValue = "10m",
            converter = Units.DurationConverter.class,
            description = "How long to wait for other builders (default: 10m).")
    Duration timeout;

    @Option(names = "--replace", description = "Build a new version also of what is resident.")
    boolean replace;

    @Mixin
    RetentionOptions retention;

    @Override
    public Integer call() throws IOException {
        Optional<BuildTurn> turn;
        try (ProgressDisplay display = ProgressDisplay.on(larder.err())) {
            turn = larder.client()
                    .create(new Request.Create(name, timeout, 0, replace, retention.retention()), display);
        }
        if (turn.isEmpty()) {
            larder.out().println("resident");
            return 0;
        }
        try (BuildTurn build = turn.get()) {
            larder.out().println("build " + build.folder());
            larder.out().flush();
            Map<String, ColumnPart> parts = readUntilPublish();
            try (ProgressDisplay display = ProgressDisplay.on(larder.err())) {
                Done done = build.publish(parts, display);
                larder.out().println("published " + done.message());
            }
        }
        return 0;
    }

    private Map<String, ColumnPart> readUntilPublish() throws IOException {
        Map<String, ColumnPart> parts = new HashMap<>();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.equals(PUBLISH)) {
                return parts;
            }
            int split = line.lastIndexOf(' ');
            if (!line.startsWith(PART) || split < PART.length()) {
                throw badLine(line);
            }
            parts.put(line.substring(PART.length(), split), part(line, line.substring(split + 1)));
        }
        throw Failure.of(ErrorCode.INTERRUPTED, "build was given up")
                .with("dataset", name)
                .with("reason", "standard input ended without 'publish'")
                .exception();
    }

    private static ColumnPart part(String line, String word) {
        try {
            return ColumnPart.valueOf(word.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            throw badLine(line);
        }
    }

    private static RuntimeException badLine(String line) {
        return Failure.of(ErrorCode.USAGE, "line on standard input is not understood")
                .with("line", line)
                .remedy("give 'part ARRAY PART' or 'publish'");
    }
}
