package dev.larder.command;

import dev.larder.command.options.NameConverter;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.Names;
import dev.larder.internal.layout.NearNames;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.protocol.ArrayRow;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Prints the file of an array. */
@Command(
        name = "path",
        description = {
            "Print the file of an array, for other programs: np.load(path, mmap_mode=\"r\").",
            "Small arrays share files: for those see also the offset in larder info, or load with --pack-below 0.",
            "The name of a dataset alone stands for its array where it has exactly one."
        })
final class ShowPath implements Callable<Integer> {
    @ParentCommand
    LarderCommand larder;

    @Parameters(
            paramLabel = "NAME",
            converter = NameConverter.class,
            description = "dataset/array, or a dataset with one array.")
    String name;

    @Override
    public Integer call() {
        List<ArrayRow> rows = larder.arrays().info(name);
        if (rows.size() != 1
                && rows.get(0).part().columnName(rows.get(0).name()).equals(name)) {
            throw Failure.of(ErrorCode.NOT_FOUND, "a column has one file for each of its arrays")
                    .with("column", name)
                    .with("store", larder.store())
                    .remedy("name one of its arrays: "
                            + rows.stream().map(ArrayRow::name).collect(Collectors.joining(", ")));
        } else if (rows.size() != 1) {
            throw NearNames.notOneArray(
                    larder.store(),
                    name,
                    rows.size(),
                    rows.stream().map(row -> Names.arrayIn(row.name())).toList());
        }
        ArrayRow row = rows.get(0);
        if (row.path().isEmpty()) {
            throw Failure.of(ErrorCode.NOT_FOUND, "the array has no file yet")
                    .with("array", row.name())
                    .with("state", row.state().text())
                    .remedy("wait for it with larder wait " + name);
        }
        larder.out().println(row.path());
        if (StoreLayout.isPack(fileName(row))) {
            larder.err()
                    .println("larder: note: many arrays share this file; the data of " + row.name()
                            + " starts at offset=" + row.offset() + " (larder info " + row.name() + ")");
        }
        return 0;
    }

    private static String fileName(ArrayRow row) {
        return String.valueOf(Path.of(row.path()).getFileName());
    }
}
