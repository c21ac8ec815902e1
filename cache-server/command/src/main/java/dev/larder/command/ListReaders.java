package dev.larder.command;

import dev.larder.command.output.Json;
import dev.larder.command.output.JsonFields;
import dev.larder.command.output.Table;
import dev.larder.server.reader.Readers;
import dev.larder.server.source.scan.Formats;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** Lists the kinds of sources, and which reader serves them. */
@Command(
        name = "readers",
        description = {
            "List the kinds of sources, and what reads them: the daemon itself, or a reader, which is a program of its own.",
            "What keeps a reader from being used is said with what to do about it. Readers lie beside the daemon's jars, in"
                    + " readers/KIND, or in $$LARDER_READERS; $$LARDER_READER_JAVA names a newer Java for those that need one."
        })
final class ListReaders implements Callable<Integer> {
    private static final String DAEMON = "daemon";

    @ParentCommand
    LarderCommand larder;

    @Option(names = "--json", description = "Print one JSON list, with all details of each kind.")
    boolean json;

    /** One line: a kind, or all that the daemon reads. */
    private record Row(
            String kind,
            String files,
            String reader,
            @Nullable Path folder,
            int java,
            Optional<String> obstacle) {
        static Row of(Readers.Known known) {
            return new Row(
                    known.spec().kind(),
                    known.spec().suffixes(),
                    known.spec().kind(),
                    known.folder(),
                    known.spec().javaVersion(),
                    known.obstacle());
        }

        boolean isMissing() {
            return obstacle.isPresent() && folder == null;
        }

        String state() {
            return obstacle.isEmpty() ? "ready" : isMissing() ? "missing" : "not usable";
        }

        JsonFields fields() {
            return new JsonFields()
                    .with("kind", kind)
                    .with("files", files)
                    .with("reader", reader)
                    .with("state", state())
                    .with("folder", folder == null ? null : folder.toString())
                    .with("java", java == 0 ? null : java)
                    .with("obstacle", obstacle.orElse(null));
        }
    }

    @Override
    public Integer call() {
        List<Row> rows = new ArrayList<>();
        rows.add(new Row("files", Formats.suffixes(), DAEMON, null, 0, Optional.empty()));
        Readers.all().forEach(known -> rows.add(Row.of(known)));
        if (json) {
            larder.out().println(Json.document(rows.stream().map(Row::fields).toList()));
            return 0;
        }
        Table table = Table.of(List.of("KIND", "READER", "STATE", "FILES"));
        rows.forEach(row -> table.row(List.of(row.kind, row.reader, row.state(), row.files)));
        table.lines().forEach(larder.out()::println);
        rows.stream()
                .filter(row -> !row.isMissing())
                .flatMap(row -> row.obstacle.stream())
                .forEach(words -> larder.err().println("larder: " + words));
        if (rows.stream().anyMatch(Row::isMissing)) { // the table has their names
            larder.err()
                    .println(
                            "larder: readers are missing; install the archive with readers, or put each into a folder of its"
                                    + " kind's name in $LARDER_READERS");
        }
        return 0;
    }
}
