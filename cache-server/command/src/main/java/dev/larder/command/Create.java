package dev.larder.command;

import dev.larder.command.options.RetentionOptions;
import dev.larder.command.output.Units;
import dev.larder.command.program.CallerLines;
import dev.larder.command.terminal.ProgressDisplay;
import dev.larder.error.ErrorCode;
import dev.larder.internal.control.BuildTurn;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.Request;
import dev.larder.internal.protocol.Request.NewFile;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
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
            "Let another program build a dataset, unless it is resident. Of several programs, one builds and the others wait.",
            "If the dataset is resident, the only output is 'resident'. Otherwise the first line is 'build FOLDER':"
                    + " write one .npy file for each array into FOLDER, close them, and send the line 'publish' on"
                    + " standard input; the answer is 'published'."
                    + " Before it, a line 'part ARRAY PART' names a part of a column (ops/docs/FORMAT.md). In the"
                    + " store of another user you cannot create files in FOLDER: the line 'file ARRAY BYTES'"
                    + " creates ARRAY.npy for you to write; the answer is 'made'. In your own store, the"
                    + " line 'room BYTES' makes room for that many bytes in all before you write them,"
                    + " evicting datasets if needed; the answer is 'made'. The build is abandoned if"
                    + " standard input ends without 'publish', or if the program that started this one ends;"
                    + " then the next program has its turn."
        })
final class Create implements Callable<Integer> {
    private static final String PUBLISH = "publish";
    private static final String PART = "part ";
    private static final String FILE = "file ";
    private static final String ROOM = "room ";

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

    @Option(
            names = "--size",
            paramLabel = "SIZE",
            defaultValue = "0",
            converter = Units.SizeConverter.class,
            description = "How much room to make before the build begins (default: none; see 'room BYTES').")
    long sizeBytes;

    @Option(names = "--replace", description = "Build a new version even if the dataset is resident.")
    boolean replace;

    @Mixin
    RetentionOptions retention;

    @Override
    public Integer call() {
        try (CallerLines lines = CallerLines.ofParent()) {
            Optional<BuildTurn> turn;
            try (ProgressDisplay display = ProgressDisplay.on(larder.err())) {
                turn = larder.client()
                        .create(new Request.Create(name, timeout, sizeBytes, replace, retention.retention()), display);
            }
            if (turn.isPresent()) {
                build(turn.get(), lines);
            } else {
                larder.out().println("resident");
            }
            return 0;
        }
    }

    private void build(BuildTurn turn, CallerLines lines) {
        try (turn) {
            larder.out().println("build " + turn.folder());
            larder.out().flush();
            lines.read(System.in);
            Map<String, ColumnPart> parts = readUntilPublish(turn, lines);
            try (ProgressDisplay display = ProgressDisplay.on(larder.err())) {
                Done done = turn.publish(parts, display);
                List<String> said = done.message().lines().toList();
                larder.out().println("published " + said.get(0));
                said.stream().skip(1).forEach(note -> larder.err().println("larder: " + note));
            }
        }
    }

    private Map<String, ColumnPart> readUntilPublish(BuildTurn build, CallerLines lines) {
        Map<String, ColumnPart> parts = new HashMap<>();
        for (String line = lines.next(); line != null; line = lines.next()) {
            if (line.equals(PUBLISH)) {
                return parts;
            }
            int split = line.lastIndexOf(' ');
            if (line.startsWith(PART) && split >= PART.length()) {
                parts.put(line.substring(PART.length(), split), part(line, line.substring(split + 1)));
            } else if (line.startsWith(FILE) && split >= FILE.length()) {
                makeFile(build, line.substring(FILE.length(), split), bytes(line, line.substring(split + 1)));
            } else if (line.startsWith(ROOM)) {
                build.makeRoom(bytes(line, line.substring(ROOM.length())));
                sayMade();
            } else {
                throw badLine(line);
            }
        }
        throw Failure.of(ErrorCode.INTERRUPTED, "build was abandoned")
                .with("dataset", name)
                .with("reason", lines.reason())
                .exception();
    }

    private void makeFile(BuildTurn build, String array, long bytes) {
        build.makeFiles(List.of(new NewFile(array, bytes, "")));
        sayMade();
    }

    private void sayMade() {
        larder.out().println("made");
        larder.out().flush();
    }

    private static long bytes(String line, String number) {
        try {
            long bytes = Long.parseLong(number);
            if (bytes >= 0) {
                return bytes;
            }
        } catch (NumberFormatException e) {
            throw badLine(line);
        }
        throw badLine(line);
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
                .remedy("send 'part ARRAY PART', 'file ARRAY BYTES', 'room BYTES' or 'publish'");
    }
}
