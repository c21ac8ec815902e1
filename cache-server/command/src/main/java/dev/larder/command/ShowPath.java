package dev.larder.command;

import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.protocol.ArrayRow;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Prints the file of an array. */
@Command(
        name = "path",
        description = {
            "Print the file of an array, for other programs: np.load(path, mmap_mode=\"r\").",
            "The name of a dataset alone stands for its array where it has exactly one."
        })
final class ShowPath implements Callable<Integer> {
    @ParentCommand
    LarderCommand larder;

    @Parameters(paramLabel = "NAME", description = "dataset/array, or a dataset with one array.")
    String name;

    @Override
    public Integer call() {
        List<ArrayRow> rows = larder.client().info(name);
        if (rows.size() != 1) {
            throw Failure.of(ErrorCode.NOT_FOUND, "a dataset's name stands for an array only where it has exactly one")
                    .with("dataset", name)
                    .with("arrays", rows.size())
                    .remedy("name one, as " + rows.get(0).name());
        }
        ArrayRow row = rows.get(0);
        if (row.path().isEmpty()) {
            throw Failure.of(ErrorCode.NOT_FOUND, "the array has no file yet")
                    .with("array", row.name())
                    .with("state", row.state().text())
                    .remedy("wait for it with larder wait " + name);
        }
        larder.out().println(row.path());
        return 0;
    }
}
